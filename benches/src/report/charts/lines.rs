//! Figures against the number of threads, or of whatever else they grow with.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::{Role, cast, draw_legend, legend_width, span, tick, track};
use crate::figure::Figure;
use crate::race::{Quartiles, Track};

/// What lines are drawn of.
type Values = fn(&Track) -> &[f64];

/// One panel for what the scenario is about, and one for the processor time where that was measured.
pub(super) fn draw(figures: &[&Figure], title: &str, path: &Path) -> Result<(), Box<dyn core::error::Error>> {
    const PANEL: (u32, u32) = (620, 440);
    let panels: &[(&str, Values)] =
        if figures.iter().any(|figure| figure.ours.iter().any(|track| !track.cpu.is_empty())) {
            &[("", |track| &track.each), (", processor time", |track| &track.cpu)]
        } else {
            &[("", |track| &track.each)]
        };
    let cast = cast(figures);
    let width = PANEL.0 * panels.len() as u32;
    let root = SVGBackend::new(path, (width + legend_width(&cast), PANEL.1)).into_drawing_area();
    root.fill(&WHITE)?;
    let (plots, legend) = root.split_horizontally(width);
    draw_legend(&legend, &cast)?;
    for (area, (what, values)) in plots.split_evenly((1, panels.len())).iter().zip(panels) {
        panel(area, figures, &format!("{title}{what}"), *values)?;
    }
    root.present()?;
    Ok(())
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    figures: &[&Figure],
    title: &str,
    values: Values,
) -> Result<(), Box<dyn core::error::Error>> {
    let unit = figures[0].unit.as_str();
    let size = |figure: &Figure| figure.subject.size.as_ref().map_or(1.0, |(number, _)| *number as f64);
    let what = figures[0].subject.size.as_ref().map_or("", |(_, what)| what.as_str());
    let cast = cast(figures);
    let points = |name: &str, role: Role| -> Vec<(f64, Quartiles)> {
        let point = |figure: &&Figure| {
            let each = values(track(figure, name, role)?);
            (!each.is_empty()).then(|| (size(figure), Quartiles::of(each.to_vec())))
        };
        figures.iter().filter_map(point).collect()
    };
    let all: Vec<f64> =
        cast.iter().flat_map(|&(name, role, _)| points(name, role)).map(|(_, quartiles)| quartiles.median).collect();
    let sizes: Vec<f64> = figures.iter().map(|figure| size(figure)).collect();
    let (first, last) = sizes.iter().fold((f64::MAX, 0.0_f64), |(a, b), &size| (a.min(size), b.max(size)));
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 17))
        .margin(10)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d(
            (first * 0.9..last * 1.1).log_scale().with_key_points(sizes),
            span(all.into_iter()).log_scale(),
        )?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc(what)
        .x_label_formatter(&|size| format!("{size:.0}"))
        .y_label_formatter(&|value| tick(*value, unit))
        .draw()?;
    // Ours on top.
    for (name, role, colour) in cast.into_iter().rev() {
        let points = points(name, role);
        if points.is_empty() {
            continue;
        }
        let style = colour.stroke_width(if role == Role::Ours { 3 } else { 1 });
        let medians = points.iter().map(|(size, quartiles)| (*size, quartiles.median));
        chart.draw_series(LineSeries::new(medians.clone(), style))?;
        // Between the quartiles.
        chart.draw_series(
            points
                .iter()
                .map(|(size, quartiles)| PathElement::new([(*size, quartiles.lower), (*size, quartiles.upper)], style)),
        )?;
        chart.draw_series(medians.map(|point| Circle::new(point, 3, colour.filled())))?;
    }
    Ok(())
}
