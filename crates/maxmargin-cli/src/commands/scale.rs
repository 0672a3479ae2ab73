//! `scale`: features to a range, as LIBSVM's `svm-scale` does.

use crate::args::{ScaleArgs, ScaleName};
use crate::console::failure::{Failure, Outcome};
use crate::console::format;
use crate::console::notes::Notes;
use crate::files::input::{self, Input, MaxSize, Requirements};
use crate::files::output_paths::{Content, OutputPaths};
use crate::files::range_file::read_scaler;
use crate::machine::threads::Threads;
use maxmargin::data::scale::{ScaleMethod, Scaler, TargetRange};
use maxmargin::data::{Dataset, Preparing, libsvm};
use std::path::Path;

pub(crate) fn run(args: &ScaleArgs) -> Result<Outcome, Failure> {
    let mut notes = Notes::new(args.quiet);
    if args.lower >= args.upper {
        return Err(Failure::Usage(format!("--lower {} is not below --upper {}", args.lower, args.upper)));
    }
    if args.save_range.is_some() && args.method == ScaleName::Standard {
        return Err(Failure::Usage("--save-range: range files hold minmax scaling only; leave out --method standard".to_owned()));
    }
    let mut paths = OutputPaths::new(args.write.force);
    paths.reads([Path::new(&args.data.source)].into_iter().chain(args.range.as_deref()));
    let output = paths.output(args.output.as_deref().unwrap_or(Path::new("-")), Content::Text)?;
    let save = args.save_range.as_deref().map(|path| paths.output(path, Content::Text)).transpose()?;
    let threads = Threads::new(None)?;
    let input = input::load(&args.data.request(), &Requirements::default(), threads.par(), &mut notes)?;
    let index_base = input.data.index_base;
    let scaler = match &args.range {
        Some(path) => read_scaler(path, index_base, MaxSize::of(args.data.options.max_size))?,
        None => fitted(args, &input)?,
    };
    if scaler.features() < input.data.samples.features() {
        notes.warn(format!(
            "{} has {} features, the ranges {}: the others are left out",
            input.name,
            input.data.samples.features(),
            scaler.features()
        ));
    }
    let samples = scaler.apply(&input.data.samples).map_err(|e| input::scale_failure(&input, &e))?;
    let labels = match scaler.target() {
        Some(target) => scaled_labels(&input, target)?,
        None => input.data.labels.clone(),
    };
    let scaled = Dataset { samples, labels, groups: input.data.groups.clone(), index_base, sha256: [0; 32], columns: None };
    if let Some(save) = save {
        let text = scaler.to_range_text(index_base).map_err(|e| Failure::input(save.name(), e))?;
        save.write(|out| out.write_all(text.as_bytes()))?;
    }
    output.write(|mut out| libsvm::write(&scaled, &mut out))?;
    Ok(Outcome::Finished)
}

/// The labels, scaled too.
fn scaled_labels(input: &Input, target: TargetRange) -> Result<Vec<f64>, Failure> {
    let scaled: Vec<f64> = input.data.labels.iter().map(|label| target.apply(*label)).collect();
    match scaled.iter().position(|label| !label.is_finite()) {
        None => Ok(scaled),
        Some(row) => {
            let (label, [min, max]) = (format::short(input.data.labels[row]), [target.min, target.max].map(format::short));
            let what =
                format!("row {}: the label {label} overflows when it is scaled by the range of labels, {min} to {max}", row + 1);
            Err(Failure::input(&input.name, what))
        }
    }
}

/// Fits the scaler to the data; of a table to its numeric columns.
fn fitted(args: &ScaleArgs, input: &Input) -> Result<Scaler, Failure> {
    let preparing = Preparing { impute: None, scale: Some(method(args)) };
    let found = preparing.fit(&input.data).map_err(|e| input::scale_failure(input, &e))?;
    Ok(found.scaler.unwrap_or_else(|| Scaler::fit(&input.data.samples, method(args))))
}

fn method(args: &ScaleArgs) -> ScaleMethod {
    match args.method {
        ScaleName::Minmax => ScaleMethod::MinMax { lower: args.lower, upper: args.upper },
        ScaleName::Standard => ScaleMethod::Standard,
    }
}
