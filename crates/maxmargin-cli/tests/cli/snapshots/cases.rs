//! The table of cases: a command, its data, its options.

/// The command of a case.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Run {
    /// `train`, `predict --decision` and `verify`.
    Train,
    Cv,
    Loo,
    Grid,
    /// `train --updatable`, `update` with these options, `predict --decision` and `verify`.
    Update(&'static str),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) run: Run,
    /// File or generator and, for a generator, its size.
    pub(crate) data: &'static str,
    pub(crate) options: &'static str,
}

impl Case {
    pub(crate) fn name(&self) -> String {
        let Self { run, data, options } = self;
        match run {
            Run::Update(change) => format!("update {data} {options}: {change}"),
            run => format!("{} {data} {options}", format!("{run:?}").to_lowercase()).trim_end().to_owned(),
        }
    }

    /// Returns whether results are bitwise equal on all instruction sets: all but faer's Cholesky
    /// factors do, which IRWLS, the exact paths, the finish below 1e-5 and Newton steps of linear
    /// SVMs (the solvers linear and newton) use.
    pub(crate) fn exact(&self) -> bool {
        let has = |word: &str| self.options.split(' ').any(|w| w == word);
        let linear = has("linear") && !["smo", "descent", "avsf", "pairwise", "cvm", "fw", "mfw", "swap"].into_iter().any(has);
        let grid_of_newton = matches!(self.run, Run::Grid) && !has("descent") && !has("avsf");
        let paths = matches!(self.run, Run::Update(_)) || ["irwls", "ato", "dec", "1e-9"].into_iter().any(has);
        !linear && !paths && !grid_of_newton
    }
}

/// One group is one file of snapshots.
pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) cases: Vec<Case>,
}

fn group(name: &'static str, parts: &[(Run, &[&'static str], &[&'static str])]) -> Group {
    let product = |(run, data, options): &(Run, &[&'static str], &[&'static str])| -> Vec<Case> {
        data.iter().flat_map(|data| options.iter().map(move |options| Case { run: *run, data, options })).collect()
    };
    Group { name, cases: parts.iter().flat_map(product).collect() }
}

const GENERATED: [&str; 3] = ["two-gaussians --rows 300", "blobs --rows 200", "gauss-m --rows 200"];
const BANANA: &[&str] = &["banana --rows 300"];
/// Few enough features that a scaling, which fills them in, stays small.
const SPARSE: &[&str] = &["sparse-text --rows 200 --features 2000"];
/// Made by the test: four classes, 240 rows.
const FOUR: &[&str] = &["four"];
/// Made by the test: values of a linear kernel among 60 rows of two classes.
const KERNEL: &[&str] = &["kernel"];

/// One column of options for each solver of the simplex and each loss, kernel and bias that
/// training knows.
const TRAIN: &[&str] = &[
    "-c 2 -g 0.5",
    "-c 2 -g 0.5 --weight 1=3",
    "-c 2 --scale minmax",
    "-c 2 --scale standard",
    "-c 0.5 --kernel poly -d 2 -g 0.5 -r 1",
    "-c 0.5 --kernel sigmoid -g 0.1",
    "-c 0.5 --kernel linear --solver smo",
    "-c 50 -g 2 --eps 1e-9",
    "-c 2 -g 0.5 --solver irwls",
    "-c 2 -g 0.5 --loss squared",
    "-c 2 -g 0.5 --solver pairwise",
    "-c 2 -g 0.5 --solver cvm",
    "-c 2 -g 0.5 --solver fw --gap 0.01",
    "-c 2 -g 0.5 --solver mfw",
    "-c 2 -g 0.5 --solver swap",
    "-c 50 -g 2 --max-iter 40",
];

const LINEAR: &[&str] = &[
    "-c 0.5 --kernel linear",
    "-c 0.5 --kernel linear --weight 1=3",
    "-c 0.5 --kernel linear --loss squared",
    "-c 0.5 --kernel linear --bias none",
    "-c 0.5 --kernel linear --bias 1 --loss squared",
    "-c 0.5 --kernel linear --scale minmax",
    "-c 0.5 --kernel linear --scale standard",
    "-c 0.5 --kernel linear --solver newton",
    "-c 0.5 --kernel linear --solver descent --bias 1",
    "-c 0.5 --kernel linear --solver descent --bias none --loss squared",
    "-c 0.5 --kernel linear --solver avsf --bias 1",
    "-c 0.5 --kernel linear --eps 1e-9",
];

const SEEDINGS: &[&str] = &[
    "-k 4 -c 5 -g 0.5 --seeding cold",
    "-k 4 -c 5 -g 0.5 --seeding avg",
    "-k 4 -c 5 -g 0.5 --seeding top",
    "-k 4 -c 5 -g 0.5 --seeding sir",
    "-k 4 -c 5 -g 0.5 --seeding mir",
    "-k 4 -c 5 -g 0.5 --seeding ato",
    "-k 4 -c 5 -g 0.5 --seeding dec",
    "-k 4 -c 5 -g 0.5",
];

const CV: &[&str] = &[
    "-k 4 -c 5 -g 0.5 --seeding cold",
    "-k 4 -c 5 -g 0.5 --seeding sir",
    "-k 4 -c 5 -g 0.5",
    "-k 3 -c 5 -g 0.5 --weight 1=3 --folds contiguous",
    "-k 3 -c 5 --scale minmax",
    "-k 3 -c 5 --scale standard --seeding cold",
    "-k 3 -c 0.5 --kernel poly -d 2 -g 0.5 -r 1 --folds shuffled",
    "-k 3 -c 0.5 --kernel sigmoid -g 0.1",
    "-k 3 -c 0.5 --kernel linear --solver smo",
    "-k 3 -c 50 -g 2 --eps 1e-9",
    "-k 3 -c 2 -g 0.5 --solver irwls",
    "-k 3 -c 2 -g 0.5 --loss squared",
    "-k 3 -c 2 -g 0.5 --solver pairwise --scale minmax",
    "-k 3 -c 2 -g 0.5 --solver cvm",
    "-k 3 -c 2 -g 0.5 --solver fw --gap 0.01",
    "-k 3 -c 2 -g 0.5 --solver mfw",
    "-k 3 -c 2 -g 0.5 --solver swap",
    "-k 3 -c 50 -g 2 --max-iter 20",
];

const LINEAR_CV: &[&str] = &[
    "-k 3 -c 0.5 --kernel linear",
    "-k 3 -c 0.5 --kernel linear --seeding cold",
    "-k 3 -c 0.5 --kernel linear --weight 1=3",
    "-k 3 -c 0.5 --kernel linear --loss squared --scale minmax",
    "-k 3 -c 0.5 --kernel linear --bias none --scale standard",
    "-k 3 -c 0.5 --kernel linear --solver newton",
    "-k 3 -c 0.5 --kernel linear --solver descent --bias 1",
    "-k 3 -c 0.5 --kernel linear --solver avsf --bias 1 --loss squared",
];

const REAL: &[&str] = &["heart_scale", "diabetes_scale", "a1a", "splice"];

/// The groups on data that the test makes.
pub(crate) fn made() -> Vec<Group> {
    use Run::{Cv, Grid, Loo, Train, Update};
    let precomputed: &[&str] = &["-c 2 --kernel precomputed"];
    vec![
        group("train_two", &[(Train, &GENERATED, &TRAIN[..2]), (Train, BANANA, TRAIN), (Train, KERNEL, precomputed)]),
        group("train_several", &[(Train, FOUR, TRAIN)]),
        group("train_linear", &[(Train, SPARSE, LINEAR), (Train, BANANA, LINEAR), (Train, FOUR, LINEAR)]),
        group(
            "cv_two",
            &[
                (Cv, &GENERATED, &["-k 5 -c 2 -g 0.5"]),
                (Cv, BANANA, SEEDINGS),
                (Cv, BANANA, &CV[3..]),
                (Cv, KERNEL, &["-k 3 -c 2 --kernel precomputed"]),
            ],
        ),
        group("cv_several", &[(Cv, FOUR, CV)]),
        group("cv_linear", &[(Cv, SPARSE, LINEAR_CV), (Cv, BANANA, LINEAR_CV), (Cv, FOUR, LINEAR_CV)]),
        group(
            "loo",
            &[(Loo, &["banana --rows 60"], &["-c 2 -g 0.5", "-c 2 -g 0.5 --seeding dec", "-c 2 -g 0.5 --seeding cold"])],
        ),
        group(
            "grid",
            &[(
                Grid,
                &["sparse-text --rows 200 --features 2000", "banana --rows 300"],
                &["--kernel linear -k 3 -c 0.1:10", "--kernel linear -k 3 -c 0.1:10 --loss squared"],
            )],
        ),
        group(
            "update",
            &[
                (Update("--add banana --rows 20 --seed 2"), BANANA, &["-c 2 -g 0.5", "-c 2 -g 0.5 --scale minmax"]),
                (Update("--remove 3,7,20-40"), BANANA, &["-c 2 -g 0.5", "-c 2 -g 0.5 --weight 1=3"]),
                (Update("-c 5"), BANANA, &["-c 2 -g 0.5", "-c 2 --kernel linear --solver smo"]),
                (Update("-c 0.7 --remove 1-10 --add banana --rows 5 --seed 3"), BANANA, &["-c 2 -g 0.5"]),
            ],
        ),
    ]
}

/// The groups on files of a folder with real data.
pub(crate) fn real() -> Vec<Group> {
    use Run::{Cv, Grid, Train};
    let train: &[&str] = &["-c 2", "-c 2 --solver irwls", "-c 0.1 --kernel linear", "-c 2 --loss squared", "-c 2 --eps 1e-9"];
    let cv: &[&str] = &["-k 5 -c 2", "-k 5 -c 2 --seeding sir", "-k 3 -c 0.1 --kernel linear", "-k 3 -c 2 --loss squared"];
    // Ten classes; 45 machines share the kernel rows of 3,498 samples.
    let several: &[&str] = &["-c 5 -g 0.5 --scale minmax", "-c 0.1 --kernel linear --scale minmax"];
    let folds: &[&str] = &["-k 3 -c 5 -g 0.5 --scale minmax", "-k 3 -c 0.1 --kernel linear --scale minmax"];
    vec![
        group(
            "real_two",
            &[
                (Train, REAL, train),
                (Cv, REAL, cv),
                (Train, &["madelon.t"], &["-c 1 --scale minmax"]),
                (Cv, &["madelon.t"], &["-k 3 -c 1 --scale minmax", "-k 3 -c 1 -g 1e-6"]),
                (Grid, &["a1a"], &["-k 3 -c 0.01:1 --kernel linear"]),
            ],
        ),
        group("real_several", &[(Train, &["pendigits.t"], several), (Cv, &["pendigits.t"], folds)]),
    ]
}
