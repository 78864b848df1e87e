//! What every contender needed.

use super::numbers::{noise, row, rule, short, to_floor, value};
use crate::figure::Figure;
use crate::race::{Quartiles, Track};

/// One table of several figures of a scenario and a kind.
pub(super) fn table(figures: &[&Figure]) -> String {
    let has_effort = figures.iter().any(|figure| figure.ours.iter().any(|track| !track.cpu.is_empty()));
    let has_details = figures.iter().any(|figure| !figure.subject.details().is_empty());
    let unit = figures.first().map_or("", |figure| figure.unit.as_str());
    let median = format!("{unit}, median and quartiles");
    let keep = |cells: [String; 6]| {
        let kept = [has_details, true, true, true, has_effort, has_effort];
        let cells: Vec<_> = cells.iter().zip(kept).filter(|(_, kept)| *kept).map(|(cell, _)| cell.as_str()).collect();
        (row(&cells), cells.len())
    };
    let (head, columns) = keep(["", "", &median, "ratio to the floor", "processor ns", "sleeps"].map(String::from));
    let mut table = head + &rule(columns);
    for figure in figures {
        let mut details = figure.subject.details();
        let mut add = |track: &Track, name: String| {
            let value = value(&track.each) + noise(track);
            let cells = [
                core::mem::take(&mut details),
                name,
                value,
                to_floor(figure, track),
                median_of(&track.cpu),
                median_of(&track.sleeps),
            ];
            table += &keep(cells).0;
        };
        figure.floors.iter().for_each(|track| add(track, format!("*{}*", track.name)));
        figure.ours.iter().for_each(|track| add(track, format!("**{}**", track.name)));
        figure.peers.iter().for_each(|track| add(track, track.name.clone()));
    }
    table
}

fn median_of(values: &[f64]) -> String {
    if values.is_empty() { String::new() } else { short(Quartiles::of(values.to_vec()).median) }
}
