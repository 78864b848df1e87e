//! The names of what is measured: the same for every kind of primitive.

use core::fmt;

use serde::{Deserialize, Serialize};

macro_rules! catalogue {
    ($(#[$attribute:meta])* $type:ident: $($(#[doc = $doc:literal])* $variant:ident = $name:literal, $about:literal;)*) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $type {
            $(#[doc = $about] $variant),*
        }

        impl $type {
            /// All of them, in the order in which pages show them.
            pub const ALL: &'static [$type] = &[$($type::$variant),*];

            /// How pages explain it.
            pub fn about(self) -> &'static str {
                match self {
                    $($type::$variant => $about),*
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $($type::$variant => $name),*
                })
            }
        }
    };
}

catalogue! {
    /// What happens.
    Scenario:
    Uncontended = "uncontended", "One thread does the whole of it, and nobody else is there.";
    FailedTry = "failed try", "What is waited for is not there, and nobody wants to wait.";
    PassedDeadline = "passed deadline", "What is waited for is not there, and there is no time to wait: none was given, or the deadline has passed.";
    OneNanosecond = "one nanosecond", "What is waited for does not come, and next to no time is left.";
    TimedSuccess = "timed success", "A call with a deadline finds what it waits for.";
    Polling = "polling", "One thread looks at so many things in turn, of which none has come. The time is that of one look.";
    PingPong = "ping-pong", "Two threads take turns. Running, they have a processor each, or whatever the scheduler gives them; asleep, they share one, so that neither goes on before the other one sleeps or gives way. One time is there and back.";
    Contended = "contended", "Threads want the same thing all the time, with nothing in between. The time is that of one pass, whoever makes it.";
    SideBySide = "side by side", "Two running threads do the same, each with an object of its own. They shall not hinder each other.";
    BurstWake = "burst wake", "So many threads are asleep when what all of them wait for comes: from then until the last one is up.";
    WakeUps = "wake-ups", "How many threads get up for one permit, with eight asleep.";
    Herd = "herd", "So many threads sleep, each on an object of its own, and are woken one by one.";
    Lateness = "lateness", "How long after its time a wait ends that nobody else ends.";
    CostOfSleep = "cost of a sleep", "What a wait that ends at its deadline takes of the processor: what is spun before it sleeps, and the kernel's work.";
    Rounds = "rounds", "So many threads meet again and again, with nothing to do in between. The time is that of one round.";
    FanIn = "fan-in", "So many sleeping threads are sent off, each counts down, and one more waits for all of them. The time is that from the first one's start.";
    JobLatency = "job latency", "A job comes to a pool whose threads all sleep: until it is done.";
    JobThroughput = "job throughput", "Jobs come as fast as one thread can make them, with next to nothing to do in each. The time is that of one job.";
}

catalogue! {
    /// To what.
    Kind:
    Semaphore = "semaphore", "Peers that have no semaphore are a count under a mutex and a condition variable; those of async code are used by blocking calls.";
    Signal = "signal", "A binary semaphore between two threads, beside crossbeam's `Parker`.";
    Oneshot = "one-shot", "A channel for one value; of channels for more, one value is used.";
    Barrier = "barrier", "Each party is a thread of its own.";
    Latch = "latch", "std's is a count under a mutex and a condition variable, and crossbeam's is its `WaitGroup`, for which one thread waits.";
    Atomic = "atomic", "Waits for the values of atomics. libstdc++'s and ours are the same bytes.";
    Pool = "pool", "A queue of boxed jobs. Ours are a `VecDeque` under a `Mutex` with a permit for each job, and a queue without a lock whose idle threads are woken one by one, the next by the one before.";
}
