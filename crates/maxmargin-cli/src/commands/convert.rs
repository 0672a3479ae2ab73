//! `convert`: a model file in another program's format.

use crate::args::{ConvertArgs, ModelFormat};
use crate::console::failure::{Failure, Outcome};
use crate::files::input::{MaxSize, read_bytes};
use crate::files::model_file;
use crate::files::output_paths::{Content, OutputPaths};
use maxmargin::model::liblinear::{self, LinearModel};
use maxmargin::model::{self, Model, ModelError, Parts};

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
        if args.format == ModelFormat::Liblinear {
            return write(&mut paths, args, |out| Ok(linear.write(out)?)).map(|()| Outcome::Finished);
        }
        linear.to_model().map_err(failed)?
    } else {
        model_file::decode(&name, &bytes)?
    };
    let done = match args.format {
        ModelFormat::Native => {
            let bytes = model::encode(&model).map_err(failed)?;
            write(&mut paths, args, |out| Ok(out.write_all(&bytes)?))
        }
        ModelFormat::Libsvm => {
            let model = model.uncentred().map_err(failed)?;
            refuse_scaler(&model).map_err(failed)?;
            write(&mut paths, args, |mut out| model::libsvm::write_model(&model, &mut out))
        }
        ModelFormat::Liblinear => {
            let linear = LinearModel::from_model(&model).map_err(failed)?;
            write(&mut paths, args, |out| Ok(linear.write(out)?))
        }
    };
    done.map(|()| Outcome::Finished)
}

/// Refuses models that LIBSVM's format cannot hold: with a scaler or with words, without which they
/// would predict differently.
fn refuse_scaler(model: &Model) -> Result<(), ModelError> {
    let Parts { encoder, scaler, .. } = model.parts();
    let (what, instead) = match (encoder, scaler) {
        (_, Some(_)) => ("a model that scales its features", "train on data that is scaled already (maxmargin scale)"),
        (Some(encoder), None) if !encoder.is_plain() => {
            ("a model of words or of gaps that are filled in", "train on a table of numbers without gaps")
        }
        _ => return Ok(()),
    };
    Err(ModelError::Unsupported(format!("{what}, in LIBSVM's text; {instead}")))
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
