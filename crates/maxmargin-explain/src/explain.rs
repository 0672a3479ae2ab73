//! Explaining rows by a model.

use crate::block::{Block, CHUNK, Layout, Sums};
use crate::error::ExplainError;
use crate::explanation::Explanation;
use crate::linear;
use crate::players::Players;
use crate::polynomial::{MOST_DEGREE, Polynomial};
use crate::product::Product;
use crate::quadrature::Rules;
use maxmargin_data::{Par, RunControl, Samples};
use maxmargin_kernel::Kernel;
use maxmargin_model::Model;
use std::borrow::Cow;
use std::ops::Range;

/// Rows that share the factors of background rows.
const ROWS: usize = 16;

/// Operations between two questions whether to go on, about.
const BETWEEN: f64 = 3e8;

/// Bytes that values, interactions and weights may take together.
const MOST_BYTES: u128 = 1 << 32;

/// How rows are explained.
#[derive(Clone, Debug, Default)]
pub struct Explain {
    players: Option<Players>,
    interactions: bool,
}

/// Samples as the kernel sees them.
struct Prepared<'a> {
    rows: &'a Samples,
    background: Option<&'a Samples>,
}

impl Explain {
    /// Explains by these players instead of the model's own ([`Players::of_model`]). They cover the
    /// features that the kernel sees, behind encoding and scaling.
    #[must_use]
    pub fn players(self, players: Players) -> Self {
        Self { players: Some(players), ..self }
    }

    /// Also computes the Shapley interaction index of every pair of players.
    #[must_use]
    pub fn interactions(self) -> Self {
        Self { interactions: true, ..self }
    }

    /// Checks that a model has a kernel whose Shapley values are computed.
    ///
    /// # Errors
    ///
    /// When the kernel is another one than linear, RBF or polynomial, or its degree is too high.
    pub fn check(model: &Model) -> Result<(), ExplainError> {
        match *model.kernel() {
            Kernel::Linear | Kernel::Rbf { .. } => Ok(()),
            Kernel::Poly { degree, .. } if degree <= MOST_DEGREE => Ok(()),
            Kernel::Poly { degree, .. } => Err(ExplainError::Degree { found: degree, most: MOST_DEGREE }),
            _ => Err(ExplainError::Kernel(model.kernel().name())),
        }
    }

    /// The Shapley values of the decision values of `rows`, which are as the user has them: the
    /// model fills gaps and scales.
    ///
    /// Without a background a player that is absent takes no part in the kernel: its factor of a
    /// product kernel is 1, its term of a dot product 0. With a background it has the value of a
    /// background row, and games are averaged over all of them (interventional values). Players are
    /// the columns of the model's table, or its features. The bits do not depend on `par`.
    ///
    /// # Errors
    ///
    /// When [`Explain::check`] fails, the background has no rows or too many features, players do
    /// not cover the features, rows do not suit the model, or the run is cancelled.
    pub fn rows(
        &self,
        model: &Model,
        rows: &Samples,
        background: Option<&Samples>,
        par: Par,
        control: &RunControl,
    ) -> Result<Explanation, ExplainError> {
        Self::check(model)?;
        if background.is_some_and(Samples::is_empty) {
            return Err(ExplainError::EmptyBackground);
        }
        let decisions = model.decision_values(rows, par)?;
        let inputs = model.parts().encoder.as_ref().map_or(model.features(), maxmargin_data::Encoder::inputs);
        if let Some(found) = background.map(Samples::features).filter(|found| *found > inputs.max(rows.features())) {
            return Err(ExplainError::Background { found, expected: inputs });
        }
        let base_of_background = background.map(|background| model.decision_values(background, par)).transpose()?;
        // An absent feature is 0 as the user has it, wherever a training has moved the origin to.
        let plain = if background.is_none() { model.uncentred()? } else { Cow::Borrowed(model) };
        let model = plain.as_ref();
        let (rows, background) = (model.prepared(rows)?, background.map(|rows| model.prepared(rows)).transpose()?);
        let prepared = Prepared { rows: &rows, background: background.as_deref() };
        let features = prepared.background.map_or(0, Samples::features).max(rows.features()).max(model.features());
        let machines = model.machines().len();
        // A sparse row can name any feature: memory is counted before it is allocated.
        let own = self.players.as_ref().map_or_else(|| Players::count_of_model(model, features), Players::len);
        self.check_memory(own, features, machines, rows.len())?;
        let players = self.players.clone().unwrap_or_else(|| Players::of_model(model, features));
        if players.features_covered() < features {
            return Err(ExplainError::Players { found: players.features_covered(), expected: features });
        }
        let base = base_of_background.map_or_else(|| absent(model), |values| means(&values, machines));
        let pairs = if self.interactions { players.len() * players.len() } else { 0 };
        let values = vec![0.0; rows.len() * machines * players.len()];
        let interactions = vec![0.0; rows.len() * machines * pairs];
        let has_interactions = self.interactions;
        let mut found = Explanation { players: players.len(), machines, values, base, decisions, has_interactions, interactions };
        if *model.kernel() == Kernel::Linear {
            explain_linear(model, &prepared, &players, features, &mut found);
        } else {
            explain_kernel(model, &prepared, &players, &mut found, par, control)?;
        }
        Ok(found)
    }

    fn check_memory(&self, players: usize, features: usize, machines: usize, rows: usize) -> Result<(), ExplainError> {
        let of_row = players as u128 * if self.interactions { players as u128 + 1 } else { 1 };
        let bytes = 8 * machines as u128 * (rows as u128 * of_row + features as u128);
        if bytes > MOST_BYTES { Err(ExplainError::Memory { players, rows, bytes }) } else { Ok(()) }
    }
}

/// The decision value of every machine without any player.
fn absent(model: &Model) -> Vec<f64> {
    let of_none = match *model.kernel() {
        Kernel::Rbf { .. } => 1.0,
        Kernel::Poly { coef0, degree, .. } => coef0.powi(degree as i32),
        _ => 0.0,
    };
    model.machines().iter().map(|machine| of_none * machine.coef.iter().sum::<f64>() + machine.bias).collect()
}

/// Means over rows, one for each machine.
fn means(values: &[f64], machines: usize) -> Vec<f64> {
    let rows = (values.len() / machines.max(1)) as f64;
    (0..machines).map(|m| values.iter().skip(m).step_by(machines).sum::<f64>() / rows).collect()
}

fn explain_linear(model: &Model, prepared: &Prepared, players: &Players, features: usize, found: &mut Explanation) {
    let weights = linear::weights(model, features);
    let mean = prepared.background.map(|background| linear::mean(background, features));
    let (machines, count) = (found.machines, players.len());
    let mut row = vec![0.0; features];
    for i in 0..prepared.rows.len() {
        row.fill(0.0);
        prepared.rows.row(i).for_each(|j, value| row[j] = value);
        for m in 0..machines {
            let own = &weights[m * features..(m + 1) * features];
            let at = (i * machines + m) * count;
            linear::add(own, &row, mean.as_deref(), players, &mut found.values[at..at + count]);
        }
    }
}

/// The games of one chunk of support vectors, by kernel.
enum Games<'a> {
    Product(Product<'a>),
    Polynomial(Polynomial<'a>),
}

/// The sums of one chunk of support vectors for some rows.
struct Partial {
    values: Vec<f64>,
    interactions: Vec<f64>,
}

fn explain_kernel(
    model: &Model,
    prepared: &Prepared,
    players: &Players,
    found: &mut Explanation,
    par: Par,
    control: &RunControl,
) -> Result<(), ExplainError> {
    let support = model.parts().support.len();
    let chunks: Vec<Range<usize>> = (0..support).step_by(CHUNK).map(|at| at..(at + CHUNK).min(support)).collect();
    let degree = match *model.kernel() {
        Kernel::Poly { degree, .. } => degree as usize,
        _ => players.len(),
    };
    let rules = Rules::up_to(degree);
    let (machines, count) = (found.machines, players.len());
    let (values, pairs) = (machines * count, found.interactions.len() / prepared.rows.len().max(1));
    for start in (0..prepared.rows.len()).step_by(ROWS) {
        let batch = start..(start + ROWS).min(prepared.rows.len());
        let others = prepared.background.map_or(1, Samples::len) as f64;
        let cost = (batch.len() * CHUNK) as f64 * others * (2 * count.min(64) * count.min(64)) as f64;
        let together = ((BETWEEN / cost) as usize).clamp(par.threads(), 1 << 12);
        for group in chunks.chunks(together) {
            control.check_now()?;
            let one = |at: usize| chunk_sums(model, prepared, players, &rules, group[at].clone(), batch.clone(), pairs);
            // Chunks are added in their order, on any number of threads.
            for partial in par.map(group.len(), one) {
                let own = &mut found.values[start * values..];
                own.iter_mut().zip(&partial.values).for_each(|(sum, part)| *sum += part);
                let own = &mut found.interactions[start * pairs..];
                own.iter_mut().zip(&partial.interactions).for_each(|(sum, part)| *sum += part);
            }
        }
    }
    if let Some(background) = prepared.background {
        let share = 1.0 / background.len() as f64;
        found.values.iter_mut().chain(&mut found.interactions).for_each(|value| *value *= share);
    }
    Ok(())
}

/// The sums of a chunk of support vectors for a batch of rows.
fn chunk_sums(
    model: &Model,
    prepared: &Prepared,
    players: &Players,
    rules: &Rules,
    chunk: Range<usize>,
    batch: Range<usize>,
    pairs: usize,
) -> Partial {
    let parts = model.parts();
    let used = [(&parts.support, chunk.clone()), (prepared.rows, batch.clone())];
    let used = used.into_iter().chain(prepared.background.map(|rows| (rows, 0..rows.len())));
    let layout = Layout::of(players, used);
    let blocks = Block::of(&layout, &parts.support, chunk, &parts.machines);
    let background: Option<Vec<Vec<f64>>> =
        prepared.background.map(|rows| (0..rows.len()).map(|z| layout.dense(rows, z)).collect());
    let games = if let Kernel::Poly { gamma, coef0, degree } = parts.kernel {
        let background = background.unwrap_or_else(|| vec![vec![0.0; layout.columns()]]);
        let degree = degree as usize;
        Games::Polynomial(Polynomial { gamma, coef0, degree, layout: &layout, blocks: &blocks, rules, background })
    } else {
        Games::Product(Product::new(parts.kernel.gamma().unwrap_or(0.0), &layout, &blocks, rules, background))
    };
    let (values, count) = (parts.machines.len() * players.len(), players.len());
    let mut partial = Partial { values: vec![0.0; batch.len() * values], interactions: vec![0.0; batch.len() * pairs] };
    for (at, i) in batch.enumerate() {
        let mut sums = Sums {
            values: &mut partial.values[at * values..(at + 1) * values],
            interactions: &mut partial.interactions[at * pairs..(at + 1) * pairs],
            players: count,
        };
        let row = layout.dense(prepared.rows, i);
        match &games {
            Games::Product(games) => games.add(&row, &mut sums),
            Games::Polynomial(games) => games.add(&row, &mut sums),
        }
    }
    partial
}
