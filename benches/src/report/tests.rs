//! Whether all that a run found is on its page.

use std::fs;

use super::{readme_table, write};
use crate::catalogue::{Kind, Scenario};
use crate::figure::{Base, Figure, Results, Subject, Target};
use crate::machine::Machine;
use crate::race::Track;

fn track(name: &str, nanoseconds: f64) -> Track {
    let each = vec![nanoseconds, nanoseconds * 2.0, nanoseconds * 3.0];
    Track { name: name.into(), cpu: each.clone(), sleeps: vec![0.0; 3], each, disturbed: 0 }
}

fn figure(case: &str, size: Option<u64>, ours: f64) -> Figure {
    let size = size.map(|number| (number, String::from("threads")));
    Figure {
        subject: Subject { scenario: Scenario::Contended, kind: Kind::Semaphore, case: case.into(), size },
        unit: "ns".into(),
        targets: vec![
            Target { at_most: 2.0, base: Base::Floor },
            Target { at_most: 1.0, base: Base::Peer("absent".into()) },
        ],
        floors: vec![track("raw", 10.0)],
        ours: vec![track("Ours", ours)],
        peers: vec![track("Theirs", 25.0)],
        explanations: Vec::new(),
        readme: Some("a line".into()),
    }
}

#[test]
fn pages_show_wins_and_losses() {
    let figures = vec![figure("alone", None, 15.0), figure("", Some(1), 20.0), figure("", Some(2), 50.0)];
    let results = Results { machine: Machine::look(), rounds: 3, figures };
    let folder = tempfile::tempdir().expect("there is room for a folder");
    write(&results, folder.path()).expect("the folder can be written to");
    let page = fs::read_to_string(folder.path().join("BENCHMARKS.md")).expect("the page is there");
    for line in [
        "| contended, semaphore: alone | Ours | 1.50 (1.50–1.50) | raw | 2.00 | met |",
        "| contended, semaphore, 2 threads | Ours | 5.00 (5.00–5.00) | raw | 2.00 | **missed** |",
        "| contended, semaphore, 2 threads |  |  | absent, which is missing | 1.00 | not measured |",
        "| contended, semaphore, 2 threads | Ours | Theirs | ns | 2.00 (2.00–2.00) | not explained |",
        "| alone | *raw* | 20.0 (15.0–25.0) | 1.00 | 20.0 | 0.00 |",
        "|  | **Ours** | 30.0 (22.5–37.5) | 1.50 | 30.0 | 0.00 |",
        "|  | Theirs | 50.0 (37.5–62.5) | 2.50 | 50.0 | 0.00 |",
    ] {
        assert!(page.contains(line), "{line} is not in\n{page}");
    }
    assert!(page.contains("2 of 3 are met"), "{page}");
    let charts: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("![")?.split(['(', ')']).nth(1)).collect();
    assert_eq!(charts.len(), 2, "one of lines and one of dots: {page}");
    for chart in charts {
        let chart = fs::read_to_string(folder.path().join(chart)).expect("charts that pages show are there");
        assert!(chart.starts_with("<svg") && chart.contains("Theirs"), "{chart}");
    }
    assert!(readme_table(&results).ends_with("| a line | 1.50–5.00 | raw | Theirs 2.50 |\n"));
}
