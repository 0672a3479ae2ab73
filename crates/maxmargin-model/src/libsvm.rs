//! LIBSVM's model text, in and out.
//!
//! Numbers are written so that they read back to the same bits; LIBSVM itself keeps only eight digits of support vectors. The
//! text has no place for a scaler, a record or sections: they are left out (write the scaler as a range file beside it).

mod read;
mod write;

pub use read::read_model;
pub use write::write_model;

/// The words that begin a header line.
const HEADER: [&str; 13] = [
    "svm_type",
    "kernel_type",
    "degree",
    "gamma",
    "coef0",
    "nr_class",
    "total_sv",
    "rho",
    "label",
    "probA",
    "probB",
    "prob_density_marks",
    "nr_sv",
];

/// Whether the first word of `bytes` is one that begins a LIBSVM model.
pub fn looks_like_model(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(64)];
    let word = head.split(u8::is_ascii_whitespace).find(|w| !w.is_empty());
    word.is_some_and(|w| HEADER.iter().any(|h| h.as_bytes() == w))
}
