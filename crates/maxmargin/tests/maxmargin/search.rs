//! Searches: which cells they try, what they give up, and that they end at what the full grid
//! finds.

use maxmargin::DescentEnd;
use maxmargin::cv::{CvReport, FoldPlan, Unlogged};
use maxmargin::data::Samples;
use maxmargin::data::scale::{ScaleMethod, Scaler};
use maxmargin::kernel::Kernel;
use maxmargin::metrics::{Metric, metrics_of};
use maxmargin::prelude::*;
use maxmargin::{Cell, Ranges, Search, SearchHooks, SearchResult, best, flattest, one_standard_error};
use std::collections::BTreeSet;

fn powers(from: i32, to: i32, by: usize) -> Vec<f64> {
    (from..=to).step_by(by).map(|k| 2.0_f64.powi(k)).collect()
}

fn made(generator: Generator, rows: usize, seed: u64) -> (Dataset, FoldPlan) {
    let data = generator.generate(rows, None, seed).expect("data");
    let plan = FoldPlan::stratified(&data.labels, 4, 1).expect("folds");
    (data, plan)
}

fn run(svm: &Svm, (data, plan): &(Dataset, FoldPlan), search: &Search) -> SearchResult<CvReport> {
    let attended = SearchHooks { control: &RunControl::unlimited(), logs: &Unlogged };
    svm.search(data, plan, search, attended, |_, report| report).expect("cells")
}

fn metric() -> &'static Metric {
    metrics_of(maxmargin::core::TargetKind::Classes)[0]
}

fn name<T>(cell: &Cell<T>) -> String {
    format!("{:?} {:?}", cell.svm.kernel_given(), cell.svm.formulation())
}

fn work<T>(found: &SearchResult<T>) -> u64 {
    found.repeated_iterations + found.cells.iter().map(|cell| cell.score.iterations).sum::<u64>()
}

fn wide() -> Ranges {
    Ranges::new().c(&powers(-4, 8, 2)).gamma(&powers(-8, 4, 2))
}

/// Cells that were given up really were worse, and nothing else is lost.
#[test]
fn pruning_finds_the_winner_of_the_full_search() {
    for (generator, seed) in
        [(Generator::Banana, 1), (Generator::TwoGaussians, 2), (Generator::GaussM, 3), (Generator::Banana, 7)]
    {
        let on = made(generator, 160, seed);
        let svm = Svm::rbf(1.0);
        let full = run(&svm, &on, &Search::new(wide()));
        let pruned = run(&svm, &on, &Search::new(wide()).prune());
        let [first, second] = [&full, &pruned].map(|found| best(&found.cells, metric()).expect("a best"));
        assert_eq!(first, second, "{generator:?}");
        let most = full.cells[first].score.errors.expect("counted");
        let mut pruned_cells = 0;
        for (whole, cell) in full.cells.iter().zip(&pruned.cells) {
            assert_eq!(name(whole), name(cell));
            match cell.score.pruned {
                Some(errors) => {
                    assert!(errors > most && whole.score.errors.is_none_or(|all| errors <= all), "{errors} of {:?}", whole.score);
                    assert!(cell.result.folds.len() < 4 && cell.result.accuracy.is_none() && cell.result.scores.is_empty());
                    pruned_cells += 1;
                }
                None => assert_eq!(whole.score.errors, cell.score.errors),
            }
        }
        assert!(
            pruned_cells > 0 && work(&pruned) < work(&full),
            "{generator:?}: {pruned_cells}, {} of {}",
            work(&pruned),
            work(&full)
        );
    }
}

#[test]
fn pruned_searches_do_not_depend_on_threads() {
    let on = made(Generator::Banana, 200, 5);
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let svm = Svm::rbf(1.0).threads(Par::Pool);
        let found = pool.install(|| run(&svm, &on, &Search::new(wide()).prune().fast()));
        found.cells.iter().map(|cell| (name(cell), cell.score)).collect::<Vec<_>>()
    };
    assert_eq!(of(1), of(3));
}

#[test]
fn what_cannot_be_bounded_is_not_pruned() {
    let on = made(Generator::Banana, 60, 1);
    let attended = SearchHooks { control: &RunControl::unlimited(), logs: &Unlogged };
    let refused = |svm: &Svm, on: &(Dataset, FoldPlan), search: Search| {
        let found = svm.search(&on.0, &on.1, &search.prune(), attended, |_, _| ());
        found.expect_err("refused").to_string()
    };
    let f1 = maxmargin::metrics::all_metrics(maxmargin::core::TargetKind::Classes)
        .find(|metric| metric.name() == "f1")
        .expect("a metric");
    assert!(refused(&Svm::rbf(1.0), &on, Search::new(wide()).metric(f1)).contains("f1 does not count errors"));
    let mut three = on.clone();
    three.0.labels.iter_mut().step_by(3).for_each(|label| *label = 9.0);
    three.1 = FoldPlan::stratified(&three.0.labels, 4, 1).expect("folds");
    assert!(refused(&Svm::rbf(1.0), &three, Search::new(wide())).contains("only two-class problems"));
    assert!(refused(&Svm::rbf(1.0).seeding(maxmargin::cv::Seeding::Cold), &on, Search::new(wide())).contains("seeding full"));
}

/// Every candidate meets the goal that was asked for; the others say that they do not, and are a
/// point away.
#[test]
fn a_fast_search_is_exact_where_it_counts() {
    let mut works = [0; 3];
    for (generator, seed) in [(Generator::Banana, 1), (Generator::GaussM, 2), (Generator::TwoGaussians, 3)] {
        let on = made(generator, 160, seed);
        let svm = Svm::rbf(1.0).eps(1e-5);
        let full = run(&svm, &on, &Search::new(wide()));
        let fast = run(&svm, &on, &Search::new(wide()).fast());
        assert_eq!(fast.cells.len(), full.cells.len());
        let top = &fast.cells[best(&fast.cells, metric()).expect("a best")];
        let score = top.score.value.expect("a score");
        assert_eq!(Some(score), full.cells[best(&full.cells, metric()).expect("a best")].score.value, "{generator:?}");
        for (cell, whole) in fast.cells.iter().zip(&full.cells) {
            assert_eq!(name(cell), name(whole));
            let certificate = cell.result.certificate().expect("judged");
            let met = if cell.score.exact { certificate.kkt <= 1e-5 } else { certificate.relative_gap <= 1e-3 };
            assert!(met && certificate.holds && cell.score.converged, "{certificate:?}");
            assert!(cell.score.exact || cell.score.value.is_some_and(|own| own < score - 0.01));
        }
        assert!(fast.cells.iter().any(|cell| !cell.score.exact), "{generator:?}");
        // Rivals no further away than the best itself.
        let nearest = run(&svm, &on, &Search::new(wide()).fast_within(0.0));
        let exact = |found: &SearchResult<_>| found.cells.iter().filter(|cell| cell.score.exact).count();
        assert!((1..=exact(&fast)).contains(&exact(&nearest)), "{generator:?}");
        works[0] += work(&nearest);
        works[1] += work(&fast);
        works[2] += work(&full);
        assert!(nearest.cells.iter().all(|cell| cell.score.exact || cell.score.value.is_some_and(|own| own < score)));
    }
    // Not on each data set: where trainings are short exact cells cost more than loose ones save.
    assert!(works.is_sorted_by(|a, b| a < b), "{works:?}: the nearest rivals, rivals, all cells");
    // Who asks for no more is served at once.
    let on = made(Generator::Banana, 120, 1);
    let found = run(&Svm::rbf(1.0).gap(1e-2), &on, &Search::new(wide()).fast());
    assert!(found.repeated_iterations == 0 && found.cells.iter().all(|cell| cell.score.exact));
}

/// A loose gap would end every cell of a kernel without one as stalled.
#[test]
fn a_fast_search_solves_kernels_without_a_gap() {
    let on = made(Generator::Banana, 120, 1);
    let ranges = Ranges::new().c(&[0.1, 1.0]).kernels(&[Kernel::Sigmoid { gamma: 0.1, coef0: -0.5 }, Kernel::rbf(1.0)]);
    let [full, fast] = [Search::new(ranges.clone()), Search::new(ranges).fast()].map(|search| run(&Svm::rbf(1.0), &on, &search));
    for (cell, whole) in fast.cells.iter().zip(&full.cells) {
        assert!(cell.score.converged && whole.score.converged, "{}", name(cell));
        assert!(cell.svm.kernel_given().is_semidefinite() || cell.score.exact && cell.score.value == whole.score.value);
    }
}

#[test]
fn what_is_drawn_again_is_tried_once() {
    let on = made(Generator::Banana, 60, 1);
    let found = run(&Svm::linear(), &on, &Search::new(Ranges::new().c(&[1.0])).random(5));
    assert_eq!((found.cells.len(), found.planned), (1, 1));
}

#[test]
fn random_cells_lie_in_their_ranges_and_come_again() {
    let on = made(Generator::Banana, 100, 1);
    let ranges = || Ranges::new().c(&[0.5, 32.0]).gamma(&[0.01, 10.0]).kernels(&[Kernel::Linear, Kernel::rbf(1.0)]);
    let names = |seed: u64| {
        let found = run(&Svm::rbf(1.0).seed(seed), &on, &Search::new(ranges()).random(20));
        assert_eq!((found.cells.len(), found.planned), (20, 20));
        for cell in &found.cells {
            assert!((0.5..=32.0).contains(&cell.svm.formulation().c().expect("a price")));
            assert!(cell.svm.kernel_given().gamma().is_none_or(|gamma| (0.01..=10.0).contains(&gamma)));
        }
        found.cells.iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(names(4), names(4));
    assert_ne!(names(4), names(5));
    assert_eq!(names(4).iter().collect::<BTreeSet<_>>().len(), 20);
    assert!(names(4).iter().any(|name| name.contains("Linear")) && names(4).iter().any(|name| name.contains("Rbf")));
}

/// The remaining cells are solved on all samples, and the best of them is as good as the best of
/// all within the accuracy of the parts.
#[test]
fn halving_ends_on_all_samples() {
    let on = made(Generator::Banana, 1200, 1);
    let full = run(&Svm::rbf(1.0), &on, &Search::new(wide()));
    let halved = run(&Svm::rbf(1.0), &on, &Search::new(wide()).halving());
    // 49, 17 and 6 cells on 133, 400 and 1,200 samples.
    assert_eq!((halved.cells.len(), halved.planned), (6, 6));
    assert!(halved.cells.iter().all(|cell| cell.result.samples_counted == 1200 && cell.score.exact));
    for cell in &halved.cells {
        let same = full.cells.iter().find(|known| name(known) == name(cell)).expect("a cell of the grid");
        let difference = same.score.errors.expect("counted").abs_diff(cell.score.errors.expect("counted"));
        assert!(difference <= 4, "{difference}");
    }
    let score =
        |found: &SearchResult<CvReport>| found.cells[best(&found.cells, metric()).expect("a best")].score.value.expect("a score");
    assert!(score(&halved) > score(&full) - 0.01 && work(&halved) < work(&full) / 2);
    // Too few samples for parts: the full search.
    let few = made(Generator::Banana, 100, 1);
    assert_eq!(run(&Svm::rbf(1.0), &few, &Search::new(wide()).halving()).cells.len(), 49);
}

#[test]
fn refining_tries_what_lies_between() {
    let on = made(Generator::Banana, 240, 1);
    let coarse = run(&Svm::rbf(1.0), &on, &Search::new(wide()));
    let fine = run(&Svm::rbf(1.0), &on, &Search::new(wide()).refine());
    let names: BTreeSet<String> = fine.cells.iter().map(name).collect();
    assert!(
        coarse.cells.iter().all(|cell| names.contains(&name(cell))) && names.len() == fine.cells.len(),
        "none is tried twice"
    );
    // Of 25 cells around the best 9 were there, of 15 at a border 6, of 9 in a corner 4.
    assert!([16, 9, 5].contains(&(fine.cells.len() - coarse.cells.len())), "{} cells", fine.cells.len());
    let score =
        |found: &SearchResult<CvReport>| found.cells[best(&found.cells, metric()).expect("a best")].score.value.expect("a score");
    assert!(score(&fine) >= score(&coarse));
}

#[test]
fn a_search_goes_on_beyond_its_border() {
    let on = made(Generator::Banana, 240, 1);
    let narrow = Ranges::new().c(&powers(-6, -4, 1)).gamma(&powers(-8, -6, 1));
    let found = run(&Svm::rbf(1.0), &on, &Search::new(narrow.clone()).extend());
    let top = &found.cells[best(&found.cells, metric()).expect("a best")];
    let near = run(&Svm::rbf(1.0), &on, &Search::new(narrow));
    let score = near.cells[best(&near.cells, metric()).expect("a best")].score.value;
    assert!(found.cells.len() > 9 && top.score.value > score, "{} cells", found.cells.len());
    let gammas: BTreeSet<u64> = found.cells.iter().filter_map(|cell| cell.svm.kernel_given().gamma()).map(f64::to_bits).collect();
    let costs: BTreeSet<u64> = found.cells.iter().filter_map(|cell| cell.svm.formulation().c()).map(f64::to_bits).collect();
    assert_eq!(found.cells.len(), gammas.len() * costs.len(), "no holes");
}

fn chosen_width<T>(cell: &Cell<T>) -> f64 {
    cell.svm.kernel_given().gamma().expect("a width")
}

/// A table by hand: scores of C (across) and γ (down).
#[test]
fn the_simplest_and_the_flattest() {
    let scores = [[0.80, 0.90, 0.80], [0.89, 0.90, 0.90], [0.70, 0.88, 0.89]];
    let mut cells = Vec::new();
    for (row, gamma) in [0.1, 1.0, 10.0].into_iter().enumerate() {
        for (column, c) in [1.0, 10.0, 100.0].into_iter().enumerate() {
            let svm = Svm::rbf(gamma).c(c);
            let score = maxmargin::CellScore {
                value: Some(scores[row][column]),
                standard_error: Some(0.015),
                converged: true,
                exact: true,
                ..maxmargin::CellScore::default()
            };
            cells.push(Cell { svm, score, result: () });
        }
    }
    let names: Vec<(f64, f64)> =
        cells.iter().map(|cell| (cell.svm.formulation().c().expect("a price"), chosen_width(cell))).collect();
    let at = |place: usize| names[place];
    assert_eq!(best(&cells, metric()).map(at), Some((10.0, 0.1)), "the first of equals");
    assert_eq!(one_standard_error(&cells, metric()).map(at), Some((1.0, 1.0)));
    // Neighbours of (10, 0.1): .80 .80 .90; of (10, 1): .90 .88 .89 .90; of (100, 1): .80 .89 .90.
    assert_eq!(flattest(&cells, metric()).map(at), Some((10.0, 1.0)));
    let mut equal = cells.clone();
    equal.iter_mut().for_each(|cell| cell.score.value = Some(1.0));
    assert_eq!(flattest(&equal, metric()).map(at), Some((10.0, 1.0)), "the middle of equals");
    cells[1].score.converged = false;
    cells[4].score.pruned = Some(7);
    cells[5].score.exact = false;
    assert_eq!(best(&cells, metric()).map(at), Some((1.0, 1.0)), "candidates alone");
}

/// Every outer fold is what the search makes of the other samples, and nothing else.
#[test]
fn nested_folds_are_searches_without_their_samples() {
    let (data, outer) = made(Generator::GaussM, 120, 3);
    let attended = SearchHooks { control: &RunControl::unlimited(), logs: &Unlogged };
    let search = Search::new(Ranges::new().c(&[0.1, 1.0, 10.0]).gamma(&[0.1, 1.0])).fast();
    let inner = |data: &Dataset| FoldPlan::stratified(&data.labels, 3, 1);
    let nested = Svm::rbf(1.0).nested(&data, &outer, inner, &search, attended).expect("four folds");
    assert_eq!(nested.folds.len(), 4);
    let mut correct = 0;
    for (fold, found) in nested.folds.iter().enumerate() {
        let (test, train) = (outer.test(fold).to_vec(), outer.train(fold));
        let part = data.select(&train);
        let plan = inner(&part).expect("folds");
        let alone = run(&Svm::rbf(1.0), &(part.clone(), plan), &search);
        let top = &alone.cells[best(&alone.cells, metric()).expect("a best")];
        let chosen = found.chosen.as_ref().expect("a choice");
        assert_eq!(
            (chosen.0.formulation(), chosen.0.kernel_given(), chosen.1),
            (top.svm.formulation(), top.svm.kernel_given(), top.score.value)
        );
        let predicted = top.svm.fit(&part).expect("a model").predict(&data.samples.select(&test)).expect("labels");
        let right = test.iter().zip(&predicted).filter(|(i, label)| data.labels[**i] == **label).count();
        assert_eq!((found.score, found.train, found.test), (Some(right as f64 / test.len() as f64), train.len(), test.len()));
        correct += right;
    }
    assert_eq!(nested.score, Some(correct as f64 / 120.0));
    assert!(nested.deviation.is_some_and(|deviation| deviation >= 0.0));
}

/// The cell that a descent finds has the least loss, lies off the grid, and is certified like the
/// others. It ends on flat ground, or at a kink, where no step leads down.
#[test]
fn a_descent_goes_on_from_the_best_cell_to_a_minimum() {
    let on = made(Generator::Banana, 200, 3);
    let ranges = Ranges::new().c(&powers(-2, 6, 4)).gamma(&powers(-5, 3, 4));
    let coarse = run(&Svm::rbf(1.0), &on, &Search::new(ranges.clone()));
    let found = run(&Svm::rbf(1.0), &on, &Search::new(ranges).gradient());
    let descent = found.descent.as_ref().expect("a descent");
    let [from, at] = [descent.from, descent.at].map(|at| &found.cells[at]);
    let top = best(&coarse.cells, metric()).expect("a best");
    assert_eq!(name(from), name(&coarse.cells[top]));
    assert_eq!((found.cells.len(), found.planned), (10, 10));
    assert!(
        descent.loss_at() < descent.loss_from() && at.score.is_candidate() && at.result.certificate().is_some_and(|c| c.holds)
    );
    assert_eq!(found.best_cell(metric()), Some(descent.at));
    let low = descent.points.iter().find(|point| point.loss == descent.loss_at()).expect("the lowest");
    let slope = match descent.ended {
        DescentEnd::Flat => 1e-4,
        DescentEnd::Short => 1e-2,
        DescentEnd::Evaluations => f64::NAN,
    };
    assert!(low.gradient.iter().all(|own| own.abs() <= slope), "{low:?} {:?}", descent.ended);
    assert_eq!((at.svm.formulation().c(), at.svm.kernel_given().gamma()), (Some(low.c), Some(low.gamma)));
    assert!(descent.points.len() <= 20 && descent.iterations > 0 && found.repeated_iterations == descent.iterations);
    assert_eq!(descent.points[0].c, from.svm.formulation().c().expect("C"));
}

/// A feature that tells nothing gets a small width; the cell that is found can be trained, verified
/// and predicted with, and is the same from plain features times factors.
#[test]
fn a_descent_with_a_width_for_each_feature_leaves_noise_out() {
    let (plain, plan) = made(Generator::Banana, 400, 3);
    let rows: Vec<f64> = (0..400)
        .flat_map(|i| {
            let mut row = [0.0, 0.0, (i as f64 * 12.9898).sin() * 1.5];
            plain.samples.row(i).for_each(|j, value| row[j] = value);
            row
        })
        .collect();
    let data = Dataset { samples: Samples::from_dense(400, 3, rows).expect("numbers"), ..plain };
    let on = (data, plan);
    let ranges = Ranges::new().c(&powers(-2, 6, 4)).gamma(&powers(-5, 3, 4));
    let svm = Svm::rbf(1.0).scale(ScaleMethod::Standard);
    let common = run(&svm, &on, &Search::new(ranges.clone()).gradient());
    let found = run(&svm, &on, &Search::new(ranges).gradient_per_feature());
    let [common, own] = [&common, &found].map(|found| found.descent.as_ref().expect("a descent"));
    assert!(own.loss_at() < common.loss_at() && own.loss_from() - common.loss_from() < 1e-9, "{own:?}");
    let widths = own.widths.as_ref().expect("a width for each");
    assert!(widths.len() == 3 && widths[2] < 0.5 * widths[0].min(widths[1]), "{widths:?}");
    let cell = &found.cells[own.at];
    let gamma = cell.svm.kernel_given().gamma().expect("gamma");
    assert!((widths.iter().map(|width| width.ln()).sum::<f64>() / 3.0 - gamma.ln()).abs() < 1e-12);
    assert!(cell.result.certificate().is_some_and(|certificate| certificate.holds));
    let fitted = cell.svm.fit(&on.0).expect("a model");
    let verified = maxmargin::cv::verify(&fitted.model, &on.0, None, None, Par::Seq).expect("a verdict");
    assert!(verified.matches() && verified.met(), "{verified:?}");
    // By hand: scaled, times the square root of each width over that of the kernel.
    let scaled = Scaler::fit(&on.0.samples, ScaleMethod::Standard).apply(&on.0.samples).expect("numbers").dense_rows(0..400);
    let stretched: Vec<f64> = scaled.iter().enumerate().map(|(at, value)| value * widths[at % 3].sqrt()).collect();
    let by_hand = Dataset { samples: Samples::from_dense(400, 3, stretched).expect("numbers"), ..on.0.clone() };
    let c = cell.svm.formulation().c().expect("C");
    let other = Svm::rbf(1.0).c(c).fit(&by_hand).expect("a model");
    let (here, there) = (fitted.certificate.primal, other.certificate.primal);
    assert!((here - there).abs() <= 1e-3 * there.abs(), "{here} and {there}");
    // A model tells how it was trained, so that it can be calibrated afterwards.
    let again = Svm::of_model(&fitted.model).expect("its record").fit(&on.0).expect("a model");
    assert!((again.certificate.primal - here).abs() <= 1e-3 * here.abs());
}

#[test]
fn descents_do_not_depend_on_threads() {
    let on = made(Generator::TwoGaussians, 160, 2);
    let ranges = Ranges::new().c(&[0.1, 10.0]).gamma(&[0.01, 1.0]);
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let svm = Svm::rbf(1.0).threads(Par::Pool);
        let found = pool.install(|| run(&svm, &on, &Search::new(ranges.clone()).fast().gradient()));
        (found.descent.expect("a descent"), found.cells.iter().map(|cell| (name(cell), cell.score)).collect::<Vec<_>>())
    };
    assert_eq!(of(1), of(3));
}

#[test]
fn descents_that_cannot_be_are_refused_before_any_work() {
    let on = made(Generator::Banana, 60, 1);
    let refused = |svm: &Svm, ranges: Ranges| {
        let attended = SearchHooks { control: &RunControl::new(|_| panic!("no work")), logs: &Unlogged };
        let found = svm.search(&on.0, &on.1, &Search::new(ranges).gradient(), attended, |_, report| report);
        found.expect_err("no descent").to_string()
    };
    let both = Ranges::new().kernels(&[Kernel::rbf(1.0), Kernel::Linear]);
    assert!(refused(&Svm::rbf(1.0), both).contains("Gaussian kernel"));
    assert!(refused(&Svm::rbf(1.0).gamma(maxmargin::kernel::Gamma::Scale), Ranges::new()).contains("not a rule"));
    assert!(refused(&Svm::epsilon_svr(1.0, 0.1).kernel(Kernel::rbf(1.0)), Ranges::new()).contains("C-SVC"));
}
