//! The crate's own exports and `maxmargin-data` suffice to use it.

use maxmargin_data::{Par, Samples};
use maxmargin_path::{
    Certificate, Dual, Gram, Kernel, KernelError, PathConfig, SamplesError, Solution, Updatable, UpdatableError,
};
use maxmargin_path::{EqualityConstraint, certify};

#[test]
fn what_a_path_returns_has_a_name() {
    let rows: Result<Samples, SamplesError> = Samples::from_rows(&[[0.0], [1.0]]);
    let (labels, config) = (vec![-1.0, 1.0], PathConfig::default());
    let made = Updatable::new(rows.expect("samples"), labels.clone(), Kernel::Linear, &[10.0; 2], &[2.0; 2], config.clone());
    let (path, _) = made.expect("two classes");
    let gram: &dyn Gram = path.gram();
    let (dual, solution): (Dual, Solution) = (path.dual().expect("samples"), path.solution());
    let certificate: Certificate = certify(&dual, gram, &solution, Par::Seq);
    assert!(certificate.holds(1e-8) && *path.kernel() == Kernel::Linear && dual.balance() == EqualityConstraint::Sum(0.0));
    let samples = Samples::from_rows(&[[0.0], [1.0]]).expect("samples");
    let refused = Updatable::new(samples, labels, Kernel::rbf(-1.0), &[10.0; 2], &[0.0; 2], config).err().expect("gamma below 0");
    let UpdatableError::Kernel(error) = refused else { panic!("{refused}") };
    let error: KernelError = error;
    assert!(error.to_string().contains("gamma"), "{error}");
}
