//! Where ours is not the best.

use super::numbers::{row, rule, spread};
use crate::figure::{Figure, Loss, Results};

pub(super) fn section(results: &Results) -> String {
    let losses: Vec<(&Figure, Loss<'_>)> =
        results.figures.iter().flat_map(|figure| figure.losses().into_iter().map(move |loss| (figure, loss))).collect();
    let mut section = format!(
        "## Where others are ahead\n\nEvery peer whose median is more than {:.0} % below ours, in what the scenario is about or in \
         processor time.\n\n",
        (Loss::NOTABLE - 1.0) * 100.0
    );
    if losses.is_empty() {
        return section + "Nowhere in this run.\n\n";
    }
    section += &row(&["operation", "ours", "ahead", "in", "ours to theirs", "why"]);
    section += &rule(6);
    for (figure, loss) in losses {
        let ours = figure.ours.first().map_or("", |ours| ours.name.as_str());
        let why = match loss.explanation {
            Some(explanation) => explanation,
            None if loss.ratio.lower <= 1.0 => "in some rounds only: another run may say otherwise",
            None => "not explained",
        };
        section += &row(&[&figure.subject.line(), ours, &loss.peer.name, loss.unit(figure), &spread(loss.ratio), why]);
    }
    section + "\n"
}
