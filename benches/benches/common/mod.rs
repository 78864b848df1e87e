//! What all of these benches need.

use criterion::{BenchmarkGroup, measurement::WallTime};
use waitline_bench::race::Sample;

pub(crate) type Group<'a> = BenchmarkGroup<'a, WallTime>;

pub(crate) fn add(group: &mut Group<'_>, name: &str, mut scenario: impl FnMut(u64) -> Sample) {
    group.bench_function(name, |bencher| bencher.iter_custom(|times| scenario(times).elapsed_for(times)));
}

/// Adds a scenario of each contender of a list.
macro_rules! add_each {
    ($group:expr, |$this:ident, $times:ident| $scenario:expr; $($(#[$attribute:meta])* $contender:ty),* $(,)?) => {$(
        $(#[$attribute])*
        {
            type $this = $contender;
            $crate::common::add($group, <$this as waitline_bench::contenders::Contender>::name(), |$times| $scenario);
        }
    )*};
}
pub(crate) use add_each;
