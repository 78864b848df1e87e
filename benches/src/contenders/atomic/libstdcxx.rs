//! C++'s atomics.

use super::AnyAtomic;
use crate::contenders::Contender;
use crate::libstdcxx::AtomicRef;

/// `std::atomic_ref`, of one of Rust's atomics.
#[derive(Debug)]
pub struct Libstdcxx<A>(A);

impl<A: 'static> Contender for Libstdcxx<A> {
    fn name() -> &'static str {
        "libstdc++"
    }
}

/// One call for as much as possible: users of C++ have it inlined.
impl<A: Default + Send + Sync + 'static> AnyAtomic for Libstdcxx<A>
where
    for<'a> AtomicRef<'a>: From<&'a A>,
{
    fn new() -> Libstdcxx<A> {
        Libstdcxx(A::default())
    }

    fn store(&self, set: bool) {
        AtomicRef::from(&self.0).store(set);
    }

    fn wait(&self, old: bool) {
        AtomicRef::from(&self.0).wait(old);
    }

    fn notify_one(&self) {
        self.notify_one_times(1);
    }

    fn notify_all(&self) {
        self.notify_all_times(1);
    }

    fn wait_times(&self, old: bool, times: u64) {
        AtomicRef::from(&self.0).wait_times(old, times);
    }

    fn notify_one_times(&self, times: u64) {
        AtomicRef::from(&self.0).notify_one_times(times);
    }

    fn notify_all_times(&self, times: u64) {
        AtomicRef::from(&self.0).notify_all_times(times);
    }

    fn serve_times(&self, times: u64) {
        AtomicRef::from(&self.0).serve(times);
    }

    fn reply_times(&self, times: u64) {
        AtomicRef::from(&self.0).reply(times);
    }
}
