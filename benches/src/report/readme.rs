//! The table of the README.

use super::numbers::{row, rule, short};
use crate::figure::{Base, Figure, Results};

/// One line for all figures that share it, ready to be pasted.
pub fn table(results: &Results) -> String {
    let mut lines: Vec<(&str, Vec<&Figure>)> = Vec::new();
    for figure in &results.figures {
        let Some(line) = figure.readme.as_deref() else { continue };
        match lines.iter_mut().find(|(name, _)| *name == line) {
            Some((_, figures)) => figures.push(figure),
            None => lines.push((line, vec![figure])),
        }
    }
    let head = row(&["operation", "ratio", "to", "peers on the same machine"]) + &rule(4);
    lines.iter().fold(head, |table, (name, figures)| table + &line(name, figures).unwrap_or_default())
}

/// Nothing where the peer is missing that ratios are formed with.
fn line(name: &str, figures: &[&Figure]) -> Option<String> {
    let first = figures.first()?;
    let base = first.targets.first().map_or(&Base::Floor, |target| &target.base);
    let ours = figures.iter().flat_map(|figure| figure.ours.iter().filter_map(|ours| figure.ratio(ours, base)));
    let medians: Vec<f64> = ours.map(|quartiles| quartiles.median).collect();
    let least = short(medians.iter().copied().reduce(f64::min)?);
    let most = short(medians.iter().copied().reduce(f64::max)?);
    let range = if least == most { least } else { format!("{least}–{most}") };
    let to = match base {
        Base::One => "1",
        _ => &first.base(base)?.name,
    };
    let is_base = |name: &str| name == to && *base != Base::One;
    // Others' figures on the line may have peers that the first one has not.
    let mut peers: Vec<(&str, f64)> = Vec::new();
    for figure in figures {
        for peer in figure.peers.iter().filter(|peer| !is_base(&peer.name)) {
            if let (false, Some(ratio)) = (peers.iter().any(|(name, _)| *name == peer.name), figure.ratio(peer, base)) {
                peers.push((&peer.name, ratio.median));
            }
        }
    }
    let peers: Vec<_> = peers.iter().map(|(name, ratio)| format!("{} {}", shorter(name), short(*ratio))).collect();
    Some(row(&[name, &range, to, &peers.join(", ")]))
}

/// What the text below the table says already is left out.
fn shorter(name: &str) -> &str {
    name.strip_suffix(" Mutex + Condvar").or_else(|| name.strip_suffix(" sem_t")).unwrap_or(name)
}
