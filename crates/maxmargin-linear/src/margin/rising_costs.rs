//! A run from zero over many columns goes through rising costs C: far from the minimum rows become
//! active along a Newton step, which ends it early.

use crate::margin::context::MarginRun;
use crate::margin::evaluate::Targets;
use maxmargin_core::Status;

/// The factor from one cost to the next.
const RISE: f64 = 4.0;

/// The relative gap at all costs but the last.
pub(crate) const ROUGH: f64 = 0.3;

/// Returns the weights at the last of the rising costs before those of `targets`, if the minimum is
/// near 0 up to a share of `1 / largest`. `minimise` returns those at given costs, from others.
pub(crate) fn through_costs(
    targets: &Targets,
    largest: f64,
    mut w: Vec<f64>,
    run: &mut MarginRun,
    mut minimise: impl FnMut(Targets, Vec<f64>, &mut MarginRun) -> Vec<f64>,
) -> Vec<f64> {
    for share in shares_from(largest) {
        let mut at = targets.clone();
        at.cost.iter_mut().for_each(|cost| *cost *= share);
        w = minimise(at, w, run);
        // Weights that rounding lets no better at one cost are a start for the next all the same.
        run.control.ended = run.control.ended.filter(|ended| *ended != Status::Stalled);
        if run.control.ended.is_some() {
            break;
        }
    }
    w
}

/// Returns the shares of the costs before the last, ascending.
fn shares_from(largest: f64) -> impl Iterator<Item = f64> {
    let next = |share: &f64| Some(share * RISE);
    std::iter::successors(Some(RISE / largest), next).take_while(|share| share * RISE.sqrt() < 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_rise_to_less_than_one() {
        let of = |largest: f64| shares_from(largest).collect::<Vec<_>>();
        assert_eq!(of(4096.0), [4.0_f64.powi(-5), 4.0_f64.powi(-4), 4.0_f64.powi(-3), 4.0_f64.powi(-2), 0.25]);
        assert_eq!(of(2.0), Vec::<f64>::new());
        assert_eq!(of(0.0), Vec::<f64>::new());
    }
}
