//! SMO against LIBSVM's own `svm-train` and `svm-predict`, where they are installed.
//!
//! Real data: `heart`, `diabetes`, `a1a`.

use maxmargin_core::{AuditPoint, Certificate, Dual, EqualityConstraint, Solution, Start, Status, Stop, audit};
use maxmargin_data::libsvm::{ReadOptions, parse, write};
use maxmargin_data::{BinaryLabels, Dataset, Par, RunControl, generate::Generator};
use maxmargin_kernel::{Gram, Kernel, KernelGram, Rows};
use maxmargin_smo::{SmoConfig, solve};
use maxmargin_testkit::outside::{dataset, program};
use std::fs;
use std::process::Command;

const TOL: f64 = 1e-6;

/// LIBSVM's result for a problem.
struct Theirs {
    /// The printed objective: computed from the gradient that LIBSVM kept over `f32` kernel values.
    printed: f64,
    /// `½ Σ c_i c_j K_ij − Σ |c_i|` of the model's coefficients, in `f64`: the objective of C-SVC.
    objective: f64,
    bias: f64,
    support: usize,
    predictions: Vec<f64>,
}

fn kernel_options(kernel: &Kernel) -> Vec<String> {
    let text = match kernel {
        Kernel::Linear => "-t 0".to_owned(),
        Kernel::Poly { gamma, coef0, degree } => format!("-t 1 -g {gamma} -r {coef0} -d {degree}"),
        Kernel::Rbf { gamma } => format!("-t 2 -g {gamma}"),
        Kernel::Sigmoid { gamma, coef0 } => format!("-t 3 -g {gamma} -r {coef0}"),
        other => panic!("no option for {other:?}"),
    };
    text.split(' ').map(str::to_owned).collect()
}

/// Runs the pair of programs. Shrinking is off, so that LIBSVM's final gradient is one that it kept
/// for all samples.
fn libsvm(data: &Dataset, kernel: &Kernel, options: &str) -> Theirs {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let at = |name: &str| folder.path().join(name);
    let mut text = Vec::new();
    write(data, &mut text).expect("writing to memory");
    fs::write(at("data"), text).expect("writing a temporary file");
    let train = Command::new("svm-train")
        .args(kernel_options(kernel))
        .args(["-e", &TOL.to_string(), "-m", "200", "-h", "0"])
        .args(options.split_whitespace())
        .args([at("data"), at("model")])
        .output()
        .expect("svm-train runs");
    assert!(train.status.success(), "{train:?}");
    let said = String::from_utf8_lossy(&train.stdout);
    let after = |text: &str, key: &str| -> f64 {
        let rest = text.split(key).nth(1).unwrap_or_else(|| panic!("no `{key}` in {text}"));
        let end = rest.find(|c: char| !"+-.0123456789e".contains(c)).unwrap_or(rest.len());
        rest[..end].parse().unwrap_or_else(|e| panic!("{key}: {e} in {text}"))
    };
    let model = fs::read_to_string(at("model")).expect("a model");
    let predict = Command::new("svm-predict").args([at("data"), at("model"), at("out")]).output().expect("svm-predict runs");
    assert!(predict.status.success(), "{predict:?}");
    let out = fs::read_to_string(at("out")).expect("predictions");
    Theirs {
        printed: after(&said, "obj = "),
        objective: objective(&model, kernel),
        bias: -after(&model, "\nrho "),
        support: after(&said, "nSV = ") as usize,
        predictions: out.lines().map(|line| line.parse().expect("a prediction")).collect(),
    }
}

/// Computes the objective of C-SVC from the text of a model. Its support vectors are rows in LIBSVM
/// format, with their coefficients as labels.
fn objective(model: &str, kernel: &Kernel) -> f64 {
    let rows = model.split("\nSV\n").nth(1).expect("support vectors");
    let support = parse(rows.as_bytes(), &ReadOptions::default(), Par::Seq, &RunControl::unlimited()).expect("support vectors");
    let gram = KernelGram::new(&support.samples, kernel.clone(), &RunControl::unlimited()).expect("a kernel");
    let n = gram.len();
    let mut all = vec![0.0; n * n];
    gram.fill_exact(&(0..n).collect::<Vec<_>>(), 0..n, &mut all);
    let c = &support.labels;
    let quadratic: f64 = (0..n).map(|i| c[i] * (0..n).map(|j| c[j] * all[i * n + j]).sum::<f64>()).sum();
    0.5 * quadratic - c.iter().map(|c| c.abs()).sum::<f64>()
}

/// Solves with SMO and certifies the result.
fn ours(gram: &KernelGram, dual: &Dual) -> (Solution, Certificate, Vec<f64>) {
    let rows = Rows::new(gram, 1 << 28, Par::Seq);
    let start = Start::project(dual, vec![0.0; dual.len()]).expect("a feasible point");
    let solution = solve(dual, &rows, start, &SmoConfig::default(), &Stop::at(TOL), &RunControl::unlimited())
        .expect("SMO takes the problem");
    let judged = audit(
        gram,
        &[AuditPoint { dual, alpha: &solution.alpha, bias: solution.bias, weights: None, known: None }],
        Par::Seq,
        &RunControl::unlimited(),
    )
    .expect("unlimited")
    .remove(0);
    let decisions = judged.sums.iter().map(|sum| sum + solution.bias).collect();
    (solution, judged.certificate, decisions)
}

/// Asserts objectives within 10⁻⁶ relative (and LIBSVM's six printed decimals), and equal biases
/// and predictions except on the boundary.
fn same(what: &str, data: &Dataset, kernel: &Kernel, theirs: &Theirs, dual: &Dual, classes: Option<&BinaryLabels>) {
    let gram = KernelGram::new(&data.samples, kernel.clone(), &RunControl::unlimited()).expect("a kernel");
    let (solution, certificate, decisions) = ours(&gram, dual);
    assert_eq!(solution.status, Status::Converged, "{what}: {certificate:?} {:?}", solution.work);
    assert!(certificate.holds(TOL), "{what}: {certificate:?} {:?}", solution.work);
    let objective = -certificate.dual;
    // LIBSVM's printed objective contains the rounding of its kernel values to f32.
    let mass: f64 = solution.alpha.iter().sum();
    let unit = 0.5 * f64::from(f32::EPSILON) * mass * gram.diagonal().iter().fold(0.0, |m: f64, d| m.max(d.abs()));
    let off = (objective - theirs.printed).abs();
    assert!(off <= 1e-6 * objective.abs() + 1e-6 + 0.5 * unit * mass, "{what}: objective {objective}, LIBSVM {}", theirs.printed);
    if classes.is_some_and(|classes| !classes.signs.is_empty()) {
        let off = (objective - theirs.objective).abs();
        assert!(off <= 1e-6 * objective.abs() + 1e-6, "{what}: objective {objective}, LIBSVM's model {}", theirs.objective);
    }
    let scale = decisions.iter().fold(1.0, |m: f64, d| m.max(d.abs()));
    let near = 1e-4 * scale + unit;
    assert!((solution.bias - theirs.bias).abs() <= near, "{what}: bias {}, LIBSVM {}", solution.bias, theirs.bias);
    assert_eq!(decisions.len(), theirs.predictions.len(), "{what}");
    for (i, (ours, theirs)) in decisions.iter().zip(&theirs.predictions).enumerate() {
        match classes {
            Some(classes) => {
                let agree = classes.label(*ours) == *theirs || ours.abs() < near;
                assert!(agree, "{what}: sample {i}: decision {ours}, LIBSVM says {theirs}");
            }
            None => assert!((ours - theirs).abs() <= near, "{what}: sample {i}: {ours}, LIBSVM {theirs}"),
        }
    }
    if classes.is_some() {
        let support = solution.alpha.iter().filter(|a| **a > 0.0).count();
        // Samples on the margin within the last digits may be support vectors or not.
        let open = 2 + support / 100;
        assert!(support.abs_diff(theirs.support) <= open, "{what}: {support} support vectors, LIBSVM {}", theirs.support);
    }
}

/// Compares C-SVC with a C for each class. The first row becomes a positive one, because LIBSVM's
/// positive class is the first that it reads.
fn c_svc(name: &str, data: &Dataset, kernel: &Kernel, [plus, minus]: [f64; 2]) {
    let mut data = data.clone();
    let classes = BinaryLabels::new(&data.labels).expect("two classes");
    let first = classes.signs.iter().position(|s| *s > 0.0).expect("a positive sample");
    let mut order: Vec<usize> = (0..data.labels.len()).collect();
    order.swap(0, first);
    data.samples = data.samples.select(&order);
    data.labels.swap(0, first);
    let signs = BinaryLabels::new(&data.labels).expect("two classes").signs;
    let upper = signs.iter().map(|s| if *s > 0.0 { plus } else { minus }).collect();
    let dual = Dual::c_svc((0..signs.len()).collect(), signs, upper).expect("a problem");
    let options = format!("-c 1 -w{} {plus} -w{} {minus}", classes.positive, classes.negative);
    let theirs = libsvm(&data, kernel, &options);
    same(&format!("{name}, {kernel:?}, C = {plus}, {minus}"), &data, kernel, &theirs, &dual, Some(&classes));
}

fn generated(generator: Generator, rows: usize, features: Option<usize>, seed: u64) -> Dataset {
    generator.generate(rows, features, seed).expect("data")
}

#[test]
fn c_svc_on_generated_data() {
    if program("svm-train").is_none() {
        return;
    }
    let rbf = |gamma| Kernel::Rbf { gamma };
    let poly = Kernel::Poly { gamma: 0.5, coef0: 1.0, degree: 3 };
    let sigmoid = Kernel::Sigmoid { gamma: 0.05, coef0: 0.0 };
    let gauss = generated(Generator::GaussM, 400, None, 1);
    for (kernel, c) in [(rbf(0.5), 1.0), (rbf(0.5), 100.0), (rbf(5.0), 10.0), (Kernel::Linear, 1.0), (poly, 1.0), (sigmoid, 1.0)]
    {
        c_svc("gauss-m", &gauss, &kernel, [c, c]);
    }
    c_svc("gauss-m", &gauss, &rbf(0.5), [0.5, 8.0]);
    c_svc("banana", &generated(Generator::Banana, 500, None, 2), &rbf(1.0), [10.0, 10.0]);
    let blobs = generated(Generator::Blobs, 300, Some(20), 3);
    c_svc("blobs", &blobs, &rbf(0.05), [1e4, 1e4]);
    c_svc("blobs", &blobs, &Kernel::Linear, [1.0, 1.0]);
    let text = generated(Generator::SparseText, 300, Some(2000), 4);
    c_svc("sparse-text", &text, &Kernel::Linear, [1.0, 1.0]);
    c_svc("sparse-text", &text, &rbf(1.0), [10.0, 10.0]);
}

/// ε-SVR and one-class are the same dual with other terms.
#[test]
fn regression_and_one_class() {
    if program("svm-train").is_none() {
        return;
    }
    let mut data = generated(Generator::GaussM, 200, None, 5);
    for i in 0..200 {
        let x = data.samples.row(i).entries();
        data.labels[i] = x.iter().map(|(j, v)| (v * (1.0 + *j as f64)).sin()).sum();
    }
    let n = 200;
    for (kernel, c, epsilon) in [(Kernel::Rbf { gamma: 0.5 }, 10.0, 0.1), (Kernel::Linear, 1.0, 0.01)] {
        let linear_term = data.labels.iter().map(|y| epsilon - y).chain(data.labels.iter().map(|y| epsilon + y)).collect();
        let sign = [vec![1.0; n], vec![-1.0; n]].concat();
        let dual = Dual::new((0..n).chain(0..n).collect(), sign, linear_term, vec![c; 2 * n], 0.0, EqualityConstraint::Sum(0.0));
        let theirs = libsvm(&data, &kernel, &format!("-s 3 -c {c} -p {epsilon}"));
        same(&format!("regression, {kernel:?}"), &data, &kernel, &theirs, &dual.expect("a problem"), None);
    }
    let (kernel, nu) = (Kernel::Rbf { gamma: 0.5 }, 0.3);
    let dual = Dual::new((0..n).collect(), vec![1.0; n], vec![0.0; n], vec![1.0; n], 0.0, EqualityConstraint::Sum(nu * n as f64));
    let theirs = libsvm(&data, &kernel, &format!("-s 2 -n {nu}"));
    let classes = BinaryLabels { negative: -1.0, positive: 1.0, signs: vec![] };
    same("one class", &data, &kernel, &theirs, &dual.expect("a problem"), Some(&classes));
}

#[test]
fn c_svc_on_real_data() {
    if program("svm-train").is_none() {
        return;
    }
    let rbf = |gamma| Kernel::Rbf { gamma };
    let plans: [(&str, &[(Kernel, f64)]); 3] = [
        ("heart", &[(rbf(1e-4), 10.0), (rbf(1e-5), 1e4), (rbf(0.01), 1.0)]),
        ("diabetes", &[(rbf(1e-4), 10.0), (rbf(1e-3), 1.0)]),
        ("a1a", &[(rbf(0.05), 1.0), (rbf(0.05), 100.0), (Kernel::Linear, 0.1), (rbf(0.5), 100.0)]),
    ];
    for (name, settings) in plans {
        let Some(data) = dataset(name) else { continue };
        for (kernel, c) in settings {
            c_svc(name, &data, kernel, [*c, *c]);
        }
    }
}
