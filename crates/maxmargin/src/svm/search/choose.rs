//! The choice of combinations: all, random, beyond the ends of ranges, and around the best.

use super::cell::Cell;
use super::ranges::Ranges;
use super::select::width;
use super::stage::SearchColumn;
use crate::Svm;
use maxmargin_cv::FoldPlan;
use maxmargin_data::Dataset;
use maxmargin_kernel::Gamma;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, HashSet};

/// Returns all combinations.
pub(super) fn all(ranges: &Ranges, svm: &Svm) -> Vec<SearchColumn> {
    let values = ranges.costs(svm.formulation());
    ranges.columns(svm).into_iter().map(|svm| SearchColumn { svm, values: values.clone() }).collect()
}

/// Draws `count` combinations with log-uniform C and γ.
pub(super) fn random(ranges: &Ranges, svm: &Svm, count: usize) -> Vec<SearchColumn> {
    let mut rng = ChaCha8Rng::seed_from_u64(svm.options.seed);
    let costs = ranges.costs(svm.formulation());
    // There is one column for each kernel and value of ε or ν; the width is drawn.
    let narrow = if ranges.gamma.is_empty() { ranges.clone() } else { ranges.clone().gamma(&ranges.gamma[..1]) };
    let columns = narrow.columns(svm);
    let mut known = HashSet::new();
    (0..count)
        .filter_map(|_| {
            let column = &columns[rng.random_range(0..columns.len())];
            let c = between(&costs, &mut rng);
            let drawn = (!ranges.gamma.is_empty()).then(|| between(&ranges.gamma, &mut rng));
            let wide = column.options.kernel.gamma().is_some();
            let gamma = drawn.filter(|_| wide).map_or(column.options.gamma, |gamma| Some(Gamma::Value(gamma)));
            // Where nothing is left to draw, a combination may come again.
            let drawn = SearchColumn { svm: column.clone().with(|options| options.gamma = gamma), values: vec![c] };
            known.insert(identity_of(&drawn)).then_some(drawn)
        })
        .collect()
}

/// Returns what tells drawn combinations apart.
fn identity_of(drawn: &SearchColumn) -> String {
    let svm = &drawn.svm;
    format!("{:?} {:?} {:?} {:?}", svm.kernel_given(), svm.options.gamma, svm.formulation(), drawn.values)
}

/// Draws a value whose logarithm is uniform between those of the least and the greatest value.
fn between(values: &[f64], rng: &mut impl Rng) -> f64 {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    let share: f64 = rng.random();
    (least.ln() + share * (most / least).ln()).exp().clamp(least, most)
}

/// Returns the samples in an order in which every prefix has about the right share of every class
/// and fold.
pub(super) fn nested(data: &Dataset, plan: &FoldPlan, seed: u64) -> Vec<usize> {
    // Each sample has the first fold that tests it. Samples without one have an additional number.
    let mut fold_of = vec![plan.folds(); data.labels.len()];
    (0..plan.folds()).rev().for_each(|fold| plan.test(fold).iter().for_each(|&i| fold_of[i] = fold));
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut groups: BTreeMap<(u64, usize), Vec<usize>> = BTreeMap::new();
    for (i, (label, fold)) in data.labels.iter().zip(&fold_of).enumerate() {
        groups.entry((label.to_bits(), *fold)).or_default().push(i);
    }
    // The targets of a regression are all different; then the folds alone are the groups.
    if groups.len() > data.labels.len() / 2 {
        let all = std::mem::take(&mut groups).into_iter().flat_map(|((_, fold), rows)| rows.into_iter().map(move |i| (fold, i)));
        all.for_each(|(fold, i)| groups.entry((0, fold)).or_default().push(i));
    }
    let mut keyed = Vec::with_capacity(data.labels.len());
    for rows in groups.values_mut() {
        rows.sort_unstable();
        rows.shuffle(&mut rng);
        // Rank 0 puts the first sample of each group into every prefix.
        let count = rows.len() as f64;
        keyed.extend(rows.iter().enumerate().map(|(rank, &i)| (rank as f64 / count, i)));
    }
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    keyed.into_iter().map(|(_, i)| i).collect()
}

/// Groups cells into columns, with C ascending.
pub(super) fn columns_of<'c, T: 'c>(cells: impl Iterator<Item = &'c Cell<T>>) -> Vec<SearchColumn> {
    let mut columns: Vec<SearchColumn> = Vec::new();
    for cell in cells {
        let c = cell.svm.formulation().c().unwrap_or(1.0);
        match columns.iter_mut().find(|asked| same_column(&asked.svm, &cell.svm)) {
            Some(asked) => asked.values.push(c),
            None => columns.push(SearchColumn { svm: cell.svm.clone(), values: vec![c] }),
        }
    }
    columns.iter_mut().for_each(|asked| asked.values.sort_by(f64::total_cmp));
    columns
}

/// Returns true if two estimators differ in C alone.
fn same_column(one: &Svm, other: &Svm) -> bool {
    let column = |svm: &Svm| (svm.kernel_given(), svm.options.gamma, svm.formulation().with_c(1.0));
    column(one) == column(other)
}

/// The tried values of C and γ among cells with the kernel and formulation of one cell, ascending.
struct TriedValues {
    c: Vec<f64>,
    gamma: Vec<f64>,
}

impl TriedValues {
    fn beside<T>(cells: &[Cell<T>], best: &Cell<T>) -> Self {
        let free = |svm: &Svm| (svm.kernel_given().with_gamma(1.0), svm.formulation().with_c(1.0));
        let alike = || cells.iter().filter(|cell| free(&cell.svm) == free(&best.svm));
        let ascending = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values.dedup();
            values
        };
        let c = ascending(alike().filter_map(|cell| cell.svm.formulation().c()).collect());
        // A kernel whose width comes from a rule has no other widths.
        let given = matches!(best.svm.options.gamma, Some(Gamma::Value(_))) && best.svm.options.kernel.gamma().is_some();
        Self { c, gamma: if given { ascending(alike().map(width).collect()) } else { Vec::new() } }
    }
}

/// The greatest factor by which a search may go beyond the ends of a range.
const FAR: f64 = 1024.0;

/// Returns the next value beyond the end `at` of some values. `None` if `at` is not an end, or the
/// value is too far ([`FAR`]) from the requested range `within`.
fn beyond(values: &[f64], at: f64, within: &[f64]) -> Option<f64> {
    let next = match values {
        [first, second, ..] if at == *first => first / (second / first),
        [.., before, last] if at == *last => last * (last / before),
        _ => return None,
    };
    let least = within.iter().copied().fold(f64::INFINITY, f64::min);
    let most = within.iter().copied().fold(0.0, f64::max);
    // The tolerance covers rounding.
    (least / next <= FAR * 1.001 && next / most <= FAR * 1.001).then_some(next)
}

/// Returns the next values beyond those ends of `values` that one of the best cells has.
fn beyond_ends<T>(values: &[f64], within: &[f64], best: &[&Cell<T>], of: impl Fn(&Cell<T>) -> Option<f64>) -> Vec<f64> {
    let ends = values.first().into_iter().chain(values.last());
    ends.filter(|end| best.iter().any(|cell| of(cell) == Some(**end))).filter_map(|end| beyond(values, *end, within)).collect()
}

/// Returns the cells one step beyond the ends of the tried values, if one of the best cells is at
/// an end. A new γ gets all C, and a new C all γ, with the kernel of the first of the best.
pub(super) fn extended<T>(cells: &[Cell<T>], best: &[&Cell<T>], ranges: &Ranges) -> Vec<SearchColumn> {
    let Some(first) = best.first() else { return Vec::new() };
    let tried = TriedValues::beside(cells, first);
    let costs = beyond_ends(&tried.c, &ranges.c, best, |cell| cell.svm.formulation().c());
    let widths = beyond_ends(&tried.gamma, &ranges.gamma, best, |cell| Some(width(cell)));
    let with = |gamma: &f64| first.svm.clone().gamma(Gamma::Value(*gamma));
    let mut asked = Vec::new();
    if !costs.is_empty() {
        let columns: Vec<Svm> =
            if tried.gamma.is_empty() { vec![first.svm.clone()] } else { tried.gamma.iter().map(with).collect() };
        asked.extend(columns.into_iter().map(|svm| SearchColumn { svm, values: costs.clone() }));
    }
    let mut values = tried.c;
    values.extend(costs);
    values.sort_by(f64::total_cmp);
    if values.is_empty() {
        values.push(1.0);
    }
    asked.extend(widths.iter().map(|gamma| SearchColumn { svm: with(gamma), values: values.clone() }));
    asked
}

/// Returns the value `at`, its neighbours, and the geometric means with them.
fn around(values: &[f64], at: f64) -> Vec<f64> {
    let Some(place) = values.iter().position(|value| *value == at) else { return vec![at] };
    let mut found = Vec::new();
    if place > 0 {
        found.extend([values[place - 1], (values[place - 1] * at).sqrt()]);
    }
    found.push(at);
    if let Some(next) = values.get(place + 1) {
        found.extend([(at * next).sqrt(), *next]);
    }
    found
}

/// Returns the cells of a finer grid around the best that do not exist yet.
pub(super) fn refined<T>(cells: &[Cell<T>], best: &Cell<T>) -> Vec<SearchColumn> {
    let tried = TriedValues::beside(cells, best);
    let costs = best.svm.formulation().c().map_or_else(|| vec![1.0], |c| around(&tried.c, c));
    let columns: Vec<Svm> = if tried.gamma.is_empty() {
        vec![best.svm.clone()]
    } else {
        let widths = around(&tried.gamma, width(best));
        widths.into_iter().map(|gamma| best.svm.clone().gamma(Gamma::Value(gamma))).collect()
    };
    let there = |svm: &Svm, c: f64| {
        cells.iter().any(|cell| same_column(&cell.svm, svm) && cell.svm.formulation().c().is_none_or(|known| known == c))
    };
    let missing = |svm: Svm| {
        let values: Vec<f64> = costs.iter().copied().filter(|c| !there(&svm, *c)).collect();
        (!values.is_empty()).then_some(SearchColumn { svm, values })
    };
    columns.into_iter().filter_map(missing).collect()
}
