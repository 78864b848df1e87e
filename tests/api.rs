//! What the public types promise by their shape: traits, sizes, constness, signatures that can be pointed to; and
//! the errors, which are little more than that.

use std::cell::Cell;
use std::collections::HashSet;
use std::error::Error;
use std::fmt::{Debug, Display};
use std::future::{Future, IntoFuture};
use std::hash::Hash;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use waitline::oneshot::{
    Receiver, RecvError, RecvFuture, RecvTimeoutError, SendError, Sender, SharedReceiver, TryRecvError, channel,
};
use waitline::{
    Arrival, Barrier, BarrierWaitResult, BinarySemaphore, Deadline, Latch, OwnedPermit, Permit, Semaphore, TimedOut,
};

/// Whether a type has a trait, as a `bool`: an inherent constant, which exists under that bound only, goes before
/// one of a trait.
macro_rules! has {
    ($type:ty: $($bound:tt)+) => {{
        struct Probe<T: ?Sized>(PhantomData<T>);
        #[allow(dead_code, reason = "not needed then")]
        trait Otherwise {
            const HAS: bool = false;
        }
        impl<T: ?Sized> Otherwise for Probe<T> {}
        #[allow(dead_code, reason = "exists under the bound only")]
        impl<T: ?Sized + $($bound)+> Probe<T> {
            const HAS: bool = true;
        }
        Probe::<$type>::HAS
    }};
}

macro_rules! pin_traits {
    ($($type:ty: [$($has:path),*] not [$($lacks:path),*];)+) => {$(
        $(assert!(has!($type: $has), "{} is {}", stringify!($type), stringify!($has));)*
        $(assert!(!has!($type: $lacks), "{} is not {}", stringify!($type), stringify!($lacks));)*
    )+};
}

#[test]
fn the_probe_tells_types_apart() {
    pin_traits! {
        u8: [Copy, Ord, Send] not [Error];
        str: [Ord, Send] not [Clone, Sized];
        std::cell::Cell<u8>: [Send, Unpin] not [Sync, RefUnwindSafe];
        *const u8: [Ord, UnwindSafe] not [Send, Sync];
        std::marker::PhantomPinned: [Send] not [Unpin];
    }
}

#[test]
fn traits() {
    pin_traits! {
        Semaphore: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug, Default] not [Copy, Clone, PartialEq, Hash];
        BinarySemaphore: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug, Default]
            not [Copy, Clone, PartialEq, Hash];
        Permit<'static>: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug] not [Copy, Clone, Default];
        OwnedPermit: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug] not [Copy, Clone, Default];
        Deadline: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug, Copy, Eq]
            not [PartialOrd, Ord, Default, Display];
        Deadline: [From<Instant>, From<SystemTime>, From<Option<Instant>>, From<Option<SystemTime>>,
            From<Option<Deadline>>, From<Option<Option<Instant>>>] not [From<Duration>, From<Option<Duration>>];
        TimedOut: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug, Display, Error, Copy, Eq, Hash] not [Default];
        Latch: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug] not [Copy, Clone, Default, PartialEq];
        Barrier: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug] not [Copy, Clone, Default, PartialEq];
        Arrival<'static>: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug] not [Copy, Clone, Default];
        BarrierWaitResult: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug] not [Default];
    }
}

/// A completion function is called by one thread at a time, so it need not be `Sync` for the barrier to be.
#[test]
fn traits_of_a_barrier_with_a_function() {
    type Owning = Box<dyn FnMut() + Send>;
    type Tied = Box<dyn FnMut()>;
    pin_traits! {
        Barrier<Owning>: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug] not [Clone];
        Barrier<Tied>: [Unpin, UnwindSafe, RefUnwindSafe, Debug] not [Send, Sync];
    }
}

/// What a channel is depends on its values: they go from thread to thread, and are lent only by those that share.
#[test]
fn traits_of_a_channel() {
    type Unsent = *const u8;
    type Unshared = Cell<u8>;
    struct Nothing;
    pin_traits! {
        Sender<u8>: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug] not [Copy, Clone, Default];
        Receiver<u8>: [Send, Unpin, UnwindSafe, RefUnwindSafe, Debug, IntoFuture] not [Sync, Copy, Clone, Default];
        RecvFuture<u8>: [Send, Unpin, UnwindSafe, Debug, Future] not [Copy, Clone, Default];
        SharedReceiver<u8>: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug, Clone] not [Copy, Default];

        Sender<Unshared>: [Send, Sync, UnwindSafe] not [Clone];
        Receiver<Unshared>: [Send, UnwindSafe, RefUnwindSafe] not [Sync];
        RecvFuture<Unshared>: [Send] not [Clone];
        SharedReceiver<Unshared>: [Clone] not [Send, Sync, UnwindSafe, RefUnwindSafe];

        Sender<Unsent>: [Unpin] not [Send, Sync];
        Receiver<Unsent>: [Unpin] not [Send, Sync];
        RecvFuture<Unsent>: [Unpin] not [Send, Sync];
        SharedReceiver<Unsent>: [Unpin, Clone] not [Send, Sync];

        Sender<Nothing>: [Debug] not [Clone];
        Receiver<Nothing>: [Debug] not [Clone];
        RecvFuture<std::marker::PhantomPinned>: [Unpin, Debug] not [Clone];
        SharedReceiver<Nothing>: [Debug, Clone] not [Copy];

        SendError<u8>: [Send, Sync, Unpin, Debug, Display, Error, Copy, Eq] not [Default];
        SendError<Nothing>: [Debug, Display, Error] not [Copy, Clone, PartialEq];
        RecvError: [Send, Sync, Unpin, Debug, Display, Error, Copy, Eq] not [Default];
        TryRecvError: [Send, Sync, Unpin, Debug, Display, Error, Copy, Eq, From<RecvError>] not [Default];
        RecvTimeoutError: [Send, Sync, Unpin, Debug, Display, Error, Copy, Eq, From<RecvError>] not [Default];
    }
}

#[test]
fn sizes() {
    assert_eq!((size_of::<Semaphore>(), align_of::<Semaphore>()), (8, 8));
    assert_eq!((size_of::<BinarySemaphore>(), align_of::<BinarySemaphore>()), (4, 4));
    assert_eq!(size_of::<TimedOut>(), 0);
    assert!(size_of::<Latch>() <= 8);
    assert!(size_of::<Barrier>() <= 24);
    assert!(size_of::<Barrier<fn()>>() == size_of::<Barrier>());
    let pointer = size_of::<usize>();
    assert_eq!([size_of::<Sender<[u8; 99]>>(), size_of::<Receiver<[u8; 99]>>()], [pointer; 2]);
    assert_eq!([size_of::<RecvFuture<u64>>(), size_of::<SharedReceiver<u64>>()], [pointer; 2]);
    // Room for a niche: an end that may be missing costs nothing.
    assert_eq!([size_of::<Option<Sender<u8>>>(), size_of::<Option<Receiver<u8>>>()], [pointer; 2]);
    assert_eq!([size_of::<RecvError>(), size_of::<TryRecvError>(), size_of::<RecvTimeoutError>()], [0, 1, 1]);
    assert_eq!(size_of::<SendError<u64>>(), 8);
    assert_eq!(size_of::<BarrierWaitResult>(), 1);
}

#[test]
fn constructors_are_const() {
    static COUNTING: Semaphore = Semaphore::new(2);
    static FULL: Semaphore = Semaphore::new(Semaphore::MAX_PERMITS);
    static BINARY: BinarySemaphore = BinarySemaphore::new(true);
    static MANY: [Semaphore; 3] = [const { Semaphore::new(1) }; 3];
    const fn pair(permits: usize) -> (Semaphore, BinarySemaphore) {
        (Semaphore::new(permits), BinarySemaphore::new(permits > 0))
    }
    const ENDS: [Deadline; 2] = [Deadline::NEVER, Deadline::PASSED];
    static LATCH: Latch = Latch::new(Latch::MAX_COUNT);
    static PARTIES: [Barrier; 2] = [Barrier::new(1), Barrier::new(Barrier::MAX_PARTIES)];
    static COMPLETED: Barrier<fn()> = Barrier::with_completion(1, || CALLS.release());
    static CALLS: Semaphore = Semaphore::new(0);

    assert_eq!(COUNTING.available_permits(), 2);
    assert_eq!(FULL.available_permits(), Semaphore::MAX_PERMITS);
    assert!(BINARY.is_available());
    assert!(MANY.iter().all(Semaphore::try_acquire));
    let empty = const { Semaphore::new(0) };
    assert_eq!(empty.available_permits(), 0);
    assert_eq!(ENDS.map(|deadline| deadline.has_passed()), [false, true]);
    let (counting, binary) = pair(1);
    assert!(counting.try_acquire() && binary.try_acquire());
    assert_eq!(LATCH.count(), Latch::MAX_COUNT);
    assert!(PARTIES[0].wait().is_leader() && PARTIES[1].wait_for(Duration::ZERO).is_err());
    assert!(COMPLETED.wait().is_leader() && CALLS.try_acquire());
}

#[test]
fn limits_are_what_is_promised() {
    const { assert!(Semaphore::MAX_PERMITS >= 1 << 30) };
    const { assert!(Latch::MAX_COUNT >= 1 << 30) };
    const { assert!(Barrier::MAX_PARTIES == 65_534) };
}

/// A signature that stays may be named in full. Generic calls can be pointed to once their types are known.
#[test]
fn calls_are_function_pointers() {
    let new: fn(usize) -> Semaphore = Semaphore::new;
    let new_binary: fn(bool) -> BinarySemaphore = BinarySemaphore::new;
    let semaphore = Arc::new(new(9));
    let binary = new_binary(true);

    let takes: [fn(&Semaphore); 2] = [Semaphore::acquire, Semaphore::release];
    takes.iter().for_each(|call| call(&semaphore));
    let counts: [fn(&Semaphore, usize); 2] = [Semaphore::acquire_many, Semaphore::release_many];
    counts.iter().for_each(|call| call(&semaphore, 9));
    let available: fn(&Semaphore) -> usize = Semaphore::available_permits;
    assert_eq!(available(&semaphore), 9);

    let _: fn(&Semaphore) -> bool = Semaphore::try_acquire;
    let _: fn(&Semaphore, Duration) -> bool = Semaphore::try_acquire_for;
    let _: fn(&Semaphore, Instant) -> bool = Semaphore::try_acquire_until;
    let _: fn(&Semaphore, usize) -> bool = Semaphore::try_acquire_many;
    let _: fn(&Semaphore, usize, Duration) -> bool = Semaphore::try_acquire_many_for;
    let _: fn(&Semaphore, usize, SystemTime) -> bool = Semaphore::try_acquire_many_until;
    let _: unsafe fn(*const Semaphore, usize) = Semaphore::release_raw;

    let permit: for<'a> fn(&'a Semaphore) -> Permit<'a> = Semaphore::acquire_permit;
    assert_eq!(permit(&semaphore).num_permits(), 1);
    let _: for<'a> fn(&'a Semaphore) -> Option<Permit<'a>> = Semaphore::try_acquire_permit;
    let _: for<'a> fn(&'a Semaphore, Duration) -> Option<Permit<'a>> = Semaphore::try_acquire_permit_for;
    let _: for<'a> fn(&'a Semaphore, Option<Instant>) -> Option<Permit<'a>> = Semaphore::try_acquire_permit_until;
    let _: for<'a> fn(&'a Semaphore, usize) -> Permit<'a> = Semaphore::acquire_permits;
    let _: for<'a> fn(&'a Semaphore, usize) -> Option<Permit<'a>> = Semaphore::try_acquire_permits;
    let _: for<'a> fn(&'a Semaphore, usize, Duration) -> Option<Permit<'a>> = Semaphore::try_acquire_permits_for;
    let _: for<'a> fn(&'a Semaphore, usize, Deadline) -> Option<Permit<'a>> = Semaphore::try_acquire_permits_until;

    let owned: fn(&Arc<Semaphore>, usize) -> OwnedPermit = Semaphore::acquire_owned;
    assert_eq!(owned(&semaphore, 3).num_permits(), 3);
    let _: fn(&Arc<Semaphore>, usize) -> Option<OwnedPermit> = Semaphore::try_acquire_owned;
    let _: fn(&Arc<Semaphore>, usize, Duration) -> Option<OwnedPermit> = Semaphore::try_acquire_owned_for;
    let _: fn(&Arc<Semaphore>, usize, Instant) -> Option<OwnedPermit> = Semaphore::try_acquire_owned_until;
    let _: fn(Permit<'static>) = Permit::forget;
    let _: fn(OwnedPermit) = OwnedPermit::forget;
    let _: fn(&Permit<'static>) -> usize = Permit::num_permits;
    let _: fn(&OwnedPermit) -> usize = OwnedPermit::num_permits;

    let acquire: fn(&BinarySemaphore) = BinarySemaphore::acquire;
    acquire(&binary);
    let asks: [fn(&BinarySemaphore) -> bool; 3] =
        [BinarySemaphore::release, BinarySemaphore::is_available, BinarySemaphore::try_acquire];
    assert!(asks.iter().all(|call| call(&binary)));
    let _: fn(&BinarySemaphore, Duration) -> bool = BinarySemaphore::try_acquire_for;
    let _: fn(&BinarySemaphore, Instant) -> bool = BinarySemaphore::try_acquire_until;
    let _: unsafe fn(*const BinarySemaphore) -> bool = BinarySemaphore::release_raw;

    let latch: fn(usize) -> Latch = Latch::new;
    let _: [fn(&Latch) -> bool; 2] = [Latch::count_down, Latch::try_wait];
    let _: [fn(&Latch); 2] = [Latch::wait, Latch::arrive_and_wait];
    let _: fn(&Latch, usize) = Latch::count_up;
    let _: fn(&Latch, usize) -> bool = Latch::count_down_by;
    let _: unsafe fn(*const Latch, usize) -> bool = Latch::count_down_raw;
    let _: fn(&Latch, Duration) -> Result<(), TimedOut> = Latch::wait_for;
    let _: fn(&Latch, SystemTime) -> Result<(), TimedOut> = Latch::wait_until;
    let count: fn(&Latch) -> usize = Latch::count;
    assert_eq!(count(&latch(3)), 3);

    let barrier: fn(usize) -> Barrier = Barrier::new;
    type Function = fn();
    let completed: fn(usize, Function) -> Barrier<Function> = Barrier::with_completion;
    let _: [fn(&Barrier) -> BarrierWaitResult; 2] = [Barrier::wait, Barrier::arrive_and_drop];
    let _: fn(&Barrier, Duration) -> Result<BarrierWaitResult, TimedOut> = Barrier::wait_for;
    let _: fn(&Barrier, Deadline) -> Result<BarrierWaitResult, TimedOut> = Barrier::wait_until;
    let arrive: for<'a> fn(&'a Barrier) -> Arrival<'a> = Barrier::arrive;
    let _: fn(Arrival<'static>) -> BarrierWaitResult = Arrival::wait;
    let _: fn(&Arrival<'static>, Duration) -> Result<BarrierWaitResult, TimedOut> = Arrival::wait_for;
    let _: fn(&Arrival<'static>, Instant) -> Result<BarrierWaitResult, TimedOut> = Arrival::wait_until;
    let _: fn(Arrival<'static>) -> Result<(), BarrierWaitResult> = Arrival::withdraw;
    let _: fn(&Arrival<'static>) -> bool = Arrival::is_complete;
    assert!(arrive(&barrier(1)).is_complete() && completed(1, || ()).arrive().is_complete());
    let leader: fn(&BarrierWaitResult) -> bool = BarrierWaitResult::is_leader;
    assert!(leader(&barrier(1).wait()));

    let ends: fn() -> (Sender<u8>, Receiver<u8>) = channel;
    let send: fn(Sender<u8>, u8) -> Result<(), SendError<u8>> = Sender::send;
    let _: fn(&Sender<u8>) -> bool = Sender::is_closed;
    let _: fn(&Receiver<u8>) -> bool = Receiver::is_ready;
    let _: fn(&Receiver<u8>) -> Result<u8, TryRecvError> = Receiver::try_recv;
    let recv: fn(&Receiver<u8>) -> Result<u8, RecvError> = Receiver::recv;
    let _: fn(&Receiver<u8>, Duration) -> Result<u8, RecvTimeoutError> = Receiver::recv_for;
    let _: fn(&Receiver<u8>, Instant) -> Result<u8, RecvTimeoutError> = Receiver::recv_until;
    let _: fn(&Receiver<u8>) = Receiver::wait;
    let _: fn(&Receiver<u8>, Duration) -> Result<(), TimedOut> = Receiver::wait_for;
    let _: fn(&Receiver<u8>, Option<Instant>) -> Result<(), TimedOut> = Receiver::wait_until;
    let future: fn(Receiver<u8>) -> RecvFuture<u8> = Receiver::into_future;
    let back: fn(RecvFuture<u8>) -> Receiver<u8> = RecvFuture::into_receiver;
    let (sender, receiver) = ends();
    assert_eq!((send(sender, 5), recv(&back(future(receiver)))), (Ok(()), Ok(5)));
    let _: fn(Receiver<u8>) -> SharedReceiver<u8> = Receiver::share;
    let _: for<'a> fn(&'a SharedReceiver<u8>) -> Result<&'a u8, TryRecvError> = SharedReceiver::get;
    let _: for<'a> fn(&'a SharedReceiver<u8>) -> Result<&'a u8, RecvError> = SharedReceiver::wait;
    let _: for<'a> fn(&'a SharedReceiver<u8>, Duration) -> Result<&'a u8, RecvTimeoutError> = SharedReceiver::wait_for;
    let _: for<'a> fn(&'a SharedReceiver<u8>, Deadline) -> Result<&'a u8, RecvTimeoutError> =
        SharedReceiver::wait_until;
    let _: fn(SendError<u8>) -> u8 = SendError::into_inner;

    let _: fn(Duration) -> Deadline = Deadline::after;
    let _: fn(&Deadline) -> bool = Deadline::has_passed;
    let _: fn(&Deadline) -> Option<Duration> = Deadline::remaining;
}

#[test]
fn constructors_are_mapped_over() {
    let counting: Vec<Semaphore> = (0..3).map(Semaphore::new).collect();
    assert_eq!(counting.iter().map(Semaphore::available_permits).collect::<Vec<_>>(), [0, 1, 2]);
    let binary = [false, true].map(BinarySemaphore::new);
    assert_eq!(binary.each_ref().map(BinarySemaphore::is_available), [false, true]);
    assert_eq!([1, 2].map(Latch::new).map(|latch| latch.count()), [1, 2]);
    assert!([0, 1].map(Barrier::new).iter().map(Barrier::wait).all(|result| result.is_leader()));
    let deadlines = [Duration::ZERO, Duration::MAX].map(Deadline::after);
    assert_eq!(deadlines, [Deadline::PASSED, Deadline::NEVER]);
}

/// A permit borrows its semaphore and can be sent to a scoped thread; the owned one goes anywhere.
#[test]
fn permits_travel() {
    let semaphore = Semaphore::new(1);
    std::thread::scope(|scope| {
        let permit = semaphore.acquire_permit();
        scope.spawn(move || drop(permit));
    });
    assert_eq!(semaphore.available_permits(), 1);

    let semaphore = Arc::new(semaphore);
    let permit = semaphore.acquire_owned(1);
    std::thread::spawn(move || drop(permit)).join().unwrap();
    assert_eq!(semaphore.available_permits(), 1);
}

#[test]
fn defaults_are_empty() {
    assert_eq!(Semaphore::default().available_permits(), 0);
    assert!(!BinarySemaphore::default().is_available());
}

/// Also while the permits are out: there is no lock to wait for.
#[test]
fn debug_output_says_what_is_available() {
    let semaphore = Arc::new(Semaphore::new(3));
    let (permit, owned) = (semaphore.acquire_permit(), semaphore.acquire_owned(2));
    assert_eq!(format!("{semaphore:?}"), "Semaphore { available_permits: 0, .. }");
    for shown in [format!("{permit:?}"), format!("{owned:?}")] {
        assert!(shown.contains("Semaphore { available_permits: 0, .. }"), "{shown}");
    }
    assert!(format!("{permit:?}").contains("permits: 1") && format!("{owned:?}").contains("permits: 2"));
    drop((permit, owned));
    assert_eq!(format!("{semaphore:?}"), "Semaphore { available_permits: 3, .. }");

    assert_eq!(format!("{:?}", BinarySemaphore::new(true)), "BinarySemaphore { is_available: true, .. }");
    assert_eq!(format!("{:?}", BinarySemaphore::new(false)), "BinarySemaphore { is_available: false, .. }");
}

#[test]
fn debug_output_says_how_far_it_is() {
    let latch = Latch::new(3);
    assert_eq!(format!("{latch:?}"), "Latch { count: 3, .. }");

    let barrier = Barrier::new(3);
    assert_eq!(format!("{barrier:?}"), "Barrier { missing: 3, expected: 3, .. }");
    let token = barrier.arrive();
    barrier.arrive_and_drop();
    assert_eq!(format!("{barrier:?}"), "Barrier { missing: 1, expected: 2, .. }");
    assert!(format!("{token:?}").starts_with("Arrival {"), "{token:?}");
    assert_eq!(format!("{:?}", barrier.wait()), "BarrierWaitResult { is_leader: true }");

    // Whatever the value, which need not have any of its own.
    struct Nothing;
    let (sender, receiver) = channel();
    assert_eq!(format!("{sender:?}"), "Sender { is_closed: false, .. }");
    assert_eq!(format!("{receiver:?}"), "Receiver { is_ready: false, .. }");
    assert!(sender.send(Nothing).is_ok());
    assert_eq!(format!("{receiver:?}"), "Receiver { is_ready: true, .. }");
    let future = receiver.into_future();
    assert_eq!(format!("{future:?}"), "RecvFuture { is_ready: true, .. }");
    assert_eq!(format!("{:?}", future.into_receiver().share()), "SharedReceiver { is_ready: true, .. }");
    assert_eq!(format!("{:?}", SendError(Nothing)), "SendError { .. }");
}

#[test]
fn errors_of_a_channel_are_those_of_std() {
    fn passed_on<E: Error + Send + Sync + 'static>(error: E) -> Box<dyn Error + Send + Sync> {
        let told = error.to_string();
        let error: Box<dyn Error + Send + Sync> = error.into();
        assert!(!told.is_empty() && told == error.to_string() && error.source().is_none());
        error
    }
    let all = [
        passed_on(SendError(5)),
        passed_on(RecvError),
        passed_on(TryRecvError::Empty),
        passed_on(RecvTimeoutError::Timeout),
    ];
    let told: HashSet<_> = all.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), all.len(), "{told:?}");
    // One meaning, one text.
    let gone = RecvError.to_string();
    assert_eq!([TryRecvError::Disconnected.to_string(), RecvTimeoutError::Disconnected.to_string()], [&*gone, &*gone]);

    // Where the question mark takes them, and exhaustive.
    fn blocking(receiver: &Receiver<u8>, waits: bool) -> Result<u8, TryRecvError> {
        Ok(if waits { receiver.recv()? } else { receiver.try_recv()? })
    }
    let (_, receiver) = channel();
    for waits in [true, false] {
        match blocking(&receiver, waits) {
            Err(TryRecvError::Disconnected) => {}
            Ok(_) | Err(TryRecvError::Empty) => unreachable!(),
        }
    }
    match RecvTimeoutError::from(RecvError) {
        RecvTimeoutError::Disconnected => {}
        RecvTimeoutError::Timeout => unreachable!(),
    }
    let SendError(value) = SendError("given back");
    assert_eq!((value, SendError(5).into_inner()), ("given back", 5));
}

/// Both ends, tokens and shared receivers go to other threads with what they borrow.
#[test]
fn ends_and_tokens_travel() {
    let barrier = Barrier::new(2);
    let (text, latch) = (String::from("borrowed"), Latch::new(1));
    std::thread::scope(|scope| {
        let token = barrier.arrive();
        scope.spawn(move || token.wait());
        let (sender, receiver) = channel::<&str>();
        scope.spawn(|| sender.send(&text).unwrap());
        scope.spawn(move || assert_eq!(receiver.share().wait(), Ok(&"borrowed")));
        scope.spawn(|| latch.wait());
        latch.count_down();
        barrier.wait();
    });
}

#[test]
fn timed_out_is_an_error_like_others() {
    fn fails() -> Result<(), Box<dyn Error + Send + Sync + 'static>> {
        Err(TimedOut)?
    }
    let error = fails().unwrap_err();
    assert_eq!(error.downcast_ref::<TimedOut>(), Some(&TimedOut));
    assert_eq!((error.to_string(), format!("{error:?}")), ("timed out".into(), "TimedOut".into()));
    assert!(error.source().is_none());
    assert_eq!(HashSet::from([TimedOut, TimedOut]).len(), 1);
}
