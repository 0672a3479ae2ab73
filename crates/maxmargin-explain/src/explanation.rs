//! The result of an explanation.

/// Shapley values of decision values, rows × machines × players.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    pub(crate) players: usize,
    pub(crate) machines: usize,
    pub(crate) values: Vec<f64>,
    pub(crate) base: Vec<f64>,
    pub(crate) decisions: Vec<f64>,
    /// Whether interactions were asked for.
    pub(crate) has_interactions: bool,
    /// Rows × machines × players × players; empty where they were not asked for.
    pub(crate) interactions: Vec<f64>,
}

impl Explanation {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.decisions.len() / self.machines.max(1)
    }

    /// Number of machines.
    pub fn machines(&self) -> usize {
        self.machines
    }

    /// Number of players.
    pub fn players(&self) -> usize {
        self.players
    }

    /// The Shapley values of the players for one row and one machine.
    pub fn values(&self, row: usize, machine: usize) -> &[f64] {
        let at = (row * self.machines + machine) * self.players;
        &self.values[at..at + self.players]
    }

    /// All values: rows × machines × players.
    pub fn all_values(&self) -> &[f64] {
        &self.values
    }

    /// All decision values: rows × machines.
    pub fn all_decisions(&self) -> &[f64] {
        &self.decisions
    }

    /// All interactions: rows × machines × players × players. None where they were not asked for.
    pub fn all_interactions(&self) -> Option<&[f64]> {
        self.has_interactions.then_some(&self.interactions[..])
    }

    /// The value of a machine before any player is known.
    pub fn base(&self, machine: usize) -> f64 {
        self.base[machine]
    }

    /// The decision value of a row by a machine.
    pub fn decision(&self, row: usize, machine: usize) -> f64 {
        self.decisions[row * self.machines + machine]
    }

    /// The Shapley interaction indices of all pairs for one row and one machine: a symmetric
    /// matrix, players × players, with 0 on its diagonal. None where they were not asked for.
    pub fn interactions(&self, row: usize, machine: usize) -> Option<&[f64]> {
        let size = self.players * self.players;
        let at = (row * self.machines + machine) * size;
        self.all_interactions()?.get(at..at + size)
    }

    /// The largest `|Σ values − (decision value − base)|`: the error of the property that Shapley
    /// values add up (efficiency).
    pub fn efficiency_error(&self) -> f64 {
        let error = |(at, decision): (usize, &f64)| {
            let (row, machine) = (at / self.machines, at % self.machines);
            let sum: f64 = self.values(row, machine).iter().sum();
            (sum + self.base[machine] - decision).abs()
        };
        self.decisions.iter().enumerate().map(error).fold(0.0, f64::max)
    }

    /// The mean of `|value|` over all rows and machines, one entry a player: a ranking of players.
    pub fn mean_magnitudes(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.players];
        for values in self.values.chunks_exact(self.players.max(1)) {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value.abs());
        }
        let count = self.decisions.len().max(1) as f64;
        sums.into_iter().map(|sum| sum / count).collect()
    }
}
