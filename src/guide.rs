//! Guides: what to write in place of what you have, and how to build with it. Nothing here but documentation.
//!
//! | you come from, or build | read |
//! |---|---|
//! | `Mutex` and `Condvar`, `Barrier`, `mpsc`, `park_timeout` | [`from_std`] |
//! | C++20 or POSIX | [`from_cpp`] |
//! | tokio, and have to block | [`from_tokio`] |
//! | loops that do something else while they wait; timeouts; cancellation | [`polling`] |
//! | a thread pool | [`pools`] |

#[doc = include_str!("guide/from_std.md")]
pub mod from_std {}

#[doc = include_str!("guide/from_cpp.md")]
pub mod from_cpp {}

#[doc = include_str!("guide/from_tokio.md")]
pub mod from_tokio {}

#[doc = include_str!("guide/polling.md")]
pub mod polling {}

#[doc = include_str!("guide/pools.md")]
pub mod pools {}
