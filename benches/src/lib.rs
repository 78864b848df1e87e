//! Measures waitline beside its raw floor and its peers, always in one run: machines differ, and the same one differs
//! from one minute to the next.
//!
//! | module | what it holds |
//! |--------|---------------|
//! | [`contenders`] | one small trait for each kind of primitive, and everybody who implements it |
//! | `libstdcxx` | the objects of C++ that some contenders are, if there was a compiler for them |
//! | [`clock`] | the clocks that deadlines are on |
//! | [`floor`] | the raw operations that nothing can be cheaper than |
//! | [`scenarios`] | what is measured: the same generic code for every contender |
//! | [`race`] | how it is measured: short batches in turn, medians over many rounds |
//! | [`rows`] | the figures to reach, each with its target, its floor, ours and the peers |
//! | [`table`] | how they are printed |
//!
//! The criterion benches and the `figures` program share all of it but the last three. A new contender implements
//! the trait of its kind, and whichever timed forms it has, and joins the lists in `rows/` and `benches/`.

pub mod clock;
pub mod contenders;
pub mod floor;
#[cfg(libstdcxx)]
pub mod libstdcxx;
pub mod machine;
pub mod opaque;
pub mod race;
pub mod rows;
pub mod scenarios;
pub mod table;
pub mod threads;
