//! Lists and ranges of values that a search tries.

use super::values::positive;
use maxmargin::kernel::Gamma;

/// Values, ascending, each once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Values(pub(crate) Vec<f64>);

/// Values of γ, or a rule that computes one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Widths {
    Values(Vec<f64>),
    Rule(Gamma),
}

/// Most values of one parameter.
const MOST: usize = 1000;

/// Most values in a range: more are a typing error.
const MOST_STEPS: f64 = 100.0;

/// Parses a number above 0, or a power such as `2^-5`.
fn number(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let Some((base, exponent)) = text.split_once('^') else { return positive(text) };
    let power = positive(base)?.powf(exponent.parse::<f64>().map_err(|_| format!("`{exponent}` is no exponent"))?);
    if power.is_finite() && power > 0.0 { Ok(power) } else { Err(format!("{text} is out of range")) }
}

/// Parses `0.1,1,10`; `0.01:1000`, in powers of ten; `2^-5:2^15:2^2`, with another factor.
pub(crate) fn values(text: &str) -> Result<Values, String> {
    let mut values = if let Some((from, to)) = text.split_once(':') {
        let (to, factor) = to.split_once(':').map_or((to, "10"), |(to, factor)| (to, factor));
        let (from, to, factor) = (number(from)?, number(to)?, number(factor)?);
        if from > to {
            return Err(format!("{from} is greater than {to}"));
        }
        if factor <= 1.0 {
            return Err(format!("steps by a factor of {factor} get nowhere: it must be above 1"));
        }
        // The values are counted before they are built; the quotient may be infinite. Rounding of a
        // whole number of steps must not lose the last value.
        let steps = ((to.log2() - from.log2()) / factor.log2() + 1e-9).floor();
        if steps >= MOST_STEPS {
            return Err(format!("{} values are more than {MOST_STEPS} of a range; narrow it", steps + 1.0));
        }
        (0..=steps as i32).map(|k| from * factor.powi(k)).collect()
    } else {
        let count = text.split(',').count();
        if count > MOST {
            return Err(format!("{count} values are more than {MOST}"));
        }
        text.split(',').map(number).collect::<Result<Vec<f64>, String>>()?
    };
    values.sort_by(f64::total_cmp);
    values.dedup();
    Ok(Values(values))
}

/// Parses [`values`], `auto`, `scale` or `mean`.
pub(crate) fn widths(text: &str) -> Result<Widths, String> {
    match text {
        "auto" => Ok(Widths::Rule(Gamma::Auto)),
        "scale" => Ok(Widths::Rule(Gamma::Scale)),
        "mean" => Ok(Widths::Rule(Gamma::Mean)),
        _ => values(text).map(|values| Widths::Values(values.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `1e-200:1e200` once built two thousand million values (16 GB) before it was refused.
    #[test]
    fn ranges_are_counted_before_they_are_built() {
        assert_eq!(values("0.01:1000"), Ok(Values(vec![0.01, 0.1, 1.0, 10.0, 100.0, 1000.0])));
        assert_eq!(values("1:1"), Ok(Values(vec![1.0])));
        assert_eq!(values("3:20,"), Err("it must be a finite number above 0".to_owned()));
        assert_eq!(values("1e-200:1e200"), Err("401 values are more than 100 of a range; narrow it".to_owned()));
        for (text, count) in [("5e-324:1.7e308", 632), ("1e-50:1e50", 101)] {
            assert_eq!(values(text), Err(format!("{count} values are more than 100 of a range; narrow it")), "{text}");
        }
        assert_eq!(values("1e-50:1e49").map(|values| values.0.len()), Ok(100));
        assert_eq!(values(&["1"; 1001].join(",")), Err("1001 values are more than 1000".to_owned()));
    }

    #[test]
    fn powers_and_factors() {
        let powers = |from: i32, to: i32, by: usize| (from..=to).step_by(by).map(|k| 2.0_f64.powi(k)).collect::<Vec<_>>();
        assert_eq!(values("2^-5:2^15:2^2"), Ok(Values(powers(-5, 15, 2))));
        assert_eq!(values("2^-15:2^3:4"), Ok(Values(powers(-15, 3, 2))));
        assert_eq!(values("2^3,1,2^-1"), Ok(Values(vec![0.5, 1.0, 8.0])));
        for bad in ["2^", "^2", "2^x", "1:2:1", "1:2:0.5", "1:2:3:4", "2^9999", "0:1", "-1:1"] {
            assert!(values(bad).is_err(), "{bad}");
        }
    }
}
