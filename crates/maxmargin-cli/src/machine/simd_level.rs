//! The limit on SIMD instructions that the user sets.

use crate::console::failure::Failure;
use maxmargin::kernel::level::{Level, restrict};
use std::env;

/// The variable that names the highest level: `portable`, `avx2` or `avx512`.
const VARIABLE: &str = "MAXMARGIN_VECTORS";

/// Limits SIMD instructions to the level that [`VARIABLE`] names, if it is set.
pub(crate) fn limit_by_environment() -> Result<(), Failure> {
    let Some(asked) = env::var_os(VARIABLE).filter(|asked| !asked.is_empty()) else { return Ok(()) };
    let highest = match asked.to_str() {
        Some("portable") => Level::Portable,
        Some("avx2") => Level::Avx2,
        Some("avx512") => Level::Avx512,
        _ => {
            let what = format!(
                "{VARIABLE}: `{}` is no level of vector instructions; set it to portable, avx2 or avx512, or unset it",
                asked.display()
            );
            return Err(Failure::Usage(what));
        }
    };
    restrict(highest);
    Ok(())
}
