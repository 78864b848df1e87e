//! Who sleeps, who searches, and who is to be woken.
//!
//! A worker works, searches, or sleeps. One word says of each whether it sleeps, and how many search. Whoever wakes a worker
//! takes it out of the sleepers first, and counts it as one who searches: so each is woken once, and by one permit.
//!
//! **No wake-up is lost.** A push is followed by a full fence, and then by a look at the word. A worker first changes the word,
//! then looks for work once more, with a full fence in between. So either the push sees the sleeper, or the sleeper the push.
//! The same holds for a latch that is opened and the worker that waits for it.
//!
//! **One is enough.** A push wakes nobody while somebody searches, since that one will find it. Should it find something else first,
//! or stop for another reason, it looks whether there is more work, and sends another one in its place.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, SeqCst},
    fence,
};

use crossbeam_utils::CachePadded;
use waitline::BinarySemaphore;

/// As many as have a bit in half a word.
pub(super) const MAX_WORKERS: usize = 32;

/// The low half of the word has a bit for each sleeper, the high half counts those who search.
#[derive(Clone, Copy)]
struct State(u64);

const ONE_SEARCHES: u64 = 1 << MAX_WORKERS;

impl State {
    fn bit(index: usize) -> u64 {
        1 << index
    }

    fn sleeps(self, index: usize) -> bool {
        self.0 & State::bit(index) != 0
    }

    fn first_sleeper(self) -> Option<usize> {
        let sleepers = self.0 as u32;
        (sleepers != 0).then(|| sleepers.trailing_zeros() as usize)
    }

    fn searching(self) -> u64 {
        self.0 / ONE_SEARCHES
    }

    /// Woken, and searching.
    fn with_up(self, index: usize) -> State {
        State(self.0 - State::bit(index) + ONE_SEARCHES)
    }
}

pub(super) struct Sleep {
    state: CachePadded<AtomicU64>,
    /// What each worker sleeps on.
    beds: Box<[CachePadded<BinarySemaphore>]>,
}

impl Sleep {
    pub(super) fn new(workers: usize) -> Sleep {
        Sleep { state: CachePadded::default(), beds: (0..workers).map(|_| CachePadded::default()).collect() }
    }

    /// After a push: wakes a worker if that may help.
    #[inline]
    pub(super) fn pushed(&self) {
        fence(SeqCst);
        let now = self.now();
        if now.first_sleeper().is_some() && now.searching() == 0 {
            self.wake_any(now);
        }
    }

    /// After something that one worker waits for: wakes that one if it sleeps.
    #[inline]
    pub(super) fn wake(&self, index: usize) {
        fence(SeqCst);
        let mut now = self.now();
        while now.sleeps(index) {
            match self.get_up(now, index) {
                Ok(()) => return,
                Err(changed) => now = changed,
            }
        }
    }

    #[cold]
    fn wake_any(&self, mut now: State) {
        while let Some(index) = now.first_sleeper() {
            if now.searching() > 0 {
                return;
            }
            match self.get_up(now, index) {
                Ok(()) => return,
                Err(changed) => now = changed,
            }
        }
    }

    fn get_up(&self, now: State, index: usize) -> Result<(), State> {
        self.state.compare_exchange_weak(now.0, now.with_up(index).0, SeqCst, Relaxed).map_err(State)?;
        self.beds[index].release();
        Ok(())
    }

    pub(super) fn start_search(&self) {
        self.state.fetch_add(ONE_SEARCHES, SeqCst);
    }

    /// With work, or without a need for it. `is_more` looks for work of any worker.
    pub(super) fn end_search(&self, is_more: impl FnOnce() -> bool) {
        let before = State(self.state.fetch_sub(ONE_SEARCHES, SeqCst));
        if before.searching() == 1 && before.first_sleeper().is_some() {
            fence(SeqCst);
            if is_more() {
                self.wake_any(self.now());
            }
        }
    }

    /// Sleeps, unless `stay_up` says otherwise, which looks for all that might wake this worker. Searches before and after.
    pub(super) fn sleep(&self, index: usize, stay_up: impl FnOnce() -> bool) {
        self.state.fetch_add(State::bit(index).wrapping_sub(ONE_SEARCHES), SeqCst);
        fence(SeqCst);
        if stay_up() {
            let mut now = self.now();
            while now.sleeps(index) {
                match self.state.compare_exchange_weak(now.0, now.with_up(index).0, SeqCst, Relaxed) {
                    Ok(_) => return,
                    Err(changed) => now = State(changed),
                }
            }
            // Somebody has taken this worker out of the sleepers, and its permit is there or on its way.
        }
        self.beds[index].acquire();
    }

    fn now(&self) -> State {
        State(self.state.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The state of workers that sleep by the word alone, so that one thread can look at all of it.
    fn sleep_of(workers: usize, sleepers: &[usize], searching: u64) -> Sleep {
        let sleep = Sleep::new(workers);
        let bits: u64 = sleepers.iter().map(|&index| State::bit(index)).sum();
        sleep.state.store(bits + searching * ONE_SEARCHES, Relaxed);
        sleep
    }

    /// Who has been sent a permit, who sleeps still, and how many search.
    fn seen(sleep: &Sleep) -> (Vec<usize>, Vec<usize>, u64) {
        let which =
            |condition: &dyn Fn(usize) -> bool| (0..sleep.beds.len()).filter(|&index| condition(index)).collect();
        let now = sleep.now();
        (which(&|index| sleep.beds[index].is_available()), which(&|index| now.sleeps(index)), now.searching())
    }

    #[test]
    fn a_push_wakes_one_who_sleeps_unless_somebody_searches() {
        let sleep = sleep_of(32, &[3, 7, 31], 0);
        sleep.pushed();
        assert_eq!(seen(&sleep), (vec![3], vec![7, 31], 1));
        sleep.pushed();
        assert_eq!(seen(&sleep), (vec![3], vec![7, 31], 1));
        let sleep = sleep_of(2, &[], 0);
        sleep.pushed();
        assert_eq!(seen(&sleep), (vec![], vec![], 0));
    }

    #[test]
    fn the_last_one_who_searches_sends_another_if_there_is_more() {
        let sleep = sleep_of(4, &[1, 2], 2);
        sleep.end_search(|| unreachable!("another one searches"));
        assert_eq!(seen(&sleep), (vec![], vec![1, 2], 1));
        sleep.end_search(|| false);
        assert_eq!(seen(&sleep), (vec![], vec![1, 2], 0));
        sleep.start_search();
        sleep.end_search(|| true);
        assert_eq!(seen(&sleep), (vec![1], vec![2], 1));
    }

    #[test]
    fn a_certain_worker_is_woken_once_and_only_if_it_sleeps() {
        let sleep = sleep_of(4, &[1, 2], 1);
        sleep.wake(0);
        assert_eq!(seen(&sleep), (vec![], vec![1, 2], 1));
        sleep.wake(2);
        sleep.wake(2);
        assert_eq!(seen(&sleep), (vec![2], vec![1], 2));
    }

    #[test]
    fn who_stays_up_takes_no_permit_along() {
        let sleep = sleep_of(2, &[], 1);
        sleep.sleep(1, || true);
        assert_eq!(seen(&sleep), (vec![], vec![], 1));
        // Woken while it looks: the permit is its own.
        sleep.sleep(1, || {
            sleep.wake(1);
            true
        });
        assert_eq!(seen(&sleep), (vec![], vec![], 1));
        sleep.sleep(1, || {
            sleep.wake(1);
            false
        });
        assert_eq!(seen(&sleep), (vec![], vec![], 1));
    }
}
