//! Figures as one Markdown table: it can be read where it is printed, and pasted where it is quoted.

use crate::race::Track;
use crate::rows::Figure;

type Line = [String; 8];

/// One line a figure.
pub fn render(figures: &[Figure]) -> String {
    let head = ["operation", "target", "ratio", "quartiles", "", "floor", "ours", "peers"].map(String::from);
    let lines: Vec<Line> = [head].into_iter().chain(figures.iter().map(line)).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let rule = widths.iter().map(|&width| "-".repeat(width)).collect::<Vec<_>>();
    let mut table = String::new();
    for (index, line) in lines.iter().enumerate() {
        push(&mut table, line, &widths);
        if index == 0 {
            push(&mut table, &rule, &widths);
        }
    }
    table
}

fn push(table: &mut String, line: &[String], widths: &[usize]) {
    for (cell, &width) in line.iter().zip(widths) {
        table.push_str(&format!("| {cell:width$} "));
    }
    table.push_str("|\n");
}

fn line(figure: &Figure) -> Line {
    let ratio = figure.ratio(&figure.ours);
    let floor = figure
        .floor
        .as_ref()
        .map_or(String::from("none"), |floor| format!("{} {}{}", floor.name, value(floor, figure), noise(floor)));
    let peer = |peer: &Track| {
        format!("{} {} ({:.2}){}", peer.name, value(peer, figure), figure.ratio(peer).median, noise(peer))
    };
    [
        figure.operation.clone(),
        figure.target.map_or(String::new(), |target| format!("{target:.2}")),
        format!("{:.2}", ratio.median),
        format!("{:.2}–{:.2}", ratio.lower, ratio.upper),
        String::from(figure.is_met().map_or("", |met| if met { "met" } else { "MISSED" })),
        floor,
        format!("{}{}", value(&figure.ours, figure), noise(&figure.ours)),
        figure.peers.iter().map(peer).collect::<Vec<_>>().join(", "),
    ]
}

fn value(track: &Track, figure: &Figure) -> String {
    let median = track.median();
    let decimals = if median < 10.0 { 2 } else { 0 };
    format!("{median:.decimals$} {}", figure.unit).trim_end().to_owned()
}

/// A mark where in more than a few rounds nothing undisturbed could be had.
fn noise(track: &Track) -> &'static str {
    if track.disturbed * 4 > track.each.len() { " *" } else { "" }
}
