//! Measures waitline beside its raw floor and its peers, always in one run: machines differ, and the same one differs
//! from one minute to the next.
//!
//! | module | what it holds |
//! |--------|---------------|
//! | [`contenders`] | one small trait for each kind of primitive, and everybody who implements it |
//! | `libstdcxx` | the objects of C++ that some contenders are, if there was a compiler for them |
//! | [`clock`] | the clocks that deadlines are on |
//! | [`floor`] | the raw operations that nothing can be cheaper than |
//! | [`catalogue`] | the scenarios' names and what they mean |
//! | [`scenarios`] | what is measured: the same generic code for every contender |
//! | [`race`] | how it is measured: short batches in turn, medians over many rounds |
//! | [`contests`] | who meets whom in which scenario, and what ours has to reach there |
//! | [`figure`] | what a run has found: all that is kept of it |
//! | [`report`] | the page that is made of that |
//!
//! `cargo bench` makes one run of all contests, and the `report` program the page. A new contender implements the trait of its
//! kind, and whichever timed forms it has, and joins the kind's lists, next to the trait. Every scenario then has it.

pub mod catalogue;
pub mod clock;
pub mod contenders;
pub mod contests;
pub mod figure;
pub mod floor;
#[cfg(libstdcxx)]
pub mod libstdcxx;
pub mod machine;
pub mod opaque;
pub mod race;
pub mod report;
pub mod scenarios;
pub mod threads;
