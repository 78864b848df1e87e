//! Prints the public API of a crate, an item a line, from the JSON that rustdoc makes of the crate.
//!
//! Left out are blanket and auto trait implementations. Derived ones are in: that a type is Copy or Hash is a promise.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let json = std::env::args_os().nth(1).ok_or("usage: print-public-api RUSTDOC.json")?;
    let api =
        public_api::Builder::from_rustdoc_json(json).omit_blanket_impls(true).omit_auto_trait_impls(true).build()?;
    print!("{api}");
    Ok(())
}
