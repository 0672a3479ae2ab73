//! Intervals of a regression by the machines of folds.

use super::graph::{Element, Graph};
use super::outcome::output;
use super::prepare::RawInputs;
use super::sums::decisions;
use crate::program::{FoldBand, FoldIntervals, Inputs};

/// Adds the outputs `lower` and `upper`.
pub(super) fn outputs(graph: &mut Graph, raw: &RawInputs, inputs: &Inputs, intervals: &FoldIntervals, element: Element) {
    let mut groups = Vec::new();
    let mut begins = vec![0];
    for functions in &intervals.functions {
        let features = raw.features(graph, inputs, functions);
        groups.push(decisions(graph, &features, functions));
        begins.push(begins[begins.len() - 1] + functions.bias.len());
    }
    let all = graph.concat(&groups.iter().collect::<Vec<_>>());
    for (name, is_upper) in [("lower", false), ("upper", true)] {
        let end = |fold: &FoldBand| if is_upper { fold.upper } else { fold.lower };
        let places: Vec<i64> = intervals
            .folds
            .iter()
            .flat_map(|fold| {
                let [group, place] = end(fold);
                vec![(begins[group] + place) as i64; fold.scores.len()]
            })
            .collect();
        let scores: Vec<f64> = intervals.folds.iter().flat_map(|fold| fold.scores.iter().copied()).collect();
        let bound = if intervals.rank == 0 {
            let own = graph.take(&all, 1, vec![0]);
            let zeros = graph.apply("Sub", &[&own, &own]);
            let infinite = graph.scalar("infinite", if is_upper { f64::INFINITY } else { f64::NEG_INFINITY });
            graph.apply("Add", &[&zeros, &infinite])
        } else {
            let predictions = graph.take(&all, 1, places);
            let scores = graph.doubles("scores", &[1, scores.len()], scores);
            let ends = graph.apply(if is_upper { "Add" } else { "Sub" }, &[&predictions, &scores]);
            let ranked = graph.top(&ends, intervals.rank, is_upper);
            graph.take(&ranked, 1, vec![intervals.rank as i64 - 1])
        };
        output(graph, name, &bound, 1, element);
    }
}
