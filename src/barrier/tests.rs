//! Phases that nobody has the time to go through one by one.

use super::state::LAST_PHASE;
use super::*;

#[test]
fn a_token_knows_that_its_phase_has_ended_however_far_the_barrier_has_moved_on() {
    for start in [0, 1, LAST_PHASE - 1, LAST_PHASE] {
        for further in [1, 2, 127, 128, 65_535, 65_536, LAST_PHASE] {
            let barrier = Barrier::new(2);
            barrier.state.store(State::new(start, 2).0, Relaxed);
            let arrival = barrier.arrive();
            assert!(!arrival.is_complete());
            barrier.state.store(State::new(start.wrapping_add(further), 2).0, Relaxed);
            assert!(arrival.is_complete(), "{further} phases after {start}");
            assert!(!arrival.wait_until(Deadline::PASSED).unwrap().is_leader());
            assert!(arrival.withdraw().is_err());
        }
    }
}

#[test]
fn phases_come_round() {
    let barrier = Barrier::new(2);
    barrier.state.store(State::new(LAST_PHASE, 2).0, Relaxed);
    for _ in 0..3 {
        let first = barrier.arrive();
        assert!(barrier.wait().is_leader());
        assert!(!first.wait().is_leader());
    }
    assert_eq!(state::load(&barrier.state, Relaxed), State::new(2, 2));
}
