//! Models of several classes from every solver, and the squared loss by solvers of two kinds.
//! Real data: `pendigits` and its test file.

use maxmargin::Error;
use maxmargin::core::Status;
use maxmargin::data::scale::ScaleMethod;
use maxmargin::data::{ReadOptions, RunControl, libsvm};
use maxmargin::prelude::*;
use maxmargin_testkit::outside::{data_text, program};
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

fn right(fitted: &Fitted, data: &Dataset) -> usize {
    let predicted = fitted.predict(&data.samples).expect("predictions");
    predicted.iter().zip(&data.labels).filter(|(p, l)| p == l).count()
}

/// Sums of the dual and the primal objectives of all machines.
fn bounds(fitted: &Fitted) -> (f64, f64) {
    let certificates = || fitted.machines.iter().map(|machine| machine.certificate);
    (certificates().map(|c| c.dual).sum(), certificates().map(|c| c.primal).sum())
}

#[test]
fn the_squared_loss_has_one_optimum_over_a_kernel_and_over_features() {
    let data = Generator::Blobs.generate(150, Some(4), 3).expect("data");
    let svm = Svm::linear().c(0.7).loss(Loss::SquaredHinge).bias_term(BiasTerm::Feature(1.0));
    let reference = svm.clone().solver(Solver::Linear).eps(1e-8).fit(&data).expect("trained");
    let bias = reference.model.machines()[0].bias;
    for (solver, gap) in
        [(Solver::Pairwise, None), (Solver::Swap, Some(1e-4)), (Solver::Cvm, Some(1e-4)), (Solver::Mfw, Some(1e-3))]
    {
        let svm = svm.clone().solver(solver).goal(gap.map_or(Goal::Kkt(1e-6), Goal::Gap));
        let fitted = svm.fit(&data).expect("trained");
        assert!(fitted.status == Status::Converged && fitted.certificate.holds, "{solver:?}: {:?}", fitted.certificate);
        let most = gap.unwrap_or(1e-6);
        assert!(gap.is_some() || fitted.certificate.kkt <= 1e-6, "{:?}", fitted.certificate);
        assert!(gap.is_none() || fitted.certificate.relative_gap <= most, "{:?}", fitted.certificate);
        let (ours, theirs) = (fitted.certificate.dual, reference.certificate.dual);
        assert!((ours - theirs).abs() <= 2.0 * most * theirs.abs(), "{solver:?} {ours} {theirs}");
        let found = fitted.model.machines()[0].bias;
        assert!((found - bias).abs() <= 20.0 * most.sqrt() * (1.0 + bias.abs()), "{solver:?} {found} {bias}");
    }
}

#[test]
fn models_of_three_classes_come_from_every_solver() {
    let data = spiral(240);
    let svm = Svm::rbf(1.0).c(2.0).seed(3);
    let plan = FoldPlan::stratified(&data.labels, 4, 1).expect("folds");
    let mut linear = None;
    for solver in Solver::ALL {
        let svm = svm.clone().solver(solver);
        let svm = if solver.is_linear() { svm.kernel(Kernel::Linear).bias_term(BiasTerm::Feature(1.0)) } else { svm };
        let fitted = svm.fit(&data).expect("trained");
        assert_eq!(fitted.status, Status::Converged, "{solver:?}");
        // Two of them stop by a rule of their own, which looks at gradients that were computed one
        // after another.
        let own = matches!(solver, Solver::Descent | Solver::Avsf);
        assert!(own || fitted.certificate.holds, "{solver:?}: {:?}", fitted.certificate);
        if solver.is_linear() {
            let ours = bounds(&fitted);
            let all = linear.get_or_insert(ours);
            *all = (all.0.max(ours.0), all.1.min(ours.1));
            assert!(all.0 <= all.1, "{solver:?}: every lower bound is below every upper bound, {all:?}");
        }
        let record = fitted.model.record().expect("a record");
        assert_eq!((record.machines.len(), record.formulation.c(), &*record.solver), (3, Some(2.0), solver.name()));
        let predicted = fitted.predict(&data.samples).expect("predictions");
        assert!(predicted.iter().all(|label| data.labels.contains(label)));
        let report = svm.cross_validate(&data, &plan).expect("a cross-validation");
        assert_eq!(report.status(), Status::Converged, "{solver:?}");
        assert!(report.folds.iter().all(|fold| fold.train == 180 && (own || fold.certificate.holds)), "{solver:?}");
    }
    let of = |solver: Solver| right(&svm.clone().solver(solver).fit(&data).expect("trained"), &data);
    let (smo, pairwise, irwls) = (of(Solver::Smo), of(Solver::Pairwise), of(Solver::Irwls));
    // Every third of one curve is of another class that nothing tells apart: two thirds of the rest
    // is what can be learnt.
    assert!(smo > 180 && pairwise > 180 && smo.abs_diff(irwls) <= 1, "{smo} {pairwise} {irwls}");
}

/// All solvers reach tight tolerances by the finish, where the tail of SMO would need very long.
#[test]
fn tight_tolerances_are_met() {
    let data = Generator::TwoGaussians.generate(300, None, 5).expect("data");
    let svm = Svm::rbf(0.5).c(50.0).eps(1e-9);
    let duals = [Solver::Smo, Solver::Irwls].map(|solver| {
        let fitted = svm.clone().solver(solver).fit(&data).expect("trained");
        assert_eq!(fitted.status, Status::Converged, "{solver:?}");
        assert!(fitted.certificate.holds && fitted.certificate.kkt <= 1e-9, "{solver:?} {:?}", fitted.certificate);
        fitted.certificate.dual
    });
    assert!((duals[0] - duals[1]).abs() <= 1e-8 * duals[0], "{duals:?}");
}

#[test]
fn class_weights_move_the_border_and_are_refused_on_the_simplex() {
    let data = spiral(240);
    let even = Svm::rbf(1.0).c(2.0);
    let uneven = even.clone().class_weight(1.0, 0.1).class_weight(7.0, 5.0);
    let sevens = |svm: &Svm| {
        let predicted = svm.fit(&data).and_then(|fitted| Ok(fitted.predict(&data.samples)?)).expect("predictions");
        predicted.iter().filter(|label| **label == 7.0).count()
    };
    assert!(sevens(&uneven) > sevens(&even) + 20, "{} {}", sevens(&uneven), sevens(&even));
    let refused = uneven.solver(Solver::Fw).gap(0.1).fit(&data).expect_err("weights");
    assert!(matches!(&refused, Error::Refused(refused) if refused.solver == "fw"), "{refused}");
    let unknown = even.class_weight(3.0, 2.0).fit(&data).expect_err("no such class");
    assert!(unknown.to_string().contains("-1, 1, 7"), "{unknown}");
}

/// The parameters of a training except the kernel.
type Way = fn(Svm) -> Svm;

/// The weights of a training of several classes were once dropped. A weight of `w` is what `w`
/// copies of each sample of the class are: in every training, fold and value of C, of two classes
/// and of three, with a kernel and without.
#[test]
fn class_weights_are_copies_of_samples_in_every_way_to_train() {
    let three = spiral(80);
    let two = Dataset { labels: three.labels.iter().map(|label| label.min(1.0)).collect(), ..three.clone() };
    let ways: [(&str, Way); 7] = [
        ("smo", |svm| svm),
        ("irwls", |svm| svm.solver(Solver::Irwls)),
        ("linear kernel", |svm| svm.kernel(Kernel::Linear).solver(Solver::Smo)),
        ("vectors", |svm| svm.kernel(Kernel::Linear).keep_vectors()),
        ("linear", |svm| svm.kernel(Kernel::Linear).solver(Solver::Linear)),
        ("squared", |svm| {
            svm.kernel(Kernel::Linear).solver(Solver::Linear).loss(Loss::SquaredHinge).bias_term(BiasTerm::Feature(1.0))
        }),
        ("scaled folds", |svm| svm.scale(ScaleMethod::MinMax { lower: -1.0, upper: 1.0 })),
    ];
    for (data, weights) in [(&two, [3, 1, 2]), (&two, [1, 2, 1]), (&three, [3, 1, 2]), (&three, [1, 2, 1])] {
        let label = |class: usize| [-1.0, 1.0, 7.0][class];
        let copies = |i: usize| (0..3).filter(|&class| label(class) == data.labels[i]).map(|class| weights[class]).sum::<usize>();
        let rows: Vec<usize> = (0..80).flat_map(|i| vec![i; copies(i)]).collect();
        let copied = data.select(&rows);
        let plan = |rows: &[usize]| {
            let lines: Vec<String> = rows.iter().map(|i| format!("{}\n", i % 4)).collect();
            FoldPlan::from_text(&lines.concat(), rows.len())
        };
        let plans = [plan(&(0..80).collect::<Vec<_>>()), plan(&rows)].map(|plan| plan.expect("four folds"));
        for (name, way) in ways {
            let svm = way(Svm::rbf(1.0).c(0.5).eps(1e-6));
            let classes = if data.labels.contains(&7.0) { 3 } else { 2 };
            let weighted = (0..classes).fold(svm.clone(), |svm, class| svm.class_weight(label(class), weights[class] as f64));
            let same = |ours: f64, theirs: f64, what: &str| {
                assert!(
                    (ours - theirs).abs() <= 1e-4 * theirs.abs(),
                    "{name}, {classes} classes, weights {weights:?}, {what}: {ours} {theirs}"
                );
            };
            let of = |svm: &Svm, data: &Dataset| bounds(&svm.fit(data).expect("trained")).0;
            same(of(&weighted, data), of(&svm, &copied), "train");
            for seeding in [Seeding::Cold, Seeding::Full] {
                let [ours, theirs] = [(&weighted, data, &plans[0]), (&svm, &copied, &plans[1])].map(|(svm, data, plan)| {
                    let svm = svm.clone().seeding(seeding);
                    let grid = svm.grid(data, plan, &Ranges::new().c(&[0.1, 2.0])).expect("two reports");
                    let mut reports: Vec<_> = grid.cells.into_iter().map(|cell| cell.result).collect();
                    reports.push(svm.cross_validate(data, plan).expect("a report"));
                    reports
                });
                for (at, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
                    for (one, other) in ours.folds.iter().zip(&theirs.folds) {
                        same(one.objective, other.objective, &format!("{seeding:?}, report {at}, fold {}", one.fold));
                    }
                }
            }
        }
    }
}

/// LIBSVM's own program on the same files: the accuracies differ by a tenth of a point at most.
#[test]
fn real_digits_are_recognised_as_well_as_by_libsvm() {
    let scratch = std::env::temp_dir().join(format!("maxmargin-digits-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).expect("a folder");
    let mut files = Vec::new();
    for name in ["pendigits", "pendigits.t"] {
        let Some(text) = data_text(name) else { return };
        std::fs::write(scratch.join(name), &text).expect("a file");
        files.push(libsvm::parse(&text, &ReadOptions::default(), Par::Seq, &RunControl::unlimited()).expect("data"));
    }
    let [train, test] = &files[..] else { return };
    let ours = right(&Svm::rbf(1e-4).c(10.0).fit(train).expect("trained"), test);
    if let (Some(train), Some(predict)) = (program("svm-train"), program("svm-predict")) {
        let run = |program: &Path, args: &[&str]| Command::new(program).args(args).current_dir(&scratch).output();
        run(&train, &["-q", "-c", "10", "-g", "0.0001", "pendigits", "model"]).expect("svm-train starts");
        run(&predict, &["pendigits.t", "model", "out"]).expect("svm-predict starts");
        let out = std::fs::read_to_string(scratch.join("out")).expect("predictions");
        let theirs = out.lines().zip(&test.labels).filter(|(p, l)| p.parse::<f64>() == Ok(**l)).count();
        assert!(ours.abs_diff(theirs) * 1000 <= test.labels.len(), "{ours} and {theirs} of {}", test.labels.len());
    }
    assert!(ours * 1000 > 980 * test.labels.len(), "{ours}");
    std::fs::remove_dir_all(&scratch).expect("removed");
}
