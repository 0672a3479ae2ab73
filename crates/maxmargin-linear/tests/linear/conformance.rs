//! The linear solvers pass the suite that every solver must pass. Any kernel matrix `K` is that of
//! linear samples, the rows of `U √Λ`.

use maxmargin_core::{Dual, Goal, Solution, Start, Stop};
use maxmargin_data::{Par, Samples};
use maxmargin_kernel::{Gram, Rows};
use maxmargin_linear::{Config, Linear, Matrix, Method, solve};
use maxmargin_testkit::conformance;

/// Returns samples whose linear kernel is this matrix.
fn root(gram: &dyn Gram) -> Samples {
    let n = gram.len();
    let mut values = vec![0.0; n * n];
    let all: Vec<usize> = (0..n).collect();
    gram.fill_exact(&all, 0..n, &mut values);
    let matrix = faer::Mat::from_fn(n, n, |i, j| values[i * n + j]);
    let eigen = matrix.self_adjoint_eigen(faer::Side::Lower).expect("eigenvalues");
    let rows = (0..n).flat_map(|i| {
        let eigen = &eigen;
        (0..n).map(move |j| eigen.U()[(i, j)] * eigen.S()[j].max(0.0).sqrt())
    });
    Samples::from_dense(n, n, rows.collect()).expect("finite")
}

/// Returns the same samples among more features than the solver factors systems of: one more row,
/// which no problem has, fills them.
fn widened(samples: &Samples) -> Samples {
    let (n, width) = (samples.len(), samples.features());
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..n {
        samples.row(i).for_each(|j, v| {
            columns.push(j as u32);
            values.push(v);
        });
        offsets.push(columns.len());
    }
    columns.extend((0..WIDE as u32).map(|j| width as u32 + j));
    values.extend([1.0; WIDE]);
    offsets.push(columns.len());
    Samples::from_sparse(width + WIDE, offsets, columns, values).expect("finite")
}

/// More columns than systems that are factored may have.
const WIDE: usize = 1600;

fn wide(method: Method) -> impl Fn(&Dual, &Rows, Start, &Stop) -> Solution {
    move |dual, rows, start, stop| {
        let samples = widened(&root(rows.gram()));
        let matrix = Matrix::new(&samples, None, Par::Seq);
        let config = Config { method, ..Config::default() };
        solve(&matrix, dual, start, &config, stop, &maxmargin_core::RunControl::unlimited()).expect("a problem").solution
    }
}

#[test]
fn many_features_on_c_svc() {
    conformance::run(&wide(Method::Newton));
}

#[test]
fn many_features_with_general_linear_terms_sums_and_ridge() {
    conformance::run_general(&wide(Method::Newton));
    conformance::run_general(&wide(Method::Hybrid));
}

fn linear(method: Method) -> impl Fn(&Dual, &Rows, Start, &Stop) -> Solution {
    move |dual, rows, start, stop| {
        let samples = root(rows.gram());
        let matrix = Matrix::new(&samples, None, Par::Seq);
        let config = Config { method, ..Config::default() };
        solve(&matrix, dual, start, &config, stop, &maxmargin_core::RunControl::unlimited()).expect("a problem").solution
    }
}

#[test]
fn newton_on_c_svc() {
    conformance::run(&linear(Method::Newton));
}

#[test]
fn hybrid_on_c_svc() {
    conformance::run(&linear(Method::Hybrid));
}

#[test]
fn newton_with_general_linear_terms_sums_and_ridge() {
    conformance::run_general(&linear(Method::Newton));
}

#[test]
fn hybrid_with_general_linear_terms_sums_and_ridge() {
    conformance::run_general(&linear(Method::Hybrid));
}

#[test]
fn behind_the_common_signature() {
    for method in [Method::Hybrid, Method::Newton, Method::Descent, Method::Avsf] {
        conformance::run_solver(&Linear { method, ..Linear::default() });
    }
    for method in [Method::Hybrid, Method::Newton, Method::Descent, Method::Avsf] {
        conformance::run_solver_to(&Linear { method, ..Linear::default() }, Goal::Gap);
    }
    conformance::run_solver_to(&Linear::default(), |tol| Goal::Both { kkt: tol, gap: 1e-4 });
}
