//! `scale`: features to a range, as LIBSVM's `svm-scale` does.

use crate::args::{ScaleArgs, ScaleName};
use crate::failure::{Done, Failure, reason};
use crate::input;
use crate::notes::Notes;
use crate::output::Output;
use crate::threads::Threads;
use maxmargin::data::scale::{Method, Scaler};
use maxmargin::data::{Dataset, libsvm};
use std::path::Path;

pub(crate) fn run(args: &ScaleArgs) -> Result<Done, Failure> {
    let mut notes = Notes::new(args.quiet);
    if args.lower >= args.upper {
        return Err(Failure::Usage(format!("--lower {} is not below --upper {}", args.lower, args.upper)));
    }
    if args.save_range.is_some() && args.method == ScaleName::Standard {
        return Err(Failure::Usage("--save-range: range files hold minmax scaling only; leave out --method standard".to_owned()));
    }
    let output = Output::open(args.output.as_deref().unwrap_or(Path::new("-")))?;
    let save = args.save_range.as_deref().map(Output::open).transpose()?;
    let threads = Threads::new(None)?;
    let input = input::load(&args.data, None, threads.par(), &mut notes)?;
    let index_base = input.data.index_base;
    let scaler = match &args.range {
        Some(path) => read_range(path, index_base)?,
        None => Scaler::fit(&input.data.samples, method(args)),
    };
    if scaler.features() < input.data.samples.features() {
        notes.warn(format!(
            "{} has {} features, the ranges {}: the others are left out",
            input.name,
            input.data.samples.features(),
            scaler.features()
        ));
    }
    let samples = scaler.apply(&input.data.samples).map_err(|e| Failure::input(&input.name, e))?;
    let labels = match scaler.target() {
        Some(target) => input.data.labels.iter().map(|l| target.apply(*l)).collect(),
        None => input.data.labels.clone(),
    };
    let scaled = Dataset { samples, labels, groups: input.data.groups.clone(), index_base, sha256: [0; 32] };
    if let Some(save) = save {
        let text = scaler.to_range_text(index_base).map_err(|e| Failure::input(save.name(), e))?;
        save.write(|out| out.write_all(text.as_bytes()))?;
    }
    output.write(|mut out| libsvm::write(&scaled, &mut out))?;
    Ok(Done::Finished)
}

fn method(args: &ScaleArgs) -> Method {
    match args.method {
        ScaleName::Minmax => Method::MinMax { lower: args.lower, upper: args.upper },
        ScaleName::Standard => Method::Standard,
    }
}

fn read_range(path: &Path, index_base: u32) -> Result<Scaler, Failure> {
    let name = path.display().to_string();
    let text =
        std::fs::read_to_string(path).map_err(|e| Failure::input(&name, format!("cannot read the ranges: {}", reason(&e))))?;
    Scaler::from_range_text(&text, index_base).map_err(|e| Failure::input(&name, e))
}
