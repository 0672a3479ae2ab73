//! The output of `--version`.

use maxmargin::kernel::level::{Level, level, levels};
use maxmargin::model::file::FORMAT;
use std::env::consts::{ARCH, OS};
use std::sync::OnceLock;

/// The version of the program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the names of the SIMD levels of this machine, the best last.
pub(crate) fn level_names() -> Vec<&'static str> {
    levels().map(Level::name).collect()
}

/// Returns the version, the build and the SIMD level in use: what a bug report needs.
pub(crate) fn long() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let profile = if cfg!(debug_assertions) { "with debug assertions" } else { "optimised" };
        let vectors = format!("{} (of {})", level().name(), level_names().join(", "));
        let tables: Vec<&str> =
            [("CSV", true), ("TSV", true), ("Parquet", cfg!(feature = "parquet")), ("Arrow", cfg!(feature = "arrow"))]
                .into_iter()
                .filter_map(|(name, is_read)| is_read.then_some(name))
                .collect();
        let pictures = if cfg!(feature = "png") { "SVG, PNG" } else { "SVG" };
        let text = [
            VERSION.to_owned(),
            format!("built for  {ARCH}-{OS}, {profile}"),
            format!("vectors    {vectors}"),
            format!("models     format {FORMAT}; LIBSVM's and LIBLINEAR's text"),
            format!("data       LIBSVM's format and tables ({}), plain or packed as .gz, .bz2, .xz, .zst", tables.join(", ")),
            format!("pictures   {pictures}"),
        ];
        text.join("\n")
    })
}
