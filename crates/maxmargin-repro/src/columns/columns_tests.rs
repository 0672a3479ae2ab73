//! Tables of made-up figures, one for each kind of training.

use super::catalogue::COLUMNS;
use super::entry::Entry;
use super::markdown::markdown;
use super::value::{Shown, quotient};
use crate::cells::cell::Cell;
use crate::cells::row::{Printed, Row};
use crate::specs::extent::{Extent, cells};
use crate::specs::spec::Spec;
use crate::tables::means::merge;
use serde_json::{Value, json};

/// A spec of one table on one problem.
fn spec(set: &str, table: &str) -> Spec {
    let head = "title = \"Test\"\n[[problem]]\nname = \"A\"\ndata = \"a1a\"\n";
    let table = format!("[[table]]\nnumber = 2\ntitle = \"T\"\nproblems = [\"A\"]\n{table}");
    Spec::parse(&format!("set = {set}\n{head}{table}")).unwrap_or_else(|failure| panic!("{failure}"))
}

fn rows(spec: &Spec, printed: impl Fn(&Cell) -> Printed, measured: impl Fn(usize, &Cell) -> Value) -> Vec<Row> {
    let all = cells(spec, &spec.tables[0], Extent::default()).into_iter().enumerate();
    all.map(|(n, cell)| Row::made(cell.clone(), printed(&cell), measured(n, &cell))).collect()
}

fn lines(spec: &Spec, rows: &[Row]) -> Vec<String> {
    let table = &spec.tables[0];
    markdown(table.peer_names(), spec.columns_of(table), rows).lines().map(str::to_owned).collect()
}

#[test]
fn columns_by_name() {
    let entry = |text: &str| Entry::try_from(text.to_owned());
    assert_eq!(entry("update-ratio: SMO 1e-6").expect("entry").heading(["LIBSVM", ""]), "SMO 1e-6 / this");
    assert_eq!(entry("peer-here-ratio").expect("entry").heading(["LIBSVM", ""]), "LIBSVM / here");
    assert_eq!(entry("speedup: CVM as Speed-up").expect("entry").heading(["", ""]), "Speed-up");
    let refused = |text: &str| entry(text).err().expect("refused");
    assert!(refused("iteration").starts_with("no column is called `iteration`; there is data, setting, variant"));
    assert!(refused("speedup").contains("needs a variant") && refused("kkt: CVM").contains("takes no variant"));
    for (n, column) in COLUMNS.iter().enumerate() {
        assert!(COLUMNS[..n].iter().all(|other| other.name != column.name), "{} stands twice", column.name);
    }
}

#[test]
fn variants_that_a_table_does_not_have() {
    let broken = |columns: &str| {
        let table = format!("vary = [{{}}]\nvariant = [{{ name = \"mid\" }}]\n{columns}");
        let text = format!(
            "title = \"\"\nset = {{}}\n[[problem]]\nname = \"A\"\ndata = \"a\"\n[[table]]\nnumber = 5\ntitle = \"\"\n{table}"
        );
        Spec::parse(&text).err().map(|failure| failure.to_string()).unwrap_or_default()
    };
    assert_eq!(broken(r#"columns = ["update-ratio: mid"]"#), "");
    assert!(broken(r#"columns = ["update-ratio: sid"]"#).contains("table 5 has no variant `sid`; there is mid"));
    assert!(broken(r#"plot = { x = "add", y = "speedup: sid" }"#).contains("`sid`"));
    assert!(broken(r#"columns = ["updates"]"#).contains("no column is called `updates`"));
}

#[test]
fn runs_that_were_cut_off_are_lower_bounds() {
    let spec = spec(
        r#"{ job = "train", kernel = "linear", tol = 0.01, bound_gap = 1e-9 }"#,
        r#"
        vary = [{ c = 1 }]
        variant = [{ name = "baseline" }, { name = "AVSF" }, { name = "hybrid" }, { name = "LIBLINEAR", program = "liblinear-train" }]
        columns = [
            "data", "setting", "variant", "training", "process", "iterations as steps", "sweeps", "newton-steps", "training-ratio: baseline",
            "best-training: hybrid", "best-process: hybrid", "excess", "bound-gap", "ended",
        ]"#,
    );
    let figures = |_, cell: &Cell| {
        let (train, process, status) = match cell.variant.as_str() {
            "baseline" => (Some(100.5), 101.0, "TimeLimit"),
            "AVSF" => (Some(8.0), 9.0, "Converged"),
            "hybrid" => (Some(0.5), 1.0, "Converged"),
            _ => (None, 4.0, "IterationLimit"),
        };
        json!({
            "iterations": 3000, "train_seconds": train, "process_seconds": process, "status": status, "limit_seconds": 100,
            "excess": 2e-4, "bound_gap": 5e-10, "sweeps": 12, "work": { "newton_steps": 7 },
        })
    };
    let rows = rows(&spec, |_| Printed::default(), figures);
    let lines = lines(&spec, &rows);
    assert_eq!(
        lines[0],
        "| data | setting | variant | training, s | process, s | steps | sweeps | Newton steps | baseline / this, here | \
         best other / this, training | best other / this, process | gap to the bound | ended |"
    );
    assert_eq!(lines[2], "| A | c=1 | baseline | > 100 | > 100 | 3,000 | 12 | 7 | – | – | – | 2.0e-4 | cut off |");
    assert_eq!(lines[3], "| A | c=1 | AVSF | 8.00 | 9.00 | 3,000 | 12 | 7 | > 13 | – | – | 2.0e-4 | by its rule |");
    // LIBLINEAR gave up, so that the best other is AVSF.
    assert_eq!(lines[4], "| A | c=1 | hybrid | 0.50 | 1.00 | 3,000 | 12 | 7 | > 200 | 16 | 9.00 | 2.0e-4 | by its rule |");
    assert!(lines[5].contains("| – | 4.00 |") && lines[5].ends_with("| at its cap of sweeps |"), "{}", lines[5]);
    // Nobody plots a bound as if it were a time.
    let value = |name: &str, n: usize| Entry::try_from(name.to_owned()).expect("entry").value(&rows, &rows[n]);
    assert_eq!([value("training", 0), value("finished-process", 1), value("finished-process", 3)], [None, Some(9.0), None]);
}

#[test]
fn rounds_shares_and_sets_that_gain_nothing() {
    let spec = spec(
        r#"{ job = "cv", kernel = "rbf", tol = 0.001 }"#,
        r#"
        vary = [{}]
        variant = [{ name = "cold" }, { name = "sir" }]
        columns = [
            "variant", "first-round-seconds", "round-seconds", "all-rounds-seconds", "all-rounds-seconds-ratio: cold", "all-rounds-iterations",
            "alpha-kept", "alpha-kept-support", "idle-share",
        ]"#,
    );
    let figures = |n, _: &Cell| {
        let (round, all) = if n == 0 { (1.0, 102.0) } else { (0.00125, 12.75) };
        json!({
            "kkt": 1e-4, "first_round_seconds": 2.0, "round_seconds": round, "all_rounds_seconds": all,
            "all_rounds_iterations": 12_345.6, "alpha_kept": 97.25, "alpha_kept_support": 40.0, "chunks": 200, "idle_chunks": 3,
        })
    };
    let mut rows = rows(&spec, |_| Printed::default(), figures);
    assert_eq!(
        lines(&spec, &rows),
        [
            "| variant | first, s | a later one, s | all rounds, s | cold / this, all rounds | all rounds, iterations | α kept, % | \
             of support vectors, % | gain nothing, % |",
            "| --- | --: | --: | --: | --: | --: | --: | --: | --: |",
            "| cold | 2.00 | 1.00 | 102 | – | 12,346 | 97.2 | 40.0 | 1.5 |",
            "| sir | 2.00 | 0.0013 | 12.8 | 8.00 | 12,346 | 97.2 | 40.0 | 1.5 |",
        ]
    );
    // Of a run without figures it is still told how often it gained nothing; no ratio is left.
    rows[0].ours.flaw = Some("it stalled".into());
    assert_eq!(lines(&spec, &rows)[2], "| cold | – | – | – | – | – | – | 1.5 |");
}

#[test]
fn ratios_of_what_is_known() {
    assert_eq!(quotient(Shown::Is(1.0), Shown::Over(100.0)), Shown::Under(0.01));
    assert_eq!(quotient(Shown::Over(1.0), Shown::Is(4.0)), Shown::Over(0.25));
    assert_eq!(quotient(Shown::Over(1.0), Shown::Over(100.0)), Shown::Nothing);
}

fn simplex() -> Spec {
    spec(
        r#"{ job = "train", kernel = "rbf", tol = 1e-6, bound = "radius" }"#,
        r#"
        vary = [{ seed = 1 }, { seed = 2 }, { seed = 3 }]
        mean_over = "seed"
        variant = [{ name = "CVM" }, { name = "FW" }]
        columns = [
            "data", "setting", "variant", "paper-seconds", "training-fine as training here, s", "training-std", "paper-ratio: CVM",
            "speedup: CVM", "core-set", "gap as certified gap, worst", "ended",
        ]"#,
    )
}

fn seeds(spec: &Spec) -> Vec<Row> {
    let printed = |_: &Cell| Printed { seconds: Some(20.0), ..Printed::default() };
    rows(spec, printed, |n, cell| {
        let seed = (n / 2) as f64;
        json!({
            "train_seconds": if cell.variant == "CVM" { 4.0 + seed } else { 0.5 }, "accuracy": 80.0 + seed,
            "relative_gap": 0.1 * (seed + 1.0), "status": "Converged", "core_set": 10, "evidence": "Sample",
        })
    })
}

#[test]
fn means_over_seeds_and_speed_ups() {
    let spec = simplex();
    let rows = merge(seeds(&spec), "seed");
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].ours.measured.accuracy, rows[0].number("accuracy_std")), (Some(81.0), Some(1.0)));
    let lines = lines(&spec, &rows);
    assert_eq!(
        lines[0],
        "| data | variant | paper, s | training here, s | ± | CVM / this, paper | CVM / this, here | core set | \
         certified gap, worst | ended |"
    );
    assert_eq!(lines[2], "| A | CVM | 20.0 | 5.00 | 1.000 | – | – | 10 | 3.0e-1 | by a sample |");
    assert_eq!(lines[3], "| A | FW | 20.0 | 0.50 | 0.000 | 1.00 | 10 | 10 | 3.0e-1 | by a sample |");
}

#[test]
fn one_of_several_runs_that_was_cut_off() {
    let spec = simplex();
    let mut rows = seeds(&spec);
    let cut = |rows: &mut [Row], variant: &str| {
        let row = rows.iter_mut().find(|row| row.cell.variant == variant && row.cell.vary == "seed=2").expect("row");
        row.ours.measured.more.insert("status".into(), json!("TimeLimit"));
    };
    cut(&mut rows, "CVM");
    let text = lines(&spec, &merge(rows, "seed"));
    assert_eq!(text[2], "| A | CVM | 20.0 | > 5.00 | 1.000 | – | – | 10 | 3.0e-1 | 1 of 3 cut off |");
    assert_eq!(text[3], "| A | FW | 20.0 | 0.50 | 0.000 | 1.00 | > 10 | 10 | 3.0e-1 | by a sample |");
    // A speed-up that is less than something says little.
    let mut rows = seeds(&spec);
    cut(&mut rows, "FW");
    let text = lines(&spec, &merge(rows, "seed"));
    assert!(text[3].contains("| > 0.50 | 0.000 | 1.00 | 10 |") && !text[0].contains("here |"), "{}", text[3]);
}
