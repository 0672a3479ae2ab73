//! The choice of the variables of a round.

use crate::config::Shares;
use crate::rounds::active::{Active, TooManyActive};
use maxmargin_simd::passes::Extremes;
use std::ops::Range;

/// The largest share of all variables in a set; a larger set saves nothing.
const MOST: f64 = 0.5;

/// Bounded variables stay in the set while they are within this distance of a violation: half of a
/// margin.
const NEAR: f64 = 0.5;

impl Active<'_, '_> {
    /// Chooses the variables of the next round (step 1).
    pub(super) fn choose(&mut self, band: &Extremes) -> Result<(), TooManyActive> {
        let (n, violation) = (self.dual.len(), band.violation());
        let most = (MOST * n as f64) as usize;
        let middle = f64::midpoint(band.min_up, band.max_low);
        let mut was = vec![false; n];
        self.set.iter().for_each(|&k| was[k] = true);
        let (near, all) = (-NEAR.min(violation), violation < self.close);
        let preferred = !all && !self.distance.is_empty();
        let look = |variables: Range<usize>| {
            let mut found = Candidates::default();
            for k in variables {
                let (up, low) = self.room(k);
                // The violation of a variable; negative if it is settled.
                let up_by = if up { middle - self.f(k) } else { f64::NEG_INFINITY };
                let by = up_by.max(if low { self.f(k) - middle } else { f64::NEG_INFINITY });
                found.support += usize::from(self.alpha[k] != 0.0);
                if up && low {
                    found.free.push(k);
                } else if (was[k] || all) && by > near {
                    found.nearby.push((by, k));
                } else if by > 0.0 {
                    found.wanted.push((if preferred { -self.distance[k] } else { by }, k));
                }
            }
            found
        };
        let found = self.survey(look).into_iter().reduce(Candidates::join);
        let Candidates { free: mut set, mut nearby, mut wanted, support } = found.unwrap_or_default();
        // After the first round from zero, its set is a sample of all variables.
        let of = if self.sampled { self.set.len() } else { n };
        if !Shares::of_counts(set.len(), support, of).are_within(&self.limits) {
            return Err(TooManyActive::Moving);
        }
        self.sampled = support == 0;
        // Where regression targets lie close together, nearly all variables may be near.
        furthest(&mut nearby, self.first.max(2 * set.len()));
        set.extend(nearby.iter().map(|&(_, k)| k));
        if set.len() >= most {
            return Err(TooManyActive::InSet);
        }
        let room = self.first.max(set.len()).min(most - set.len());
        if support > 0 {
            furthest(&mut wanted, room);
        } else if wanted.len() > room {
            wanted = self.spread(&wanted, room);
        }
        set.extend(wanted.iter().map(|&(_, k)| k));
        set.sort_unstable();
        // Equal violators on one side may fill the room. With the worst pair, each round moves.
        for k in [band.argmin_up, band.argmax_low] {
            if let Err(place) = set.binary_search(&k) {
                set.insert(place, k);
            }
        }
        self.set = set;
        Ok(())
    }

    /// Returns `room` of `wanted`, evenly spaced over the data, half of each sign if there are
    /// enough.
    fn spread(&self, wanted: &[(f64, usize)], room: usize) -> Vec<(f64, usize)> {
        let (plus, minus): (Vec<_>, Vec<_>) = wanted.iter().partition(|(_, k)| self.dual.sign()[*k] > 0.0);
        let of_plus = (room / 2).max(room.saturating_sub(minus.len())).min(plus.len());
        let take = |from: &[(f64, usize)], count: usize| -> Vec<(f64, usize)> {
            (0..count).map(|i| from[i * from.len() / count.max(1)]).collect()
        };
        [take(&plus, of_plus), take(&minus, (room - of_plus).min(minus.len()))].concat()
    }
}

/// Keeps at most `room` entries: those with the largest violation.
pub(crate) fn furthest(from: &mut Vec<(f64, usize)>, room: usize) {
    if from.len() > room {
        from.select_nth_unstable_by(room, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        from.truncate(room);
    }
}

/// The variables that may enter the next round, bounded ones with their violation.
#[derive(Default)]
struct Candidates {
    free: Vec<usize>,
    /// Variables of the last round, or near enough to one: they stay in.
    nearby: Vec<(f64, usize)>,
    /// The other violators.
    wanted: Vec<(f64, usize)>,
    /// The number of variables that are not 0.
    support: usize,
}

impl Candidates {
    /// Appends the candidates of a later stretch.
    fn join(mut self, later: Self) -> Self {
        self.free.extend(later.free);
        self.nearby.extend(later.nearby);
        self.wanted.extend(later.wanted);
        Self { support: self.support + later.support, ..self }
    }
}
