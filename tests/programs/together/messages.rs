//! One-shots and waits on atomics: what is sent or stored is received or seen, and what was done before it is there.

use std::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Mutex, MutexGuard, PoisonError};

use proptest::collection::vec;
use proptest::prelude::*;
use waitline::oneshot::{Receiver, RecvTimeoutError, Sender, SharedReceiver, channel};

use super::{Game, MAX_THREADS, is_for};
use crate::common::Wait;
use crate::common::atomic_wait::{Atomic, Notify, atomics};
use crate::common::oneshot::{Counted, Ledger, borrow, recv};
use crate::common::plain::Plain;
use crate::ways::{Way, ways};

pub(super) struct Objects {
    ledger: Ledger,
    /// One of every kind.
    atomics: Vec<Box<dyn Atomic>>,
}

impl Objects {
    pub(super) fn new() -> Objects {
        Objects { ledger: Ledger::default(), atomics: atomics() }
    }

    /// Once all channels are gone.
    pub(super) fn check(&self) {
        self.ledger.balance("all channels");
    }
}

/// A channel of its own for each phase.
#[derive(Clone, Debug)]
pub(super) struct ChannelPlan {
    sender: usize,
    /// Or leaves.
    sends: bool,
    early: bool,
    /// Alone, the first of them receives, in all their ways.
    is_shared: bool,
    receives: Vec<(usize, Way)>,
    /// Whether a receiver leaves after that, if nothing has come.
    gives_up: bool,
}

pub(super) fn channel_plans() -> impl Strategy<Value = ChannelPlan> {
    let thread = 0..MAX_THREADS;
    (thread.clone(), any::<[bool; 4]>(), vec((thread, ways()), 0..6)).prop_map(
        |(sender, [sends, early, is_shared, gives_up], receives)| ChannelPlan {
            sender,
            sends,
            early,
            is_shared,
            receives,
            gives_up,
        },
    )
}

pub(super) struct ChannelGame<'a> {
    plan: &'a ChannelPlan,
    threads: usize,
    ledger: &'a Ledger,
    sender: Mutex<Option<Sender<Counted<'a>>>>,
    receiver: Mutex<Option<Receiver<Counted<'a>>>>,
    /// As many as there are receives.
    shared: Mutex<Vec<SharedReceiver<Counted<'a>>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ChannelPlan {
    pub(super) fn start<'a>(&'a self, objects: &'a Objects, threads: usize) -> ChannelGame<'a> {
        let (sender, receiver) = channel();
        let mut alone = Some(receiver);
        let shared = match self.is_shared {
            true => alone.take().map(|receiver| vec![receiver.share(); self.receives.len()]),
            false => None,
        };
        ChannelGame {
            plan: self,
            threads,
            ledger: &objects.ledger,
            sender: Mutex::new(Some(sender)),
            receiver: Mutex::new(alone),
            shared: Mutex::new(shared.unwrap_or_default()),
        }
    }
}

impl<'a> ChannelGame<'a> {
    fn receive_alone(&self, receiver: &Receiver<Counted<'a>>) {
        let last = (!self.plan.gives_up).then_some(Way::Untimed);
        for way in self.plan.receives.iter().map(|(_, way)| *way).chain(last) {
            match recv(receiver, way.any()) {
                Ok(value) => return self.ledger.receive(value),
                Err(error) => self.expect(error, way),
            }
        }
    }

    fn expect(&self, error: RecvTimeoutError, way: Way) {
        match error {
            RecvTimeoutError::Timeout => assert!(way.may_time_out(), "{way:?}"),
            RecvTimeoutError::Disconnected => assert!(!self.plan.sends, "{way:?}"),
        }
    }
}

impl Game for ChannelGame<'_> {
    fn name(&self) -> &'static str {
        "channel"
    }

    fn give(&self, thread: usize, early: bool) {
        if is_for(self.plan.sender, thread, self.threads) && self.plan.early == early {
            let sender = lock(&self.sender).take().unwrap();
            if self.plan.sends { _ = self.ledger.send(sender) } else { drop(sender) }
        }
    }

    fn take(&self, thread: usize) {
        let is_mine = |receive: &&(usize, Way)| is_for(receive.0, thread, self.threads);
        if !self.plan.is_shared {
            if self.plan.receives.first().is_some_and(|receive| is_mine(&receive)) {
                let receiver = lock(&self.receiver).take().unwrap();
                self.receive_alone(&receiver);
            }
            return;
        }
        for (_, way) in self.plan.receives.iter().filter(is_mine) {
            let receiver = lock(&self.shared).pop().unwrap();
            let last = (!self.plan.gives_up).then_some(Way::Untimed);
            for way in [*way].into_iter().chain(last) {
                if let Err(error) = borrow(&receiver, way.any()) {
                    self.expect(error, way);
                }
            }
        }
    }

    fn check(&self) {
        assert!(lock(&self.sender).is_none() && lock(&self.shared).is_empty());
        drop(lock(&self.receiver).take());
    }
}

/// The changes of one atomic by one thread, and the waits for the last of them by others.
#[derive(Clone, Debug)]
pub(super) struct AtomicPlan {
    pub(super) object: usize,
    giver: usize,
    early: bool,
    changes: u64,
    notify: usize,
    waits: Vec<(usize, Way)>,
}

pub(super) fn atomic_plans() -> impl Strategy<Value = AtomicPlan> {
    let thread = 0..MAX_THREADS;
    (0..atomics().len(), thread.clone(), any::<bool>(), 1..4_u64, 0..Notify::ALL.len(), vec((thread, ways()), 0..6))
        .prop_map(|(object, giver, early, changes, notify, waits)| AtomicPlan {
            object,
            giver,
            early,
            changes,
            notify,
            waits,
        })
}

pub(super) struct AtomicGame<'a> {
    plan: &'a AtomicPlan,
    threads: usize,
    atomic: &'a dyn Atomic,
    /// All different.
    values: Vec<u64>,
    /// How many values had been stored, before the last of them was.
    message: Plain<usize>,
    seen: AtomicUsize,
}

impl AtomicPlan {
    pub(super) fn start<'a>(&'a self, objects: &'a Objects, threads: usize) -> AtomicGame<'a> {
        let atomic = &*objects.atomics[self.object];
        let changes = if atomic.bits() == 1 { 1 } else { self.changes };
        let values = (1..=changes).map(|change| atomic.get().wrapping_add(change) & atomic.max()).collect();
        AtomicGame { plan: self, threads, atomic, values, message: Plain::new(0), seen: AtomicUsize::new(0) }
    }

    /// As many notifications of one as there are waiters, or one of all.
    fn notify(&self, atomic: &dyn Atomic) {
        let notify = Notify::ALL[self.notify];
        let times = if matches!(notify, Notify::One | Notify::OneRaw) { self.waits.len() } else { 1 };
        (0..times).for_each(|_| atomic.notify(notify));
    }
}

impl Game for AtomicGame<'_> {
    fn name(&self) -> &'static str {
        self.atomic.name()
    }

    fn give(&self, thread: usize, early: bool) {
        if is_for(self.plan.giver, thread, self.threads) && self.plan.early == early {
            for (number, value) in self.values.iter().enumerate() {
                if number + 1 == self.values.len() {
                    self.message.set(number);
                }
                self.atomic.set(*value, Release);
                self.plan.notify(self.atomic);
            }
        }
    }

    fn take(&self, thread: usize) {
        let last = *self.values.last().unwrap();
        for &(waiter, way) in &self.plan.waits {
            if !is_for(waiter, thread, self.threads) {
                continue;
            }
            let mut now = self.atomic.get();
            let mut wait = way.any();
            while now != last {
                match self.atomic.wait_by(now, Acquire, wait) {
                    Ok(new) => {
                        assert_ne!(new, now, "{way:?}");
                        now = new;
                    }
                    Err(_) => {
                        assert!(way.may_time_out(), "{way:?}");
                        wait = Wait::Untimed;
                    }
                }
            }
            assert_eq!(self.message.get(), self.values.len() - 1, "not all is there that was done before");
            self.seen.fetch_add(1, Relaxed);
        }
    }

    fn check(&self) {
        assert_eq!(self.seen.load(Relaxed), self.plan.waits.len());
        assert_eq!(self.atomic.get(), *self.values.last().unwrap());
    }
}
