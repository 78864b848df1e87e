//! What one thread tells another one, again and again: "there is something to do".

mod crates;
mod ours;

use super::{Contender, Pending};

pub use self::crates::Parker;
pub use self::ours::Ours;

/// A signal to one thread. It is there or not: signals do not add up.
pub trait AnySignal: Contender {
    /// The side that gives signals.
    type Giver: Send;

    /// The side that waits for them.
    type Waiter: Send;

    /// Both sides, with no signal given.
    fn pair() -> (Self::Giver, Self::Waiter);

    /// Gives the signal.
    fn give(giver: &Self::Giver);

    /// Takes the signal, asleep for as long as there is none.
    fn wait(waiter: &Self::Waiter);
}

/// A waiter who gets no signal.
#[derive(Debug)]
pub struct Awaited<S: AnySignal> {
    waiter: S::Waiter,
    _giver: S::Giver,
}

impl<S: AnySignal> Contender for Awaited<S> {
    fn name() -> &'static str {
        S::name()
    }
}

impl<S: AnySignal> Pending for Awaited<S> {
    fn pending() -> Awaited<S> {
        let (giver, waiter) = S::pair();
        Awaited { waiter, _giver: giver }
    }
}

/// Every signal but ours.
macro_rules! each_signal {
    ($then:ident!($($head:tt)*)) => {
        $then!($($head)*; $crate::contenders::signal::Parker)
    };
}
pub(crate) use each_signal;

/// The waiters for those, with limited patience.
macro_rules! each_timed_signal {
    ($then:ident!($($head:tt)*)) => {
        $then!($($head)*; $crate::contenders::signal::Awaited<$crate::contenders::signal::Parker>)
    };
}
pub(crate) use each_timed_signal;
