//! Numbers as people read them.

use crate::figure::Figure;
use crate::race::{Quartiles, Track};

/// Three digits that matter, and thousands apart.
pub(super) fn short(number: f64) -> String {
    if number < 0.0 {
        return format!("−{}", short(-number));
    }
    if number >= 1000.0 {
        let unit = 10_f64.powf(number.log10().floor() - 2.0);
        return thousands(((number / unit).round() * unit) as u64);
    }
    let decimals = match number {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{number:.decimals$}")
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A ratio and its quartiles.
pub(super) fn spread(of: Quartiles) -> String {
    format!("{} ({}–{})", short(of.median), short(of.lower), short(of.upper))
}

/// A median and its quartiles.
pub(super) fn value(of: &[f64]) -> String {
    if of.is_empty() {
        return String::new();
    }
    let Quartiles { lower, median, upper } = Quartiles::of(of.to_vec());
    format!("{} ({}–{})", short(median), short(lower), short(upper))
}

/// The ratio to the raw floor, if there is one.
pub(super) fn to_floor(figure: &Figure, track: &Track) -> String {
    figure.floors.first().map_or(String::new(), |floor| short(track.ratio_to(floor).median))
}

/// A mark where in more than a few rounds nothing undisturbed could be had.
pub(super) fn noise(track: &Track) -> &'static str {
    if track.disturbed * 4 > track.each.len() { " *" } else { "" }
}

/// As a table's row, with cells of any width.
pub(super) fn row(cells: &[&str]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// The line below a table's head.
pub(super) fn rule(columns: usize) -> String {
    format!("|{}\n", "---|".repeat(columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_matter() {
        let numbers = [0.0, 0.984, 1.0, 12.34, 123.4, 1_234.0, 95_678.0, 1_234_567.0].map(short);
        assert_eq!(numbers, ["0.00", "0.98", "1.00", "12.3", "123", "1 230", "95 700", "1 230 000"]);
    }
}
