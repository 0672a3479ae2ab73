//! Iterations allocate nothing. This program has an allocator of its own, which counts.

use maxmargin_core::{RunControl, Start, Status, Stop};
use maxmargin_data::Par;
use maxmargin_kernel::Rows;
use maxmargin_smo::{SmoConfig, solve};
use maxmargin_testkit::generate::lattice;

/// Returns the allocations of a run that is cut after so many iterations.
fn allocations(conjugate: bool, iterations: u64) -> u64 {
    let problem = lattice(21, 300, 2, 1.0);
    let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
    rows.complete(&RunControl::unlimited()).expect("unlimited");
    let start = Start::zero(&problem.dual).expect("feasible");
    let config = SmoConfig { conjugate, ..SmoConfig::default() };
    let stop = Stop { max_iter: Some(iterations), ..Stop::at(1e-6) };
    let counted = allocation_counter::measure(|| {
        let solution = solve(&problem.dual, &rows, start, &config, &stop, &RunControl::unlimited()).expect("a problem");
        assert_eq!((solution.status, solution.work.iterations), (Status::IterationLimit, iterations));
    });
    counted.count_total
}

#[test]
fn iterations_allocate_nothing() {
    for conjugate in [false, true] {
        // The first thousand iterations make room for a direction.
        let [few, many] = [1000, 7000].map(|iterations| allocations(conjugate, iterations));
        assert_eq!(few, many, "conjugate steps: {conjugate}");
        assert!(few > 0, "the counter counts");
    }
}
