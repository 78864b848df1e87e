//! The page that is made of a run.

mod charts;
mod losses;
mod numbers;
mod readme;
mod tables;
mod targets;

use core::fmt::Write;
use std::path::Path;
use std::{fs, io};

use crate::catalogue::{Kind, Scenario};
use crate::figure::{Figure, Results};

pub use self::readme::table as readme_table;

/// Where the page's charts are, as seen from it.
const CHARTS: &str = "benches/charts";

/// Writes the page to the folder, and its charts below it.
pub fn write(results: &Results, folder: &Path) -> io::Result<()> {
    let charts = folder.join(CHARTS);
    fs::create_dir_all(&charts)?;
    // Of another run.
    for old in fs::read_dir(&charts)?.flatten().filter(|file| file.path().extension().is_some_and(|it| it == "svg")) {
        fs::remove_file(old.path())?;
    }
    let mut page = head(results);
    page += &targets::section(results);
    page += &losses::section(results);
    for &scenario in Scenario::ALL {
        let figures: Vec<_> = results.figures.iter().filter(|figure| figure.subject.scenario == scenario).collect();
        if !figures.is_empty() {
            page += &section(scenario, &figures, &charts)?;
        }
    }
    fs::write(folder.join("BENCHMARKS.md"), page)
}

fn head(results: &Results) -> String {
    let Results { machine, rounds, .. } = results;
    let machine = machine.to_string().replace('\n', "  \n");
    format!(
        "# Benchmarks

All of this page was made from one run, by

```sh
cargo bench -p waitline-bench
cargo run --release -p waitline-bench --bin report
```

on this machine:

{machine}

Each scenario is the same generic code for everybody. All who take part run short batches in turn, forwards and backwards, for
{rounds} rounds; a batch into which the scheduler let somebody else's work is made again. Figures are medians, with the
quartiles beside them. Ratios are formed within each round and are medians too. They are the ratios to the raw floor, the
operation that nothing can be cheaper than, which takes part as well. Processor time and sleeps are those of all threads
together, for one operation: they show who is fast by keeping processors busy. A star marks figures for which hardly any
undisturbed batch could be had. This crate's names are bold.

Pinned threads have a processor each. All others run where the scheduler puts them.

"
    )
}

fn section(scenario: Scenario, figures: &[&Figure], charts: &Path) -> io::Result<String> {
    let mut section = format!("## {}\n\n{}\n\n", capitalized(&scenario.to_string()), scenario.about());
    for &kind in Kind::ALL {
        let figures: Vec<_> = figures.iter().copied().filter(|figure| figure.subject.kind == kind).collect();
        if figures.is_empty() {
            continue;
        }
        let about = if kind.about().is_empty() { String::new() } else { format!("{}\n\n", kind.about()) };
        section += &format!("### {}: {kind}\n\n{about}", capitalized(&scenario.to_string()));
        for chart in charts::draw(&figures, charts)? {
            writeln!(section, "![{}]({CHARTS}/{})\n", chart.title, chart.file).expect("a string takes everything");
        }
        section += &tables::table(&figures);
        section.push('\n');
    }
    Ok(section)
}

fn capitalized(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests;
