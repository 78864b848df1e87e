//! Permits that give themselves back.

use core::mem;
use core::time::Duration;
use std::sync::Arc;

use super::counting::{Semaphore, checked};
use crate::Deadline;

/// Permits of a [`Semaphore`] that are given back when this is dropped.
///
/// Made by [`acquire_permit`](Semaphore::acquire_permit), [`acquire_permits`](Semaphore::acquire_permits) and their
/// `try_` forms. May be sent to another thread and dropped there. Dropping it never panics: should others have
/// released so many permits meanwhile that these exceed [`MAX_PERMITS`](Semaphore::MAX_PERMITS), the excess is lost.
///
/// Dropping it is a release as far as memory ordering is concerned.
///
/// # Examples
///
/// ```
/// use waitline::Semaphore;
///
/// let seats = Semaphore::new(4);
/// let table = seats.acquire_permits(3);
/// assert_eq!(table.num_permits(), 3);
/// assert_eq!(seats.available_permits(), 1);
/// drop(table);
/// assert_eq!(seats.available_permits(), 4);
/// ```
#[doc(alias("SemaphorePermit", "SemaphoreGuard"))]
#[must_use = "the permits are given back as soon as this is dropped"]
#[derive(Debug)]
pub struct Permit<'a> {
    semaphore: &'a Semaphore,
    permits: u32,
}

impl Permit<'_> {
    /// How many permits this holds.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Semaphore::new(3);
    /// assert_eq!(semaphore.acquire_permits(2).num_permits(), 2);
    /// ```
    #[must_use]
    pub fn num_permits(&self) -> usize {
        self.permits as usize
    }

    /// Lets go of the permits without giving them back: the semaphore has so many fewer from now on. Orders nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Semaphore::new(3);
    /// semaphore.acquire_permit().forget();
    /// assert_eq!(semaphore.available_permits(), 2);
    /// ```
    #[doc(alias = "forget_permits")]
    pub fn forget(self) {
        mem::forget(self);
    }
}

impl Drop for Permit<'_> {
    #[inline]
    fn drop(&mut self) {
        self.semaphore.put_back(self.permits);
    }
}

/// Permits of a [`Semaphore`] in an [`Arc`], given back when this is dropped.
///
/// As [`Permit`] in everything, but it keeps the semaphore alive by itself, so it can be stored or sent anywhere. Made by
/// [`acquire_owned`](Semaphore::acquire_owned) and its `try_` forms.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use std::thread;
/// use waitline::Semaphore;
///
/// let semaphore = Arc::new(Semaphore::new(2));
/// let permit = semaphore.acquire_owned(1);
/// let worker = thread::spawn(move || {
///     // works, with the permit in hand
///     drop(permit);
/// });
/// worker.join().unwrap();
/// assert_eq!(semaphore.available_permits(), 2);
/// ```
#[doc(alias("OwnedSemaphorePermit", "SemaphoreGuardArc"))]
#[must_use = "the permits are given back as soon as this is dropped"]
#[derive(Debug)]
pub struct OwnedPermit {
    semaphore: Arc<Semaphore>,
    permits: u32,
}

impl OwnedPermit {
    /// How many permits this holds.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Arc::new(Semaphore::new(3));
    /// assert_eq!(semaphore.acquire_owned(2).num_permits(), 2);
    /// ```
    #[must_use]
    pub fn num_permits(&self) -> usize {
        self.permits as usize
    }

    /// Lets go of the permits without giving them back: the semaphore has so many fewer from now on. Orders nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Arc::new(Semaphore::new(3));
    /// semaphore.acquire_owned(2).forget();
    /// assert_eq!(semaphore.available_permits(), 1);
    /// ```
    #[doc(alias = "forget_permits")]
    pub fn forget(mut self) {
        // Not mem::forget, which would keep the semaphore for ever.
        self.permits = 0;
    }
}

impl Drop for OwnedPermit {
    #[inline]
    fn drop(&mut self) {
        self.semaphore.put_back(self.permits);
    }
}

/// Permits that give themselves back. Each call waits, returns and orders memory as the one of the same name without
/// `permit`; the `try_` forms answer `None` where that one answers `false`.
impl Semaphore {
    /// [`acquire`](Semaphore::acquire)s a permit that gives itself back.
    ///
    /// Returns when this thread has taken a permit, and orders memory as [`acquire`](Semaphore::acquire).
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Semaphore::new(1);
    /// {
    ///     let _permit = semaphore.acquire_permit();
    ///     assert!(!semaphore.try_acquire());
    /// }
    /// assert!(semaphore.try_acquire());
    /// ```
    #[inline]
    pub fn acquire_permit(&self) -> Permit<'_> {
        self.acquire();
        self.permit(1)
    }

    /// A permit that gives itself back, if one is available now, as with [`try_acquire`](Semaphore::try_acquire).
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Semaphore::new(1);
    /// let permit = semaphore.try_acquire_permit();
    /// assert!(permit.is_some());
    /// assert!(semaphore.try_acquire_permit().is_none());
    /// ```
    #[must_use = "the permit is given back as soon as it is dropped"]
    #[inline]
    pub fn try_acquire_permit(&self) -> Option<Permit<'_>> {
        self.try_acquire().then(|| self.permit(1))
    }

    /// A permit that gives itself back, if one can be had within `timeout` on the monotonic clock, as with
    /// [`try_acquire_for`](Semaphore::try_acquire_for).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Semaphore::new(1);
    /// let permit = semaphore.try_acquire_permit_for(Duration::from_millis(1));
    /// assert!(permit.is_some());
    /// ```
    #[must_use = "the permit is given back as soon as it is dropped"]
    #[inline]
    pub fn try_acquire_permit_for(&self, timeout: Duration) -> Option<Permit<'_>> {
        self.try_acquire_for(timeout).then(|| self.permit(1))
    }

    /// A permit that gives itself back, if one can be had by `deadline` on its own clock, as with
    /// [`try_acquire_until`](Semaphore::try_acquire_until).
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::{Deadline, Semaphore};
    ///
    /// let semaphore = Semaphore::new(0);
    /// assert!(semaphore.try_acquire_permit_until(Deadline::PASSED).is_none());
    /// ```
    #[must_use = "the permit is given back as soon as it is dropped"]
    #[inline]
    pub fn try_acquire_permit_until(&self, deadline: impl Into<Deadline>) -> Option<Permit<'_>> {
        self.try_acquire_until(deadline).then(|| self.permit(1))
    }

    /// Acquires `n` permits, as [`acquire_many`](Semaphore::acquire_many) does, that give themselves back together.
    ///
    /// # Panics
    ///
    /// If `n` is greater than [`MAX_PERMITS`](Semaphore::MAX_PERMITS), at once.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Semaphore::new(5);
    /// let permits = semaphore.acquire_permits(5);
    /// assert_eq!(semaphore.available_permits(), 0);
    /// ```
    #[inline]
    #[track_caller]
    pub fn acquire_permits(&self, n: usize) -> Permit<'_> {
        self.acquire_many(n);
        self.permit(checked(n))
    }

    /// `n` permits that give themselves back together, if as many are available now, as with
    /// [`try_acquire_many`](Semaphore::try_acquire_many).
    ///
    /// # Panics
    ///
    /// If `n` is greater than [`MAX_PERMITS`](Semaphore::MAX_PERMITS).
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Semaphore::new(5);
    /// assert!(semaphore.try_acquire_permits(6).is_none());
    /// ```
    #[must_use = "the permits are given back as soon as they are dropped"]
    #[inline]
    #[track_caller]
    pub fn try_acquire_permits(&self, n: usize) -> Option<Permit<'_>> {
        self.try_acquire_many(n).then(|| self.permit(checked(n)))
    }

    /// `n` permits that give themselves back together, if all can be had within `timeout` on the monotonic
    /// clock, as with [`try_acquire_many_for`](Semaphore::try_acquire_many_for).
    ///
    /// # Panics
    ///
    /// If `n` is greater than [`MAX_PERMITS`](Semaphore::MAX_PERMITS), at once.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Semaphore::new(5);
    /// assert!(semaphore.try_acquire_permits_for(6, Duration::from_millis(1)).is_none());
    /// ```
    #[must_use = "the permits are given back as soon as they are dropped"]
    #[inline]
    #[track_caller]
    pub fn try_acquire_permits_for(&self, n: usize, timeout: Duration) -> Option<Permit<'_>> {
        self.try_acquire_many_for(n, timeout).then(|| self.permit(checked(n)))
    }

    /// `n` permits that give themselves back together, if all can be had by `deadline` on its own clock, as
    /// with [`try_acquire_many_until`](Semaphore::try_acquire_many_until).
    ///
    /// # Panics
    ///
    /// If `n` is greater than [`MAX_PERMITS`](Semaphore::MAX_PERMITS), at once.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Semaphore::new(5);
    /// let deadline = SystemTime::now() + Duration::from_millis(1);
    /// assert!(semaphore.try_acquire_permits_until(5, deadline).is_some());
    /// ```
    #[must_use = "the permits are given back as soon as they are dropped"]
    #[inline]
    #[track_caller]
    pub fn try_acquire_permits_until(&self, n: usize, deadline: impl Into<Deadline>) -> Option<Permit<'_>> {
        self.try_acquire_many_until(n, deadline).then(|| self.permit(checked(n)))
    }

    /// Acquires `n` permits, as [`acquire_many`](Semaphore::acquire_many) does, that give themselves back together and
    /// keep the semaphore alive.
    ///
    /// # Panics
    ///
    /// If `n` is greater than [`MAX_PERMITS`](Semaphore::MAX_PERMITS), at once.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Arc::new(Semaphore::new(2));
    /// let permit = semaphore.acquire_owned(2);
    /// assert_eq!(permit.num_permits(), 2);
    /// ```
    #[doc(alias("acquire_many_owned", "acquire_arc"))]
    #[inline]
    #[track_caller]
    pub fn acquire_owned(self: &Arc<Self>, n: usize) -> OwnedPermit {
        self.acquire_many(n);
        self.owned_permit(checked(n))
    }

    /// `n` permits that give themselves back together and keep the semaphore alive, if as many are available now, as
    /// with [`try_acquire_many`](Semaphore::try_acquire_many).
    ///
    /// # Panics
    ///
    /// If `n` is greater than [`MAX_PERMITS`](Semaphore::MAX_PERMITS).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Arc::new(Semaphore::new(2));
    /// assert!(semaphore.try_acquire_owned(3).is_none());
    /// ```
    #[doc(alias("try_acquire_many_owned", "try_acquire_arc"))]
    #[must_use = "the permits are given back as soon as they are dropped"]
    #[inline]
    #[track_caller]
    pub fn try_acquire_owned(self: &Arc<Self>, n: usize) -> Option<OwnedPermit> {
        self.try_acquire_many(n).then(|| self.owned_permit(checked(n)))
    }

    /// `n` permits that give themselves back together and keep the semaphore alive, if all can be had within
    /// `timeout` on the monotonic clock, as with [`try_acquire_many_for`](Semaphore::try_acquire_many_for).
    ///
    /// # Panics
    ///
    /// If `n` is greater than [`MAX_PERMITS`](Semaphore::MAX_PERMITS), at once.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Arc::new(Semaphore::new(0));
    /// assert!(semaphore.try_acquire_owned_for(1, Duration::from_millis(1)).is_none());
    /// ```
    #[must_use = "the permits are given back as soon as they are dropped"]
    #[inline]
    #[track_caller]
    pub fn try_acquire_owned_for(self: &Arc<Self>, n: usize, timeout: Duration) -> Option<OwnedPermit> {
        self.try_acquire_many_for(n, timeout).then(|| self.owned_permit(checked(n)))
    }

    /// `n` permits that give themselves back together and keep the semaphore alive, if all can be had by `deadline`
    /// on its own clock, as with [`try_acquire_many_until`](Semaphore::try_acquire_many_until).
    ///
    /// # Panics
    ///
    /// If `n` is greater than [`MAX_PERMITS`](Semaphore::MAX_PERMITS), at once.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use waitline::{Deadline, Semaphore};
    ///
    /// let semaphore = Arc::new(Semaphore::new(1));
    /// assert!(semaphore.try_acquire_owned_until(1, Deadline::PASSED).is_some());
    /// ```
    #[must_use = "the permits are given back as soon as they are dropped"]
    #[inline]
    #[track_caller]
    pub fn try_acquire_owned_until(self: &Arc<Self>, n: usize, deadline: impl Into<Deadline>) -> Option<OwnedPermit> {
        self.try_acquire_many_until(n, deadline).then(|| self.owned_permit(checked(n)))
    }

    fn permit(&self, permits: u32) -> Permit<'_> {
        Permit { semaphore: self, permits }
    }

    fn owned_permit(self: &Arc<Self>, permits: u32) -> OwnedPermit {
        OwnedPermit { semaphore: Arc::clone(self), permits }
    }
}
