//! Values of options: what is accepted, and what is said about the rest.

use crate::problem::folds::{FOLDS, Folds};
use crate::problem::weights::Weight;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use maxmargin::Solver;
use maxmargin::conformal::Level;
use maxmargin::core::{BiasTerm, FormulationKind, Loss, Penalty};
use maxmargin::cv::Seeding;
use maxmargin::data::{Impute, MOST_THREADS};
use maxmargin::kernel::{Gamma, KernelKind};
use maxmargin::model::{ModelFormat, Multiclass};
use std::time::Duration;

/// The detail of a JSON document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Json {
    /// folds with their worst certificate
    Short,
    /// folds with every machine
    Full,
}

const SCHEMES: [(&str, &str); 3] = [
    ("one-vs-one", "k(k-1)/2 machines that vote"),
    ("one-vs-rest", "k machines, the largest decision value wins"),
    ("crammer-singer", "one linear machine of all classes at once (Crammer and Singer)"),
];

const LOSSES: [(&str, &str); 3] = [
    ("hinge", "C max(0, 1 - y f(x))"),
    ("squared", "C max(0, 1 - y f(x))²"),
    ("logistic", "C log(1 + exp(-y f(x))), of linear machines: logistic regression"),
];

const PENALTIES: [(&str, &str); 2] = [("l2", "half the sum of their squares"), ("l1", "the sum of their absolute values")];

/// A loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossName {
    Svm(Loss),
    Logistic,
}

/// A multiclass scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemeName {
    Machines(Multiclass),
    CrammerSinger,
}

/// A parser of one of these names, each with its help.
fn named<const N: usize>(names: [(&'static str, &'static str); N]) -> PossibleValuesParser {
    PossibleValuesParser::new(names.map(|(name, help)| PossibleValue::new(name).help(help)))
}

/// A parser of kernels, in upper or lower case.
pub(crate) fn kernel() -> impl TypedValueParser<Value = &'static KernelKind> {
    let known = |name: String| KernelKind::named(&name.to_lowercase()).ok_or("no such kernel");
    named(KernelKind::ALL.map(|kind| (kind.name, kind.help))).try_map(known)
}

/// A parser of formulations.
pub(crate) fn formulation() -> impl TypedValueParser<Value = &'static FormulationKind> {
    let known = |name: String| FormulationKind::named(&name).ok_or("no such formulation");
    named(FormulationKind::ALL.map(|kind| (kind.name, kind.help))).try_map(known)
}

/// A parser of formats of model files.
pub(crate) fn model_format() -> impl TypedValueParser<Value = &'static ModelFormat> {
    let known = |name: String| ModelFormat::named(&name).ok_or("no such format");
    named(ModelFormat::ALL.map(|format| (format.name, format.help))).try_map(known)
}

/// A parser of solvers.
pub(crate) fn solver() -> impl TypedValueParser<Value = Solver> {
    let names = Solver::choices().map(|solver| PossibleValue::new(solver.name()).help(solver.help()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Solver>())
}

/// A parser of seedings.
pub(crate) fn seeding() -> impl TypedValueParser<Value = Seeding> {
    named(Seeding::ALL.map(|(name, seeding)| (name, seeding.help())))
        .map(|name| Seeding::ALL.into_iter().find(|known| known.0 == name).map_or_else(Seeding::default, |known| known.1))
}

/// A parser of multiclass schemes.
pub(crate) fn multiclass() -> impl TypedValueParser<Value = SchemeName> {
    named(SCHEMES).map(|name| match name.as_str() {
        "one-vs-rest" => SchemeName::Machines(Multiclass::OneVsRest),
        "crammer-singer" => SchemeName::CrammerSinger,
        _ => SchemeName::Machines(Multiclass::OneVsOne),
    })
}

/// A parser of imputation methods.
pub(crate) fn impute() -> impl TypedValueParser<Value = Impute> {
    PossibleValuesParser::new(Impute::ALL.map(Impute::name)).try_map(|name| name.parse::<Impute>())
}

/// A parser of losses.
pub(crate) fn loss() -> impl TypedValueParser<Value = LossName> {
    named(LOSSES).map(|name| match name.as_str() {
        "squared" => LossName::Svm(Loss::SquaredHinge),
        "logistic" => LossName::Logistic,
        _ => LossName::Svm(Loss::Hinge),
    })
}

/// A parser of norms of the weights.
pub(crate) fn penalty() -> impl TypedValueParser<Value = Penalty> {
    named(PENALTIES).map(|name| if name == "l1" { Penalty::L1 } else { Penalty::L2 })
}

/// Scaling methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScaleName {
    /// each feature to -1…1
    Minmax,
    /// each feature to mean 0 and variance 1
    Standard,
}

/// Parses the bias of a decision function: free, none, or the value of one more feature.
pub(crate) fn bias(text: &str) -> Result<BiasTerm, String> {
    match text {
        "free" => Ok(BiasTerm::Free),
        "none" => Ok(BiasTerm::None),
        _ => match text.parse::<f64>() {
            Ok(value) if value.is_finite() && value > 0.0 => Ok(BiasTerm::Feature(value)),
            _ => Err("free (not regularised), none, or a positive number: the value of one more feature".to_owned()),
        },
    }
}

pub(crate) fn finite(text: &str) -> Result<f64, String> {
    text.parse::<f64>().ok().filter(|v| v.is_finite()).ok_or_else(|| "it must be a finite number".to_owned())
}

pub(crate) fn positive(text: &str) -> Result<f64, String> {
    finite(text).ok().filter(|v| *v > 0.0).ok_or_else(|| "it must be a finite number above 0".to_owned())
}

pub(crate) fn not_negative(text: &str) -> Result<f64, String> {
    finite(text).ok().filter(|v| *v >= 0.0).ok_or_else(|| "it must be a finite number, 0 or more".to_owned())
}

/// Parses a share of the samples, above 0 and at most 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    positive(text).ok().filter(|v| *v <= 1.0).ok_or_else(|| "it must be a number above 0, and at most 1".to_owned())
}

/// Parses the level of a quantile, between 0 and 1.
pub(crate) fn level(text: &str) -> Result<f64, String> {
    positive(text).ok().filter(|v| *v < 1.0).ok_or_else(|| "it must be a number above 0 and below 1".to_owned())
}

/// Parses a tolerance. One of 1 or more demands nothing: the empty model has a KKT violation of 2,
/// and every model a relative gap of about 1.
pub(crate) fn tolerance(text: &str) -> Result<f64, String> {
    let what = "it must be a number above 0 and below 1; the empty model already has a KKT violation of 2 and a gap of 1";
    positive(text).ok().filter(|v| *v < 1.0).ok_or_else(|| what.to_owned())
}

/// Parses the level of conformal predictions, or a rate of false discoveries.
pub(crate) fn conformal_level(text: &str) -> Result<Level, String> {
    text.parse::<f64>()
        .ok()
        .and_then(|alpha| Level::new(alpha).ok())
        .ok_or_else(|| "it is the share of predictions that may be wrong: a number above 0 and below 1, such as 0.1".to_owned())
}

pub(crate) fn gamma(text: &str) -> Result<Gamma, String> {
    match text {
        "auto" => Ok(Gamma::Auto),
        "scale" => Ok(Gamma::Scale),
        "mean" => Ok(Gamma::Mean),
        _ => positive(text).map(Gamma::Value).map_err(|_| "it must be a number above 0, `auto`, `scale` or `mean`".to_owned()),
    }
}

pub(crate) fn degree(text: &str) -> Result<u32, String> {
    let degree = text.parse::<u32>().ok().filter(|d| (1..=1000).contains(d));
    degree.ok_or_else(|| "it must be a whole number from 1 to 1000".to_owned())
}

pub(crate) fn threads(text: &str) -> Result<usize, String> {
    let threads = text.parse::<usize>().ok().filter(|t| (1..=MOST_THREADS).contains(t));
    threads.ok_or_else(|| format!("it must be a whole number from 1 to {MOST_THREADS}"))
}

/// Parses a whole number, 1 or more.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    text.parse::<u64>().ok().filter(|n| *n > 0).ok_or_else(|| "it must be a whole number of at least 1".to_owned())
}

/// A part of a search: the columns whose number is `first` modulo `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    pub(crate) first: usize,
    pub(crate) of: usize,
}

/// Parses `0/4` to `3/4`.
pub(crate) fn columns_of(text: &str) -> Result<Shard, String> {
    let numbers = text.split_once('/').and_then(|(first, of)| Some((first.parse().ok()?, of.parse().ok()?)));
    let share = numbers.map(|(first, of)| Shard { first, of }).filter(|share| share.first < share.of);
    share.ok_or_else(|| "it must be I/N with whole numbers, I from 0 to N - 1".to_owned())
}

pub(crate) fn fold_count(text: &str) -> Result<usize, String> {
    let count = text.parse::<usize>().map_err(|_| "it must be a whole number of at least 2".to_owned())?;
    if count >= 2 { Ok(count) } else { Err("cross-validation needs at least 2 folds".to_owned()) }
}

/// Parses a count, 1 or more.
pub(crate) fn times(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|times| *times >= 1).ok_or_else(|| "it must be a whole number, 1 or more".to_owned())
}

pub(crate) fn folds(text: &str) -> Result<Folds, String> {
    let (name, source) = text.split_once(':').map_or((text, None), |(name, source)| (name, Some(source)));
    let grouped: Option<fn(Option<String>) -> Folds> = match name {
        "groups" => Some(Folds::Groups),
        "stratified-groups" => Some(Folds::StratifiedGroups),
        "leave-one-group-out" => Some(Folds::LeaveOneGroupOut),
        _ => None,
    };
    if let Some(grouped) = grouped {
        return match source {
            Some("") => Err(format!("{text} lacks the column of a table, or the file, with the group of each row")),
            source => Ok(grouped(source.map(str::to_owned))),
        };
    }
    Ok(match text {
        "stratified" => Folds::Stratified,
        "contiguous" => Folds::Contiguous,
        "shuffled" => Folds::Shuffled,
        "leave-one-out" => Folds::LeaveOneOut,
        "expanding" => Folds::Expanding,
        "sliding" => Folds::Sliding,
        "" => {
            return Err(format!("it must be {FOLDS} or a file"));
        }
        file => Folds::File(file.into()),
    })
}

pub(crate) fn weight(text: &str) -> Result<Weight, String> {
    if text == "balanced" {
        return Ok(Weight::Balanced);
    }
    let wanted = || "write LABEL=W, such as -1=2, with W at least 0, or balanced".to_owned();
    // A word may contain `=`, a factor does not.
    let (label, factor) = text.rsplit_once('=').filter(|parts| !parts.0.is_empty()).ok_or_else(wanted)?;
    let factor = finite(factor).ok().filter(|f| *f >= 0.0).ok_or_else(wanted)?;
    Ok(Weight::Of { label: label.to_owned(), factor })
}

/// Parses `512M`, `4G`, `1.5GiB`, `100000`; units are powers of 1024.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let wanted = || "write a size such as 512M or 4G (units of 1024)".to_owned();
    let lower = text.trim().to_ascii_lowercase();
    let number = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match lower[number.len()..].trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(wanted()),
    };
    let value = positive(number.trim()).map_err(|_| wanted())?
        * f64::from(1_u32 << (unit % 30))
        * if unit >= 30 { 2_f64.powi(30) } else { 1.0 };
    if value >= 1.0 && value < 2_f64.powi(60) { Ok(value as u64) } else { Err(wanted()) }
}

/// Parses a budget of memory: [`bytes`], or a number of GiB below 1024 without a unit. Other small
/// numbers without one are no budget that anybody means.
pub(crate) fn memory(text: &str) -> Result<u64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number < 1024.0 => bytes(&format!("{number}G")),
        Ok(number) if number < 2_f64.powi(20) => Err(format!("its unit is missing: write {number}M or {number}K")),
        _ => bytes(text),
    }
}

/// Parses `30s`, `10m`, `2h`, `500ms`, `90` (seconds).
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wanted = || "write a time such as 30s, 10m or 2h".to_owned();
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[number.len()..] {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(wanted()),
    };
    let seconds = positive(number).map_err(|_| wanted())? * unit;
    Duration::try_from_secs_f64(seconds).map_err(|_| wanted())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_binary_units() {
        assert_eq!(bytes("1G"), Ok(1 << 30));
        assert_eq!(bytes("512M"), Ok(512 << 20));
        assert_eq!(bytes("1.5GiB"), Ok(3 << 29));
        assert_eq!(bytes("2t"), Ok(2 << 40));
        assert_eq!(bytes("100kb"), Ok(100 << 10));
        assert_eq!(bytes("12345"), Ok(12345));
        for bad in ["", "0", "-1G", "G", "1X", "NaN", "inf", "1e30T"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_budget_without_a_unit_is_of_gib() {
        assert_eq!(["4", "1.5", "4GiB", "2000000"].map(memory), [Ok(4 << 30), Ok(3 << 29), Ok(4 << 30), Ok(2_000_000)]);
        assert_eq!(memory("4096"), Err("its unit is missing: write 4096M or 4096K".to_owned()));
        assert!(["0", "-1", "NaN", "lots"].into_iter().all(|bad| memory(bad).is_err()));
    }

    #[test]
    fn times_have_units() {
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2h"), Ok(Duration::from_hours(2)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        for bad in ["", "0", "-3s", "10x", "nan", "1e300h"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn weights_name_a_class() {
        assert_eq!(weight("-1=2.5"), Ok(Weight::Of { label: "-1".to_owned(), factor: 2.5 }));
        assert_eq!(weight("+1=0"), Ok(Weight::Of { label: "+1".to_owned(), factor: 0.0 }));
        // Words may contain `=`.
        assert_eq!(weight("<=50K=3"), Ok(Weight::Of { label: "<=50K".to_owned(), factor: 3.0 }));
        assert_eq!(weight("balanced"), Ok(Weight::Balanced));
        for bad in ["1", "=2", "a", "1=-1", "1=nan", "1="] {
            assert!(weight(bad).is_err(), "{bad}");
        }
    }
}
