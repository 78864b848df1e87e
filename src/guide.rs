//! Guides: what to write in place of what you have, and how to build with it. Nothing here but documentation.
//!
//! | you come from, or build | read |
//! |---|---|
//! | `Mutex` and `Condvar`, `Barrier`, `mpsc`, `park_timeout` | [`from_std`] |
//! | loops that do something else while they wait; timeouts; cancellation | [`polling`] |
//! | a thread pool | [`pools`] |

#[doc = include_str!("guide/from_std.md")]
pub mod from_std {}

#[doc = include_str!("guide/polling.md")]
pub mod polling {}

#[doc = include_str!("guide/pools.md")]
pub mod pools {}
