//! The detection of runs that will not reach their goal.

use crate::stopping::stop::Stop;

/// A forecast of the remaining work. It notes the measure whenever the work has doubled, and
/// assumes that its fall from one note to the next continues, by [`Forecast::new`] like a power of
/// the work, by [`Forecast::linear`] by the same factor for the same work.
#[derive(Clone, Copy, Debug)]
pub struct Forecast {
    mark: f64,
    /// The work and the measure of the last note.
    noted: Option<(f64, f64)>,
    fastest: f64,
    linear: bool,
}

impl Forecast {
    /// Creates a forecast with its first note after so much work.
    pub fn new(first: f64) -> Self {
        Self { mark: first, noted: None, fastest: f64::INFINITY, linear: false }
    }

    /// The same for a method that converges linearly.
    pub fn linear(first: f64) -> Self {
        Self { linear: true, ..Self::new(first) }
    }

    /// Returns the work that remains when `spent` is done and the measure is `left` times its
    /// bound; `None` if no note is due, or if the first note tells no fall yet.
    pub fn remaining(&mut self, spent: f64, left: f64) -> Option<f64> {
        if spent < self.mark {
            return None;
        }
        self.mark = 2.0 * spent;
        let note = self.noted.replace((spent, left));
        let (work, before) = note.or(self.fastest.is_finite().then_some((0.0, f64::INFINITY)))?;
        let fall = (before / left).min(self.fastest);
        let falls = left.ln().max(0.0) / fall.ln();
        Some(match (fall > 1.0, self.linear) {
            (false, _) => f64::INFINITY,
            (true, true) => (spent - work) * falls,
            (true, false) => spent * falls.exp2() - spent,
        })
    }
}

/// The nanoseconds of a run before its first note, and the largest forecast of a run: about half a
/// minute. They are nanoseconds of iterations at a fixed price, so that the same run ends at the
/// same iteration on every machine.
const FREE: u64 = 1_000_000_000;
const MOST: u64 = 30 * FREE;

/// The same limits in iterations per variable: large problems may take longer.
const FREE_EACH: u64 = 10;
const MOST_EACH: u64 = 1_000;

/// Detects runs that will not reach their goal at their present pace.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    forecast: Forecast,
    most: f64,
    least: f64,
}

impl Pace {
    /// Creates the pace of a run over so many variables, with the price of an iteration in
    /// nanoseconds.
    pub fn new(variables: usize, price: u64) -> Self {
        let of = |all: u64, each: u64| all.max(each.saturating_mul(price).saturating_mul(variables as u64)) as f64;
        Self { forecast: Forecast::new(of(FREE, FREE_EACH)), most: of(MOST, MOST_EACH), least: f64::INFINITY }
    }

    /// Assumes that the measure falls at most by this factor while the work doubles. A forecast
    /// needs one note then, and noise in the measure does not promise a faster fall.
    pub fn limit_fall(&mut self, fastest: f64) {
        self.forecast.fastest = fastest;
    }

    /// Returns true if the whole run would exceed its limit, by the least measure so far. Always
    /// false if the caller has set a limit: the run ends there.
    pub fn is_hopeless(&mut self, spent: u64, measure: f64, stop: &Stop) -> bool {
        self.least = self.least.min(measure);
        let spent = spent as f64;
        if spent < self.forecast.mark || stop.max_iter.is_some() || stop.max_time.is_some() {
            return false;
        }
        self.forecast.remaining(spent, self.least / stop.goal.tol()).is_some_and(|more| spent + more > self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Returns the thousands of nanoseconds after which a run with this measure is given up; `None`
    /// if it reaches its goal, or runs for a hundred times its limit.
    fn given_up(mut pace: Pace, stop: &Stop, measure: impl Fn(f64) -> f64) -> Option<u64> {
        let (most, tol) = ((pace.most / 1e4) as u64, stop.goal.tol());
        let on_the_way = |&t: &u64| measure(t as f64) > tol;
        (1..=most).map(|k| 1000 * k).take_while(on_the_way).find(|&t| pace.is_hopeless(1000 * t, measure(t as f64), stop))
    }

    #[test]
    fn a_power_of_the_work_is_foretold() {
        let mut forecast = Forecast::new(100.0);
        assert_eq!(forecast.remaining(99.0, 1e3), None);
        // The measure is 10⁶ / t² of the bound: it holds at t = 1000.
        assert_eq!(forecast.remaining(100.0, 100.0), None, "one note tells no fall");
        assert_eq!(forecast.remaining(199.0, 26.0), None);
        let more = forecast.remaining(200.0, 25.0).expect("twice the work");
        assert!((more - 800.0).abs() < 1e-9, "{more}");
        assert_eq!(forecast.remaining(400.0, 25.0), Some(f64::INFINITY), "no fall");
        assert_eq!(forecast.remaining(800.0, 0.5), Some(0.0), "it holds already");
    }

    #[test]
    fn linear_convergence_is_foretold() {
        let mut forecast = Forecast::linear(100.0);
        assert_eq!(forecast.remaining(100.0, 1e3), None, "one note tells no fall");
        // A tenth for every 150 of work: 100 times the bound takes 300 more.
        let more = forecast.remaining(250.0, 100.0).expect("more than twice the work");
        assert!((more - 300.0).abs() < 1e-9, "{more}");
        assert_eq!(forecast.remaining(500.0, 100.0), Some(f64::INFINITY), "no fall");
        assert_eq!(forecast.remaining(1000.0, 0.5), Some(0.0), "it holds already");
    }

    #[test]
    fn runs_that_arrive_are_left_alone_and_others_given_up_at_the_second_note() {
        // The first note is after a second, the limit at 30; t is in microseconds.
        let (pace, stop) = (Pace::new(1000, 1000), Stop::at(1e-3));
        assert_eq!(given_up(pace, &stop, |_| 0.5), Some(2_000_000), "nothing moves");
        assert_eq!(given_up(pace, &stop, |t| 1e4 / t), None, "ten seconds");
        assert_eq!(given_up(pace, &stop, |t| 1e5 / t), Some(2_000_000), "a hundred seconds");
        assert_eq!(given_up(pace, &stop, |t| (-t / 4e5).exp()), None, "linear convergence");
        // Noise above the fall changes nothing.
        assert_eq!(given_up(pace, &stop, |t| if t % 7000.0 == 0.0 { 1e4 / t } else { 9.0 }), None);
        // A large problem has a thousand iterations for each variable: 200 seconds.
        assert_eq!(given_up(Pace::new(20_000, 10_000), &stop, |t| 1e5 / t), None);
    }

    #[test]
    fn a_method_with_a_known_rate_is_given_up_at_the_first_note_whatever_the_noise() {
        let stop = Stop::at(1e-3);
        // Noise falls tenfold between the first notes: a forecast that believes it goes on.
        let noisy = |t: f64| if t < 1.5e6 { 1.0 } else { 0.1 };
        let mut pace = Pace::new(1000, 1000);
        assert_eq!(given_up(pace, &stop, noisy), Some(4_000_000));
        pace.limit_fall(2.0);
        assert_eq!(given_up(pace, &stop, noisy), Some(1_000_000));
        assert_eq!(given_up(pace, &stop, |t| 1e4 / t), None, "ten seconds");
    }

    #[test]
    fn a_caller_who_sets_a_limit_has_it() {
        let pace = Pace::new(10, 1000);
        for stop in
            [Stop { max_iter: Some(u64::MAX), ..Stop::at(1e-3) }, Stop { max_time: Some(Duration::MAX), ..Stop::at(1e-3) }]
        {
            assert_eq!(given_up(pace, &stop, |_| 0.5), None);
        }
    }
}
