//! Takes the figures that the crate has to reach, as ratios in one run, and prints them as one table.
//!
//! ```text
//! cargo run --release -p waitline-bench --bin figures [ROUNDS] [WORD...]
//! ```
//!
//! Nothing about two running threads can be measured while others want the processors. If the machine can't be quiet,
//! `chrt --fifo 1` keeps them away from the rows of one or two threads. Crowds need the normal scheduler; there the
//! greatest weight helps, given to a session of its own, since Linux may share out the processors by sessions:
//!
//! ```text
//! setsid -w sh -c 'echo -20 >/proc/self/autogroup; exec nice -n -20 cargo run ...'
//! ```
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
        let target = figure.target.map_or(String::from("none"), |target| format!("{target:.2}"));
        eprintln!("{}: {:.2} (target {target})", figure.operation, figure.ratio(&figure.ours).median);
        figure
    };
    let figures: Vec<_> = rows::all().into_iter().filter(wanted).map(take).collect();
    println!("{}", table::render(&figures));
    let verdicts: Vec<bool> = figures.iter().filter_map(|figure| figure.is_met()).collect();
    println!("{} of {} targets met", verdicts.iter().filter(|&&met| met).count(), verdicts.len());
}
