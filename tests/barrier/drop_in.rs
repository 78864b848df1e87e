// What code does with std's barrier, and so can do with any other of that name: `Barrier` and `BarrierWaitResult` are
// whatever the file that includes this one has imported.

use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};
use std::thread;

static ROUND: Barrier = Barrier::new(2);
static LAZY: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(1));
const PARTIES: usize = 4;

#[derive(Debug)]
struct Crew {
    barrier: Barrier,
    spare: Option<Arc<Barrier>>,
    last: Option<BarrierWaitResult>,
}

struct Phases<'a>(&'a Barrier);

impl Phases<'_> {
    fn next(&self) -> BarrierWaitResult {
        self.0.wait()
    }
}

#[test]
fn as_documented() {
    let n = 10;
    let barrier = Barrier::new(n);
    thread::scope(|scope| {
        for number in 0..n {
            let barrier = &barrier;
            scope.spawn(move || {
                print!("{number} before ");
                barrier.wait();
                print!("{number} after ");
            });
        }
    });
}

#[test]
fn one_leader_a_phase() {
    let barrier = Arc::new(Barrier::new(PARTIES));
    let threads: Vec<_> = (0..PARTIES)
        .map(|_| {
            let barrier = Arc::clone(&barrier);
            thread::spawn(move || (0..20).filter(|_| barrier.wait().is_leader()).count())
        })
        .collect();
    assert_eq!(threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>(), 20);
}

#[test]
fn none_acts_as_one() {
    for n in [0, 1] {
        assert!(Barrier::new(n).wait().is_leader());
    }
}

#[test]
fn it_is_a_static() {
    let other = thread::spawn(|| ROUND.wait().is_leader());
    assert_ne!(ROUND.wait().is_leader(), other.join().unwrap());
    assert!(LAZY.wait().is_leader());
}

#[test]
fn it_is_a_field() {
    let mut crew = Crew { barrier: Barrier::new(1), spare: None, last: None };
    crew.last = Some(crew.barrier.wait());
    crew.spare = Some(Arc::new(Barrier::new(3)));
    assert!(crew.last.as_ref().is_some_and(BarrierWaitResult::is_leader));
    let shown = format!("{crew:?}");
    assert!(shown.contains("Barrier {") && shown.contains("BarrierWaitResult { is_leader: true }"), "{shown}");
    assert!(Phases(&crew.barrier).next().is_leader());
}

#[test]
fn constructors_and_calls_are_values() {
    let new: fn(usize) -> Barrier = Barrier::new;
    let wait: fn(&Barrier) -> BarrierWaitResult = Barrier::wait;
    assert!(wait(&new(1)).is_leader());
    let barriers: Vec<Barrier> = [1, 1, 0].into_iter().map(Barrier::new).collect();
    assert!(barriers.iter().map(Barrier::wait).all(|result| result.is_leader()));
    let boxed: Box<dyn Fn() -> BarrierWaitResult> = Box::new(|| barriers[0].wait());
    assert!(boxed().is_leader());
    const fn at_compile_time() -> Barrier {
        Barrier::new(PARTIES)
    }
    let _unused = at_compile_time();
}

#[test]
fn it_goes_through_catch_unwind_and_between_threads() {
    fn requires<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + 'static>(_: &T) {}

    let barrier = Barrier::new(1);
    requires(&barrier);
    let shared = &barrier;
    assert!(catch_unwind(|| shared.wait().is_leader()).unwrap());
    assert!(catch_unwind(move || barrier.wait().is_leader()).unwrap());
    requires(&Barrier::new(1).wait());
}
