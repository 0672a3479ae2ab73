//! Files of models: the native format, LIBSVM's text and LIBLINEAR's text.

pub mod file;
pub mod liblinear;
pub mod libsvm;

use crate::error::ModelError;
use crate::model::Model;
use std::io::Write;

/// A format in which models are written.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ModelFormat {
    /// The name on the command line.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    write: fn(&Model, &mut dyn Write) -> Result<(), ModelError>,
}

impl ModelFormat {
    /// Every format.
    pub const ALL: [Self; 3] = [
        Self { name: "native", help: "maxmargin's", write: |model, out| Ok(out.write_all(&file::encode(model)?)?) },
        Self { name: "libsvm", help: "LIBSVM's text", write: |model, mut out| libsvm::write_alone(model, &mut out) },
        Self {
            name: "liblinear",
            help: "LIBLINEAR's text",
            write: |model, out| Ok(liblinear::LinearModel::from_model(model)?.write(out)?),
        },
    ];

    /// Returns the format of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        static ALL: [ModelFormat; 3] = ModelFormat::ALL;
        ALL.iter().find(|format| format.name == name)
    }

    /// Writes a model that predicts the same by itself.
    ///
    /// # Errors
    ///
    /// When the format cannot hold the model, or writing fails.
    pub fn write(&self, model: &Model, out: &mut dyn Write) -> Result<(), ModelError> {
        (self.write)(model, out)
    }
}
