//! Figures beside each other, one line each.

use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{A_LETTER, Role, cast, draw_legend, legend_width, span, tick, track};
use crate::figure::Figure;
use crate::race::Quartiles;

/// A dot for everybody's median, on one scale.
pub(super) fn draw(figures: &[&Figure], title: &str, path: &Path) -> Result<(), Box<dyn core::error::Error>> {
    const WIDTH: u32 = 900;
    const A_LINE: u32 = 26;
    const ABOVE_AND_BELOW: u32 = 90;

    let unit = figures[0].unit.as_str();
    let cast = cast(figures);
    let labels: Vec<String> = figures.iter().map(|figure| figure.subject.details()).collect();
    let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0) as u32;
    let lines = figures.len().max(cast.len().div_ceil(2)) as u32;
    let medians = |figure: &Figure| -> Vec<f64> {
        let of = |&(name, role, _): &(&str, Role, _)| track(figure, name, role).map(|track| track.median());
        cast.iter().filter_map(of).collect()
    };
    let all = figures.iter().flat_map(|figure| medians(figure));
    let root = SVGBackend::new(path, (WIDTH, lines * A_LINE + ABOVE_AND_BELOW)).into_drawing_area();
    root.fill(&WHITE)?;
    let (left, right) = root.split_horizontally(WIDTH - legend_width(&cast));
    let mut chart = ChartBuilder::on(&left)
        .caption(title, ("sans-serif", 17))
        .margin(10)
        .x_label_area_size(30)
        .y_label_area_size(longest * A_LETTER + 10)
        .build_cartesian_2d(span(all).log_scale(), -0.5..figures.len() as f64 - 0.5)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .disable_y_mesh()
        .y_labels(0)
        .x_label_formatter(&|value| tick(*value, unit))
        .draw()?;
    // From top to bottom.
    let height = |index: usize| (figures.len() - 1 - index) as f64;
    let plot = chart.plotting_area();
    let (start, to_the_left) = (plot.get_x_range().start, Pos::new(HPos::Right, VPos::Center));
    let style = ("sans-serif", 12).into_font().color(&BLACK).pos(to_the_left);
    for (index, label) in labels.iter().enumerate() {
        let (x, y) = plot.map_coordinate(&(start, height(index)));
        root.draw(&Text::new(label.as_str(), (x - A_LETTER as i32, y), style.clone()))?;
    }
    // Ours on top.
    for &(name, role, colour) in cast.iter().rev() {
        for (index, figure) in figures.iter().enumerate() {
            let Some(track) = track(figure, name, role) else { continue };
            let Quartiles { lower, median, upper } = Quartiles::of(track.each.clone());
            let y = height(index);
            chart.draw_series([PathElement::new([(lower, y), (upper, y)], colour.stroke_width(2))])?;
            let size = if role == Role::Ours { 6 } else { 4 };
            chart.draw_series([Circle::new((median, y), size, colour.filled())])?;
        }
    }
    draw_legend(&right, &cast)?;
    root.present()?;
    Ok(())
}
