//! Rules on made-up lines, the specs of claims, and the committed page.

use super::again::again;
use super::claim::{Evidence, PAPERS, PaperClaims};
use super::figure::Figure;
use super::finding::Finding;
use super::page::page;
use super::sheets::Sheets;
use super::verdict::{Fault, Verdict};
use crate::cells::record::Record;
use crate::specs::spec::Spec;
use crate::workspace::tools::root;
use serde_json::{Value, json};
use std::fs;

const SPEC: &str = r#"
    title = "Test"
    set = { job = "cv", tol = 0.001 }
    [[problem]]
    name = "A"
    data = "heart"
    [[problem]]
    name = "B"
    data = "mnist"
    [[problem]]
    name = "B again"
    paper = "B"
    data = "mnist"
    [[table]]
    number = 1
    title = "T"
    problems = ["A", "B"]
    vary = [{ k = 3 }, { k = 10 }, { k = 100 }]
    variant = [{ name = "cold" }, { name = "sir" }, { name = "mir" }]
    [[table]]
    number = 2
    title = "T again"
    problems = ["B again"]
    vary = [{ k = 3 }, { k = 10 }, { k = 100 }]
    variant = [{ name = "sir" }]
"#;

/// A raw line as if the program had said so.
fn line(table: u32, problem: &str, k: u32, variant: &str, measured: &Value) -> Record {
    let machine = json!({"cpu": "", "cores": 1, "memory_gib": 1, "os": "", "rustc": "", "revision": ""});
    let mut said = json!({"kkt": 1e-4, "status": "Converged"});
    said.as_object_mut().expect("object").extend(measured.as_object().expect("object").clone());
    let record = json!({
        "table": table, "problem": problem, "vary": format!("k={k}"), "variant": variant, "program": "maxmargin",
        "settings": {"tol": 0.001, "k": k}, "data": "", "run": 1, "repeat": 0, "wall_seconds": 1.0, "measured": said, "machine": machine,
    });
    serde_json::from_value(record).expect("record")
}

/// Iterations of cold and SIR: SIR needs half on A and all on B; k = 100 of B is not measured.
fn lines() -> Vec<Record> {
    let made = |problem, k, cold: u64, sir: u64| {
        [("cold", cold), ("sir", sir)]
            .map(|(variant, n)| line(1, problem, k, variant, &json!({"iterations": n, "accuracy": 80.0})))
    };
    [made("A", 3, 100, 50), made("A", 10, 200, 80), made("A", 100, 900, 100), made("B", 3, 10, 10), made("B", 10, 20, 22)]
        .concat()
}

fn evidence(part: &str, records: Vec<Record>) -> Evidence {
    let claims =
        format!("paper = \"P\"\n[[claim]]\nid = \"S9.1\"\ntext = \"It is so\"\nplace = \"table 1\"\nbecause = \"Folds\"\n{part}");
    let claims = PaperClaims::parse(&claims).unwrap_or_else(|failure| panic!("{failure}"));
    Evidence { claims, sheets: Sheets::new(Spec::parse(SPEC).expect("spec"), records) }
}

fn part(look: &str, rule: &str) -> String {
    format!("[[claim.part]]\nsays = \"what\"\nlook = {look}\nrule = {rule}\n")
}

fn found(look: &str, rule: &str, records: Vec<Record>) -> (Finding, String, Vec<String>) {
    let evidence = evidence(&part(look, rule), records);
    let verdict = Verdict::of(&evidence.claims.claims[0], &evidence).expect("verdict");
    let decision = verdict.parts[0].clone();
    (decision.finding, decision.figure, decision.missing.iter().map(ToString::to_string).collect())
}

const RATIO: &str = r#"{ table = 1, value = "iterations", variants = ["sir"], against = ["cold"] }"#;

#[test]
fn a_share_of_places_decides() {
    let of = |rule: &str| found(RATIO, rule, lines());
    // 2, 2.5, 9, 1, 0.91 and one that was not measured.
    let (finding, figure, missing) = of("{ each = { at_least = 1.4, needs = 0.5 } }");
    assert_eq!(finding, Finding::Holds);
    assert!(figure.starts_with("3 of 5: A k=3 2.00, A k=10 2.50"), "{figure}");
    assert_eq!(missing, ["table 1 B k=100 cold", "table 1 B k=100 sir"]);
    // Four of six could still be reached, five could not.
    assert_eq!(of("{ each = { at_least = 1.4, needs = 0.66 } }").0, Finding::Untold);
    assert_eq!(of("{ each = { at_least = 1.4, needs = 0.8 } }").0, Finding::Fails);
    assert_eq!(of("{ each = { at_least = 1.4, needs = 0.8, partly = 0.5 } }").0, Finding::Partly);
    // Once enough is known, the known places alone count.
    assert_eq!(of("{ each = { at_least = 1.4, needs = 0.6, known = 0.8 } }").0, Finding::Holds);
    assert_eq!(of("{ each = { at_least = 1.4, needs = 0.6, known = 0.9 } }").0, Finding::Untold);
    assert_eq!(of("{ each = { at_least = 0.5, at_most = 3 } }").0, Finding::Fails);
}

#[test]
fn what_is_missing_becomes_decided_with_its_lines() {
    let rule = "{ each = { at_least = 1.4, needs = 0.66 } }";
    let mut records = lines();
    records.extend([("cold", 50), ("sir", 10)].map(|(variant, n)| line(1, "B", 100, variant, &json!({"iterations": n}))));
    assert_eq!(found(RATIO, rule, records.clone()).0, Finding::Holds);
    let worse: Vec<Record> =
        records
            .into_iter()
            .map(|record| {
                if record.variant == "sir" { line(1, &record.problem, 100, "sir", &json!({"iterations": 1000})) } else { record }
            })
            .collect();
    assert_ne!(found(RATIO, rule, worse).0, Finding::Holds);
    assert_eq!(found(RATIO, rule, Vec::new()).0, Finding::Untold);
}

#[test]
fn a_run_that_is_no_result_has_no_figure_and_one_that_was_cut_off_is_a_bound() {
    let mut records = lines();
    records.retain(|record| record.problem == "A");
    records.iter_mut().filter(|record| record.variant == "cold").for_each(|record| {
        let measured = record.measured.as_mut().expect("measured");
        measured.kkt = Some(0.5);
        measured.more.insert("status".into(), json!("TimeLimit"));
    });
    let of = |more: &str, rule: &str| {
        let look =
            format!(r#"{{ table = 1, value = "iterations", variants = ["sir"], against = ["cold"], problems = ["A"]{more} }}"#);
        found(&look, rule, records.clone()).0
    };
    assert_eq!(of("", "{ each = { at_least = 1.4 } }"), Finding::Untold);
    assert_eq!(of(", so_far = true", "{ each = { at_least = 1.4 } }"), Finding::Holds);
    // More than 2, 2.5 and 9: whether below 100 is unknown.
    assert_eq!(of(", so_far = true", "{ each = { at_most = 100 } }"), Finding::Untold);
    assert_eq!(of(", so_far = true", "{ each = { at_most = 1.5 } }"), Finding::Fails);
}

#[test]
fn figures_along_a_setting() {
    let of = |rule: &str| found(RATIO, rule, lines());
    let (finding, figure, _) = of(r#"{ series = { along = "k", of = "correlation", at_least = 0.9, needs = 0.5 } }"#);
    assert_eq!((finding, figure.as_str()), (Finding::Holds, "A 1.00"), "B has two points");
    assert_eq!(of(r#"{ series = { along = "k", of = "correlation", at_most = -0.9, needs = 1 } }"#).0, Finding::Fails);
    assert_eq!(of(r#"{ series = { along = "k", of = "correlation", at_least = 0.9 } }"#).0, Finding::Untold);
    assert_eq!(of(r#"{ series = { along = "k", of = "correlation", at_least = 0.9, known = 0.5 } }"#).0, Finding::Holds);
    assert_eq!(of(r#"{ series = { along = "k", of = "rise", at_least = 4, needs = 0.5 } }"#).1, "A 4.50");
    assert_eq!(of(r#"{ series = { along = "k", of = "spread", at_most = 4, needs = 0.5 } }"#).0, Finding::Untold);
    assert_eq!(of(r#"{ series = { along = "k", of = "lowest", at_most = 3, needs = 0.5 } }"#).0, Finding::Holds);
}

#[test]
fn medians_sums_largest_and_differences() {
    let a = r#"problems = ["A"]"#;
    let look = |more: &str| format!(r#"{{ table = 1, value = "iterations", variants = ["sir"], against = ["cold"], {more} }}"#);
    // 1200 iterations over 230.
    let sum = found(&look(&format!(r#"{a}, sum = "k""#)), "{ each = { at_least = 5.2, at_most = 5.3 } }", lines());
    assert_eq!((sum.0, sum.1.as_str()), (Finding::Holds, "1 of 1: A 5.22"));
    let best = found(&look(r#"largest = "k""#), "{ each = { at_least = 9, needs = 0.5 } }", lines());
    assert_eq!(best.0, Finding::Holds, "{best:?}");
    let median = |bounds: &str| found(RATIO, &format!("{{ median = {bounds} }}"), lines()).0;
    // Of 0.91, 1, 2, 2.5, 9 and one unknown: between 1.5 and 2.25.
    assert_eq!(median("{ at_least = 1.4, at_most = 2.3 }"), Finding::Holds);
    assert_eq!(median("{ at_least = 1.6 }"), Finding::Untold);
    assert_eq!(median("{ at_least = 2.4 }"), Finding::Fails);
    assert_eq!(median("{ at_least = 1.6, known = 0.8 }"), Finding::Holds);
    let minus = r#"{ table = 1, value = "iterations", variants = ["sir"], minus = "cold", problems = ["A"] }"#;
    assert_eq!(found(minus, "{ each = { at_most = -50 } }", lines()).0, Finding::Holds);
    assert_eq!(found(minus, "{ each = { at_most = -60 } }", lines()).0, Finding::Fails);
}

#[test]
fn figures_of_another_table_are_matched_by_the_papers_name() {
    let mut records = lines();
    records.push(line(2, "B again", 10, "sir", &json!({"iterations": 44})));
    let look =
        |than: &str| format!(r#"{{ table = 2, value = "iterations", variants = ["sir"], settings = ["k=10"], than = {than} }}"#);
    let less = found(&look("{ table = 1 }"), "{ each = { at_least = 22, at_most = 22 } }", records.clone());
    assert_eq!(less.0, Finding::Holds, "{less:?}");
    let ratio = found(&look("{ table = 1, ratio = true }"), "{ each = { at_least = 0.5, at_most = 0.5 } }", records);
    assert_eq!(ratio.0, Finding::Holds, "{ratio:?}");
}

#[test]
fn pairs_laws_and_matches() {
    let several = |of: fn(u32) -> u64| -> Vec<Record> {
        let ks = [3, 10, 100].into_iter();
        let all = ks.flat_map(|k| ["A", "B"].map(|problem| (problem, k)));
        all.flat_map(|(problem, k)| {
            let n = k + u32::from(problem == "B");
            [("cold", u64::from(n * n)), ("sir", of(n)), ("mir", u64::from(n))]
                .map(|(variant, count)| line(1, problem, k, variant, &json!({"iterations": count, "n": n})))
        })
        .collect()
    };
    let minus = r#"{ table = 1, value = "iterations", variants = ["sir"], minus = "cold" }"#;
    let below = "{ pairs = { sign = \"below\", p_at_most = 0.05 } }";
    // All of six below: 1 of 64 signs.
    let records = several(u64::from);
    assert_eq!(found(minus, below, records.clone()).0, Finding::Holds);
    assert_eq!(found(minus, "{ pairs = { sign = \"above\", p_at_most = 0.05 } }", records.clone()).0, Finding::Fails);
    assert_eq!(found(minus, "{ pairs = { sign = \"either\", p_at_least = 0.1 } }", records.clone()).0, Finding::Fails);
    assert_eq!(found(minus, below, lines()).0, Finding::Untold, "five pairs are too few");
    let law = |power: &str| format!("{{ law = {{ along = \"n\", power = {power}, explains = 0.999 }} }}");
    let cold = r#"{ table = 1, value = "iterations", variants = ["cold"] }"#;
    assert_eq!(found(cold, &law("2"), records.clone()).0, Finding::Holds);
    assert_eq!(found(cold, &law("1"), records.clone()).0, Finding::Fails);
    let with = |variant: &str| {
        format!("{{ match = {{ with = {{ table = 1, value = \"iterations\", variants = [\"{variant}\"] }}, at_least = 0.9 }} }}")
    };
    assert_eq!(found(cold, &with("mir"), records).0, Finding::Holds);
    assert_eq!(found(cold, &with("sir"), several(|n| 10_000 - u64::from(n))).0, Finding::Fails);
}

#[test]
fn parts_make_a_verdict() {
    use Finding::{Fails, Holds, Partly, Untold};
    assert_eq!(Finding::of(&[Holds, Holds]), Holds);
    assert_eq!(Finding::of(&[Holds, Fails]), Partly);
    assert_eq!(Finding::of(&[Holds, Untold]), Partly);
    assert_eq!(Finding::of(&[Partly]), Partly);
    assert_eq!(Finding::of(&[Fails, Untold]), Fails);
    assert_eq!(Finding::of(&[Untold, Untold]), Untold);
}

#[test]
fn the_page_says_what_was_found_and_what_is_missing() {
    let rules = [
        part(RATIO, "{ each = { at_least = 1.4, needs = 0.5 } }"),
        part(RATIO, "{ each = { at_least = 100 } }"),
        "[[claim.part]]\nsays = \"trace\"\nrule = { awaits = \"a trace of gaps\" }\n".to_owned(),
    ];
    let text = page(&[evidence(&rules.concat(), lines())]).expect("page");
    let row = text.lines().find(|line| line.contains("[S9.1]")).expect("row");
    assert!(row.contains("[S9.1](.md#table-1-t)") && row.contains("**holds in part, ours**"), "{row}");
    assert!(row.contains("what: 3 of 5") && row.contains("what: 0 of 5") && row.contains("Folds"), "{row}");
    assert!(row.contains("Without figures: 2 cells of table 1 (B); a trace of gaps"), "{row}");
    assert!(text.contains("cargo xtask bench  --table 1"), "{text}");
    assert!(text.contains("without figures: table 1 B k=100 cold; table 1 B k=100 sir"), "{text}");
}

#[test]
fn what_held_and_no_longer_does_is_found_at_the_places_of_both() {
    let rule = part(RATIO, "{ each = { at_least = 1.4, needs = 0.6 } }");
    let before = [evidence(&rule, lines())];
    let easy = part(RATIO, "{ each = { at_least = 0.1, known = 0.5 } }");
    let of = |records: Vec<Record>| again(&before, &[evidence(&rule, records)]).expect("compared");
    // A alone: all of it holds, though of the whole it cannot be told.
    let a = || lines().into_iter().filter(|record| record.problem == "A").collect::<Vec<_>>();
    let (text, lost) = of(a());
    assert!(text.contains("| 3 |") && lost.is_empty(), "{text}");
    let slower = a().into_iter().map(|mut record| {
        record.measured.as_mut().expect("measured").iterations = Some(100);
        record
    });
    let (_, lost) = of(slower.collect());
    assert_eq!(lost.len(), 1, "{lost:?}");
    assert!(of(Vec::new()).1.is_empty(), "what nobody measured is not lost");
    // A line whose certificate misses the tolerance is lost, not left out.
    let broken = a().into_iter().map(|mut record| {
        record.measured.as_mut().expect("measured").kkt = Some(0.5);
        record
    });
    let (_, lost) = again(&[evidence(&easy, lines())], &[evidence(&easy, broken.collect())]).expect("compared");
    assert!(lost.len() == 1 && lost[0].contains("no result: A k=3: KKT violation 5.00e-1"), "{lost:?}");
    // Seconds of a moment fail nothing.
    let clock = part(&RATIO.replace("iterations", "here-seconds"), "{ each = { at_least = 0.5 } }");
    let slow = a().into_iter().map(|mut record| {
        record.wall_seconds = if record.variant == "sir" { 9.0 } else { 1.0 };
        record
    });
    let (text, lost) = again(&[evidence(&clock, a())], &[evidence(&clock, slow.collect())]).expect("compared");
    assert!(text.contains("by the clock") && text.contains("does not hold") && lost.is_empty(), "{text}");
}

#[test]
fn a_claim_that_is_not_whole_is_the_papers_where_the_reproduction_is_fair() {
    let fails = part(RATIO, "{ each = { at_least = 10, known = 0.5 } }");
    let fair = |name: &str, rule: &str| part(RATIO, rule).replace("[[claim.part]]", &format!("[fair.{name}]"));
    let fault = |text: &str| {
        let evidence = evidence(text, lines());
        Verdict::of(&evidence.claims.claims[0], &evidence).expect("verdict").fault()
    };
    let (holds, not) = ("{ each = { at_most = 100, known = 0.5 } }", "{ each = { at_most = 1, known = 0.5 } }");
    assert_eq!(fault(&part(RATIO, holds)), None);
    assert_eq!(fault(&fails), Some(Fault::Ours), "nothing shows that it is fair");
    let (one, both) = (|part: &str| format!("fair = [\"a\"]\n{part}"), |part: &str| format!("fair = [\"a\", \"b\"]\n{part}"));
    assert_eq!(fault(&(one(&fails) + &fair("a", holds))), Some(Fault::Paper));
    assert_eq!(fault(&(both(&fails) + &fair("a", holds) + &fair("b", not))), Some(Fault::Ours), "some of it fails");
    let untold = part(RATIO, "{ each = { at_least = 1.4, needs = 0.66 } }");
    assert_eq!(fault(&(one(&untold) + &fair("a", holds))), Some(Fault::Ours), "what is not measured is ours");
    let text = page(&[evidence(&(one(&fails) + &fair("a", holds)), lines())]).expect("page");
    assert!(text.contains("| 1 | 0 | 0 | 1 | 0 | 1 | 0 |") && text.contains("**does not hold, the paper's**"), "{text}");
    let listed = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(listed.contains("**the paper's**, does not hold. It is so. Folds Without figures"), "{text}");
    assert!(listed.contains("Is it fair? What: *holds* (5 of 5"), "{text}");
}

#[test]
fn rules_that_make_no_sense_are_refused() {
    let said = |part: &str| {
        let text = format!("paper = \"P\"\n[[claim]]\nid = \"S9.1\"\ntext = \"\"\nplace = \"\"\n{part}");
        PaperClaims::parse(&text).err().expect("refused").to_string()
    };
    assert!(said(&part(RATIO, "{ each = { needs = 0.5 } }")).contains("at_least or at_most"));
    assert!(said(&part(RATIO, "{ awaits = \"x\" }")).contains("takes no look"));
    assert!(said("[[claim.part]]\nsays = \"\"\nrule = { each = { at_least = 1 } }\n").contains("needs a look"));
    assert!(said(&part(RATIO, "{ pairs = { sign = \"below\" } }")).contains("p_at_most"));
    assert!(said(&part(&RATIO.replace("iterations", "iteratoins"), "{ each = { at_least = 1 } }")).contains("no column"));
    assert!(said(&part(RATIO, "{ each = { at_lest = 1 } }")).contains("at_lest"));
    let unknown = "fair = [\"x\"]\n".to_owned() + &part(RATIO, "{ each = { at_least = 1 } }");
    assert!(said(&unknown).contains("no evidence is called `x`"));
}

/// Every claim of every paper once, in order, and what its rules look at is there.
#[test]
fn all_claims_of_the_five_papers() {
    let mut ids = Vec::new();
    for (n, paper) in PAPERS.iter().enumerate() {
        let Evidence { claims, sheets } = Evidence::of(paper, Vec::new()).unwrap_or_else(|failure| panic!("{failure}"));
        for (m, claim) in claims.claims.iter().enumerate() {
            assert_eq!(claim.id, format!("S{}.{}", n + 1, m + 1));
            assert!(!claim.parts.is_empty(), "{}", claim.id);
        }
        for part in claims.claims.iter().flat_map(|claim| &claim.parts).chain(claims.fair.values()) {
            for look in part.look.iter().chain(part.rule.second()) {
                let table = sheets.table(look.table).unwrap_or_else(|| panic!("{}: no table {}", part.says, look.table));
                assert_eq!(look.unknown(table), Vec::<String>::new(), "{paper}, {}", part.says);
                let figures: Vec<Figure> = look.figures(&sheets).expect("figures");
                assert!(!figures.is_empty(), "{paper}, {}: no place", part.says);
            }
        }
        ids.push(claims.claims.len());
    }
    assert_eq!(ids, [10, 13, 9, 9, 11], "52 claims");
}

/// A claim that a test decides names a test that is there.
#[test]
fn tests_that_decide_claims_exist() {
    let mut named = 0;
    for paper in PAPERS {
        let claims = PaperClaims::load(paper).expect("claims");
        for part in claims.claims.iter().flat_map(|claim| &claim.parts).chain(claims.fair.values()) {
            let Some(test) = part.rule.test() else { continue };
            let (file, name) = test.split_once("::").unwrap_or_else(|| panic!("`{test}` is no FILE::NAME"));
            let text = fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{test}: {error}"));
            let (before, _) = text.split_once(&format!("fn {name}(")).unwrap_or_else(|| panic!("{test}: no such function"));
            let last = before.lines().rev().map(str::trim).find(|line| !line.is_empty());
            assert_eq!(last, Some("#[test]"), "{test}");
            named += 1;
        }
    }
    assert!(named > 0);
}

/// The page that is under version control is what the raw lines say today.
#[test]
fn the_page_of_verdicts_is_that_of_the_raw_lines() {
    let written = fs::read_to_string(root().join("docs/reproduction/README.md")).expect("page");
    // Not compared by a macro, which would print both.
    assert!(page(&Evidence::committed().expect("evidence")).expect("page") == written, "run: cargo xtask bench --verdicts");
}

/// Theorem 1 of the second paper in numbers: 59 points of which none is among the furthest 5 % have
/// a probability below 5 %, 58 have not.
#[test]
fn fifty_nine_points_reach_the_furthest_twentieth() {
    assert!(0.95_f64.powi(59) < 0.05 && 0.95_f64.powi(58) > 0.05);
}
