//! A thread for each way to wait: everything that can be waited for, in several forms of the call, all at once.

use std::fmt::Debug;
use std::thread::Scope;
use std::time::{Duration, SystemTime};

use super::{Subject, Wait, Worker, spawn, subjects};

/// A call to be made on an object that nobody else uses, in one of its forms.
pub(crate) type Call<T> = (Box<dyn Subject>, T);

/// Every subject in each of the forms.
pub(crate) fn in_each<T: Copy, const N: usize>(forms: [T; N]) -> Vec<Call<T>> {
    subjects().into_iter().flat_map(|subject| forms.map(|form| (subject.fresh(), form))).collect()
}

/// The timed forms, by number.
pub(crate) const TIMED: [usize; Wait::TIMED] = [0, 1, 2, 3];

/// Without an end in sight, in each way that a thread sleeps.
pub(crate) fn patient() -> [Wait; 3] {
    const HOUR: Duration = Duration::from_secs(3600);
    [Wait::Untimed, Wait::For(HOUR), Wait::UntilTime(SystemTime::now() + HOUR)]
}

/// Starts a thread for each call, which says whether what it waited for came.
pub(crate) fn spawn_all<'scope, 'env, T: Debug + Sync>(
    scope: &'scope Scope<'scope, 'env>,
    what: &str,
    calls: &'env [Call<T>],
    wait: impl Fn(&dyn Subject, &T) -> bool + Copy + Send + 'scope,
) -> Vec<Worker<'scope, bool>> {
    let start = |(subject, form): &'env Call<T>| {
        spawn(scope, format!("{}, {form:?}, {what}", subject.name()), move || wait(&**subject, form))
    };
    calls.iter().map(start).collect()
}

/// Lets each of the calls succeed.
pub(crate) fn satisfy_all<T>(calls: &[Call<T>]) {
    calls.iter().for_each(|(subject, _)| subject.satisfy());
}

/// Asserts that what each call comes to, and what is left on its object, add up.
#[track_caller]
pub(crate) fn assert_add_up<T: Debug>(calls: &[Call<T>], workers: Vec<Worker<'_, bool>>) {
    for ((subject, form), worker) in calls.iter().zip(workers) {
        let came = worker.join();
        assert!(subject.adds_up(came), "{}, {form:?}: {came}", subject.name());
    }
}

/// The same of calls that end with what they wait for.
#[track_caller]
pub(crate) fn assert_all_came<T: Debug>(calls: &[Call<T>], workers: Vec<Worker<'_, bool>>) {
    for ((subject, form), worker) in calls.iter().zip(workers) {
        assert!(worker.join() && subject.adds_up(true), "{}, {form:?}", subject.name());
    }
}
