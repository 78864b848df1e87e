//! Waits on atomics: what the caller's own orderings say, and the edges inside, E1 of `src/wait/table.rs` (a node is on the
//! stack of its waiter, where other things are as soon as the wait is over) and E1 of `src/wait/lock.rs` (the queues are
//! plain memory). E2 of the table is between atomics only: no plain memory rests on it, and `tests/atomic_wait_fence.rs` and
//! the models ask for it.

use std::sync::atomic::{
    AtomicU8, AtomicU32, AtomicU64, Ordering,
    Ordering::{Acquire, Release, SeqCst},
};
use std::thread;
use std::time::Duration;

use waitline::AtomicWait;

use crate::common::atomic_wait::{Atomic, Notify, atomics, wait_by};
use crate::common::plain::Plain;
use crate::common::{Form, Gate, Wait, all_at_once, jitter, rounds, spawn, watchdog};

/// What was written before a `Release` store is there after an `Acquire` wait, in each of its forms, whether it slept or not.
#[test]
fn a_release_store_and_an_acquire_wait_are_an_edge() {
    fn pass<A: AtomicWait<Value: From<u8>> + Sync>(atomics: &[A], store: fn(&A, Ordering), acquiring: Ordering) {
        let (gate, plain) = (Gate::new(2), Plain::new(0));
        thread::scope(|scope| {
            spawn(scope, format!("{}: writer", std::any::type_name::<A>()), || {
                for (round, atomic) in (1..).zip(atomics) {
                    gate.pass();
                    jitter(round);
                    plain.set(round);
                    store(atomic, if acquiring == SeqCst { SeqCst } else { Release });
                    Notify::ALL[round as usize % 4].call(atomic);
                    gate.pass();
                }
            });
            for (round, atomic) in (1_u32..).zip(atomics) {
                gate.pass();
                jitter(round.wrapping_mul(3));
                let within = Wait::within(Duration::from_micros(20));
                let mut forms = within.into_iter().chain([Wait::Try, Wait::Untimed]).cycle().skip(round as usize);
                while wait_by(atomic, A::Value::from(0), acquiring, forms.next().unwrap()).is_err() {}
                assert_eq!(plain.get(), round);
                gate.pass();
            }
        });
    }

    watchdog("a release store and an acquire wait", || {
        let rounds = 0..rounds(1000);
        for order in [Acquire, SeqCst] {
            let many: Vec<_> = rounds.clone().map(|_| AtomicU8::new(0)).collect();
            pass(&many, |atomic, order| atomic.store(1, order), order);
            let many: Vec<_> = rounds.clone().map(|_| AtomicU32::new(0)).collect();
            pass(&many, |atomic, order| atomic.store(1, order), order);
            let many: Vec<_> = rounds.clone().map(|_| AtomicU64::new(0)).collect();
            pass(&many, |atomic, order| atomic.store(1, order), order);
        }
    });
}

/// Three wait and leave, two of them for one atomic; the queues and the nodes pass from thread to thread.
#[test]
fn e1_nodes_and_queues_pass_from_thread_to_thread() {
    struct Round {
        number: u32,
        atomics: [Box<dyn Atomic>; 2],
        cells: [Plain<u32>; 2],
    }

    impl Round {
        fn wait(&self, which: usize, form: Form) {
            while self.atomics[which].wait_by(0, Acquire, form.start()).is_err() {
                overwrite_the_stack(self.number);
            }
            overwrite_the_stack(self.number);
            assert_eq!(self.cells[which].get(), self.number);
        }

        fn change(&self, which: usize) {
            self.cells[which].set(self.number);
            self.atomics[which].set(1, Release);
            self.atomics[which].notify(Notify::All);
        }
    }

    /// Where the node was.
    #[inline(never)]
    fn overwrite_the_stack(number: u32) {
        std::hint::black_box([number; 500]);
    }

    watchdog("nodes and queues", || {
        for form in Form::all() {
            let new = |number: u32| {
                let [kinds, others] = [(), ()].map(|()| atomics());
                let pick = |kinds: Vec<Box<dyn Atomic>>| {
                    let nth = number as usize % kinds.len();
                    kinds.into_iter().nth(nth).unwrap()
                };
                Round { number, atomics: [pick(kinds), pick(others)], cells: [Plain::new(0), Plain::new(0)] }
            };
            let all: Vec<_> = (1..=rounds(120)).map(new).collect();
            all_at_once(
                &format!("atomics and {form:?}"),
                &all,
                &[
                    &|round: &Round| round.wait(0, form),
                    &|round: &Round| round.wait(0, Form::Untimed),
                    &|round: &Round| round.wait(1, form),
                    &|round: &Round| {
                        round.change(0);
                        round.change(1);
                    },
                ],
            );
        }
    });
}
