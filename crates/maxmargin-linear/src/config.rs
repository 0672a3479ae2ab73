//! The methods, their parameters and the cost of a run.

use maxmargin_data::Par;
use serde::{Deserialize, Serialize};

/// The method for a linear problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Coordinate descent while it pays, then Newton steps: the time hardly depends on C.
    #[default]
    Hybrid,
    /// Coordinate descent with random permutations and shrinking (LIBLINEAR's, without its limit of
    /// sweeps).
    Descent,
    /// Coordinate descent with adaptive variable selection frequencies.
    Avsf,
    /// Newton steps from the start.
    Newton,
}

/// The parameters of a run.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The method.
    pub method: Method,
    /// The seed of the random orders.
    pub seed: u64,
    /// Sets variables at their bounds aside in coordinate descent until all others are within
    /// the tolerance (hard shrinking). `None` is the method's default: on for [`Method::Descent`],
    /// off for [`Method::Avsf`]. The other two ignore it.
    pub shrinking: Option<bool>,
    /// The threads for passes over all rows. Coordinate descent itself is sequential.
    pub par: Par,
}

impl Default for Config {
    fn default() -> Self {
        Self { method: Method::default(), seed: 1, shrinking: None, par: Par::Seq }
    }
}

/// The least work of a pass, in entries multiplied, that is worth waking other threads: about half
/// a millisecond.
const PARALLEL: usize = 1 << 19;

impl Config {
    /// The configuration with the threads that make passes over so many entries and variables
    /// faster. A variable costs about as much as eight entries.
    pub(crate) fn for_passes(&self, entries: usize, variables: usize) -> Self {
        let par = if entries + 8 * variables < PARALLEL { Par::Seq } else { self.par };
        Self { par, ..*self }
    }
}

/// The cost of a run, in numbers that do not depend on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinearWork {
    /// Sweeps of coordinate descent.
    pub sweeps: u64,
    /// Coordinate steps.
    pub steps: u64,
    /// Stored entries multiplied or added by coordinate descent.
    pub entries: u64,
    /// Newton steps.
    pub newton_steps: u64,
    /// Proximal steps, each solved by Newton steps.
    pub rounds: u64,
    /// Iterations of conjugate gradients inside Newton steps.
    pub gradients: u64,
}

impl std::ops::AddAssign for LinearWork {
    fn add_assign(&mut self, more: Self) {
        self.sweeps += more.sweeps;
        self.steps += more.steps;
        self.entries += more.entries;
        self.newton_steps += more.newton_steps;
        self.rounds += more.rounds;
        self.gradients += more.gradients;
    }
}
