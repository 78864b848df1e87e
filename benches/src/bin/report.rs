//! Makes BENCHMARKS.md and its charts of the last run: `cargo run --release -p waitline-bench --bin report [FOLDER]`.
//!
//! The folder is the repository's root unless said otherwise. What is printed is the table for README.md.

use std::path::Path;
use std::process::ExitCode;

use waitline_bench::figure::Results;
use waitline_bench::report;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this crate lies in the repository");
    let folder = std::env::args().nth(1);
    let folder = folder.as_deref().map_or(root, Path::new);
    let results = match Results::load() {
        Ok(results) => results,
        Err(error) => {
            eprintln!("No results of `cargo bench -p waitline-bench` can be read: {error}");
            return ExitCode::FAILURE;
        }
    };
    if let Err(error) = report::write(&results, folder) {
        eprintln!("The page can't be written to {}: {error}", folder.display());
        return ExitCode::FAILURE;
    }
    eprintln!("BENCHMARKS.md is written to {}. The table for README.md:\n", folder.display());
    print!("{}", report::readme_table(&results));
    ExitCode::SUCCESS
}
