//! Searches of one class: what they are scored by.

use crate::common::Bench;

/// The share of inliers was maximised, by a width near 0 that takes every row for normal.
#[test]
fn one_class_is_chosen_by_labels_and_not_by_the_share_of_inliers() {
    let bench = Bench::new();
    let rows = |sign: &dyn Fn(usize) -> &'static str| -> String {
        // A ring of normal rows, and outliers in its middle, which a small gamma cannot tell apart.
        let row = |i: usize| {
            let (angle, radius) = (i as f64 * 2.4, if i.is_multiple_of(10) { 0.05 * (i % 13) as f64 } else { 1.0 });
            format!("{} 1:{:.6} 2:{:.6}\n", sign(i), radius * angle.cos(), radius * angle.sin())
        };
        (0..120).map(row).collect()
    };
    bench.file("ring", rows(&|i| if i.is_multiple_of(10) { "-1" } else { "1" }));
    bench.file("normal", rows(&|_| "1"));
    bench.file("bare", rows(&|_| "0"));
    let one = "--formulation one-class --nu 0.1";
    let found = bench.json(&format!("search ring {one} -k 4 -o m -q"));
    assert_eq!(found["metric"], "balanced_accuracy");
    // A small gamma takes the middle of the ring for its most normal part.
    let narrow = bench.json(&format!("grid ring {one} -k 4 -g 1e-6 -q"));
    let score = |of: &serde_json::Value| of["best"]["score"].as_f64().expect("a score");
    assert!(score(&found) > score(&narrow), "{} {}", found["best"], narrow["best"]);
    for data in ["normal", "bare"] {
        let refused = bench.run(&format!("search {data} {one} -k 4 -o x -q"));
        let says = ["has nothing to choose gamma by", "labels 1 (normal) and -1 (outlier)", "train with -g and --nu"];
        assert!(refused.code == 1 && says.iter().all(|part| refused.err.contains(part)), "{data}: {refused:?}");
        assert!(!bench.path("x").exists(), "{data}");
        let grid = bench.run(&format!("grid {data} {one} -k 4 -g 0.01,1 -q"));
        let is_told = grid.warnings().iter().any(|line| line.contains("the share of inliers is largest where gamma is near 0"));
        assert!(grid.code == 0 && is_told, "{data}: {grid:?}");
        let refused = bench.run(&format!("grid {data} {one} -k 4 -g 0.01,1 --metric accuracy -q"));
        assert!(refused.code == 1 && refused.err.contains("--metric accuracy: one class without labels"), "{refused:?}");
    }
    assert_eq!(bench.json(&format!("grid ring {one} -k 4 -g 0.01,1 --metric accuracy -q"))["metric"], "accuracy");
}
