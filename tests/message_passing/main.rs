//! Plain memory that is written before one end of an edge and read after its other end, for every edge that a module's header
//! names (E1, E2 …), through every call that carries it. A value is written once, so that a stale read is a wrong one.
//!
//! On x86 processors an edge that is missing shows in such a read only if a compiler made use of it. ThreadSanitizer sees it
//! in any case, as a data race: `.ci/run thread-sanitizer`. So nothing that a test does beside the calls may order the two
//! sides: what they tell each other besides is Relaxed, and they meet before the writes and after the reads only.

#[path = "../common/mod.rs"]
mod common;

mod atomic_wait;
mod barrier;
mod latch;
mod oneshot;
mod semaphores;
