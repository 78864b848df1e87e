//! One run of everything: `cargo bench -p waitline-bench [-- [ROUNDS] [WORD...]]`.
//!
//! Rounds are 31 unless said otherwise. With words, only what has one of them in its name is measured. What is found goes to
//! a file in cargo's target folder, of which the `report` program makes a page. Always ends well: these are figures and not
//! a test. By `cargo test` each contest is held once, but for the most crowded ones, which says that it works, and nothing is written.
//!
//! Nothing about two running threads can be measured while others want the processors. If the machine can't be quiet,
//! `chrt --fifo 1` keeps them away from what one or two threads do. Crowds need the normal scheduler; there the greatest
//! weight helps, given to a session of its own, since Linux may share out the processors by sessions:
//!
//! ```text
//! setsid -w sh -c 'echo -20 >/proc/self/autogroup; exec nice -n -20 cargo bench -p waitline-bench'
//! ```

use std::time::Instant;

use waitline_bench::contests::{self, Contest};
use waitline_bench::figure::{Figure, Results};
use waitline_bench::machine::Machine;

fn main() {
    const ROUNDS: usize = 31;
    let (mut rounds, mut words, mut measures) = (ROUNDS, Vec::new(), false);
    for argument in std::env::args().skip(1) {
        match argument.parse() {
            Ok(number) if number > 0 => rounds = number,
            // Cargo says so when it is asked for benchmarks.
            _ if argument == "--bench" => measures = true,
            _ => words.push(argument.to_lowercase()),
        }
    }
    let is_wanted = |contest: &Contest| {
        let line = contest.subject().line().to_lowercase();
        words.is_empty() || words.iter().any(|word| line.contains(word.as_str()))
    };
    let contests: Vec<_> = contests::all().into_iter().filter(is_wanted).collect();
    if measures {
        measure(contests, rounds);
    } else {
        let small = contests.into_iter().filter(|contest| !contest.is_crowded());
        println!("{} contests held once each", small.map(Contest::try_out).count());
    }
}

fn measure(contests: Vec<Contest>, rounds: usize) {
    let machine = Machine::look();
    let number = contests.len();
    println!("{machine}\n{rounds} rounds of {number} contests");
    let start = Instant::now();
    let measure = |(index, contest): (usize, Contest)| {
        let figure = contest.run(rounds);
        println!("{:4} s  {}/{number}  {}", start.elapsed().as_secs(), index + 1, progress(&figure));
        figure
    };
    let figures = contests.into_iter().enumerate().map(measure).collect();
    let results = Results { machine, rounds, figures };
    match results.save() {
        Ok(path) => println!("Written to {}", path.display()),
        Err(error) => println!("Can't be written: {error}"),
    }
}

fn progress(figure: &Figure) -> String {
    let mut line = figure.subject.line();
    for ours in &figure.ours {
        line += &format!("; {} {:.1} {}", ours.name, ours.median(), figure.unit);
    }
    for verdict in figure.verdicts() {
        let met = if verdict.is_met() { "met" } else { "MISSED" };
        line += &format!(
            "; {} {:.2} (target {:.2}, {met})",
            verdict.ours.name, verdict.ratio.median, verdict.target.at_most
        );
    }
    for loss in figure.losses() {
        line += &format!("; {} is ahead in {}, {:.2}", loss.peer.name, loss.unit(figure), loss.ratio.median);
    }
    line
}
