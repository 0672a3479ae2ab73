//! Decision values of dense queries: panels of queries times groups of support vectors.

use crate::predict::coefficients::{CHUNK, Coefficients, EMPTY, Layout};
use crate::predict::columns::Columns;
use crate::predict::far;
use crate::predict::integers::{self, IntegerPanel, Multiples};
use crate::predict::reals::{Panel64, Reals64};
use crate::store::summary::DataSummary;
use crate::{Kernel, KernelError};
use maxmargin_data::Samples;
use maxmargin_simd::products::Real;
use std::ops::Range;
use std::sync::OnceLock;

/// Queries in a panel of real numbers.
pub(super) const LANES: usize = <f64 as Real>::PANEL;

/// Largest number of queries that are predicted one at a time: a panel would have empty lanes.
const SINGLE_ROWS: usize = 3;

/// Support vectors and coefficients for queries in panels.
///
/// A query takes one of four ways: products of small integers, products of `f64`, sums of squared
/// differences, or [`far::values`]. Its own values alone determine which one, and its decision
/// values have the same bits in a panel and alone, so that they do not depend on other queries.
#[derive(Debug)]
pub(super) struct Panels {
    pub(super) kernel: Kernel,
    pub(super) columns: Columns,
    pub(super) layout: Layout,
    pub(super) coefficients: Vec<Coefficients>,
    /// The constant term of each expansion.
    pub(super) biases: Vec<f64>,
    pub(super) multiples: Option<Multiples>,
    /// The support vectors, without columns that are 0 in all of them.
    support: Samples,
    /// They are made for the first query that is not of small integers.
    reals: OnceLock<Reals64>,
}

/// The computation of a query's kernel values from real numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Evaluation {
    /// From norms and products, or from sums of squared differences.
    Near { by_differences: bool },
    /// One vector at a time, by [`far::values`].
    Far { gamma: f64 },
}

/// Buffers of a task.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) panel: Panel64,
    pub(super) integers: IntegerPanel,
    pub(super) sums: Vec<i32>,
    pub(super) dots: Vec<f64>,
    pub(super) values: Vec<f64>,
    parts: Vec<f64>,
    totals: Vec<f64>,
}

impl Scratch {
    /// Sets the decision sums of a panel to 0.
    fn begin(&mut self, expansions: usize, lanes: usize) {
        self.dots.resize(CHUNK * lanes, 0.0);
        self.values.resize(CHUNK * lanes, 0.0);
        self.totals.clear();
        self.totals.resize(expansions * lanes, 0.0);
    }
}

impl Panels {
    pub(super) fn new(
        kernel: &Kernel,
        support: &Samples,
        summary: &DataSummary,
        columns: Columns,
        layout: Layout,
        biases: Vec<f64>,
    ) -> Self {
        let multiples = Multiples::new(kernel, support, summary, &layout.order);
        let coefficients = layout.coefficients();
        let reals = OnceLock::new();
        Self { kernel: kernel.clone(), columns, layout, coefficients, biases, multiples, support: support.clone(), reals }
    }

    /// The support vectors in `f64`.
    pub(super) fn reals(&self) -> &Reals64 {
        self.reals.get_or_init(|| Reals64::new(&self.kernel, &self.support, &self.layout.order))
    }

    /// Bytes of what was prepared.
    pub(super) fn bytes(&self) -> usize {
        let reals = self.reals.get().map_or(0, Reals64::bytes) + self.multiples.as_ref().map_or(0, Multiples::bytes);
        reals + self.support.bytes()
    }

    /// Computes the decision values of the queries `ids`, row-major `ids × expansions`.
    pub(super) fn decide(
        &self,
        queries: &Samples,
        ids: &[usize],
        out: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), KernelError> {
        let mut rest: Vec<(usize, usize)> = Vec::with_capacity(ids.len());
        let numbered: Vec<(usize, usize)> = ids.iter().copied().enumerate().collect();
        match &self.multiples {
            None => rest = numbered,
            Some(multiples) => {
                let lanes = if ids.len() > SINGLE_ROWS { integers::PANEL } else { 1 };
                for block in numbered.chunks(lanes) {
                    self.decide_integers(multiples, queries, block, lanes, out, &mut rest, scratch)?;
                }
            }
        }
        let lanes = if rest.len() > SINGLE_ROWS { LANES } else { 1 };
        for block in rest.chunks(lanes) {
            self.decide_reals(queries, block, lanes, out, scratch)?;
        }
        Ok(())
    }

    /// Decides queries of small integers, and adds all others to `rest`. A query is its place in
    /// `out` and its number.
    #[expect(clippy::too_many_arguments, reason = "one step of a loop")]
    fn decide_integers(
        &self,
        multiples: &Multiples,
        queries: &Samples,
        block: &[(usize, usize)],
        lanes: usize,
        out: &mut [f64],
        rest: &mut Vec<(usize, usize)>,
        scratch: &mut Scratch,
    ) -> Result<(), KernelError> {
        let fits = self.load_integers(multiples, queries, block, lanes, scratch)?;
        rest.extend(block.iter().zip(&fits).filter(|(_, fits)| !**fits).map(|(query, _)| *query));
        if fits.iter().all(|fits| !fits) {
            return Ok(());
        }
        let part = LANES.min(lanes);
        scratch.begin(self.biases.len(), lanes);
        scratch.sums.resize(CHUNK * lanes, 0);
        for (places, coefficients) in self.layout.chunks.iter().zip(&self.coefficients) {
            let sums = &mut scratch.sums[..places.len() * lanes];
            multiples.products(places, &scratch.integers, sums);
            for (at, totals) in scratch.totals.chunks_exact_mut(self.biases.len() * part).enumerate() {
                if at * part >= block.len() {
                    break;
                }
                let values = &mut scratch.values[..places.len() * part];
                multiples.values(places, &scratch.integers, at * part..(at + 1) * part, sums, values);
                coefficients.add(values, part, &mut scratch.parts, totals);
            }
        }
        for (at, block) in block.chunks(part).enumerate() {
            let totals = &scratch.totals[at * self.biases.len() * part..];
            self.write(block, |lane| fits[at * part + lane], part, totals, out);
        }
        Ok(())
    }

    /// Writes queries to the panel of integers. Returns which of them fit.
    pub(super) fn load_integers(
        &self,
        multiples: &Multiples,
        queries: &Samples,
        block: &[(usize, usize)],
        lanes: usize,
        scratch: &mut Scratch,
    ) -> Result<Vec<bool>, KernelError> {
        multiples.clear(lanes, &mut scratch.integers);
        let mut fits = Vec::with_capacity(block.len());
        for (lane, &(_, id)) in block.iter().enumerate() {
            let norm = multiples.load(&self.columns, queries.row(id), lane, &mut scratch.integers);
            let norm = norm.filter(|&norm| far::gamma_if_far(&self.kernel, norm).is_none());
            norm.map_or(Ok(()), |norm| self.kernel.check_norm(id, norm))?;
            fits.push(norm.is_some());
        }
        Ok(fits)
    }

    /// Decides queries in `f64`.
    fn decide_reals(
        &self,
        queries: &Samples,
        block: &[(usize, usize)],
        lanes: usize,
        out: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), KernelError> {
        let reals = self.reals();
        let others = reals.load(&self.columns, block.iter().map(|&(_, id)| queries.row(id)), lanes, &mut scratch.panel);
        let mut evaluations = Vec::with_capacity(block.len());
        for (&(_, id), &norm) in block.iter().zip(&scratch.panel.norms) {
            let evaluation = if let Some(gamma) = far::gamma_if_far(&self.kernel, norm) {
                Evaluation::Far { gamma }
            } else {
                self.kernel.check_norm(id, norm)?;
                Evaluation::Near { by_differences: reals.needs_differences(norm) }
            };
            evaluations.push(evaluation);
        }
        for by_differences in [false, true] {
            let near = Evaluation::Near { by_differences };
            if !evaluations.contains(&near) {
                continue;
            }
            scratch.begin(self.biases.len(), lanes);
            for (places, coefficients) in self.layout.chunks.iter().zip(&self.coefficients) {
                let size = places.len() * lanes;
                let (dots, values) = (&mut scratch.dots[..size], &mut scratch.values[..size]);
                if by_differences {
                    reals.values_by_differences(places, &scratch.panel, &others, dots, values);
                } else {
                    reals.values(places, &scratch.panel, dots, values);
                }
                coefficients.add(values, lanes, &mut scratch.parts, &mut scratch.totals);
            }
            self.write(block, |lane| evaluations[lane] == near, lanes, &scratch.totals, out);
        }
        for (&query, evaluation) in block.iter().zip(&evaluations) {
            if let Evaluation::Far { gamma } = *evaluation {
                self.decide_far(gamma, queries, query, out, scratch);
            }
        }
        Ok(())
    }

    /// Decides a query whose squared distances may overflow.
    fn decide_far(&self, gamma: f64, queries: &Samples, query: (usize, usize), out: &mut [f64], scratch: &mut Scratch) {
        scratch.begin(self.biases.len(), 1);
        for (places, coefficients) in self.layout.chunks.iter().zip(&self.coefficients) {
            let values = &mut scratch.values[..places.len()];
            far::values(gamma, &self.support, &self.layout.order[places.clone()], &self.columns, queries.row(query.1), values);
            coefficients.add(values, 1, &mut scratch.parts, &mut scratch.totals);
        }
        self.write(&[query], |_| true, 1, &scratch.totals, out);
    }

    /// Writes the decision values of the lanes for which `is_due` holds.
    fn write(&self, block: &[(usize, usize)], is_due: impl Fn(usize) -> bool, lanes: usize, totals: &[f64], out: &mut [f64]) {
        let count = self.biases.len();
        for (lane, &(at, _)) in block.iter().enumerate().filter(|(lane, _)| is_due(*lane)) {
            let row = &mut out[at * count..][..count];
            for ((value, bias), totals) in row.iter_mut().zip(&self.biases).zip(totals.chunks_exact(lanes)) {
                *value = totals[lane] + bias;
            }
        }
    }

    /// The kernel values of some support vectors with the vectors of the first chunk, as
    /// predictions compute them, in panels and alone: (vector, vector, value).
    pub(super) fn sample_values(&self, support: &Samples, vectors: &[usize]) -> Result<Vec<(usize, usize, f64)>, KernelError> {
        let Some(places) = self.layout.chunks.first() else { return Ok(Vec::new()) };
        let mut scratch = Scratch::default();
        let mut found = Vec::new();
        let block: Vec<(usize, usize)> = vectors.iter().copied().enumerate().collect();
        for lanes in [1, LANES] {
            for block in block.chunks(lanes) {
                self.values_of(support, block, lanes, places, &mut scratch)?;
                for (place, &k) in places.clone().zip(&self.layout.order[places.clone()]).filter(|(_, k)| **k != EMPTY) {
                    let values = &scratch.values[(place - places.start) * lanes..];
                    found.extend(block.iter().zip(values).map(|(&(_, id), &value)| (id, k as usize, value)));
                }
            }
        }
        Ok(found)
    }

    /// Computes the kernel values of a few queries and the vectors of a chunk.
    fn values_of(
        &self,
        queries: &Samples,
        block: &[(usize, usize)],
        lanes: usize,
        places: &Range<usize>,
        scratch: &mut Scratch,
    ) -> Result<(), KernelError> {
        scratch.begin(self.biases.len(), lanes);
        let size = places.len() * lanes;
        if let Some(multiples) = &self.multiples {
            let panel = if lanes == 1 { 1 } else { integers::PANEL };
            self.load_integers(multiples, queries, block, panel, scratch)?;
            scratch.sums.resize(places.len() * panel, 0);
            multiples.products(places, &scratch.integers, &mut scratch.sums);
            multiples.values(places, &scratch.integers, 0..lanes, &scratch.sums, &mut scratch.values[..size]);
            return Ok(());
        }
        let (dots, values) = (&mut scratch.dots[..size], &mut scratch.values[..size]);
        let others = self.reals().load(&self.columns, block.iter().map(|&(_, id)| queries.row(id)), lanes, &mut scratch.panel);
        if self.reals().needs_differences(0.0) {
            self.reals().values_by_differences(places, &scratch.panel, &others, dots, values);
        } else {
            self.reals().values(places, &scratch.panel, dots, values);
        }
        Ok(())
    }
}
