//! Latches: E1 and E2 of `src/latch.rs`.

use std::thread;

use waitline::Latch;

use crate::common::latch::wait_for_opening;
use crate::common::plain::Plain;
use crate::common::{Form, all_at_once, rounds, watchdog};

/// STL #1057, folly d8ed9cd: early counts' writes were not seen. From each that counts, by every call that does, through
/// every form of wait (E1), and to whoever opens (E2).
#[test]
#[allow(unsafe_code, reason = "the raw form is one of those under test")]
fn e1_e2_what_was_written_before_a_count_is_there_once_open() {
    const COUNTERS: usize = 4;

    struct Round {
        number: usize,
        latch: Latch,
        cells: [Plain<usize>; COUNTERS],
    }

    impl Round {
        fn count(&self, counter: usize) {
            self.cells[counter].set(self.number + counter);
            let opened = match counter {
                0 => self.latch.count_down(),
                // SAFETY: the latch outlives the call.
                1 => unsafe { Latch::count_down_raw(&self.latch, 1) },
                2 => self.latch.count_down_by(1),
                _ => {
                    self.latch.arrive_and_wait();
                    true
                }
            };
            if opened {
                self.check();
            }
        }

        fn wait(&self, form: Form) {
            while wait_for_opening(&self.latch, form.start()).is_err() {
                thread::yield_now();
            }
            self.check();
        }

        fn check(&self) {
            for (counter, cell) in self.cells.iter().enumerate() {
                assert_eq!(cell.get(), self.number + counter);
            }
        }
    }

    watchdog("message passing by latches", || {
        for form in Form::all() {
            let new = |number| Round {
                number: number as usize,
                latch: Latch::new(COUNTERS),
                cells: [(); COUNTERS].map(|()| Plain::new(0)),
            };
            let all: Vec<_> = (1..=rounds(60)).map(new).collect();
            let counters: [_; COUNTERS] = std::array::from_fn(|counter| move |round: &Round| round.count(counter));
            let waiter = |round: &Round| round.wait(form);
            let [first, second, third, fourth] = &counters;
            all_at_once(&format!("a latch and {form:?}"), &all, &[first, second, third, fourth, &waiter]);
        }
    });
}
