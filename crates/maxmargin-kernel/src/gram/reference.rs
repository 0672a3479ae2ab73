//! A Gram matrix that is borrowed or owned.

use super::matrix::Gram;

/// A borrowed matrix, or an owned part of one.
pub(crate) enum GramRef<'g> {
    Borrowed(&'g dyn Gram),
    Owned(Box<dyn Gram + Send>),
}

impl GramRef<'_> {
    /// The matrix.
    pub(crate) fn get(&self) -> &dyn Gram {
        match self {
            Self::Borrowed(gram) => *gram,
            Self::Owned(gram) => &**gram,
        }
    }
}
