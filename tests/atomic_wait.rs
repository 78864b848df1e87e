//! Waiting on atomics of every width: what each call promises.

mod common;

use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
};
use std::thread;
use std::time::{Duration, Instant};

use common::atomic_wait::{Notify, OF_LOADS, atomics};
use common::panics::panic_of;
use common::threads::until_all_asleep;
use common::{PassedAfter, Wait, spawn, stay_awake_until, watchdog};
use waitline::{AtomicWait, Deadline, TimedOut};

const HOUR: Duration = Duration::from_secs(3600);

/// Every form that waits as long as it takes.
fn patient_forms() -> impl Iterator<Item = Wait> {
    let endless = [Wait::Untimed, Wait::For(Duration::MAX), Wait::Until(Deadline::NEVER)];
    endless.into_iter().chain(Wait::within(HOUR))
}

/// The value is another one when the wait returns, and it is that one which is returned, however often the thread was told
/// before. Every kind, by every call that notifies, in every form, with every ordering.
#[test]
fn a_wait_ends_once_the_value_differs_and_returns_it() {
    watchdog("a wait ends once the value differs", || {
        for kind in atomics() {
            for notify in Notify::ALL {
                let waits = patient_forms().zip(OF_LOADS.into_iter().cycle());
                let waits: Vec<_> = waits.map(|(wait, order)| (wait, order, kind.fresh())).collect();
                thread::scope(|scope| {
                    let waiters: Vec<_> = (waits.iter())
                        .map(|(wait, order, atomic)| {
                            let what = format!("{}, {wait:?}, {order:?}, {notify:?}", kind.name());
                            spawn(scope, what, || atomic.wait_by(0, *order, *wait))
                        })
                        .collect();
                    until_all_asleep(&waiters);
                    waits.iter().for_each(|(.., atomic)| atomic.notify(notify));
                    until_all_asleep(&waiters);
                    for ((wait, order, atomic), waiter) in waits.iter().zip(waiters) {
                        atomic.change(atomic.max(), notify);
                        assert_eq!(waiter.join(), Ok(atomic.max()), "{}, {wait:?}, {order:?}", kind.name());
                    }
                });
            }
        }
    });
}

/// A change of any one bit is a change: also where a platform compares 32 bits and no others.
#[test]
fn every_bit_counts() {
    watchdog("every bit counts", || {
        for atomic in atomics() {
            let (atomic, seen) = (&*atomic, AtomicU64::new(0));
            let bits = (0..atomic.bits()).map(|bit| 1 << bit);
            // One after the other is set, and then cleared.
            let values = bits.clone().chain(bits).scan(0_u64, |value, bit| {
                *value ^= bit;
                Some(*value)
            });
            let values: Vec<u64> = values.collect();
            thread::scope(|scope| {
                let waiter = spawn(scope, format!("{}, bit by bit", atomic.name()), || {
                    let mut now = 0;
                    for value in &values {
                        now = atomic.wait_by(now, Relaxed, Wait::Untimed).unwrap();
                        assert_eq!(now, *value, "{}", atomic.name());
                        seen.fetch_add(1, Release);
                    }
                });
                for (count, value) in (1..).zip(&values) {
                    if count % 4 == 0 {
                        waiter.until_asleep();
                    }
                    atomic.change(*value, Notify::One);
                    stay_awake_until(|| seen.load(Acquire) == count);
                }
                waiter.join();
            });
        }
    });
}

/// Whatever the deadline, and whichever bit it is.
#[test]
fn what_differs_beats_a_deadline_that_has_passed() {
    watchdog("what differs beats a passed deadline", || {
        for atomic in atomics() {
            atomic.set(atomic.max(), Relaxed);
            for wait in Wait::passed().into_iter().chain(Wait::endless()) {
                for order in OF_LOADS {
                    for old in (0..atomic.bits()).map(|bit| atomic.max() ^ (1 << bit)) {
                        let told = atomic.wait_by(old, order, wait);
                        assert_eq!(told, Ok(atomic.max()), "{}, {wait:?}, {order:?}, {old:#x}", atomic.name());
                    }
                }
            }
        }
    });
}

#[test]
fn the_old_value_and_a_passed_deadline_is_a_timeout() {
    watchdog("the old value and a passed deadline", || {
        for atomic in atomics() {
            for value in [0, 1, atomic.max()] {
                atomic.set(value, Relaxed);
                for wait in Wait::passed() {
                    for order in OF_LOADS {
                        let told = atomic.wait_by(value, order, wait);
                        assert_eq!(told, Err(TimedOut), "{}, {wait:?}, {order:?}", atomic.name());
                    }
                }
            }
        }
    });
}

/// Told again and again that nothing has changed, a wait neither ends early nor starts its time anew: Darksonn/watch#4, mono
/// #2655. And it leaves the value alone.
#[test]
fn no_notification_in_vain_ends_a_wait_or_prolongs_it() {
    const TIMEOUTS: [u64; 5] = [1, 20_000, 100_000, 800_000, 15_000_000];

    watchdog("notifications in vain", || {
        let (all, over) = (atomics(), AtomicBool::new(false));
        thread::scope(|scope| {
            spawn(scope, "notifies in vain", || {
                for notify in Notify::ALL.into_iter().cycle() {
                    if over.load(Acquire) {
                        return;
                    }
                    all.iter().for_each(|atomic| atomic.notify(notify));
                    thread::yield_now();
                }
            });
            let waiters: Vec<_> = (all.iter())
                .map(|atomic| {
                    spawn(scope, format!("{}, told in vain", atomic.name()), move || {
                        for timeout in TIMEOUTS.map(Duration::from_nanos) {
                            for form in 0..Wait::TIMED {
                                let wait = Wait::within(timeout)[form];
                                let start = Instant::now();
                                let told = atomic.wait_by(0, Relaxed, wait);
                                assert_eq!(told, Err(TimedOut), "{}, {wait:?}", atomic.name());
                                assert!(wait.is_due(start), "{}, {wait:?}: early", atomic.name());
                            }
                        }
                    })
                })
                .collect();
            waiters.into_iter().for_each(|waiter| waiter.join());
            over.store(true, Release);
        });
        assert!(all.iter().all(|atomic| atomic.get() == 0));
    });
}

/// As of a load: whether the value differs or not, whether there is time or not. And before anything else: nobody is left
/// behind who would take a notification along.
#[test]
fn orderings_of_stores_are_refused() {
    watchdog("orderings of stores", || {
        for atomic in atomics() {
            for order in [Release, AcqRel] {
                for wait in Wait::within(HOUR).into_iter().chain(Wait::passed()).chain(Wait::endless()) {
                    for old in [0, 1] {
                        let panic = panic_of(|| atomic.wait_by(old, order, wait));
                        assert!(panic.message.contains("load"), "{}, {wait:?}: {panic}", atomic.name());
                    }
                }
            }
            assert_eq!(atomic.get(), 0);
            thread::scope(|scope| {
                let waiter = spawn(scope, "comes after those refused", || atomic.wait_by(0, Relaxed, Wait::Untimed));
                waiter.until_asleep();
                atomic.change(1, Notify::One);
                assert_eq!(waiter.join(), Ok(1));
            });
        }
    });
}

/// A change between the first look and the look at the clock is not left behind.
#[test]
fn what_comes_before_the_clock_is_read_is_found() {
    let (flag, count) = (AtomicBool::new(false), AtomicU64::new(5));
    assert_eq!(flag.wait_until(false, Relaxed, PassedAfter(&|| flag.store(true, Relaxed))), Ok(true));
    assert_eq!(count.wait_until(5, Relaxed, PassedAfter(&|| count.store(1 << 40, Relaxed))), Ok(1 << 40));
    assert_eq!(count.wait_until(1 << 40, Relaxed, PassedAfter(&|| count.notify_all())), Err(TimedOut));
}

/// Whoever comes after a notification has to be told anew.
#[test]
fn a_notification_is_not_remembered() {
    watchdog("a notification is not remembered", || {
        for kind in atomics() {
            for notify in Notify::ALL {
                let atomic = kind.fresh();
                (0..3).for_each(|_| atomic.notify(notify));
                thread::scope(|scope| {
                    let waiter = spawn(scope, format!("{}, {notify:?}", atomic.name()), || {
                        atomic.wait_by(0, Relaxed, Wait::Untimed)
                    });
                    waiter.until_asleep();
                    atomic.change(1, notify);
                    assert_eq!(waiter.join(), Ok(1));
                });
            }
        }
    });
}

/// The address is a key and nothing else: null, one that is not aligned, one of nothing, one of somebody else's.
#[test]
fn an_address_is_never_read() {
    fn notify_everywhere<A: AtomicWait>() {
        for address in [0, 1, 7, 4095, 1 << 20, usize::MAX / 2, usize::MAX - 3, usize::MAX] {
            for notify in Notify::ALL {
                notify.call_raw(std::ptr::without_provenance::<A>(address));
            }
        }
    }

    watchdog("addresses of nothing", || {
        let value = AtomicU32::new(0);
        let everywhere = || {
            notify_everywhere::<AtomicBool>();
            notify_everywhere::<AtomicU8>();
            notify_everywhere::<AtomicU32>();
            notify_everywhere::<AtomicU64>();
            notify_everywhere::<AtomicPtr<String>>();
        };
        everywhere();
        thread::scope(|scope| {
            let waiter = spawn(scope, "waits meanwhile", || value.wait(0, Relaxed));
            waiter.until_asleep();
            everywhere();
            waiter.until_asleep();
            value.store(1, Relaxed);
            // By the address alone, as an atomic of another width at the same place.
            AtomicU8::notify_one_raw((&raw const value).cast());
            assert_eq!(waiter.join(), 1);
        });
    });
}

/// In statics, in arrays, on stacks, in boxes, behind references that are counted.
#[test]
fn an_atomic_may_be_anywhere() {
    static FLAG: AtomicBool = AtomicBool::new(false);
    static TURNS: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

    watchdog("an atomic anywhere", || {
        let on_stack = AtomicU8::new(0);
        let boxed = Box::new(AtomicU64::new(0));
        let shared = std::sync::Arc::new(AtomicPtr::new(std::ptr::null_mut::<String>()));
        let mut text = String::from("there");
        thread::scope(|scope| {
            let waiters = [
                spawn(scope, "a static", || assert!(FLAG.wait(false, Acquire))),
                spawn(scope, "one of an array", || assert_eq!(TURNS[1].wait(0, Acquire), 5)),
                spawn(scope, "on the stack", || assert_eq!(on_stack.wait(0, Acquire), 1)),
                spawn(scope, "in a box", || assert_eq!(boxed.wait_for(0, Acquire, HOUR), Ok(u64::MAX))),
                spawn(scope, "a pointer", || assert!(!shared.wait(std::ptr::null_mut(), Acquire).is_null())),
            ];
            until_all_asleep(&waiters);
            TURNS[1].store(5, Release);
            TURNS[0].notify_all();
            until_all_asleep(&waiters);
            TURNS[1].notify_one();
            FLAG.store(true, Release);
            FLAG.notify_all();
            on_stack.store(1, Release);
            on_stack.notify_one();
            boxed.store(u64::MAX, Release);
            boxed.notify_one();
            shared.store(&raw mut text, Release);
            shared.notify_all();
        });
    });
}

#[test]
fn a_pointer_is_compared_as_a_pointer() {
    let mut pair = [0_u16; 2];
    let first = pair.as_mut_ptr();
    let pointer = AtomicPtr::new(first);
    assert_eq!(pointer.wait_for(first, Relaxed, Duration::ZERO), Err(TimedOut));
    assert_eq!(pointer.wait(first.wrapping_add(1), Relaxed), first);
    assert_eq!(pointer.wait(std::ptr::null_mut(), SeqCst), first);
}
