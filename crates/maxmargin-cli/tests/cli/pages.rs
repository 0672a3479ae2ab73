//! Pages of `cv` and `train`: what was run, pictures of values out of fold, tables.

use crate::common::Bench;

fn is_whole(page: &str) {
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    let links: Vec<&str> = page.split("http").skip(1).collect();
    assert!(links.iter().all(|rest| rest.starts_with("://www.w3.org/2000/svg")), "{links:?}");
    for part in ["<dt>data, SHA-256</dt>", "<dt>date</dt>", "prefers-color-scheme:dark", "<dt>scaling</dt>"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_cross_validation_of_two_classes_shows_its_curves() {
    let bench = Bench::new();
    let found = bench.json("cv banana --rows 120 -k 4 -c 4 -g 0.5 --report page.html");
    let page = bench.read("page.html");
    is_whole(&page);
    for title in [">Accuracy of the folds<", ">ROC curve<", ">Precision and recall<"] {
        assert_eq!(page.matches(title).count(), 1, "{title}");
    }
    // Error bars and the line of all samples: folds are not joined.
    let folds = page.split("<figure>").find(|figure| figure.contains(">Accuracy of the folds<")).expect("a picture of the folds");
    assert_eq!(folds.matches("<polyline").count(), 4 + 1);
    assert!(page.contains("<th class=\"w\">status</th>") && page.contains("<th>iterations</th>"), "words stand to the left");
    let area = found["scores"]["roc_auc"].as_f64().expect("an area");
    assert!(page.contains(&format!("Area {area:.3}; decision values out of fold")), "{page}");
    // The counts of the matrix are those of the document.
    for count in found["confusion"].as_array().expect("rows").iter().flat_map(|row| row.as_array().expect("counts")) {
        assert!(page.contains(&format!("\">{count}<br>")), "{count}: {page}");
    }
    assert_eq!(page.matches("<tr").count(), 5 + 3, "a head and four folds, a head and two classes");
    let same = bench.run("cv banana --rows 120 -k 4 -c 4 -g 0.5 --html again.html -q");
    assert!(same.code == 0 && bench.read("again.html").contains(">ROC curve<"), "{same:?}");
}

#[test]
fn several_classes_and_values_have_no_curves_of_two() {
    let bench = Bench::new();
    let class = |i: usize| format!("{} 1:{} 2:{}\n", i % 3, i % 3 + i % 5, i % 7);
    bench.file("three", (0..60).map(class).collect::<String>());
    assert_eq!(bench.run("cv three -k 3 --report three.html -q").code, 0);
    let page = bench.read("three.html");
    is_whole(&page);
    assert!(!page.contains(">ROC curve<") && page.contains("class=\"confusion\"") && page.contains(">Accuracy of the folds<"));
    let value = |i: usize| format!("{}.5 1:{i} 2:{}\n", i * i, i % 7);
    bench.file("values", (0..60).map(value).collect::<String>());
    assert_eq!(bench.run("cv values -k 3 --formulation epsilon-svr --report values.html -q").code, 0);
    let page = bench.read("values.html");
    assert!(page.contains(">MSE of the folds<") && !page.contains("class=\"confusion\""), "{page}");
}

#[test]
fn a_training_with_probabilities_shows_their_reliability() {
    let bench = Bench::new();
    assert_eq!(bench.run("train banana --rows 120 -c 4 -g 0.5 --probability platt -o m --report page.html -q").code, 0);
    let page = bench.read("page.html");
    is_whole(&page);
    assert!(page.contains(">Reliability<") && page.contains("<dt>certificate</dt>") && page.contains("<dt>model</dt><dd>m</dd>"));
    assert_eq!(bench.run("train banana --rows 120 -o plain --report plain.html -q").code, 0);
    assert!(!bench.read("plain.html").contains("<svg"));
}
