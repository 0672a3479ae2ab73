//! From options and data to a problem: classes, kernel, bounds, and what looks wrong with them.

use crate::args::{Gamma, KernelArgs, KernelName, ProblemArgs, ScaleName, Weight};
use crate::failure::Failure;
use crate::format;
use crate::input::Input;
use crate::notes::Notes;
use crate::report::KernelDocument;
use crate::threads::Threads;
use maxmargin::data::scale::{Method, Scaler};
use maxmargin::data::{self, BinaryLabels, ClassLabels, Samples};
use maxmargin::kernel::{Gram, Kernel, diagnose, kernel};
use std::time::Instant;

/// Entries of the kernel matrix looked at for a warning.
const PROBED: usize = 500;

/// A class of fewer members than this share of the data is worth a word.
const TINY_SHARE: f64 = 0.01;

/// A problem as the options describe it.
pub(crate) struct Prepared {
    pub(crate) labels: BinaryLabels,
    /// Factors of C for the negative and the positive class.
    pub(crate) weights: [f64; 2],
    /// C of every sample.
    pub(crate) upper: Vec<f64>,
    /// The scaler fitted to all rows and the scaled samples.
    pub(crate) scaled: Option<(Scaler, Samples)>,
    pub(crate) kernel: Kernel,
    pub(crate) document: KernelDocument,
}

impl Prepared {
    /// The samples that the kernel sees.
    pub(crate) fn samples<'a>(&'a self, input: &'a Input) -> &'a Samples {
        self.scaled.as_ref().map_or(&input.data.samples, |(_, samples)| samples)
    }
}

/// Checks options and data against each other.
pub(crate) fn prepare(kernel: &KernelArgs, problem: &ProblemArgs, input: &Input, notes: &mut Notes) -> Result<Prepared, Failure> {
    check_precomputed(kernel, problem, input)?;
    let labels = classes(input, notes)?;
    let weights = two_weights(&problem.weight, &labels)?;
    let upper = upper_bounds(&labels, problem.c, weights);
    let scaled = scaled(problem, input)?;
    let samples = scaled.as_ref().map_or(&input.data.samples, |(_, samples)| samples);
    let (kernel, document) = kernel_of(kernel, samples)?;
    Ok(Prepared { labels, weights, upper, scaled, kernel, document })
}

/// A problem of any number of classes as the options describe it.
pub(crate) struct PreparedClasses {
    pub(crate) labels: ClassLabels,
    /// A factor of C for each class.
    pub(crate) weights: Vec<f64>,
    /// The scaler fitted to all rows and the scaled samples.
    pub(crate) scaled: Option<(Scaler, Samples)>,
    pub(crate) kernel: Kernel,
    pub(crate) document: KernelDocument,
}

impl PreparedClasses {
    /// The samples that the kernel sees.
    pub(crate) fn samples<'a>(&'a self, input: &'a Input) -> &'a Samples {
        self.scaled.as_ref().map_or(&input.data.samples, |(_, samples)| samples)
    }
}

/// Checks options and data of any number of classes against each other.
pub(crate) fn prepare_classes(
    kernel: &KernelArgs,
    problem: &ProblemArgs,
    input: &Input,
    labels: ClassLabels,
    notes: &mut Notes,
) -> Result<PreparedClasses, Failure> {
    check_precomputed(kernel, problem, input)?;
    let tiny: Vec<String> =
        labels.labels().iter().zip(labels.sizes()).filter(|(_, size)| **size < 5).map(|(l, _)| format::exact(*l)).collect();
    if !tiny.is_empty() {
        notes.warn(format!("fewer than 5 rows of class {}: little can be learnt about it", tiny.join(", ")));
    }
    let weights = class_weights(&problem.weight, labels.labels())?;
    let scaled = scaled(problem, input)?;
    let samples = scaled.as_ref().map_or(&input.data.samples, |(_, samples)| samples);
    let (kernel, document) = kernel_of(kernel, samples)?;
    Ok(PreparedClasses { labels, weights, scaled, kernel, document })
}

/// One line before the work: what is solved, and what it will take.
pub(crate) fn start_line(input: &Input, prepared: &Prepared, gram: &dyn Gram, budget: u64, threads: &Threads) -> String {
    let n = gram.len() as u64;
    let full = 4 * n * n;
    let fits = full <= budget;
    let held = if fits { "fits" } else { "does not fit: rows are kept as long as they can be" };
    // The whole matrix is symmetric: half of it is computed.
    let entries = (n * n) as f64 * if fits { 0.5 } else { 1.0 };
    let seconds = seconds_per_entry(gram) * entries / threads.count() as f64;
    format!(
        "{}: {} rows, {} features; {} kernel, {} thread{}; all kernel values take {} ({held} in the budget of {}) and about {} to compute",
        input.name,
        format::count(n),
        format::count(input.data.samples.features() as u64),
        prepared.document.text(),
        threads.count(),
        if threads.count() == 1 { "" } else { "s" },
        format::bytes(full),
        format::bytes(budget),
        format::seconds(seconds),
    )
}

/// Time for one kernel value on one thread, from the second of two small blocks.
fn seconds_per_entry(gram: &dyn Gram) -> f64 {
    let rows: Vec<usize> = (0..gram.tile().rows.min(gram.len())).collect();
    let columns = gram.len().min(2048);
    let mut block = vec![0.0; rows.len() * columns];
    gram.fill(&rows, 0..columns, &mut block);
    let begun = Instant::now();
    gram.fill(&rows, 0..columns, &mut block);
    begun.elapsed().as_secs_f64() / block.len().max(1) as f64
}

/// The two classes of the data.
pub(crate) fn classes(input: &Input, notes: &mut Notes) -> Result<BinaryLabels, Failure> {
    let labels = BinaryLabels::new(&input.data.labels).map_err(|e| Failure::input(&input.name, e))?;
    let positive = labels.signs.iter().filter(|s| **s > 0.0).count();
    let (rows, smaller) = (labels.signs.len(), positive.min(labels.signs.len() - positive));
    let minority = if smaller == positive { labels.positive } else { labels.negative };
    if smaller < 5 || (smaller as f64) < TINY_SHARE * rows as f64 {
        notes.warn(format!(
            "class {} has only {smaller} of {rows} rows ({:.2} %): always guessing the other class is right for {:.2} %; \
             compare with that, and consider --weight {}=W",
            format::exact(minority),
            100.0 * smaller as f64 / rows as f64,
            100.0 * (rows - smaller) as f64 / rows as f64,
            format::exact(minority),
        ));
    }
    Ok(labels)
}

/// Factors of C for the negative and the positive class.
pub(crate) fn two_weights(given: &[Weight], labels: &BinaryLabels) -> Result<[f64; 2], Failure> {
    let weights = class_weights(given, &[labels.negative, labels.positive])?;
    Ok([weights[0], weights[1]])
}

/// A factor of C for each class.
pub(crate) fn class_weights(given: &[Weight], labels: &[f64]) -> Result<Vec<f64>, Failure> {
    let mut weights = vec![1.0; labels.len()];
    for weight in given {
        let Some(at) = labels.iter().position(|l| *l == weight.label) else {
            let names: Vec<String> = labels.iter().map(|l| format::exact(*l)).collect();
            let names = format!("{} and {}", names[..names.len() - 1].join(", "), names[names.len() - 1]);
            let label = format::exact(weight.label);
            return Err(Failure::Usage(format!("--weight {label}=…: the classes of the data are {names}")));
        };
        weights[at] = weight.factor;
    }
    Ok(weights)
}

/// C of every sample.
pub(crate) fn upper_bounds(labels: &BinaryLabels, c: f64, weights: [f64; 2]) -> Vec<f64> {
    labels.signs.iter().map(|s| c * weights[usize::from(*s > 0.0)]).collect()
}

/// What the options ask scaled features to look like.
pub(crate) fn scale_method(name: ScaleName) -> Method {
    match name {
        ScaleName::Minmax => Method::MinMax { lower: -1.0, upper: 1.0 },
        ScaleName::Standard => Method::Standard,
    }
}

/// Fits the scaler that the options ask for to all rows and applies it.
fn scaled(problem: &ProblemArgs, input: &Input) -> Result<Option<(Scaler, Samples)>, Failure> {
    let Some(name) = problem.scale else { return Ok(None) };
    let scaler = Scaler::fit(&input.data.samples, scale_method(name));
    let samples = scaler.apply(&input.data.samples).map_err(|e| Failure::input(&input.name, e))?;
    Ok(Some((scaler, samples)))
}

/// The name of a way of scaling, as options spell it.
pub(crate) fn scale_name(problem: &ProblemArgs) -> Option<&'static str> {
    problem.scale.map(|name| match name {
        ScaleName::Minmax => "minmax",
        ScaleName::Standard => "standard",
    })
}

/// The kernel for `samples` (scaled already), and its description.
pub(crate) fn kernel_of(args: &KernelArgs, samples: &Samples) -> Result<(Kernel, KernelDocument), Failure> {
    let (gamma, rule) = match args.gamma {
        Gamma::Value(gamma) => (gamma, "given"),
        Gamma::Auto => (kernel::gamma_auto(samples), "auto: 1/features"),
        Gamma::Scale => (kernel::gamma_scale(samples), "scale: 1/(features * variance)"),
    };
    let kernel = match args.kernel {
        KernelName::Linear => Kernel::Linear,
        KernelName::Rbf => Kernel::Rbf { gamma },
        KernelName::Poly => Kernel::Poly { gamma, coef0: args.coef0, degree: args.degree },
        KernelName::Sigmoid => Kernel::Sigmoid { gamma, coef0: args.coef0 },
        KernelName::Precomputed => Kernel::Precomputed,
    };
    let kernel = kernel.checked().map_err(|e| Failure::Usage(e.to_string()))?;
    let mut document = KernelDocument::new(&kernel);
    document.gamma_rule = document.gamma.map(|_| rule);
    Ok((kernel, document))
}

/// Precomputed kernels need index 0, which the reader takes for a zero-based file: nothing to scale there.
fn check_precomputed(kernel: &KernelArgs, problem: &ProblemArgs, input: &Input) -> Result<(), Failure> {
    if kernel.kernel != KernelName::Precomputed {
        return Ok(());
    }
    if problem.scale.is_some() {
        return Err(Failure::Usage("--scale: a precomputed kernel has no features to scale".to_owned()));
    }
    if input.data.index_base != 0 {
        return Err(Failure::input(
            &input.name,
            "no row has `0:serial`; a precomputed kernel has rows `label 0:serial 1:K(x,x1) 2:K(x,x2) …`",
        ));
    }
    Ok(())
}

/// Says with numbers when the features or the kernel cannot work well.
pub(crate) fn warn_of_scale(samples: &Samples, kernel: &Kernel, gram: &dyn Gram, base: u32, seed: u64, notes: &mut Notes) {
    if *kernel == Kernel::Precomputed {
        return;
    }
    if let Some(warning) = data::inspect(samples).warning(base) {
        notes.warn(format!("{warning} (--scale minmax)"));
    }
    let found = diagnose(gram, PROBED, seed);
    if found.is_identity() {
        notes.warn(format!(
            "the kernel matrix is numerically the identity: {:.1} % of {} sampled pairs have a kernel value below 2^-24, so that nothing \
             generalises; use a smaller -g or --scale minmax",
            100.0 * found.share_unrelated,
            found.pairs,
        ));
    } else if found.is_constant() {
        notes.warn(format!(
            "the kernel matrix is numerically constant: {:.1} % of {} sampled pairs cannot be told apart; use a larger -g",
            100.0 * found.share_identical,
            found.pairs,
        ));
    }
}
