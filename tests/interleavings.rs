//! What two and three threads can do to each other through one semaphore: every call against every other, let go at
//! the same moment, many times. No permit is lost or made, nobody sleeps once there is something to take, and nobody
//! is woken for nothing.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use common::threads::until_all_asleep;
use common::{Form, Gate, Pool, Wait, drain, jitter, pools, rounds, spawn, stay_awake_until, watchdog};

/// What one side does in each round.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Takes for good, if it can.
    Take(Form),
    /// Takes, if it can, and gives back.
    Borrow(Form),
    /// Releases so many permits, in one call or one by one.
    Give(usize, At),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Once,
    OneByOne,
}

/// The permits of one round, as the sides count them.
#[derive(Default)]
struct Ledger {
    given: AtomicUsize,
    taken: AtomicUsize,
}

impl Ledger {
    fn act(&self, pool: &dyn Pool, act: Act) {
        match act {
            Act::Take(form) => {
                if let Some(held) = pool.take(form.start()) {
                    held.keep();
                    self.taken.fetch_add(pool.size(), Relaxed);
                }
            }
            Act::Borrow(form) => {
                if let Some(held) = pool.take(form.start()) {
                    self.taken.fetch_add(pool.size(), Relaxed);
                    self.given.fetch_add(held.give_back(), Relaxed);
                }
            }
            Act::Give(permits, at) => {
                self.given.fetch_add(pool.give(permits, at == At::Once), Relaxed);
            }
        }
    }

    /// What must be there now; then the next round starts from nothing.
    fn balance(&self) -> usize {
        self.given.swap(0, Relaxed) - self.taken.swap(0, Relaxed)
    }
}

/// Lets the sides, all on one semaphore, act at once from `initial` permits.
fn meet(initial: usize, sides: &[(&dyn Pool, Act)], rounds: u32) {
    let cell = sides.iter().map(|(pool, act)| format!("{} {act:?}", pool.name())).collect::<Vec<_>>().join(" | ");
    let gate = Gate::new(sides.len() + 1);
    let ledger = Ledger::default();
    thread::scope(|scope| {
        for (number, &(pool, act)) in sides.iter().enumerate() {
            let (gate, ledger) = (&gate, &ledger);
            spawn(scope, format!("{number} of {cell}"), move || {
                for round in 0..rounds {
                    gate.pass();
                    jitter(round.wrapping_mul(number as u32 + 1));
                    ledger.act(pool, act);
                    gate.pass();
                }
            });
        }
        let first = sides[0].0;
        for _ in 0..rounds {
            ledger.given.fetch_add(first.give(initial, true), Relaxed);
            gate.pass();
            gate.pass();
            let expected = ledger.balance();
            assert_eq!(first.available(), expected, "{cell}");
            assert_eq!(drain(first), expected, "{cell}");
        }
    });
}

/// Each call in each form against each way to release what it wants, or more.
#[test]
fn an_acquirer_meets_a_releaser() {
    watchdog("an acquirer meets a releaser", || {
        for pool in pools() {
            let size = pool.size();
            for form in Form::all() {
                for act in [Act::Take(form), Act::Borrow(form)] {
                    for (permits, at) in
                        [(size, At::Once), (size, At::OneByOne), (2 * size, At::Once), (size + 1, At::OneByOne)]
                    {
                        meet(0, &[(&*pool, act), (&*pool, Act::Give(permits, at))], rounds(25));
                    }
                }
            }
        }
    });
}

/// Each call in each form against each other call, with enough for one of them, unless both must come through. glibc
/// 12875, vs-threading #521: of a waiter that leaves and one that is woken, one took the other's permit along.
#[test]
fn an_acquirer_meets_an_acquirer() {
    watchdog("an acquirer meets an acquirer", || {
        for pool in pools() {
            for rival in pool.others() {
                let (size, both) = (pool.size().max(rival.size()), pool.size() + rival.size());
                for form in Form::all() {
                    for against in [Form::Untimed, Form::Try, Form::Timed(0), Form::Timed(3)] {
                        let pass_on = (&*rival, Act::Borrow(against));
                        meet(size, &[(&*pool, Act::Borrow(form)), pass_on], rounds(6));
                        match against {
                            Form::Untimed if !counts(&*pool) => {}
                            Form::Untimed => meet(both, &[(&*pool, Act::Take(form)), pass_on], rounds(6)),
                            _ => meet(size, &[(&*pool, Act::Take(form)), pass_on], rounds(6)),
                        }
                    }
                }
            }
        }
    });
}

/// Two that wait, or give up, and one that releases enough for both: folly db6d0a1, marusama/semaphore #3 and #4, llvm
/// #46357: a release woke too few. And three that pass the same permits round.
#[test]
fn two_acquirers_meet_a_third_thread() {
    watchdog("two acquirers meet a third thread", || {
        for pool in pools() {
            for rival in pool.others() {
                let (size, both) = (pool.size().max(rival.size()), pool.size() + rival.size());
                for (form, against) in [
                    (Form::Untimed, Form::Untimed),
                    (Form::Untimed, Form::Timed(1)),
                    (Form::Timed(2), Form::Timed(3)),
                    (Form::Timed(0), Form::Untimed),
                ] {
                    let (borrow, pass_on) = ((&*pool, Act::Borrow(form)), (&*rival, Act::Borrow(against)));
                    meet(size, &[borrow, pass_on, borrow], rounds(8));
                    for at in [At::Once, At::OneByOne] {
                        meet(0, &[borrow, pass_on, (&*pool, Act::Give(size, at))], rounds(8));
                        if counts(&*pool) {
                            let give = (&*pool, Act::Give(both, at));
                            meet(0, &[(&*pool, Act::Take(form)), (&*rival, Act::Take(against)), give], rounds(8));
                        }
                    }
                }
            }
        }
    });
}

/// Whether it can hold permits for several.
fn counts(pool: &dyn Pool) -> bool {
    pool.others().len() > 1
}

/// Everybody asleep, then one release for k of them: llvm #46357, #77659, libstdc++'s herd (a release for one woke all),
/// folly db6d0a1. k return, and the others have not even been woken, but for the one whose turn it is to collect.
#[test]
fn a_release_wakes_as_many_as_it_serves() {
    #[cfg(target_os = "linux")]
    use common::threads::Activity;
    const SLEEPERS: usize = 5;

    watchdog("a release wakes as many as it serves", || {
        for pool in pools() {
            let most = if counts(&*pool) { SLEEPERS } else { 1 };
            for (k, at) in (0..=most).flat_map(|k| [(k, At::Once), (k, At::OneByOne)]) {
                let what = format!("{}: {k} of {SLEEPERS} {at:?}", pool.name());
                let returned = AtomicUsize::new(0);
                thread::scope(|scope| {
                    let mut sleepers: Vec<_> = (0..SLEEPERS)
                        .map(|_| {
                            spawn(scope, format!("{what}: a sleeper"), || {
                                assert!(pool.wait(Wait::Untimed));
                                returned.fetch_add(1, Relaxed);
                            })
                        })
                        .collect();
                    until_all_asleep(&sleepers);
                    #[cfg(target_os = "linux")]
                    let before: Vec<_> = sleepers.iter().map(|one| (one.id(), Activity::of(one.id()))).collect();
                    assert_eq!(pool.give(k * pool.size(), at == At::Once), k * pool.size());
                    stay_awake_until(|| sleepers.iter().filter(|one| one.has_ended()).count() >= k);
                    sleepers.retain(|one| !one.has_ended());
                    assert_eq!(sleepers.len(), SLEEPERS - k, "{what}");
                    until_all_asleep(&sleepers);
                    assert_eq!(returned.load(Relaxed), k, "{what}");
                    #[cfg(target_os = "linux")]
                    {
                        let woken = |id| before.iter().all(|&before| before != (id, Activity::of(id)));
                        let woken = sleepers.iter().filter(|one| woken(one.id())).count();
                        let next_collector = usize::from(pool.size() > 1 && k > 0);
                        assert!(woken <= next_collector, "{what}: {woken} others woken");
                    }
                    for _ in k..SLEEPERS {
                        stay_awake_until(|| pool.available() == 0);
                        pool.satisfy();
                    }
                });
                assert_eq!(pool.available(), 0, "{what}");
            }
        }
    });
}
