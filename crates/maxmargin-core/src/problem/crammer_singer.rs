//! The machine of all classes at once (Crammer and Singer).

/// The reason why classes and costs are no [`CrammerSinger`] problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CrammerSingerError {
    /// The lists have different lengths.
    #[error("{costs} costs for {samples} samples; give one cost for each sample")]
    Length {
        /// The number of costs.
        costs: usize,
        /// The number of samples.
        samples: usize,
    },
    /// Fewer than two classes.
    #[error("{0} classes; the machine of all classes needs at least 2")]
    Classes(usize),
    /// A class index out of range.
    #[error("sample {row}: class {class} of {classes}")]
    Class {
        /// The sample.
        row: usize,
        /// Its class.
        class: usize,
        /// The number of classes.
        classes: usize,
    },
    /// A cost that is negative or not finite.
    #[error("sample {row}: the cost is {cost}; give a finite number of at least 0")]
    Cost {
        /// The sample.
        row: usize,
        /// Its cost.
        cost: f64,
    },
}

/// The problem `min ½ Σ_m ‖w_m‖² + Σ_i C_i ξ_i` with `ξ_i = max over m of w_m·x_i + [m ≠ y_i] −
/// w_{y_i}·x_i`, over the rows of a feature matrix.
///
/// Its dual is `max −½ Σ_m ‖w_m‖² − Σ_i Σ_{m ≠ y_i} α_im` with `w_m = Σ_i α_im x_i`, where `α_im ≤
/// C_i [m = y_i]` and `Σ_m α_im = 0`. See `docs/math/margin-losses.md`.
#[derive(Clone, Debug, PartialEq)]
pub struct CrammerSinger {
    classes: usize,
    class: Vec<usize>,
    cost: Vec<f64>,
}

impl CrammerSinger {
    /// Returns the problem of row `i` of a matrix with the class `class[i]`, below `classes`, and
    /// the cost `cost[i]`. Rows of cost 0 take no part.
    ///
    /// # Errors
    ///
    /// When there are fewer than two classes, the lengths differ, a class is out of range, or a
    /// cost is negative or not finite.
    pub fn new(classes: usize, class: Vec<usize>, cost: Vec<f64>) -> Result<Self, CrammerSingerError> {
        if classes < 2 {
            return Err(CrammerSingerError::Classes(classes));
        }
        if class.len() != cost.len() {
            return Err(CrammerSingerError::Length { costs: cost.len(), samples: class.len() });
        }
        if let Some(row) = class.iter().position(|class| *class >= classes) {
            return Err(CrammerSingerError::Class { row, class: class[row], classes });
        }
        if let Some(row) = cost.iter().position(|cost| !(cost.is_finite() && *cost >= 0.0)) {
            return Err(CrammerSingerError::Cost { row, cost: cost[row] });
        }
        Ok(Self { classes, class, cost })
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The class of each row.
    pub fn class(&self) -> &[usize] {
        &self.class
    }

    /// The cost of each row.
    pub fn cost(&self) -> &[f64] {
        &self.cost
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.class.len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.class.is_empty()
    }
}
