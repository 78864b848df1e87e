//! A complete small thread pool, in `thread_pool/`, and what it is for:
//!
//! ```text
//! cargo run --release --example pool
//! ```
//!
//! It is tested by `tests/pool`.

mod thread_pool;

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::time::Duration;

use thread_pool::{Scope, ThreadPool};
use waitline::Deadline;

fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPool::new(4, 64)?;

    // Results come through handles, and the caller's own work goes on meanwhile.
    let squares: Vec<_> = (1..=10_u64).map(|number| pool.spawn(move || number * number)).collect::<Result<_, _>>()?;
    let sum: u64 = squares.into_iter().map(|square| square.join()).sum::<Result<_, _>>()?;
    println!("the squares of 1 to 10 add up to {sum}");

    // Jobs of a scope borrow: here each sorts a part of the caller's own vector.
    let mut numbers: Vec<u32> = (0..10_000_u32).map(|number| number.wrapping_mul(2_654_435_761)).collect();
    pool.scope(|scope| quicksort(scope, &mut numbers));
    println!("sorted: {}", numbers.is_sorted());

    // A panic is the caller's, and the worker lives on.
    let unlucky = pool.spawn(|| panic_any("out of luck"))?;
    let panic = catch_unwind(AssertUnwindSafe(|| unlucky.join())).expect_err("it panics");
    println!("a job panicked: {}", panic.downcast_ref::<&str>().unwrap_or(&"?"));

    // What is queued is still done, as far as there is time.
    let last = pool.spawn(|| "done")?;
    pool.shut_down(Deadline::after(Duration::from_secs(60)))?;
    println!("the last job is {}, and no more are taken: {:?}", last.join()?, pool.spawn(|| ()).err());
    Ok(())
}

fn quicksort<'scope>(scope: &'scope Scope<'scope, '_>, numbers: &'scope mut [u32]) {
    if numbers.len() <= 256 {
        numbers.sort_unstable();
        return;
    }
    let (smaller, _, greater) = numbers.select_nth_unstable(numbers.len() / 2);
    scope.spawn(move || quicksort(scope, smaller));
    scope.spawn(move || quicksort(scope, greater));
}
