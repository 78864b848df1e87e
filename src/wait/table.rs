//! Who waits on which address: a table of queues, so that a notification ends the waits on its own address only, in the order in
//! which they began.
//!
//! Linux's futexes and WebKit's `ParkingLot` are made that way, too. An address is a key and is never read. Its bucket is found by a
//! hash with a seed of this process. A waiter's node lives on its own stack, so nothing is allocated.
//!
//! # State
//!
//! | where  | what    | meaning |
//! |--------|---------|---------|
//! | table  | seed    | 0 until somebody waits for the first time. Never changes after that. |
//! | table  | forks   | how many forks lie between the first wait and this process |
//! | bucket | waiters | how many nodes are linked here, and one for a waiter that is about to link. Changed under the lock, read without. |
//! | bucket | queues  | the nodes, guarded by the lock |
//! | node   | state   | `WAITING`, or `NOTIFIED`: what the waiter sleeps on |
//!
//! ```text
//!  table: seed, forks            on the stacks of threads that wait
//! ┌────────────────────────┐
//! │ bucket: lock, waiters  │    ┌────────┐ came later ┌────────┐
//! │         queues ────────┼───▶│ node A │◀──────────▶│ node A │   a ring for each address
//! ├────────────────────────┤    └───▲────┘            └────────┘
//! │ bucket …               │    ┌───▼────┐
//! └────────────────────────┘    │ node B │                        another address
//!                               └────────┘
//! ```
//!
//! # Invariants
//!
//! * I1. A waiter makes the seed, locks the bucket, counts itself, issues a full fence and compares its value, in this order, and
//!   links its node only if the value is still the old one. It sleeps after that.
//! * I2. A notifier issues a full fence and then reads the seed, and the bucket's count. It is done if either is zero.
//! * I3. A node is linked while it is `WAITING` and has been linked by I1. Who unlinks it, under the lock, counts it down; a notifier
//!   also stores `NOTIFIED`, which is its last access of the node, and wakes by the address of the node's state after unlocking.
//! * I4. A waiter whose time is up unlinks its node. If it leaves with the old value and was notified before, just now or earlier
//!   in vain, it passes the notification on to the next that waits for the address.
//! * I5. Nothing that can panic, and nobody else's code, runs while a node is linked or a lock is held.
//!
//! No notification is lost (I1, I2): of the two fences, one comes first. If the waiter's, then the notifier finds the seed and
//! the count, and the node under the lock. If the notifier's, then the waiter finds the value that was stored before it. Without
//! both fences the store may still be on its way to memory when the count is read. It does not help to read the seed before the
//! fence: a waiter may make it in between.
//!
//! # Memory ordering
//!
//! | edge | from → to | why |
//! |------|-----------|-----|
//! | E1 | store of `NOTIFIED` (Release) → the waiter's look (Acquire) | the notifier is done with the node, which may die then |
//! | E2 | full fence of the waiter ↔ full fence of the notifier (SeqCst) | no notification is lost |
//!
//! The queues have the lock's edges. What waits and notifications order for their callers is what the callers' own accesses of the
//! value order: nothing else is promised.

#![allow(unsafe_code, reason = "nodes live on the stacks of threads that wait")]

use super::lock::{Guard, Lock};
use super::queues::{Links, Queues};
use crate::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    Transition, UnsafeCell, const_fn, fence,
};
use crate::sys::{self, Word};

const WAITING: u32 = 0;
const NOTIFIED: u32 = 1;

/// 64 KiB of zeros, which are no memory until somebody waits.
const BUCKETS: usize = if cfg!(all(test, waitline_loom)) { 1 } else { 1024 };

struct Table {
    seed: AtomicU64,
    forks: AtomicU32,
    buckets: [Bucket; BUCKETS],
}

#[repr(align(64))]
struct Bucket {
    lock: Lock,
    waiters: AtomicU32,
    queues: UnsafeCell<Queues>,
}

#[cfg(not(all(test, waitline_loom)))]
const _: () = assert!(size_of::<Bucket>() == 64);

// SAFETY: the queues are accessed under the lock only, and the nodes in them are made for several threads.
unsafe impl Sync for Bucket {}

#[cfg(not(all(test, waitline_loom)))]
fn table() -> &'static Table {
    static TABLE: Table =
        Table { seed: AtomicU64::new(0), forks: AtomicU32::new(0), buckets: [const { Bucket::new() }; BUCKETS] };
    &TABLE
}

#[cfg(all(test, waitline_loom))]
fn table() -> &'static Table {
    crate::atomic::model::lazy_static! {
        static ref TABLE: Table =
            Table { seed: AtomicU64::new(0), forks: AtomicU32::new(0), buckets: [Bucket::new()] };
    }
    &TABLE
}

impl Table {
    #[inline]
    fn bucket(&self, address: usize, seed: u64) -> &Bucket {
        &self.buckets[index(address, seed)]
    }

    /// For waiters, which are the only ones that make it (I1).
    fn seed(&self) -> u64 {
        let mut made = 0;
        let outcome = self.seed.transition(|now| {
            if now == 0 && made == 0 {
                made = sys::random() | 1;
                sys::in_forked_child(forget_everybody); // before anybody can be found
            }
            (now == 0).then_some((made, Relaxed))
        });
        outcome.map_or_else(|made_before| made_before, |_| made)
    }
}

/// Spreads addresses that lie any distance apart: the high bits are folded down, so that they count, and a multiplication by
/// the golden ratio's fraction mixes all of them into the topmost ones (D. Knuth's Fibonacci hashing). Of 1 024 addresses at
/// each of 14 distances from 1 byte to 2 MiB, with 150 seeds each, the fullest bucket got at most 3 two times out of three, and
/// more than 11 once in 400; 23 was the most. (Of random addresses the fullest gets 5 to 9.) The next process has another seed.
#[inline]
fn index(address: usize, seed: u64) -> usize {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    let address = address as u64 ^ seed;
    let mixed = (address ^ (address >> 32)).wrapping_mul(GOLDEN);
    (((mixed >> 32) * BUCKETS as u64) >> 32) as usize
}

/// In the child of a fork there is only the thread that forked, and nobody holds a lock. That thread was not waiting, unless it
/// forked in a signal handler: then its node, like all others, is from before the fork and not linked any more.
extern "C" fn forget_everybody() {
    let table = table();
    table.forks.fetch_add(1, Relaxed);
    for bucket in &table.buckets {
        // Those that nobody uses are not written, and stay shared with the parent.
        if bucket.lock.is_free() && bucket.waiters.load(Relaxed) == 0 {
            continue;
        }
        bucket.lock.reset();
        bucket.waiters.store(0, Relaxed);
        // SAFETY: there is no other thread.
        bucket.queues.with_mut(|queues| unsafe { *queues = Queues::new() });
    }
}

impl Bucket {
    const_fn! {
        const fn new() -> Bucket {
            Bucket { lock: Lock::new(), waiters: AtomicU32::new(0), queues: UnsafeCell::new(Queues::new()) }
        }
    }

    fn lock(&self) -> Locked<'_> {
        Locked { bucket: self, _guard: self.lock.lock() }
    }
}

/// A bucket, to whoever has its lock.
struct Locked<'a> {
    bucket: &'a Bucket,
    _guard: Guard<'a>,
}

impl Locked<'_> {
    fn queues<R>(&mut self, access: impl FnOnce(&mut Queues) -> R) -> R {
        // SAFETY: this thread has the lock.
        self.bucket.queues.with_mut(|queues| access(unsafe { &mut *queues }))
    }

    /// Unlinks the one that has waited longest, of those that arrived by then, and returns the address to wake it by.
    fn notify_first(&mut self, address: usize, arrived_by: u64) -> Option<*const u32> {
        // SAFETY: this thread has the lock.
        let node = self.queues(|queues| unsafe { queues.pop(address, arrived_by) })?;
        self.bucket.waiters.fetch_sub(1, Relaxed);
        // SAFETY: its waiter keeps it until it is NOTIFIED, or has the lock.
        let state = unsafe { &(*node).state };
        let sleeper = Word::Whole(state).address();
        state.store(NOTIFIED, Release /* E1 */);
        Some(sleeper)
    }
}

/// A thread that waits on an address.
pub(super) struct Node {
    address: usize,
    state: AtomicU32,
    /// What the table's count of forks was when the node was linked.
    forks: AtomicU32,
    links: UnsafeCell<Links>,
}

impl Node {
    pub(super) fn new(address: usize) -> Node {
        Node { address, state: AtomicU32::new(WAITING), forks: AtomicU32::new(0), links: UnsafeCell::new(Links::NONE) }
    }

    pub(super) fn address(&self) -> usize {
        self.address
    }

    pub(super) fn links(&self) -> &UnsafeCell<Links> {
        &self.links
    }

    /// What the thread sleeps on while the node is linked, and the value that it has then.
    pub(super) fn sleep_on(&self) -> (Word<'_>, u32) {
        (Word::Whole(&self.state), WAITING)
    }

    /// Whether a node that was linked is not any more: by a notifier, or because this is the child of a fork.
    pub(super) fn was_unlinked(&self) -> bool {
        self.state.load(Acquire /* E1 */) == NOTIFIED || self.forks.load(Relaxed) != table().forks.load(Relaxed)
    }

    /// Links the node, unless `look` finds what the thread waits for: then returns that.
    ///
    /// # Safety
    ///
    /// The node is not linked, and lives and stays where it is until it has been notified or unlinked.
    pub(super) unsafe fn link<T>(&self, look: impl FnOnce() -> Option<T>) -> Option<T> {
        let table = table();
        let bucket = table.bucket(self.address, table.seed());
        let mut locked = bucket.lock();
        bucket.waiters.fetch_add(1, Relaxed);
        fence(SeqCst); // E2, I1
        let found = look();
        if found.is_some() {
            bucket.waiters.fetch_sub(1, Relaxed);
        } else {
            self.state.store(WAITING, Relaxed);
            self.forks.store(table.forks.load(Relaxed), Relaxed);
            // SAFETY: this thread has the lock, and the node lives long enough by the caller's promise.
            locked.queues(|queues| unsafe { queues.push(self) });
        }
        found
    }

    /// Unlinks the node, unless that has been done: then returns `false`.
    ///
    /// # Safety
    ///
    /// The node has been linked.
    pub(super) unsafe fn unlink(&self) -> bool {
        let table = table();
        let bucket = table.bucket(self.address, table.seed());
        let mut locked = bucket.lock();
        let is_linked = !self.was_unlinked(); // I3
        if is_linked {
            // SAFETY: this thread has the lock, and the node is linked.
            locked.queues(|queues| unsafe { queues.remove(self) });
            bucket.waiters.fetch_sub(1, Relaxed);
        }
        is_linked
    }
}

/// For the models: how many are counted in the bucket of that address.
#[cfg(all(test, waitline_loom))]
pub(crate) fn counted_waiters<T>(address: *const T) -> u32 {
    let table = table();
    table.bucket(address as usize, table.seed()).waiters.load(Relaxed)
}

/// For the models: a node dies after everything that was done to it.
#[cfg(all(test, waitline_loom))]
impl Drop for Node {
    fn drop(&mut self) {
        self.state.with_mut(|_| ());
        self.links.with_mut(|_| ());
    }
}

/// Ends the wait that began first on the address.
#[inline]
pub(super) fn notify_one(address: usize) {
    if let Some(bucket) = bucket_with_waiters(address) {
        notify_one_in(bucket, address);
    }
}

/// Ends all waits that have begun on the address.
#[inline]
pub(super) fn notify_all(address: usize) {
    if let Some(bucket) = bucket_with_waiters(address) {
        notify_all_in(bucket, address);
    }
}

#[inline]
fn bucket_with_waiters(address: usize) -> Option<&'static Bucket> {
    fence(SeqCst); // E2, I2
    let table = table();
    let seed = table.seed.load(Relaxed);
    if seed == 0 {
        return None;
    }
    let bucket = table.bucket(address, seed);
    (bucket.waiters.load(Relaxed) != 0).then_some(bucket)
}

#[cold]
fn notify_one_in(bucket: &Bucket, address: usize) {
    let sleeper = bucket.lock().notify_first(address, u64::MAX);
    if let Some(sleeper) = sleeper {
        sys::wake(sleeper, 1);
    }
}

/// In batches, because wakes take their time and there is no bound to how many there are.
#[cold]
fn notify_all_in(bucket: &Bucket, address: usize) {
    const BATCH: usize = if cfg!(all(test, waitline_loom)) { 1 } else { 32 };
    let mut sleepers = [core::ptr::null(); BATCH];
    let mut arrived_by = None;
    loop {
        let mut count = 0;
        {
            let mut bucket = bucket.lock();
            // Those that come between two batches are not meant, or a thread that waits again at once might keep this one here.
            let arrived_by = *arrived_by.get_or_insert_with(|| bucket.queues(|queues| queues.arrivals()));
            while count < BATCH {
                let Some(sleeper) = bucket.notify_first(address, arrived_by) else { break };
                sleepers[count] = sleeper;
                count += 1;
            }
        }
        for sleeper in &sleepers[..count] {
            sys::wake(*sleeper, 1);
        }
        if count < BATCH {
            return;
        }
    }
}

#[cfg(all(test, not(waitline_loom)))]
mod tests {
    use std::hash::{BuildHasher, RandomState};

    use super::*;

    /// A bucket that got more than a few would make every notification there slow. Seeds with which one does are rare.
    #[test]
    fn addresses_any_distance_apart_spread_over_the_buckets() {
        let distances = [1, 2, 4, 8, 16, 24, 64, 72, 128, 4096, 4096 + 64, 1 << 16, 1 << 21, (1 << 21) + 64];
        let mut crowded = Vec::new();
        for (round, distance) in (0..20).flat_map(|round| distances.map(|distance| (round, distance))) {
            let random = RandomState::new();
            let (seed, base) = (random.hash_one(round) | 1, (random.hash_one(distance) & 0x7FFF_FFFF_F000) as usize);
            let mut loads = vec![0; BUCKETS];
            for nth in 0..BUCKETS {
                loads[index(base.wrapping_add(nth * distance), seed)] += 1;
            }
            let most = *loads.iter().max().unwrap();
            if most > 11 {
                crowded.push(format!("{most} of those {distance} bytes apart from {base:#x} on, seed {seed:#x}"));
            }
        }
        // Of 280. One is to be expected.
        assert!(crowded.len() <= 12, "{crowded:#?}");
    }

    /// Nodes of two addresses in one bucket, linked by turns, some of which leave.
    #[test]
    fn queues_keep_the_order_of_arrival() {
        let nodes: Vec<Node> = (0..8).map(|nth| Node::new(nth % 2)).collect();
        let mut queues = Queues::new();
        for leaves in 0..nodes.len() {
            let order = |address| (0..nodes.len()).filter(move |nth| nth % 2 == address && *nth != leaves);
            let start = queues.arrivals();
            for node in &nodes {
                // SAFETY: this thread alone has the queues, and the nodes are all popped before they die.
                unsafe { queues.push(node) };
            }
            // SAFETY: the same; it has just been linked.
            unsafe { queues.remove(&nodes[leaves]) };
            // SAFETY: the same.
            assert_eq!(unsafe { queues.pop(0, start) }, None, "all have arrived since");
            for address in [1, 0] {
                // SAFETY: the same.
                let popped: Vec<_> = std::iter::from_fn(|| unsafe { queues.pop(address, u64::MAX) }).collect();
                let expected: Vec<_> = order(address).map(|nth| core::ptr::from_ref(&nodes[nth])).collect();
                assert_eq!(popped, expected, "without {leaves}");
            }
        }
    }
}
