//! The short way to models of several classes, and the L2-SVM in its ordinary scaling.
//!
//! Real data is used when the environment variable `MAXMARGIN_DATA` names a directory that holds it (`pendigits` and its test file, as LIBSVM's
//! pages have them); otherwise that test says that it skips.

use maxmargin::core::{Loss, Offset, Silent, Status, Stop};
use maxmargin::cv::{FoldPlan, Quiet};
use maxmargin::data::compress::read_all;
use maxmargin::data::{ClassLabels, Dataset, Generator, Par, ReadOptions, libsvm};
use maxmargin::frankwolfe::Method;
use maxmargin::kernel::{Kernel, KernelGram, OffsetGram, Rows};
use maxmargin::{CSvcSolver, L2Config, LinearSvm, Multiclass, MulticlassTrained, SvmError, solve_l2};
use std::borrow::Cow;
use std::path::Path;
use std::process::Command;

/// Points on a spiral cut into three classes of different sizes.
fn spiral(rows: usize) -> Dataset {
    let mut data = Generator::Banana.generate(rows, None, 11).expect("data");
    for (i, label) in data.labels.iter_mut().enumerate() {
        if *label > 0.0 && i % 3 == 0 {
            *label = 7.0;
        }
    }
    data
}

fn problem<'a>(data: &'a Dataset, labels: &'a ClassLabels, weights: &'a [f64], tol: f64) -> Multiclass<'a> {
    Multiclass { data, samples: &data.samples, labels, c: 2.0, weights, stop: Stop::at(tol), par: Par::Seq }
}

#[test]
fn the_l2_svm_is_that_of_the_linear_solver() {
    let data = Generator::Blobs.generate(150, Some(4), 3).expect("data");
    let gram = KernelGram::new(&data.samples, Kernel::Linear).expect("a kernel");
    let offset = OffsetGram::new(&gram, 1.0);
    let rows = Rows::new(&offset, 1 << 24, Par::Seq);
    let linear = LinearSvm::new().c(0.7).loss(Loss::SquaredHinge).offset(Offset::Feature(1.0)).stop(Stop::at(1e-8));
    let reference = linear.train(&data).expect("trained");
    for (method, gap) in
        [(Method::Pairwise, None), (Method::Swap, Some(1e-4)), (Method::Cvm, Some(1e-4)), (Method::Mfw, Some(1e-3))]
    {
        let config = L2Config { method, gap, sampling: None, seed: 1, par: Par::Seq };
        let ids = (0..150).collect();
        let solved = solve_l2(&rows, ids, data.labels.clone(), 0.7, &config, &Stop::at(1e-6), &mut Silent).expect("solved");
        assert_eq!(solved.solution.status, Status::Converged, "{method:?}");
        let most = gap.unwrap_or(1e-6);
        assert!(gap.is_some() || solved.certificate.kkt <= 1e-6, "{:?}", solved.certificate);
        assert!(gap.is_none() || solved.certificate.relative_gap() <= most);
        let (ours, theirs) = (solved.certificate.dual, reference.certificate.dual);
        assert!((ours - theirs).abs() <= 2.0 * most * theirs.abs(), "{method:?} {ours} {theirs}");
        let bias = reference.model.parts().bias;
        assert!(
            (solved.solution.bias - bias).abs() <= 20.0 * most.sqrt() * (1.0 + bias.abs()),
            "{method:?} {} {bias}",
            solved.solution.bias
        );
    }
}

#[test]
fn models_of_three_classes_come_from_every_solver() {
    let data = spiral(240);
    let labels = ClassLabels::new(&data.labels).expect("classes");
    let weights = [1.0; 3];
    let problem = problem(&data, &labels, &weights, 1e-3);
    let kernel = Kernel::Rbf { gamma: 1.0 };
    let l2 = L2Config { method: Method::Pairwise, gap: None, sampling: None, seed: 1, par: Par::Seq };
    let svm = LinearSvm::new();
    let models: [MulticlassTrained; 4] = [
        problem.train_c_svc(&kernel, 1 << 24, CSvcSolver::Smo, &Quiet).expect("trained"),
        problem.train_l2(&kernel, 1 << 24, &l2, &Quiet).expect("trained"),
        problem.train_c_svc(&kernel, 1 << 24, CSvcSolver::Irwls { seed: 3 }, &Quiet).expect("trained"),
        problem.train_linear(&svm, &Quiet).expect("trained"),
    ];
    for trained in &models {
        assert_eq!(trained.status, Status::Converged);
        assert!(trained.worst.1.kkt <= 1e-3, "{:?}", trained.worst);
        let record = trained.model.record().expect("a record");
        assert_eq!((record.pairs.len(), record.c), (3, 2.0));
        let predicted = trained.model.predict(&data.samples, Par::Seq).expect("predictions");
        assert!(predicted.iter().all(|l| data.labels.contains(l)));
    }
    let right = |trained: &MulticlassTrained| {
        let predicted = trained.model.predict(&data.samples, Par::Seq).expect("predictions");
        predicted.iter().zip(&data.labels).filter(|(p, l)| p == l).count()
    };
    // Every third of one curve is of another class that nothing tells apart: two thirds of the rest is what can be learnt.
    assert!(right(&models[0]) > 180 && right(&models[1]) > 180, "{} {}", right(&models[0]), right(&models[1]));

    assert!(right(&models[0]).abs_diff(right(&models[2])) <= 1, "{} {}", right(&models[0]), right(&models[2]));

    let plan = FoldPlan::stratified(&data.labels, 4, 1).expect("folds");
    let samples = |_: usize, _: &[usize]| Ok::<_, SvmError>(Cow::Borrowed(&data.samples));
    let report = problem.cross_validate(&plan, samples, |part| part.train_l2(&kernel, 1 << 24, &l2, &Quiet));
    let report = report.expect("a cross-validation");
    assert_eq!(report.status(), Status::Converged);
    assert!(report.folds.iter().all(|f| f.kkt <= 1e-3 && f.train == 180));
}

/// Tolerances that the tail of SMO would not see soon are met by the finish, whoever solves.
#[test]
fn tight_tolerances_are_met() {
    let data = Generator::TwoGaussians.generate(300, None, 5).expect("data");
    let gram = KernelGram::new(&data.samples, Kernel::Rbf { gamma: 0.5 }).expect("a kernel");
    let rows = Rows::new(&gram, 1 << 24, Par::Seq);
    let dual = maxmargin::core::Dual::c_svc((0..300).collect(), data.labels.clone(), vec![50.0; 300]).expect("a problem");
    let mut objectives = Vec::new();
    for solver in [CSvcSolver::Smo, CSvcSolver::Irwls { seed: 1 }] {
        let start = maxmargin::core::Start::zero(&dual).expect("a start");
        let (solution, certificate) =
            maxmargin::solve_c_svc(solver, &dual, &rows, start, Par::Seq, &Stop::at(1e-9), &mut Silent).expect("solved");
        assert_eq!(solution.status, Status::Converged, "{solver:?}");
        assert!(certificate.holds(1e-9), "{solver:?} {certificate:?}");
        assert_eq!(maxmargin::core::certify(&dual, &gram, &solution, Par::Seq), certificate);
        objectives.push(certificate.dual);
    }
    assert!((objectives[0] - objectives[1]).abs() <= 1e-8 * objectives[0], "{objectives:?}");
}

#[test]
fn class_weights_move_the_border_and_are_refused_on_the_simplex() {
    let data = spiral(240);
    let labels = ClassLabels::new(&data.labels).expect("classes");
    let (even, uneven) = ([1.0; 3], [1.0, 0.1, 5.0]);
    let kernel = Kernel::Rbf { gamma: 1.0 };
    let predicted = |weights: &[f64]| {
        let trained =
            problem(&data, &labels, weights, 1e-3).train_c_svc(&kernel, 1 << 24, CSvcSolver::Smo, &Quiet).expect("trained");
        let predicted = trained.model.predict(&data.samples, Par::Seq).expect("predictions");
        predicted.iter().filter(|l| **l == 7.0).count()
    };
    assert!(predicted(&uneven) > predicted(&even) + 20, "{} {}", predicted(&uneven), predicted(&even));
    let l2 = L2Config { method: Method::Fw, gap: Some(0.1), sampling: None, seed: 1, par: Par::Seq };
    let refused = problem(&data, &labels, &uneven, 1e-3).train_l2(&kernel, 1 << 24, &l2, &Quiet);
    assert!(matches!(refused, Err(SvmError::Weights(w)) if w == 0.1));
}

/// LIBSVM's own program on the same files: the accuracies differ by a tenth of a point at most.
#[test]
#[expect(clippy::print_stderr, reason = "a test that skips says so")]
fn real_digits_are_recognised_as_well_as_by_libsvm() {
    let Ok(folder) = std::env::var("MAXMARGIN_DATA") else {
        eprintln!("skipped: MAXMARGIN_DATA names no directory with data sets");
        return;
    };
    let scratch = std::env::temp_dir().join(format!("maxmargin-digits-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).expect("a folder");
    let mut files = Vec::new();
    for name in ["pendigits", "pendigits.t"] {
        let Ok(bytes) = std::fs::read(Path::new(&folder).join(format!("{name}.xz"))) else {
            eprintln!("skipped: no {name} in MAXMARGIN_DATA");
            return;
        };
        let text = read_all(&bytes[..]).expect("an archive");
        std::fs::write(scratch.join(name), &text).expect("a file");
        files.push(libsvm::parse(&text, &ReadOptions::default(), Par::Seq).expect("data"));
    }
    let [train, test] = &files[..] else { return };
    let labels = ClassLabels::new(&train.labels).expect("classes");
    let weights = vec![1.0; labels.count()];
    let problem = Multiclass { c: 10.0, ..problem(train, &labels, &weights, 1e-3) };
    let trained = problem.train_c_svc(&Kernel::Rbf { gamma: 1e-4 }, 1 << 26, CSvcSolver::Smo, &Quiet).expect("trained");
    let predicted = trained.model.predict(&test.samples, Par::Seq).expect("predictions");
    let ours = predicted.iter().zip(&test.labels).filter(|(p, l)| p == l).count();
    let run = |program: &str, args: &[&str]| Command::new(program).args(args).current_dir(&scratch).output();
    if run("svm-train", &["-q", "-c", "10", "-g", "0.0001", "pendigits", "model"]).is_err() {
        eprintln!("skipped: svm-train is not installed");
    } else {
        run("svm-predict", &["pendigits.t", "model", "out"]).expect("svm-predict beside svm-train");
        let out = std::fs::read_to_string(scratch.join("out")).expect("predictions");
        let theirs = out.lines().zip(&test.labels).filter(|(p, l)| p.parse::<f64>() == Ok(**l)).count();
        assert!(ours.abs_diff(theirs) * 1000 <= test.labels.len(), "{ours} and {theirs} of {}", test.labels.len());
    }
    assert!(ours * 1000 > 980 * test.labels.len(), "{ours}");
    std::fs::remove_dir_all(&scratch).expect("removed");
}
