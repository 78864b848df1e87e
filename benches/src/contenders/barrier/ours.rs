//! Ours.

use waitline::{Arrival, Barrier};

use super::AnyBarrier;
use crate::contenders::{Contender, Pending, timed};

impl Contender for Barrier {
    fn name() -> &'static str {
        "Barrier"
    }
}

impl AnyBarrier for Barrier {
    fn new(parties: usize) -> Barrier {
        Barrier::new(parties)
    }

    #[inline]
    fn wait(&self) {
        self.wait();
    }
}

impl Pending for Barrier {
    fn pending() -> Barrier {
        Barrier::new(2)
    }
}

timed! {
    Barrier,
    |it, timeout| it.wait_for(timeout).is_ok(),
    |it, deadline| it.wait_until(deadline).is_ok()
}

/// One of two who has arrived, with the other missing. All share one barrier: there can be one at a time.
#[derive(Debug)]
pub struct Arrived(Arrival<'static>);

static BARRIER: Barrier = Barrier::new(2);

impl Contender for Arrived {
    fn name() -> &'static str {
        "Arrival"
    }
}

impl Pending for Arrived {
    fn pending() -> Arrived {
        Arrived(BARRIER.arrive())
    }
}

impl Drop for Arrived {
    fn drop(&mut self) {
        // The other one comes, so that the next phase has nobody in it.
        drop(BARRIER.arrive());
    }
}

timed! {
    Arrived,
    |it, timeout| it.0.wait_for(timeout).is_ok(),
    |it, deadline| it.0.wait_until(deadline).is_ok()
}
