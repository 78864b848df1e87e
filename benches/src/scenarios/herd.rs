//! Threads that sleep on atomics of their own.

use std::sync::Once;
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU8, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use nix::unistd::{Pid, gettid};

use super::SMALL_STACK;
use crate::contenders::atomic::AnyAtomic;
use crate::race::{Quartiles, Sample};
use crate::threads::{Placement, process_time, sleeps, thread_time, wait_until};

/// So many threads, each of which waits until its own atomic is set, clears it, and waits again. One more thread goes round and
/// wakes them one by one.
#[derive(Clone, Copy, Debug)]
pub struct Herd {
    /// How many atomics.
    pub atomics: usize,
    /// How far apart they are, in atomics.
    pub distance: usize,
    /// Pinned: the one that goes round on a processor of its own, and all others together on the next.
    pub placement: Placement,
}

impl Herd {
    /// The processor time that one notification costs the process, in nanoseconds, from one sleep of the thread that is meant
    /// to its next one, with whatever others do meanwhile.
    pub fn cpu_per_notify<A: AnyAtomic>(self, times: u64) -> Sample {
        let (cpu, _) = self.go_round::<A>(times);
        Sample::timed(cpu, times, false)
    }

    /// The time from a notification to the end of the wait that is meant: the median, since one that is disturbed tells more of
    /// others' work than of its own.
    pub fn latency_per_notify<A: AnyAtomic>(self, times: u64) -> Sample {
        let (_, latencies) = self.go_round::<A>(times);
        let latency = Quartiles::of(latencies.iter().map(|latency| latency.as_nanos() as f64).collect());
        Sample::counted(latency.median, 1)
    }

    fn go_round<A: AnyAtomic>(self, times: u64) -> (Duration, Vec<Duration>) {
        let memory: Vec<A> = (0..=(self.atomics - 1) * self.distance).map(|_| A::new()).collect();
        let members: Vec<_> =
            memory.iter().step_by(self.distance).map(|atomic| CachePadded::new(Member::new(atomic))).collect();
        let (start, over) = (Instant::now(), AtomicBool::new(false));
        thread::scope(|scope| {
            for member in &members {
                let over = &over;
                thread::Builder::new()
                    .stack_size(SMALL_STACK)
                    .spawn_scoped(scope, move || {
                        self.placement.apply(1);
                        member.wait_until(over, start);
                    })
                    .expect("the system has room for one more thread");
            }
            let notifier = scope.spawn(|| {
                self.placement.apply(0);
                notify_in_turn(&members, times, start)
            });
            let result = notifier.join().expect("the notifier does not panic");
            over.store(true, Release);
            for member in &members {
                member.notify();
            }
            result
        })
    }
}

/// Each time only once the thread that is meant sleeps, and the one before as well: with many of them nobody has had more
/// time than with two.
fn notify_in_turn<A: AnyAtomic>(
    members: &[CachePadded<Member<'_, A>>],
    times: u64,
    start: Instant,
) -> (Duration, Vec<Duration>) {
    /// Nobody who has been woken waits for this thread's processor.
    const OUT_OF_THE_WAY: Duration = Duration::from_micros(50);
    /// For what the system still has to do for the threads of the batch before, which it would do in the time of these.
    const TO_CLEAR_UP: Duration = Duration::from_millis(20);

    let wait_until_all_sleep = || members.iter().for_each(|member| wait_until(|| member.sleeps()));
    thread::sleep(TO_CLEAR_UP);
    wait_until_all_sleep();
    let (everybody, myself) = (process_time(), thread_time());
    let mut notifying = Duration::ZERO;
    let mut latencies = Vec::new();
    let mut last = &members[0];
    for member in members.iter().cycle().take(times as usize) {
        wait_until(|| last.sleeps());
        wait_until(|| member.sleeps());
        let woken_before = member.woken.load(Relaxed);
        let before = thread_time();
        let notified = start.elapsed();
        member.notify();
        notifying += thread_time() - before;
        thread::sleep(OUT_OF_THE_WAY);
        wait_until(|| member.woken.load(Acquire) != woken_before);
        latencies.push(Duration::from_nanos(member.woken.load(Relaxed)).saturating_sub(notified));
        last = member;
    }
    wait_until_all_sleep();
    // Of this thread's time only that of the notifications counts, and not that of looking after the others.
    let myself = thread_time() - myself;
    (process_time() - everybody - myself + notifying, latencies)
}

/// One of the threads.
struct Member<'a, A> {
    atomic: &'a A,
    /// Its thread, or 0 as long as there is none.
    thread: AtomicI32,
    /// When its last wait ended, in nanoseconds since the start.
    woken: AtomicU64,
}

impl<A: AnyAtomic> Member<'_, A> {
    fn new(atomic: &A) -> Member<'_, A> {
        Member { atomic, thread: AtomicI32::new(0), woken: AtomicU64::new(0) }
    }

    fn wait_until(&self, over: &AtomicBool, start: Instant) {
        self.thread.store(gettid().as_raw(), Relaxed);
        while !over.load(Acquire) {
            self.atomic.wait(false);
            let now = start.elapsed();
            self.atomic.store(false);
            // After this it may be set again.
            self.woken.store(now.as_nanos() as u64, Release);
        }
    }

    fn notify(&self) {
        self.atomic.store(true);
        self.atomic.notify_one();
    }

    fn sleeps(&self) -> bool {
        let thread = self.thread.load(Relaxed);
        thread != 0 && sleeps(Pid::from_raw(thread))
    }
}

/// From then on somebody in this process has waited for the value of an atomic, asleep.
pub fn make_somebody_wait() {
    static WAITED: Once = Once::new();
    WAITED.call_once(|| {
        Herd { atomics: 1, distance: 1, placement: Placement::Free }.cpu_per_notify::<AtomicU8>(1);
    });
}
