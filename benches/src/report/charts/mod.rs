//! Pictures of figures, as SVG.

mod dots;
mod lines;

use std::io;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::figure::Figure;
use crate::race::Track;

/// A chart that has been drawn.
pub(super) struct Chart {
    pub(super) title: String,
    /// Its name in the charts' folder.
    pub(super) file: String,
}

/// Draws the figures of one scenario and kind: what grows with a size as lines, and the rest as dots in one chart.
pub(super) fn draw(figures: &[&Figure], folder: &Path) -> io::Result<Vec<Chart>> {
    let (growing, single): (Vec<&Figure>, Vec<_>) =
        figures.iter().copied().partition(|figure| figure.subject.size.is_some());
    let mut charts = Vec::new();
    if !single.is_empty() {
        charts.push(draw_one(&single, "", folder, dots::draw)?);
    }
    let mut cases: Vec<&str> = growing.iter().map(|figure| figure.subject.case.as_str()).collect();
    cases.dedup();
    cases.sort_unstable();
    cases.dedup();
    for case in cases {
        let of_case: Vec<_> = growing.iter().copied().filter(|figure| figure.subject.case == case).collect();
        charts.push(draw_one(&of_case, case, folder, lines::draw)?);
    }
    Ok(charts)
}

type Draw = fn(&[&Figure], &str, &Path) -> Result<(), Box<dyn core::error::Error>>;

fn draw_one(figures: &[&Figure], case: &str, folder: &Path, draw: Draw) -> io::Result<Chart> {
    let subject = &figures[0].subject;
    let mut title = format!("{}: {}", subject.scenario, subject.kind);
    if !case.is_empty() {
        title += &format!(", {case}");
    }
    let words: Vec<_> =
        title.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let file = words.join("-") + ".svg";
    draw(figures, &title, &folder.join(&file)).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(Chart { title, file })
}

/// Who is drawn, in which way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Floor,
    Ours,
    Peer,
}

type Member<'a> = (&'a str, Role, RGBColor);

/// Everybody in the figures, each once, with a colour of its own.
fn cast<'a>(figures: &[&'a Figure]) -> Vec<Member<'a>> {
    /// Told apart by most who can't tell some colours (Okabe and Ito's, and darker ones). The first is ours.
    const COLOURS: [RGBColor; 10] = [
        RGBColor(213, 94, 0),
        RGBColor(0, 114, 178),
        RGBColor(0, 158, 115),
        RGBColor(204, 121, 167),
        RGBColor(230, 159, 0),
        RGBColor(86, 180, 233),
        RGBColor(117, 76, 41),
        RGBColor(148, 103, 189),
        RGBColor(60, 60, 60),
        RGBColor(170, 170, 0),
    ];
    const GREY: RGBColor = RGBColor(150, 150, 150);
    let mut cast: Vec<Member<'_>> = Vec::new();
    let mut coloured = 0;
    for role in [Role::Ours, Role::Peer, Role::Floor] {
        for track in figures.iter().flat_map(|figure| tracks(figure, role)) {
            if cast.iter().any(|&(name, of, _)| name == track.name && of == role) {
                continue;
            }
            let colour = match role {
                Role::Floor => GREY,
                Role::Ours | Role::Peer => {
                    coloured += 1;
                    COLOURS[(coloured - 1) % COLOURS.len()]
                }
            };
            cast.push((&track.name, role, colour));
        }
    }
    cast
}

/// How wide letters of the size that is used here are, at most.
const A_LETTER: u32 = 7;

fn legend_width(cast: &[Member<'_>]) -> u32 {
    cast.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0) as u32 * A_LETTER + 40
}

fn draw_legend(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    cast: &[Member<'_>],
) -> Result<(), Box<dyn core::error::Error>> {
    const A_LINE: i32 = 18;
    for (y, &(name, role, colour)) in (1..).map(|line| line * A_LINE + 22).zip(cast) {
        area.draw(&Circle::new((10, y), if role == Role::Ours { 6 } else { 4 }, colour.filled()))?;
        area.draw(&Text::new(name, (22, y - 6), ("sans-serif", 12)))?;
    }
    Ok(())
}

fn tracks(figure: &Figure, role: Role) -> &[Track] {
    match role {
        Role::Floor => &figure.floors,
        Role::Ours => &figure.ours,
        Role::Peer => &figure.peers,
    }
}

/// The one of that name and role.
fn track<'a>(figure: &'a Figure, name: &str, role: Role) -> Option<&'a Track> {
    tracks(figure, role).iter().find(|track| track.name == name)
}

/// Room on a logarithmic scale for all of these, up and down to half a decade beyond.
fn span(values: impl Iterator<Item = f64>) -> core::ops::Range<f64> {
    const LEAST: f64 = 0.1;
    let (least, most) =
        values.fold((f64::MAX, LEAST), |(least, most), value| (least.min(value.max(LEAST)), most.max(value)));
    least.min(most) / 1.8..most * 1.8
}

/// A time, or whatever else is counted, in few letters.
fn tick(value: f64, unit: &str) -> String {
    let plain = |value: f64| if value < 1.0 { format!("{value:.1}") } else { format!("{value:.0}") };
    match (unit.starts_with("ns"), value) {
        (true, 1e9..) => format!("{} s", plain(value / 1e9)),
        (true, 1e6..) => format!("{} ms", plain(value / 1e6)),
        (true, 1e3..) => format!("{} µs", plain(value / 1e3)),
        (true, _) => format!("{} ns", plain(value)),
        (false, _) => plain(value),
    }
}
