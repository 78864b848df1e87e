//! One function for each fast path of waitline's calls, to be compiled and read.
//!
//! A module has the calls to which one rule applies. The rules are in check.py, under the names of the modules. To sleep, to
//! wake others and to panic are no part of a fast path.

#![crate_type = "lib"]

use std::num::NonZero;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::*;
use std::time::{Duration, Instant, SystemTime};

use waitline::oneshot::{Receiver, Sender, SharedReceiver, channel};
use waitline::{Arrival, AtomicWait, Barrier, BarrierWaitResult, BinarySemaphore, Deadline, Latch, Permit, Semaphore};

macro_rules! probes {
    ($(mod $module:ident { $($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block)* })*) => {$(
        pub mod $module {
            use super::*;
            $(
                #[inline(never)]
                pub fn $name($($argument: $type),*) $(-> $result)? $body
            )*
        }
    )*};
}

probes! {
    // Takes, or else waits, which is not read.
    mod taking {
        semaphore_acquire(semaphore: &Semaphore) { semaphore.acquire() }
        semaphore_acquire_many(semaphore: &Semaphore, n: NonZero<usize>) { semaphore.acquire_many(n.get()) }
        semaphore_acquire_permit(semaphore: &Semaphore) -> Permit<'_> { semaphore.acquire_permit() }
        binary_semaphore_acquire(semaphore: &BinarySemaphore) { semaphore.acquire() }
    }

    // Takes or does not, and reads no clock.
    mod trying {
        semaphore_try_acquire(semaphore: &Semaphore) -> bool { semaphore.try_acquire() }
        semaphore_try_acquire_for_zero(semaphore: &Semaphore) -> bool { semaphore.try_acquire_for(Duration::ZERO) }
        semaphore_try_acquire_until_passed(semaphore: &Semaphore) -> bool {
            semaphore.try_acquire_until(Deadline::PASSED)
        }
        semaphore_try_acquire_many(semaphore: &Semaphore, n: usize) -> bool { semaphore.try_acquire_many(n) }
        semaphore_try_acquire_permit(semaphore: &Semaphore) -> Option<Permit<'_>> { semaphore.try_acquire_permit() }
        binary_semaphore_try_acquire(semaphore: &BinarySemaphore) -> bool { semaphore.try_acquire() }
        binary_semaphore_try_acquire_for_zero(semaphore: &BinarySemaphore) -> bool {
            semaphore.try_acquire_for(Duration::ZERO)
        }
        binary_semaphore_try_acquire_until_passed(semaphore: &BinarySemaphore) -> bool {
            semaphore.try_acquire_until(Deadline::PASSED)
        }
    }

    // Takes or does not, after a look at the clock if need be.
    mod trying_by_the_clock {
        semaphore_try_acquire_for(semaphore: &Semaphore, timeout: Duration) -> bool {
            semaphore.try_acquire_for(timeout)
        }
        semaphore_try_acquire_until_instant(semaphore: &Semaphore, instant: Instant) -> bool {
            semaphore.try_acquire_until(instant)
        }
        semaphore_try_acquire_until_system_time(semaphore: &Semaphore, time: SystemTime) -> bool {
            semaphore.try_acquire_until(time)
        }
        binary_semaphore_try_acquire_for(semaphore: &BinarySemaphore, timeout: Duration) -> bool {
            semaphore.try_acquire_for(timeout)
        }
    }

    // Gives, and never waits.
    mod giving {
        semaphore_release(semaphore: &Semaphore) { semaphore.release() }
        semaphore_release_many(semaphore: &Semaphore, n: NonZero<usize>) { semaphore.release_many(n.get()) }
        binary_semaphore_release(semaphore: &BinarySemaphore) -> bool { semaphore.release() }
    }

    // Gives what it has, which may be nothing.
    mod giving_back {
        permit_drop(permit: Permit<'_>) { drop(permit) }
    }

    // Tells what was done, and learns what the others did if it is the last.
    mod counting_down {
        latch_count_down(latch: &Latch) -> bool { latch.count_down() }
        latch_count_down_by(latch: &Latch, n: NonZero<usize>) -> bool { latch.count_down_by(n.get()) }
    }

    // The same, unless the barrier refuses.
    mod arriving {
        barrier_arrive(barrier: &Barrier) -> Arrival<'_> { barrier.arrive() }
        barrier_wait_for_zero(barrier: &Barrier) -> bool { barrier.wait_for(Duration::ZERO).is_ok() }
    }

    // The same, also in a thread that panics.
    mod leaving {
        barrier_arrive_and_drop(barrier: &Barrier) -> BarrierWaitResult { barrier.arrive_and_drop() }
    }

    // The same, and a look at whether the others are there.
    mod meeting {
        barrier_wait(barrier: &Barrier) -> BarrierWaitResult { barrier.wait() }
        latch_arrive_and_wait(latch: &Latch) { latch.arrive_and_wait() }
    }

    // Tells nothing, and looks if it is too late.
    mod withdrawing {
        arrival_withdraw(arrival: Arrival<'_>) -> bool { arrival.withdraw().is_ok() }
    }

    // Tells nothing.
    mod counting_up {
        latch_count_up(latch: &Latch, n: usize) { latch.count_up(n) }
        shared_receiver_clone(receiver: &SharedReceiver<u64>) -> SharedReceiver<u64> { receiver.clone() }
    }

    mod making {
        oneshot_channel() -> (Sender<u64>, Receiver<u64>) { channel() }
    }

    // Tells what was done, and learns whether the receiver has left. Then it frees.
    mod sending {
        sender_send(sender: Sender<u64>, value: u64) -> bool { sender.send(value).is_ok() }
        sender_drop(sender: Sender<u64>) { drop(sender) }
    }

    // Looks, and takes the value by a plain store, or by a write if the sender is about to wake a task.
    mod receiving {
        receiver_try_recv(receiver: &Receiver<u64>) -> Option<u64> { receiver.try_recv().ok() }
        receiver_recv(receiver: &Receiver<u64>) -> Option<u64> { receiver.recv().ok() }
        receiver_recv_for_zero(receiver: &Receiver<u64>) -> Option<u64> { receiver.recv_for(Duration::ZERO).ok() }
    }

    // Looks, and frees if the sender has left; if not, says so by a write.
    mod dropping {
        receiver_drop(receiver: Receiver<u64>) { drop(receiver) }
    }

    // Looks, and reads no clock.
    mod looking {
        latch_try_wait(latch: &Latch) -> bool { latch.try_wait() }
        latch_wait(latch: &Latch) { latch.wait() }
        latch_wait_for_zero(latch: &Latch) -> bool { latch.wait_for(Duration::ZERO).is_ok() }
        arrival_is_complete(arrival: &Arrival<'_>) -> bool { arrival.is_complete() }
        arrival_wait_for_zero(arrival: &Arrival<'_>) -> bool { arrival.wait_for(Duration::ZERO).is_ok() }
        receiver_is_ready(receiver: &Receiver<u64>) -> bool { receiver.is_ready() }
        receiver_wait(receiver: &Receiver<u64>) { receiver.wait() }
        receiver_wait_for_zero(receiver: &Receiver<u64>) -> bool { receiver.wait_for(Duration::ZERO).is_ok() }
        shared_receiver_get(receiver: &SharedReceiver<u64>) -> Option<&u64> { receiver.get().ok() }
        shared_receiver_wait(receiver: &SharedReceiver<u64>) -> Option<&u64> { receiver.wait().ok() }
        atomic_bool_wait(atomic: &AtomicBool, old: bool) -> bool { atomic.wait(old, Acquire) }
        atomic_u8_wait(atomic: &AtomicU8, old: u8) -> u8 { atomic.wait(old, Acquire) }
        atomic_u16_wait(atomic: &AtomicU16, old: u16) -> u16 { atomic.wait(old, Acquire) }
        atomic_u32_wait(atomic: &AtomicU32, old: u32) -> u32 { atomic.wait(old, Acquire) }
        atomic_u64_wait(atomic: &AtomicU64, old: u64) -> u64 { atomic.wait(old, Acquire) }
        atomic_ptr_wait(atomic: &AtomicPtr<u8>, old: *mut u8) -> *mut u8 { atomic.wait(old, Acquire) }
        atomic_u32_wait_for_zero(atomic: &AtomicU32, old: u32) -> bool {
            atomic.wait_for(old, Acquire, Duration::ZERO).is_ok()
        }
    }

    // Looks, and once more where the time is up: then what has come meanwhile counts.
    mod looking_twice {
        latch_wait_until_passed(latch: &Latch) -> bool { latch.wait_until(Deadline::PASSED).is_ok() }
        receiver_wait_until_passed(receiver: &Receiver<u64>) -> bool { receiver.wait_until(Deadline::PASSED).is_ok() }
        atomic_u32_wait_until_passed(atomic: &AtomicU32, old: u32) -> bool {
            atomic.wait_until(old, Acquire, Deadline::PASSED).is_ok()
        }
    }

    mod looking_by_the_clock {
        latch_wait_for(latch: &Latch, timeout: Duration) -> bool { latch.wait_for(timeout).is_ok() }
        receiver_wait_until_instant(receiver: &Receiver<u64>, instant: Instant) -> bool {
            receiver.wait_until(instant).is_ok()
        }
        atomic_u32_wait_until_system_time(atomic: &AtomicU32, old: u32, time: SystemTime) -> bool {
            atomic.wait_until(old, Acquire, time).is_ok()
        }
    }

    // Orders nothing.
    mod reading {
        semaphore_available_permits(semaphore: &Semaphore) -> usize { semaphore.available_permits() }
        binary_semaphore_is_available(semaphore: &BinarySemaphore) -> bool { semaphore.is_available() }
        latch_count(latch: &Latch) -> usize { latch.count() }
        sender_is_closed(sender: &Sender<u64>) -> bool { sender.is_closed() }
        atomic_u32_wait_relaxed(atomic: &AtomicU32, old: u32) -> u32 { atomic.wait(old, Relaxed) }
        atomic_u32_wait_for_zero_relaxed(atomic: &AtomicU32, old: u32) -> bool {
            atomic.wait_for(old, Relaxed, Duration::ZERO).is_ok()
        }
    }

    // Finds nobody who waits, which takes a full fence.
    mod notifying {
        atomic_bool_notify_one(atomic: &AtomicBool) { atomic.notify_one() }
        atomic_u8_notify_one(atomic: &AtomicU8) { atomic.notify_one() }
        atomic_u16_notify_one(atomic: &AtomicU16) { atomic.notify_one() }
        atomic_u32_notify_one(atomic: &AtomicU32) { atomic.notify_one() }
        atomic_u32_notify_one_raw(atomic: *const AtomicU32) { AtomicU32::notify_one_raw(atomic) }
        atomic_u32_notify_all(atomic: &AtomicU32) { atomic.notify_all() }
        atomic_u32_notify_all_raw(atomic: *const AtomicU32) { AtomicU32::notify_all_raw(atomic) }
        atomic_u64_notify_one(atomic: &AtomicU64) { atomic.notify_one() }
        atomic_u64_notify_all(atomic: &AtomicU64) { atomic.notify_all() }
        atomic_ptr_notify_one(atomic: &AtomicPtr<u8>) { atomic.notify_one() }
    }
}
