//! Shared by the tests: studies of generated data, and the same machines trained separately.
#![allow(dead_code, reason = "every test binary uses a part")]

use maxmargin_core::{Dual, Formulation, Goal, Solve, Start, Status, Stop, certify};
use maxmargin_cv::{CvError, CvReport, Fitted, FoldPlan, Seeding, Study, TrainOptions};
use maxmargin_data::classes::{elected, pairs};
use maxmargin_data::scale::ScaleMethod;
use maxmargin_data::{ClassLabels, Dataset, Generator, Par, RunControl, Samples};
use maxmargin_kernel::{Gamma, Kernel, KernelGram, Rows, decision_values};
use maxmargin_smo::{SmoConfig, solve};
use maxmargin_solvers::Solver;

/// Options that live until the end of the process, for studies that outlast the place where they
/// are made.
pub(crate) fn leaked(options: TrainOptions) -> &'static TrainOptions {
    Box::leak(Box::new(options))
}

/// A study that owns its parts, and a plan of folds.
pub(crate) struct Case {
    pub(crate) data: Dataset,
    pub(crate) classes: ClassLabels,
    pub(crate) plan: FoldPlan,
    pub(crate) kernel: Kernel,
    pub(crate) gamma: Option<Gamma>,
    pub(crate) scale: Option<ScaleMethod>,
    pub(crate) formulation: Formulation,
    pub(crate) weights: Vec<f64>,
    pub(crate) solver: Box<dyn Solve + Send>,
    pub(crate) stop: Stop,
    pub(crate) memory: u64,
}

impl Case {
    /// C-SVC by SMO at 10⁻⁶, in so many stratified folds.
    pub(crate) fn new(data: Dataset, folds: usize, kernel: Kernel, c: f64, seed: u64) -> Self {
        let classes = ClassLabels::new(&data.labels).expect("classes");
        let plan = FoldPlan::stratified(&data.labels, folds, seed).expect("classes are large enough");
        let weights = vec![1.0; classes.count()];
        let (formulation, solver) = (Formulation::c_svc(c), Solver::Smo.build(1));
        let (stop, memory) = (Stop::at(1e-6), 1 << 26);
        Self { data, classes, plan, kernel, gamma: None, scale: None, formulation, weights, solver, stop, memory }
    }

    pub(crate) fn generated(generator: Generator, rows: usize, folds: usize, gamma: f64, c: f64, seed: u64) -> Self {
        let data = generator.generate(rows, None, seed).expect("the generator's own limits hold");
        Self::new(data, folds, Kernel::Rbf { gamma }, c, seed)
    }

    /// Points of the plane in four classes that overlap: two curved classes, each cut in two by a
    /// line that noise moves.
    pub(crate) fn four(rows: usize, folds: usize, c: f64, seed: u64) -> Self {
        Self::new(four_classes(rows, seed), folds, Kernel::Rbf { gamma: 1.5 }, c, 3)
    }

    pub(crate) fn at(mut self, tol: f64) -> Self {
        // Some solvers have a gap as their goal.
        if self.stop.goal.kkt().is_some() {
            self.stop.goal = Goal::Kkt(tol);
        }
        self
    }

    /// The case with a solver by name, on that solver's default problem.
    pub(crate) fn by(mut self, solver: Solver) -> Self {
        let c = self.formulation.c().expect("C-SVC");
        let (loss, bias_term) = solver.problem();
        self.formulation = Formulation::Svc { c, loss, bias_term };
        self.solver = solver.build(1);
        if let Goal::Gap(gap) = solver.goal() {
            self.stop.goal = Goal::Gap(gap);
        }
        self
    }

    pub(crate) fn study(&self, par: Par) -> Study<'_> {
        let options = TrainOptions { kernel: self.kernel.clone(), scale: self.scale, par, ..TrainOptions::default() };
        self.study_by(leaked(options))
    }

    /// The study by other options, with the case's own formulation, width, goal and memory.
    pub(crate) fn study_by<'a>(&'a self, options: &'a TrainOptions) -> Study<'a> {
        Study {
            formulation: self.formulation,
            gamma: self.gamma,
            stop: self.stop,
            memory: self.memory,
            ..Study::new(&self.data, Some(&self.classes), options, &self.weights, &*self.solver)
        }
    }

    /// The classes, except for formulations of values.
    pub(crate) fn classes_for(&self, values: bool) -> Option<&ClassLabels> {
        (!values).then_some(&self.classes)
    }

    pub(crate) fn try_run(&self, seeding: Seeding) -> Result<CvReport, CvError> {
        self.study(Par::Seq).cross_validate(&self.plan, seeding, &RunControl::unlimited())
    }

    pub(crate) fn run(&self, seeding: Seeding) -> CvReport {
        self.run_on(seeding, Par::Seq, &RunControl::unlimited())
    }

    pub(crate) fn run_on(&self, seeding: Seeding, par: Par, control: &RunControl) -> CvReport {
        self.study(par).cross_validate(&self.plan, seeding, control).expect("a cross-validation")
    }

    pub(crate) fn train(&self) -> Fitted {
        self.study(Par::Seq).train(&RunControl::unlimited()).expect("a training")
    }

    pub(crate) fn len(&self) -> usize {
        self.data.samples.len()
    }

    /// Rows of the data in the training set of a fold.
    pub(crate) fn training_rows(&self, fold: usize) -> Vec<usize> {
        self.plan.train(fold)
    }

    pub(crate) fn goal(&self) -> Goal {
        self.stop.goal
    }

    /// −1 for the first class, +1 for the second.
    pub(crate) fn signs(&self) -> Vec<f64> {
        self.classes.of().iter().map(|&class| 2.0 * f64::from(class) - 1.0).collect()
    }
}

pub(crate) fn four_classes(rows: usize, seed: u64) -> Dataset {
    let mut data = Generator::Banana.generate(rows, None, seed).expect("data");
    for i in 0..rows {
        let x = data.samples.row(i).entries().iter().find(|e| e.0 == 0).map_or(0.0, |e| e.1);
        let cut = x + 0.1 * ((i * 7 % 11) as f64 - 5.0) / 5.0 > 0.0;
        data.labels[i] *= if cut { 1.0 } else { 2.5 };
    }
    data
}

/// A machine that was trained separately, by SMO with a kernel matrix of its rows.
pub(crate) struct Alone {
    pub(crate) objective: f64,
    /// An upper bound on the distance to the optimum.
    pub(crate) gap: f64,
    /// Coefficients of the rows.
    pub(crate) coef: Vec<f64>,
    pub(crate) bias: f64,
}

pub(crate) fn alone(samples: &Samples, kernel: &Kernel, signs: &[f64], upper: Vec<f64>, tol: f64) -> Alone {
    let gram = KernelGram::new(samples, kernel.clone(), &RunControl::unlimited()).expect("a kernel");
    let store = Rows::new(&gram, 1 << 26, Par::Seq);
    let dual = Dual::c_svc((0..signs.len()).collect(), signs.to_vec(), upper).expect("a problem");
    let start = Start::zero(&dual).expect("a start");
    let solution = solve(&dual, &store, start, &SmoConfig::default(), &Stop::at(tol), &RunControl::unlimited()).expect("solved");
    let certificate = certify(&dual, &gram, &solution, Par::Seq);
    assert!(certificate.holds(tol), "{certificate:?}");
    let coef = signs.iter().zip(&solution.alpha).map(|(s, a)| s * a).collect();
    Alone { objective: -certificate.dual, gap: certificate.gap().max(0.0), coef, bias: solution.bias }
}

/// A fold by definition: every pair is trained on its training rows alone. Returns summed
/// objectives and gaps of the pairs, and the decision values of the test samples, row-major.
pub(crate) fn fold_alone(case: &Case, fold: usize, tol: f64) -> (f64, f64, Vec<(usize, Vec<f64>)>) {
    let train = case.training_rows(fold);
    let test = case.plan.test(fold);
    let queries = case.data.samples.select(test);
    let c = case.formulation.c().expect("C-SVC");
    let (mut objective, mut gap, mut columns) = (0.0, 0.0, Vec::new());
    for (a, b) in pairs(case.classes.count()) {
        let class = |i: &usize| case.classes.of()[*i] as usize;
        let rows: Vec<usize> = train.iter().copied().filter(|i| class(i) == a || class(i) == b).collect();
        let signs: Vec<f64> = rows.iter().map(|i| if class(i) == b { 1.0 } else { -1.0 }).collect();
        let upper = rows.iter().map(|i| c * case.weights[class(i)]).collect();
        let samples = case.data.samples.select(&rows);
        let found = alone(&samples, &case.kernel, &signs, upper, tol);
        objective += found.objective;
        gap += found.gap;
        columns.push(decision_values(&case.kernel, &samples, &found.coef, found.bias, &queries, Par::Seq).expect("decisions"));
    }
    let row = |q: usize| columns.iter().map(|column| column[q]).collect();
    (objective, gap, test.iter().enumerate().map(|(q, &i)| (i, row(q))).collect())
}

/// Labels elected by separate trainings of every fold.
pub(crate) fn predicted_alone(case: &Case, tol: f64) -> Vec<f64> {
    let mut predicted = vec![f64::NAN; case.len()];
    for fold in 0..case.plan.folds() {
        for (i, row) in fold_alone(case, fold, tol).2 {
            predicted[i] = case.classes.labels()[elected(case.classes.count(), &row)];
        }
    }
    predicted
}

/// Checks that every machine of every fold is certified and meets the goal, and that the counts add
/// up.
pub(crate) fn certified(case: &Case, report: &CvReport, what: &str) {
    assert_eq!(report.status(), Status::Converged, "{what}");
    let goal = case.goal();
    for fold in &report.folds {
        let c = fold.certificate;
        let (kkt, gap) = (goal.kkt().unwrap_or(f64::INFINITY), goal.gap().unwrap_or(f64::INFINITY));
        assert!(c.holds && c.kkt <= kkt && c.relative_gap <= gap && c.infeasible <= 1e-9, "{what}, fold {}: {c:?}", fold.fold);
        assert!(c.relative_gap >= -1e-11, "{what}, fold {}: {c:?}", fold.fold);
        assert_eq!(fold.train + fold.test, case.len(), "{what}");
        assert!(fold.machines.iter().all(|machine| machine.certificate.holds), "{what}");
    }
    let right = report.predicted.iter().zip(&case.data.labels).filter(|(a, b)| a == b).count();
    assert_eq!((report.correct, report.folds.iter().map(|f| f.correct).sum()), (right, Some(right)), "{what}");
    assert_eq!((report.folds_counted, report.samples_counted), (report.folds.len(), case.len()), "{what}");
    assert_eq!(report.decisions.len(), case.len() * case.classes.pairs(), "{what}");
    assert!(report.decisions.iter().all(|d| d.is_finite()), "{what}");
}

/// Checks that the objectives of two solutions of the same folds differ by at most their gaps. A
/// fold that uses the machine of all data has no machines of its own.
pub(crate) fn same_optima(one: &CvReport, other: &CvReport, what: &str) {
    let gap = |report: &CvReport, fold: usize| {
        let own = &report.folds[fold].machines;
        let full = report.full.iter().flat_map(|full| &full.machines);
        own.iter().chain(full).map(|m| (m.certificate.primal - m.certificate.dual).max(0.0)).sum::<f64>()
    };
    assert_eq!(one.folds.len(), other.folds.len(), "{what}");
    for (h, (a, b)) in one.folds.iter().zip(&other.folds).enumerate() {
        assert_eq!((a.fold, a.train, a.test), (b.fold, b.train, b.test), "{what}");
        let slack = 1e-9 * (1.0 + a.objective.abs());
        let most = gap(one, h) + gap(other, h) + slack;
        assert!(
            (a.objective - b.objective).abs() <= most,
            "{what}, fold {h}: {} and {}, at most {most:e}",
            a.objective,
            b.objective
        );
    }
}

pub(crate) fn threads(count: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(count).build().expect("threads")
}

/// Points of the plane in two classes, or in four: both cut in two by a line.
pub(crate) fn banana(rows: usize, classes: usize, seed: u64) -> Dataset {
    let data = Generator::Banana.generate(rows, None, seed).expect("data");
    if classes == 2 {
        return data;
    }
    let x = |i: usize| data.samples.row(i).entries().iter().find(|e| e.0 == 0).map_or(0.0, |e| e.1);
    let labels: Vec<f64> = (0..rows).map(|i| data.labels[i] * if x(i) > 0.0 { 1.0 } else { 3.0 }).collect();
    Dataset { labels, ..data }
}
