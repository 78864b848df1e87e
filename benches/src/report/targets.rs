//! What ours has to reach, and whether it does.

use core::fmt::Write;

use waitline::{Barrier, BinarySemaphore, Latch, Semaphore, oneshot};

use super::numbers::{row, rule, short, spread};
use crate::figure::{Base, Figure, Results, Target};

pub(super) fn section(results: &Results) -> String {
    let verdicts: Vec<_> = results.figures.iter().flat_map(Figure::verdicts).collect();
    let met = verdicts.iter().filter(|verdict| verdict.is_met()).count();
    let mut section = format!(
        "## Targets\n\nA target is the greatest ratio to the floor or to a peer that is good enough. {met} of {} are met.\n\n",
        verdicts.len()
    );
    section += &row(&["operation", "", "ratio, median and quartiles", "to", "target", ""]);
    section += &rule(6);
    for figure in &results.figures {
        for target in &figure.targets {
            section += &lines(figure, target);
        }
    }
    section.push('\n');
    section + &sizes()
}

fn lines(figure: &Figure, target: &Target) -> String {
    let at_most = short(target.at_most);
    let operation = figure.subject.line();
    let base = match (&target.base, figure.base(&target.base)) {
        (Base::One, _) => String::from("1"),
        (Base::AboveFloor, Some(track)) => format!("{} beyond {}", figure.unit, track.name),
        (_, Some(track)) => track.name.clone(),
        (base, None) => return row(&[&operation, "", "", &missing(base), &at_most, "not measured"]),
    };
    let verdicts = figure.verdicts();
    let of_target = verdicts.iter().filter(|verdict| verdict.target == target);
    let line = |verdict: &crate::figure::Verdict<'_>| {
        let met = if verdict.is_met() { "met" } else { "**missed**" };
        row(&[&operation, &verdict.ours.name, &spread(verdict.ratio), &base, &at_most, met])
    };
    of_target.map(line).collect()
}

fn missing(base: &Base) -> String {
    match base {
        Base::Peer(name) => format!("{name}, which is missing"),
        Base::Floor | Base::AboveFloor | Base::BestPeer | Base::One => String::from("nothing"),
    }
}

/// In bytes.
fn sizes() -> String {
    let sizes = [
        ("Semaphore", size_of::<Semaphore>(), 8),
        ("BinarySemaphore", size_of::<BinarySemaphore>(), 4),
        ("Latch", size_of::<Latch>(), 8),
        ("Barrier", size_of::<Barrier>(), 24),
        ("oneshot::Receiver", size_of::<oneshot::Receiver<u64>>(), size_of::<usize>()),
    ];
    let mut table = row(&["size", "bytes", "target", ""]) + &rule(4);
    for (name, size, at_most) in sizes {
        let met = if size <= at_most { "met" } else { "**missed**" };
        writeln!(table, "| {name} | {size} | {at_most} | {met} |").expect("a string takes everything");
    }
    table + "\n"
}
