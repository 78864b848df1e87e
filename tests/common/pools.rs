//! The semaphores: every call that takes permits, and every way to give them back.

use std::fmt;
use std::sync::Arc;

use waitline::{BinarySemaphore, OwnedPermit, Permit, Semaphore};

use super::calls::{Subject, Wait, call};

/// Permits, taken through one call in all its forms.
pub(crate) trait Pool: Subject {
    /// How many permits one call takes.
    fn size(&self) -> usize;

    fn take(&self, wait: Wait) -> Option<Held<'_>>;

    /// Releases `permits` in one call, or in so many calls of one. Says how many came to be available.
    fn give(&self, permits: usize, at_once: bool) -> usize;

    /// Releases `permits` by the raw form. Says how many came to be available.
    fn give_raw(&self, permits: usize) -> usize;

    fn available(&self) -> usize;

    /// The same call on the same object, or another call on the same object.
    fn others(&self) -> Vec<Box<dyn Pool>>;
}

/// Fresh ones of every kind, with nothing to take.
pub(crate) fn pools() -> Vec<Box<dyn Pool>> {
    let mut all: Vec<Box<dyn Pool>> = Vec::new();
    all.extend(Counting::all(0).into_iter().map(|counting| Box::new(counting) as Box<dyn Pool>));
    all.push(Box::new(Binary::new(false)));
    all
}

/// Takes what there is, permit by permit.
pub(crate) fn drain(pool: &dyn Pool) -> usize {
    let single = &pool.others()[0];
    assert_eq!(single.size(), 1);
    (0..).find(|_| !single.wait(Wait::Try)).unwrap()
}

/// What a call has taken.
pub(crate) enum Held<'a> {
    Plain(&'a dyn Pool),
    Permit(Permit<'a>),
    Owned(OwnedPermit),
}

impl Held<'_> {
    /// Says how many permits came to be available.
    pub(crate) fn give_back(self) -> usize {
        match self {
            Held::Plain(pool) => pool.give(pool.size(), true),
            Held::Permit(permit) => {
                let n = permit.num_permits();
                drop(permit);
                n
            }
            Held::Owned(permit) => {
                let n = permit.num_permits();
                drop(permit);
                n
            }
        }
    }

    pub(crate) fn keep(self) {
        match self {
            Held::Plain(_) => {}
            Held::Permit(permit) => permit.forget(),
            Held::Owned(permit) => permit.forget(),
        }
    }
}

/// The families of calls of the counting semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Single,
    Many(usize),
    Permit,
    Permits(usize),
    Owned(usize),
}

impl Call {
    pub(crate) const ALL: [Call; 8] = [
        Call::Single,
        Call::Many(1),
        Call::Many(3),
        Call::Permit,
        Call::Permits(1),
        Call::Permits(2),
        Call::Owned(1),
        Call::Owned(2),
    ];
}

#[derive(Clone)]
pub(crate) struct Counting {
    pub(crate) semaphore: Arc<Semaphore>,
    pub(crate) call: Call,
}

impl Counting {
    pub(crate) fn new(permits: usize, call: Call) -> Counting {
        Counting { semaphore: Arc::new(Semaphore::new(permits)), call }
    }

    /// One semaphore for each call.
    pub(crate) fn all(permits: usize) -> Vec<Counting> {
        Call::ALL.map(|call| Counting::new(permits, call)).into()
    }
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Semaphore, {:?}", self.call)
    }
}

impl Subject for Counting {
    fn name(&self) -> String {
        self.to_string()
    }

    fn wait(&self, wait: Wait) -> bool {
        self.take(wait).map(Held::keep).is_some()
    }

    fn satisfy(&self) {
        self.semaphore.release_many(self.size());
    }

    fn fresh(&self) -> Box<dyn Subject> {
        Box::new(Counting::new(0, self.call))
    }

    fn adds_up(&self, came: bool) -> bool {
        drain(self) == if came { 0 } else { self.size() }
    }
}

impl Pool for Counting {
    fn size(&self) -> usize {
        match self.call {
            Call::Single | Call::Permit => 1,
            Call::Many(n) | Call::Permits(n) | Call::Owned(n) => n,
        }
    }

    fn take(&self, wait: Wait) -> Option<Held<'_>> {
        let semaphore = &self.semaphore;
        let plain = |taken: bool| taken.then_some(Held::Plain(self));
        match self.call {
            Call::Single => {
                plain(call!(wait, semaphore: acquire try_acquire try_acquire_for try_acquire_until () => true))
            }
            Call::Many(n) => plain(call!(wait, semaphore:
                acquire_many try_acquire_many try_acquire_many_for try_acquire_many_until (n) => true)),
            Call::Permit => call!(wait, semaphore:
                acquire_permit try_acquire_permit try_acquire_permit_for try_acquire_permit_until ())
            .map(Held::Permit),
            Call::Permits(n) => call!(wait, semaphore:
                acquire_permits try_acquire_permits try_acquire_permits_for try_acquire_permits_until (n))
            .map(Held::Permit),
            Call::Owned(n) => call!(wait, semaphore:
                acquire_owned try_acquire_owned try_acquire_owned_for try_acquire_owned_until (n))
            .map(Held::Owned),
        }
    }

    fn give(&self, permits: usize, at_once: bool) -> usize {
        if at_once {
            self.semaphore.release_many(permits);
        } else {
            (0..permits).for_each(|_| self.semaphore.release());
        }
        permits
    }

    #[allow(unsafe_code, reason = "the raw form")]
    fn give_raw(&self, permits: usize) -> usize {
        // SAFETY: the semaphore outlives the call.
        unsafe { Semaphore::release_raw(&*self.semaphore, permits) };
        permits
    }

    fn available(&self) -> usize {
        self.semaphore.available_permits()
    }

    fn others(&self) -> Vec<Box<dyn Pool>> {
        let on_same = |call| Box::new(Counting { semaphore: Arc::clone(&self.semaphore), call }) as Box<dyn Pool>;
        Call::ALL.map(on_same).into()
    }
}

#[derive(Clone)]
pub(crate) struct Binary {
    pub(crate) semaphore: Arc<BinarySemaphore>,
}

impl Binary {
    pub(crate) fn new(available: bool) -> Binary {
        Binary { semaphore: Arc::new(BinarySemaphore::new(available)) }
    }
}

impl Subject for Binary {
    fn name(&self) -> String {
        "BinarySemaphore".to_owned()
    }

    fn wait(&self, wait: Wait) -> bool {
        let semaphore = &self.semaphore;
        call!(wait, semaphore: acquire try_acquire try_acquire_for try_acquire_until () => true)
    }

    fn satisfy(&self) {
        assert!(self.semaphore.release());
    }

    fn fresh(&self) -> Box<dyn Subject> {
        Box::new(Binary::new(false))
    }

    fn adds_up(&self, came: bool) -> bool {
        drain(self) == usize::from(!came)
    }
}

impl Pool for Binary {
    fn size(&self) -> usize {
        1
    }

    fn take(&self, wait: Wait) -> Option<Held<'_>> {
        self.wait(wait).then_some(Held::Plain(self))
    }

    /// Releases do not add up: those that find the permit there count for nothing.
    fn give(&self, permits: usize, _at_once: bool) -> usize {
        (0..permits).filter(|_| self.semaphore.release()).count()
    }

    #[allow(unsafe_code, reason = "the raw form")]
    fn give_raw(&self, permits: usize) -> usize {
        // SAFETY: the semaphore outlives the call.
        (0..permits).filter(|_| unsafe { BinarySemaphore::release_raw(&*self.semaphore) }).count()
    }

    fn available(&self) -> usize {
        usize::from(self.semaphore.is_available())
    }

    fn others(&self) -> Vec<Box<dyn Pool>> {
        vec![Box::new(self.clone())]
    }
}
