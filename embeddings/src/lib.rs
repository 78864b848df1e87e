//! waitline embedded in other code, with dependencies (rayon, crossbeam) that the crate's own examples do without: complete,
//! tested, and to be read and copied.
//!
//! | module | what is embedded where |
//! |--------|------------------------|
//! | [`stealing`] | sleeping, joining and scopes of a pool that steals work, on crossbeam's deques |
//! | [`in_rayon`] | waits for anything of waitline's within rayon's pool, without starving it |
//!
//! ```text
//! cargo test -p waitline-embeddings
//! cargo run --release -p waitline-embeddings --bin against-rayon
//! ```
//!
//! What needs no dependency is among the crate's own examples: `examples/pool` and `examples/block_on.rs`.

pub mod in_rayon;
pub mod stealing;
