//! Takes the figures that the crate has to reach, as ratios in one run, and prints them as one table.
//!
//! ```text
//! cargo run --release -p waitline-bench --bin figures [ROUNDS] [WORD...]
//! ```
//!
//! Nothing about two running threads can be measured while others want the processors. If the machine can't be quiet,
//! `chrt --fifo 1` keeps them away from the rows of one or two threads; crowds need the normal scheduler.
//!
//! Rounds are 41 unless said otherwise. With words, only rows whose operation contains one of them are taken. Always
//! ends well: these are figures and not a test.

use waitline_bench::{machine, rows, table};

fn main() {
    let mut rounds = 41;
    let mut words = Vec::new();
    for argument in std::env::args().skip(1) {
        match argument.parse() {
            Ok(number) if number > 0 => rounds = number,
            _ => words.push(argument.to_lowercase()),
        }
    }
    let wanted = |row: &rows::Row| {
        let operation = row.operation.to_lowercase();
        words.is_empty() || words.iter().any(|word| operation.contains(word.as_str()))
    };
    println!("{}", machine::description());
    println!("Medians of {rounds} rounds; a ratio is ours to the floor, or a peer's to it. * = disturbed by others.\n");
    let take = |row: rows::Row| {
        let figure = row.run(rounds);
        eprintln!("{}: {:.2} (target {:.2})", figure.operation, figure.ratio(&figure.ours).median, figure.target);
        figure
    };
    let figures: Vec<_> = rows::all().into_iter().filter(wanted).map(take).collect();
    println!("{}", table::render(&figures));
    let met = figures.iter().filter(|figure| figure.is_met()).count();
    println!("{met} of {} targets met", figures.len());
}
