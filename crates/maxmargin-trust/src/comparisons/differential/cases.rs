//! The cases: the problems and their data. They are pinned, so that numbers mean the same in every
//! report.

use super::Error;
use Generator::{Banana, Blobs, GaussM, SparseText, TwoGaussians};
use maxmargin::data::Dataset;
use maxmargin::prelude::{BiasTerm, Generator, Kernel, Loss, Samples};
use maxmargin_testkit::outside::dataset;

/// The number of rows taken from real data, evenly spread.
const REAL_ROWS: usize = 300;

/// The program to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// `svm-train`.
    Libsvm,
    /// `liblinear-train`.
    Liblinear,
}

/// The source of the samples.
#[derive(Clone, Debug)]
enum Source {
    /// Generated data: rows, features, classes and seed.
    Made(Generator, usize, Option<usize>, usize, u64),
    /// A file in `MAXMARGIN_DATA`.
    Real(&'static str),
}

/// One training.
#[derive(Clone, Debug)]
pub struct Case {
    /// The number of the case, from 1.
    pub number: usize,
    /// The group of the case in reports.
    pub group: &'static str,
    source: Source,
    /// The kernel; precomputed matrices hold an RBF kernel.
    pub kernel: Kernel,
    /// C before weights. As every parameter here, and its products with them, it is exact in `f32`:
    /// Debian's `svm-train` rounds it to that.
    pub c: f64,
    /// The factors of C for the first and the second class.
    pub weights: Option<[f64; 2]>,
    /// The loss.
    pub loss: Loss,
    /// The kind of bias.
    pub bias_term: BiasTerm,
    /// The program that trains it as well.
    pub peer: Peer,
    /// LIBLINEAR's number of a machine that is no C-SVC.
    pub beyond: Option<i32>,
}

impl Case {
    /// Returns the name of the data.
    pub fn data_name(&self) -> String {
        match &self.source {
            Source::Made(generator, rows, _, classes, seed) => {
                let classes = if *classes > 2 { format!(", {classes} classes") } else { String::new() };
                format!("{} {rows}, seed {seed}{classes}", generator.name())
            }
            Source::Real(name) => (*name).to_owned(),
        }
    }

    /// Returns the kernel in short.
    pub fn kernel_name(&self) -> String {
        if let Some(solver) = self.beyond {
            return format!("linear, -s {solver}");
        }
        match self.kernel {
            Kernel::Rbf { gamma } => format!("rbf {gamma}"),
            Kernel::Poly { gamma, coef0, degree } => format!("poly {degree}, {gamma}, {coef0}"),
            Kernel::Sigmoid { gamma, coef0 } => format!("sigmoid {gamma}, {coef0}"),
            ref other => other.name().to_owned(),
        }
    }

    /// Returns the data, with values of at most four decimals (LIBSVM's model files keep eight
    /// digits). The first rows are one for each class in ascending order (LIBSVM orders classes as
    /// it reads them). Returns `None` if the data is real and missing.
    ///
    /// # Errors
    ///
    /// When it cannot be made or read.
    pub fn data(&self) -> Result<Option<Dataset>, Error> {
        let data = match self.source {
            Source::Made(generator, rows, features, classes, seed) => {
                let mut data = generator.generate(rows, features, seed)?;
                if classes > 2 {
                    relabel(&mut data, classes);
                }
                data
            }
            Source::Real(name) => match dataset(name) {
                Some(data) => thinned(&data),
                None => return Ok(None),
            },
        };
        let data = ordered(&rounded(&data)?);
        Ok(Some(if self.kernel == Kernel::Precomputed { matrix(&data)? } else { data }))
    }
}

/// Returns sectors of the plane of the first two features.
fn relabel(data: &mut Dataset, classes: usize) {
    for i in 0..data.labels.len() {
        let row = data.samples.row(i).entries();
        let at = |column: usize| row.iter().find(|(j, _)| *j == column).map_or(0.0, |(_, v)| *v);
        let turn = at(1).atan2(at(0)) / std::f64::consts::TAU + 0.5;
        data.labels[i] = ((turn * classes as f64) as usize % classes) as f64 + 1.0;
    }
}

fn thinned(data: &Dataset) -> Dataset {
    let rows = data.labels.len();
    let kept = rows.min(REAL_ROWS);
    data.select(&(0..kept).map(|k| k * rows / kept).collect::<Vec<_>>())
}

pub(crate) fn rounded(data: &Dataset) -> Result<Dataset, Error> {
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..data.samples.len() {
        data.samples.row(i).for_each(|j, v| {
            let v = (v * 1e4).round() / 1e4;
            if v != 0.0 {
                indices.push(j as u32);
                values.push(v);
            }
        });
        offsets.push(indices.len());
    }
    let samples = Samples::from_sparse(data.samples.features(), offsets, indices, values)?.compact();
    Ok(Dataset::from_samples(samples, &data.labels)?)
}

fn ordered(data: &Dataset) -> Dataset {
    let mut classes = data.labels.clone();
    classes.sort_by(f64::total_cmp);
    classes.dedup();
    let mut order: Vec<usize> = (0..data.labels.len()).collect();
    for (place, class) in classes.iter().enumerate() {
        if let Some(at) = (place..order.len()).find(|&at| data.labels[order[at]] == *class) {
            order.swap(place, at);
        }
    }
    data.select(&order)
}

/// Returns the rows of an RBF kernel matrix to six digits, after their serial numbers. The kernel
/// is wide enough that no value is 0, since LIBSVM finds values by counting.
fn matrix(data: &Dataset) -> Result<Dataset, Error> {
    let n = data.labels.len();
    let mut values = Vec::with_capacity(n * (n + 1));
    for i in 0..n {
        values.push(i as f64 + 1.0);
        for j in 0..n {
            let mut squared = 0.0;
            data.samples.row(i).for_each_pair(data.samples.row(j), |_, x, z| squared += (x - z) * (x - z));
            values.push(((-0.03125 * squared).exp() * 1e6).round() / 1e6);
        }
    }
    let mut made = Dataset::from_samples(Samples::from_dense(n, n + 1, values)?, &data.labels)?;
    made.index_base = 0;
    Ok(made)
}

/// Returns the cases of all groups, 315 of them.
pub fn all() -> Vec<Case> {
    let mut cases = CaseList(Vec::new());
    two_classes(&mut cases);
    many_features(&mut cases);
    several_classes(&mut cases);
    precomputed(&mut cases);
    real_data(&mut cases);
    without_kernel(&mut cases);
    beyond_duals(&mut cases);
    cases.0.iter_mut().zip(1..).for_each(|(case, number)| case.number = number);
    cases.0
}

/// The cases so far; they are numbered at the end.
struct CaseList(Vec<Case>);

impl CaseList {
    /// Adds a C-SVC with a kernel, compared with LIBSVM.
    fn add(&mut self, group: &'static str, source: &Source, kernel: &Kernel, c: f64, weights: Option<[f64; 2]>) {
        self.0.push(Case {
            number: 0,
            group,
            source: source.clone(),
            kernel: kernel.clone(),
            c,
            weights,
            loss: Loss::Hinge,
            bias_term: BiasTerm::Free,
            peer: Peer::Libsvm,
            beyond: None,
        });
    }
}

fn rbf(gamma: f64) -> Kernel {
    Kernel::Rbf { gamma }
}

fn two_classes(cases: &mut CaseList) {
    let plane = [(GaussM, 1), (GaussM, 2), (Banana, 3), (TwoGaussians, 4), (Blobs, 5)];
    for (generator, seed) in plane {
        let source = Source::Made(generator, 120 + 20 * seed as usize, None, 2, seed);
        for gamma in [0.125, 0.5, 2.0, 10.0] {
            for c in [0.125, 1.0, 10.0, 100.0] {
                cases.add("two classes, rbf", &source, &rbf(gamma), c, None);
            }
        }
        for (gamma, coef0, degree, c) in
            [(0.5, 1.0, 2, 1.0), (0.5, 1.0, 3, 1.0), (0.25, 0.0, 2, 10.0), (0.125, 1.0, 4, 1.0), (1.0, 1.0, 2, 0.125)]
        {
            cases.add("two classes, polynomial", &source, &Kernel::Poly { gamma, coef0, degree }, c, None);
        }
        for c in [0.125, 1.0, 10.0] {
            cases.add("two classes, linear", &source, &Kernel::Linear, c, None);
        }
        cases.add("two classes, sigmoid", &source, &Kernel::Sigmoid { gamma: 0.015_625, coef0: 0.0 }, 1.0, None);
        for weights in [[0.125, 1.0], [1.0, 20.0], [5.0, 0.5], [0.25, 0.25]] {
            cases.add("weights", &source, &rbf(0.5), 2.0, Some(weights));
        }
        cases.add("weights", &source, &Kernel::Linear, 1.0, Some([2.0, 0.25]));
    }
}

fn many_features(cases: &mut CaseList) {
    for (features, seed) in [(20, 6), (60, 7)] {
        let source = Source::Made(Blobs, 150, Some(features), 2, seed);
        for (kernel, c) in [
            (rbf(0.015_625), 1.0),
            (rbf(0.015_625), 1000.0),
            (rbf(0.0625), 10.0),
            (Kernel::Linear, 1.0),
            (Kernel::Linear, 0.015_625),
        ] {
            cases.add("many features", &source, &kernel, c, None);
        }
        let source = Source::Made(SparseText, 150, Some(1000 * seed as usize), 2, seed);
        for (kernel, c) in [(rbf(0.5), 1.0), (rbf(1.0), 10.0), (rbf(1.0), 100.0), (Kernel::Linear, 1.0), (Kernel::Linear, 10.0)] {
            cases.add("many features", &source, &kernel, c, None);
        }
    }
}

fn several_classes(cases: &mut CaseList) {
    for (classes, seed) in [(3, 8), (4, 9), (5, 10), (7, 11)] {
        let source = Source::Made(GaussM, 150 + 20 * classes, None, classes, seed);
        for (kernel, c) in [
            (rbf(0.5), 1.0),
            (rbf(0.5), 100.0),
            (rbf(4.0), 10.0),
            (Kernel::Linear, 1.0),
            (Kernel::Poly { gamma: 0.5, coef0: 1.0, degree: 3 }, 1.0),
        ] {
            cases.add("several classes", &source, &kernel, c, None);
        }
        cases.add("several classes", &source, &rbf(1.0), 5.0, Some([0.5, 3.0]));
    }
}

fn precomputed(cases: &mut CaseList) {
    for (generator, seed) in [(GaussM, 12), (Banana, 13), (Blobs, 14)] {
        for c in [0.125, 1.0, 10.0, 100.0] {
            cases.add("precomputed", &Source::Made(generator, 90, None, 2, seed), &Kernel::Precomputed, c, None);
        }
    }
    for c in [1.0, 10.0] {
        cases.add("precomputed", &Source::Made(GaussM, 90, None, 3, 15), &Kernel::Precomputed, c, None);
    }
}

fn real_data(cases: &mut CaseList) {
    for (name, gamma) in [
        ("heart_scale", 0.125),
        ("diabetes_scale", 0.5),
        ("a1a", 0.0625),
        ("w1a", 0.0625),
        ("splice", 0.015_625),
        ("usps", 0.015_625),
    ] {
        for (kernel, c) in [(rbf(gamma), 1.0), (rbf(gamma), 100.0), (Kernel::Linear, 0.125)] {
            cases.add("real data", &Source::Real(name), &kernel, c, None);
        }
    }
}

fn without_kernel(cases: &mut CaseList) {
    for (source, bias_term) in [
        (Source::Made(GaussM, 200, None, 2, 16), BiasTerm::Feature(1.0)),
        (Source::Made(Blobs, 200, Some(30), 2, 17), BiasTerm::None),
        (Source::Made(SparseText, 200, Some(3000), 2, 18), BiasTerm::Feature(1.0)),
        (Source::Made(Generator::CovtypeLike, 200, None, 2, 19), BiasTerm::Feature(1.0)),
    ] {
        for loss in [Loss::Hinge, Loss::SquaredHinge] {
            for c in [0.015_625, 1.0, 10.0] {
                cases.0.push(Case {
                    number: 0,
                    group: "without a kernel",
                    source: source.clone(),
                    kernel: Kernel::Linear,
                    c,
                    weights: None,
                    loss,
                    bias_term,
                    peer: Peer::Liblinear,
                    beyond: None,
                });
            }
        }
    }
}

/// LIBLINEAR's machines that are no C-SVC.
fn beyond_duals(cases: &mut CaseList) {
    let mut add = |solver: i32, source: Source, bias_term: BiasTerm, c: f64, weights: Option<[f64; 2]>| {
        let group = match solver {
            0 | 7 => "logistic regression",
            4 => "all classes at once",
            5 => "L1 norm, squared hinge",
            _ => "L1 norm, logistic",
        };
        cases.0.push(Case {
            number: 0,
            group,
            source,
            kernel: Kernel::Linear,
            c,
            weights,
            loss: Loss::SquaredHinge,
            bias_term,
            peer: Peer::Liblinear,
            beyond: Some(solver),
        });
    };
    let feature = BiasTerm::Feature(1.0);
    for solver in [0, 7, 5, 6] {
        // A smaller C leaves no weight of the L1 norm, and the label of every row open.
        let least = if matches!(solver, 5 | 6) { 0.25 } else { 0.015_625 };
        for c in [least, 1.0, 10.0] {
            add(solver, Source::Made(GaussM, 200, None, 2, 20), feature, c, None);
            add(solver, Source::Made(Blobs, 200, Some(30), 2, 21), BiasTerm::None, c, None);
            add(solver, Source::Made(SparseText, 200, Some(3000), 2, 22), feature, c, None);
            add(solver, Source::Made(Generator::CovtypeLike, 200, None, 2, 23), feature, c, None);
        }
        add(solver, Source::Made(GaussM, 200, None, 2, 20), feature, 1.0, Some([5.0, 0.5]));
    }
    for c in [0.015_625, 1.0, 10.0] {
        add(0, Source::Made(GaussM, 210, None, 3, 24), feature, c, None);
        add(4, Source::Made(GaussM, 210, None, 3, 24), feature, c, None);
        add(4, Source::Made(GaussM, 250, None, 5, 25), feature, c, None);
        add(4, Source::Made(Blobs, 200, Some(30), 4, 26), BiasTerm::None, c, None);
    }
    add(4, Source::Made(GaussM, 210, None, 3, 24), feature, 1.0, Some([5.0, 0.5]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_315_cases_and_their_data_can_be_made() {
        let cases = all();
        assert_eq!(cases.len(), 315);
        for case in cases.iter().filter(|case| matches!(case.source, Source::Made(..))).step_by(7) {
            let data = case.data().expect("data").expect("generated data");
            let classes = maxmargin::data::ClassLabels::new(&data.labels).expect("two classes or more");
            assert!(data.labels.iter().zip(classes.labels()).all(|(label, class)| label == class), "case {}", case.number);
        }
    }
}
