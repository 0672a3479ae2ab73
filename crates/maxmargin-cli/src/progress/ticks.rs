//! Ticks of real runs, for tests of the estimate: `MAXMARGIN_RECORD=1 MAXMARGIN_DATA=… cargo test
//! -p maxmargin-cli --bin maxmargin ticks` records them anew, `MAXMARGIN_RECORD=a9a` those whose
//! names say so.

use maxmargin::Svm;
use maxmargin::core::Progress;
use maxmargin::cv::{CvProgress, FoldPlan, Seeding, Stage};
use maxmargin::data::libsvm::{self, ReadOptions};
use maxmargin::data::scale::Method;
use maxmargin::data::{Dataset, Par, compress};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

/// Most ticks that are kept of a run, about.
const KEPT: f64 = 250.0;

/// What was told, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tick {
    pub(super) seconds: f64,
    pub(super) progress: CvProgress,
}

/// A run: a training, or a cross-validation.
pub(super) struct Recorded {
    pub(super) name: &'static str,
    pub(super) rows: usize,
    /// Seconds that it took.
    pub(super) total: f64,
    pub(super) ticks: Vec<Tick>,
}

struct Case {
    name: &'static str,
    file: &'static str,
    /// The first so many.
    rows: usize,
    folds: Option<usize>,
    svm: fn() -> Svm,
}

const CASES: [Case; 11] = [
    Case { name: "a9a_cv", file: "a9a.xz", rows: usize::MAX, folds: Some(10), svm: || Svm::rbf(1.0 / 123.0).c(1.0) },
    Case { name: "a9a_train", file: "a9a.xz", rows: usize::MAX, folds: None, svm: || Svm::rbf(1.0 / 123.0).c(1.0) },
    Case { name: "ijcnn1_cv", file: "ijcnn1.tr.xz", rows: usize::MAX, folds: Some(5), svm: || Svm::rbf(1.0).c(10.0) },
    Case { name: "ijcnn1_train", file: "ijcnn1.tr.xz", rows: usize::MAX, folds: None, svm: || Svm::rbf(1.0).c(10.0) },
    Case { name: "w8a_cv", file: "w8a.xz", rows: 15_000, folds: Some(10), svm: || Svm::rbf(0.05).c(10.0) },
    Case { name: "w8a_train", file: "w8a.xz", rows: 30_000, folds: None, svm: || Svm::rbf(0.05).c(10.0) },
    Case { name: "a9a_linear_cv", file: "a9a.xz", rows: usize::MAX, folds: Some(10), svm: || Svm::linear().c(10.0) },
    Case {
        name: "w8a_cold_cv",
        file: "w8a.xz",
        rows: 8_000,
        folds: Some(10),
        svm: || Svm::rbf(0.05).c(1.0).seeding(Seeding::Cold),
    },
    Case {
        name: "ijcnn1_scaled_cv",
        file: "ijcnn1.tr.xz",
        rows: 8_000,
        folds: Some(10),
        svm: || Svm::rbf(1.0).c(10.0).scale(Method::Standard),
    },
    Case { name: "a9a_hard_cv", file: "a9a.xz", rows: 6_000, folds: Some(10), svm: || Svm::rbf(0.05).c(100.0) },
    Case { name: "pendigits_cv", file: "pendigits.xz", rows: usize::MAX, folds: Some(10), svm: || Svm::rbf(1e-4).c(10.0) },
];

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ticks").join(name).with_extension("txt")
}

fn word(stage: Stage) -> String {
    match stage {
        Stage::Full => "full 0 0".to_owned(),
        Stage::Fold(fold) => format!("fold {fold} 0"),
        Stage::Machine(machine) => format!("machine {machine} 0"),
        Stage::Certify { certified: judged, samples } => format!("certify {judged} {samples}"),
    }
}

fn stage(word: &str, [a, b]: [usize; 2]) -> Stage {
    match word {
        "full" => Stage::Full,
        "fold" => Stage::Fold(a),
        "machine" => Stage::Machine(a),
        "certify" => Stage::Certify { certified: a, samples: b },
        other => panic!("no stage {other}"),
    }
}

fn data(folder: &Path, case: &Case) -> Dataset {
    let file = std::fs::File::open(folder.join(case.file)).expect("a file of MAXMARGIN_DATA");
    let text = compress::read_all(file, u64::MAX).expect("a whole file");
    let data = libsvm::parse(&text, &ReadOptions::default(), Par::Seq).expect("data");
    let kept: Vec<usize> = (0..data.labels.len().min(case.rows)).collect();
    data.select(&kept)
}

fn record(folder: &Path, case: &Case) {
    let data = data(folder, case);
    let svm = (case.svm)().memory(6 << 30).threads(Par::Pool);
    let told: Mutex<Vec<Tick>> = Mutex::new(Vec::new());
    let begun = Instant::now();
    let watch = |progress: &CvProgress| {
        told.lock().expect("no panic").push(Tick { seconds: begun.elapsed().as_secs_f64(), progress: *progress });
        ControlFlow::Continue(())
    };
    match case.folds {
        None => drop(svm.fit_with(&data, watch).expect("trained")),
        Some(k) => {
            let plan = FoldPlan::stratified(&data.labels, k, 1).expect("folds");
            drop(svm.cross_validate_with(&data, &plan, watch).expect("validated"));
        }
    }
    let total = begun.elapsed().as_secs_f64();
    let ticks = told.into_inner().expect("no panic");
    let mut text = format!("{} {total:.3}\n", data.labels.len());
    let mut last: Option<Tick> = None;
    for tick in ticks {
        let Tick { seconds, progress: CvProgress { stage, done, total: of, solver } } = tick;
        let new = |last: Tick| {
            last.progress.done != done || std::mem::discriminant(&last.progress.stage) != std::mem::discriminant(&stage)
        };
        if last.is_none_or(|last| new(last) || seconds - last.seconds >= total / KEPT) {
            let Progress { iterations, violation, tol, rows_computed, .. } = solver;
            let stage = word(stage);
            writeln!(text, "{seconds:.3} {stage} {done} {of} {iterations} {violation:.3e} {tol:e} {rows_computed}")
                .expect("memory");
            last = Some(tick);
        }
    }
    std::fs::write(place(case.name), text).expect("a fixture");
}

/// What was recorded.
pub(super) fn recorded() -> Vec<Recorded> {
    CASES.iter().map(|case| read(case.name)).collect()
}

fn read(name: &'static str) -> Recorded {
    let text = std::fs::read_to_string(place(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let (head, rest) = text.split_once('\n').expect("a first line");
    let (rows, total) = head.split_once(' ').expect("rows and seconds");
    let tick = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let whole = |at: usize| words[at].parse::<usize>().expect("a whole number");
        let number = |at: usize| words[at].parse::<f64>().expect("a number");
        let solver = Progress {
            iterations: whole(6) as u64,
            violation: number(7),
            tol: number(8),
            rows_computed: whole(9) as u64,
            ..Progress::default()
        };
        let progress = CvProgress { stage: stage(words[1], [whole(2), whole(3)]), done: whole(4), total: whole(5), solver };
        Tick { seconds: number(0), progress }
    };
    let ticks = rest.lines().map(tick).collect();
    Recorded { name, rows: rows.parse().expect("rows"), total: total.parse().expect("seconds"), ticks }
}

#[test]
fn ticks_are_recorded_where_that_is_asked_for() {
    let (Ok(which), Some(folder)) = (std::env::var("MAXMARGIN_RECORD"), std::env::var_os("MAXMARGIN_DATA")) else { return };
    let wanted = CASES.iter().filter(|case| which == "1" || case.name.contains(&which));
    wanted.for_each(|case| record(Path::new(&folder), case));
}
