//! Values and interactions equal those of the definition: a sum over all subsets of players.

use maxmargin_data::table::{self, TableOptions};
use maxmargin_data::{Cancelled, Par, Preparing, Progress, RunControl, Samples, Scaler};
use maxmargin_explain::{Explain, ExplainError, ExplainModel, Explanation, Players};
use maxmargin_kernel::Kernel;
use maxmargin_model::{Model, Rule};
use proptest::prelude::*;
use std::ops::ControlFlow;

/// Numbers from a seed, about −1.5 to 1.5, some of them 0.
fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let value = (state >> 11) as f64 / (1_u64 << 53) as f64 * 3.0 - 1.5;
        if state.is_multiple_of(5) { 0.0 } else { value }
    };
    (0..count).map(|_| next()).collect()
}

struct Case {
    model: Model,
    support: Vec<Vec<f64>>,
    coef: Vec<Vec<f64>>,
    bias: Vec<f64>,
    rows: Vec<Vec<f64>>,
    background: Option<Vec<Vec<f64>>>,
    /// The player of each feature.
    of: Vec<u32>,
}

fn table(values: &[f64], width: usize) -> Vec<Vec<f64>> {
    values.chunks_exact(width).map(<[f64]>::to_vec).collect()
}

fn samples(rows: &[Vec<f64>]) -> Samples {
    Samples::from_rows(rows).expect("finite values")
}

impl Case {
    fn new(kernel: &Kernel, vectors: usize, of: Vec<u32>, background: bool, seed: u64) -> Self {
        let width = of.len();
        let support = table(&numbers(seed, vectors * width), width);
        let coef = table(&numbers(seed + 1, vectors), vectors);
        let bias = vec![0.25];
        let terms: Vec<(usize, f64)> = coef[0].iter().copied().enumerate().collect();
        let machines = [(terms, bias[0])];
        let model = Model::from_machines(kernel.clone(), &samples(&support), Rule::VALUE, &machines).expect("a model");
        let rows = table(&numbers(seed + 2, 3 * width), width);
        let background = background.then(|| table(&numbers(seed + 3, 4 * width), width));
        Self { model, support, coef, bias, rows, background, of }
    }

    fn explained(&self, par: Par) -> Explanation {
        let background = self.background.as_deref().map(samples);
        let explain = Explain::default().players(Players::groups(self.of.clone())).interactions();
        explain.rows(&self.model, &samples(&self.rows), background.as_ref(), par, &RunControl::unlimited()).expect("values")
    }

    /// `v(S)` by its definition; `present` has a bit for each player.
    fn game(&self, row: &[f64], present: u32) -> f64 {
        let is_in = |j: usize| present >> self.of[j] & 1 == 1;
        let value = |mixed: &dyn Fn(usize) -> f64, absent_is_1: bool| {
            let sum = |s: &Vec<f64>| match *self.model.kernel() {
                Kernel::Linear => (0..row.len()).map(|j| mixed(j) * s[j]).sum::<f64>(),
                Kernel::Poly { gamma, coef0, degree } => {
                    (gamma * (0..row.len()).map(|j| mixed(j) * s[j]).sum::<f64>() + coef0).powi(degree as i32)
                }
                Kernel::Rbf { gamma } => {
                    let squares = (0..row.len()).filter(|&j| !absent_is_1 || is_in(j)).map(|j| (mixed(j) - s[j]).powi(2));
                    (-gamma * squares.sum::<f64>()).exp()
                }
                _ => unreachable!("no such case"),
            };
            self.support.iter().zip(&self.coef[0]).map(|(s, coef)| coef * sum(s)).sum::<f64>() + self.bias[0]
        };
        match &self.background {
            None => value(&|j| if is_in(j) { row[j] } else { 0.0 }, true),
            Some(others) => {
                let all = others.iter().map(|z| value(&|j| if is_in(j) { row[j] } else { z[j] }, false));
                all.sum::<f64>() / others.len() as f64
            }
        }
    }

    fn players(&self) -> usize {
        *self.of.iter().max().expect("features") as usize + 1
    }

    /// The Shapley value of a player, by subsets of the others.
    fn shapley(&self, row: &[f64], p: usize) -> f64 {
        let n = self.players();
        let subsets = (0..1_u32 << n).filter(|s| s >> p & 1 == 0);
        let part = |s: u32| weight(s.count_ones() as usize, n - 1) / n as f64 * (self.game(row, s | 1 << p) - self.game(row, s));
        subsets.map(part).sum()
    }

    /// The Shapley interaction index of two players.
    fn interaction(&self, row: &[f64], p: usize, q: usize) -> f64 {
        let n = self.players();
        let pair = 1 << p | 1 << q;
        let subsets = (0..1_u32 << n).filter(|s| s & pair == 0);
        let part = |s: u32| {
            let v = |more: u32| self.game(row, s | more);
            weight(s.count_ones() as usize, n - 2) / (n - 1) as f64 * (v(pair) - v(1 << p) - v(1 << q) + v(0))
        };
        subsets.map(part).sum()
    }

    fn check(&self) {
        let found = self.explained(Par::Seq);
        let scale: f64 = self.coef[0].iter().map(|c| c.abs()).sum::<f64>() * self.largest() + 1.0;
        for (i, row) in self.rows.iter().enumerate() {
            let values = found.values(i, 0);
            for (p, value) in values.iter().enumerate() {
                let exact = self.shapley(row, p);
                assert!((value - exact).abs() <= 1e-12 * scale, "row {i}, player {p}: {value} {exact}");
            }
            let pairs = found.interactions(i, 0).expect("asked for");
            for p in 0..self.players() {
                assert_eq!(pairs[p * self.players() + p], 0.0);
                for q in 0..p {
                    let (value, exact) = (pairs[p * self.players() + q], self.interaction(row, p, q));
                    assert_eq!(value.to_bits(), pairs[q * self.players() + p].to_bits());
                    assert!((value - exact).abs() <= 1e-12 * scale, "row {i}, pair {p} {q}: {value} {exact}");
                }
            }
            assert!((found.decision(i, 0) - self.game(row, u32::MAX)).abs() <= 1e-12 * scale);
        }
        assert!((found.base(0) - self.game(&self.rows[0], 0)).abs() <= 1e-12 * scale);
        assert!(found.efficiency_error() <= 1e-12 * scale, "{}", found.efficiency_error());
    }

    /// About the largest kernel value.
    fn largest(&self) -> f64 {
        match *self.model.kernel() {
            Kernel::Rbf { .. } => 1.0,
            Kernel::Poly { gamma, coef0, degree } => (gamma * 2.25 * self.of.len() as f64 + coef0.abs()).powi(degree as i32),
            _ => 2.25 * self.of.len() as f64,
        }
    }
}

/// `k! (m − k)! / m!`: the share of orders in which a set of `k` of `m` others comes first.
fn weight(k: usize, m: usize) -> f64 {
    (1..=k).map(|i| i as f64 / (m - k + i) as f64).product()
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(24))]

    #[test]
    fn values_are_those_of_all_subsets(
        kind in 0_usize..6,
        vectors in 1_usize..21,
        players in 2_usize..8,
        grouped in any::<bool>(),
        background in any::<bool>(),
        seed in 1_u64..1000,
    ) {
        let kernel = [
            Kernel::Linear,
            Kernel::rbf(0.4),
            Kernel::rbf(3.0),
            Kernel::poly(0.5, 1.0, 2),
            Kernel::poly(0.7, -0.5, 3),
            Kernel::poly(0.3, 0.0, 5),
        ][kind].clone();
        let mut of: Vec<u32> = (0..players as u32).collect();
        if grouped {
            of.extend([0, 1, 0]);
        }
        Case::new(&kernel, vectors, of, background, seed).check();
    }
}

#[test]
fn bits_do_not_depend_on_threads() {
    for background in [false, true] {
        let case = Case::new(&Kernel::rbf(0.5), 300, (0..6).collect(), background, 7);
        let (one, many) = (case.explained(Par::Seq), case.explained(Par::Pool));
        assert_eq!(one, many);
    }
}

#[test]
fn several_machines_share_their_factors() {
    let support = samples(&table(&numbers(3, 40), 4));
    let machines: Vec<(Vec<(usize, f64)>, f64)> = (0..3)
        .map(|m| ((0..10).filter(|i| i % 3 != m).map(|i| (i, 0.1 * (i + m) as f64 - 0.5)).collect(), 0.1 * m as f64))
        .collect();
    let classes = maxmargin_data::ClassLabels::new(&[1.0, 2.0, 3.0]).expect("classes");
    let model = Model::from_machines(Kernel::rbf(0.7), &support, &classes, &machines).expect("a model");
    let rows = samples(&table(&numbers(5, 8), 4));
    let all = Explain::default().rows(&model, &rows, None, Par::Seq, &RunControl::unlimited()).expect("values");
    assert_eq!((all.rows(), all.machines(), all.players()), (2, 3, 4));
    for (m, machine) in machines.iter().enumerate() {
        let alone =
            Model::from_machines(Kernel::rbf(0.7), &support, Rule::VALUE, std::slice::from_ref(machine)).expect("a model");
        let one = Explain::default().rows(&alone, &rows, None, Par::Seq, &RunControl::unlimited()).expect("values");
        for i in 0..2 {
            assert!(all.values(i, m).iter().zip(one.values(i, 0)).all(|(a, b)| (a - b).abs() < 1e-15), "machine {m}");
        }
    }
    assert!(all.mean_magnitudes().iter().all(|mean| *mean > 0.0));
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let case = Case::new(&Kernel::rbf(0.5), 5, vec![0, 1, 2], false, 3);
    let rows = samples(&case.rows);
    let control = RunControl::unlimited();
    let with = |explain: Explain, background: Option<&Samples>| {
        explain.rows(&case.model, &rows, background, Par::Seq, &control).expect_err("refused").to_string()
    };
    let none = rows.select(&[]);
    assert!(with(Explain::default(), Some(&none)).contains("no rows"));
    let wide = samples(&[vec![1.0; 9]]);
    assert!(with(Explain::default(), Some(&wide)).contains("has 9 features, the model has 3"));
    assert!(with(Explain::default().players(Players::features(2)), None).contains("players for 2 features"));
    let far = Samples::from_sparse(4_000_000_000, vec![0, 1], vec![3_999_999_999], vec![1.0]).expect("a sample");
    for kernel in [Kernel::rbf(0.5), Kernel::Linear] {
        let model = Model::from_machines(kernel, &far, Rule::VALUE, &[(vec![(0, 1.0)], 0.0)]).expect("a model");
        let found = Explain::default().rows(&model, &far, None, Par::Seq, &control);
        assert!(matches!(found, Err(ExplainError::Memory { players: 4_000_000_000, .. })), "{found:?}");
    }
    let sigmoid = Case::new(&Kernel::sigmoid(0.5, 0.0), 5, vec![0, 1], false, 3);
    let found = Explain::default().rows(&sigmoid.model, &samples(&sigmoid.rows), None, Par::Seq, &control);
    assert!(found.expect_err("refused").to_string().contains("sigmoid kernel"));
    let steep = Case::new(&Kernel::poly(0.5, 0.0, 40), 5, vec![0, 1], false, 3);
    let found = Explain::default().rows(&steep.model, &samples(&steep.rows), None, Par::Seq, &control);
    assert!(matches!(found, Err(ExplainError::Degree { found: 40, .. })));
    let stop = |_: &Progress| ControlFlow::Break(());
    let found = Explain::default().rows(&case.model, &rows, None, Par::Seq, &RunControl::new(stop));
    assert!(matches!(found, Err(ExplainError::Cancelled(Cancelled))));
}

/// A training that moves the origin of features does not move the values: an absent feature is 0 as
/// the user has it.
#[test]
fn centred_models_have_the_values_of_plain_ones() {
    let raw = samples(&[vec![1e6, 1.0], vec![1e6 + 2.0, 0.0], vec![1e6 + 1.0, 3.0]]);
    let scaler = Scaler::centre(&raw).expect("a feature far from 0");
    let near = scaler.apply(&raw).expect("finite");
    let machine = [(vec![(0, -1.0), (1, 0.5), (2, 0.5)], 0.25)];
    let centred = Model::from_machines(Kernel::Linear, &near, Rule::VALUE, &machine);
    let centred = centred.and_then(|model| model.with_scaler(scaler)).expect("a model");
    let found = centred.explain(&raw, None).expect("values");
    let weights = [1.5, 0.5];
    for (i, row) in [[1e6, 1.0], [1e6 + 2.0, 0.0]].iter().enumerate() {
        for (value, (weight, x)) in found.values(i, 0).iter().zip(weights.iter().zip(row)) {
            assert!((value - weight * x).abs() <= 1e-8, "{value} {weight} {x}");
        }
    }
    assert!(found.efficiency_error() <= 1e-8, "{}", found.efficiency_error());
    let from_mean = centred.explain(&raw, Some(&raw)).expect("values");
    assert!((from_mean.values(0, 0)[0] + 1.5).abs() <= 1e-8, "the mean of the first feature is 1e6 + 1");
}

/// A column of words is one player, however many features it has.
#[test]
fn columns_of_a_table_are_players() {
    let text = b"colour,size,kind\nred,1,a\nblue,2,b\nred,3,a\ngreen,0,b\n";
    let table = table::read(text, &TableOptions::default(), &RunControl::unlimited()).expect("a table");
    let encoder = Preparing { scale: None, impute: None }.fit(&table.data).expect("a fit").encoder;
    let width = table.data.samples.features();
    let machine = [(vec![(0, 1.0), (1, -1.0)], 0.5)];
    let model = Model::from_machines(Kernel::rbf(0.3), &table.data.samples, Rule::VALUE, &machine);
    let model = model.and_then(|model| model.with_encoder(encoder.expect("words"))).expect("a model");
    let found = model.explain(&table.data.samples, None).expect("values");
    assert_eq!((width, found.players()), (4, 2));
    assert!(found.efficiency_error() <= 1e-14);
}
