//! `convert`: a model file in another program's format.

use crate::args::ConvertArgs;
use crate::console::failure::{Failure, Outcome};
use crate::files::input::{MaxSize, read_bytes};
use crate::files::model_file;
use crate::files::output_paths::{Content, OutputPaths};
use maxmargin::model::ModelError;
use maxmargin::model::liblinear;

pub(crate) fn run(args: &ConvertArgs) -> Result<Outcome, Failure> {
    let name = args.model.display().to_string();
    let mut paths = OutputPaths::new(args.write.force);
    paths.reads([&args.model]);
    let bytes = read_bytes(&name, MaxSize::usual())?;
    let failed = |error: ModelError| match error {
        ModelError::Line { line, reason } => Failure::input(format!("{name}:{line}"), reason),
        other => Failure::input(&name, other),
    };
    let model = if liblinear::looks_like_model(&bytes) {
        let linear = liblinear::read_model(&bytes).map_err(failed)?;
        if args.format.name == "liblinear" {
            return write(&mut paths, args, |out| Ok(linear.write(out)?)).map(|()| Outcome::Finished);
        }
        linear.to_model().map_err(failed)?
    } else {
        model_file::decode(&name, &bytes)?
    };
    write(&mut paths, args, |out| args.format.write(&model, out)).map(|()| Outcome::Finished)
}

fn write(
    paths: &mut OutputPaths,
    args: &ConvertArgs,
    text: impl FnOnce(&mut dyn std::io::Write) -> Result<(), ModelError>,
) -> Result<(), Failure> {
    // A model that cannot be written must not create a file.
    let mut bytes = Vec::new();
    text(&mut bytes).map_err(|error| Failure::input(args.model.display(), error))?;
    paths.output(&args.output, Content::Model)?.write(|out| out.write_all(&bytes))
}
