//! The classes of each row whose variables are below their bounds, and the curvature that they
//! have: `P = I_F − 1 1ᵀ / |F| = U Uᵀ`.

/// A row with at least two free classes.
pub(super) struct FreeRow {
    pub(super) row: usize,
    /// The free classes, ascending.
    pub(super) classes: Vec<u32>,
    /// The place of the first unknown of the row: it has one less than free classes.
    pub(super) begin: usize,
}

/// The rows with free classes.
pub(super) struct FreeClasses {
    /// Number of classes.
    pub(super) classes: usize,
    pub(super) rows: Vec<FreeRow>,
}

impl FreeClasses {
    /// The free classes of dual variables; `upper(i, m)` is the bound of class m in row i.
    pub(super) fn of(alpha: &[f64], classes: usize, upper: impl Fn(usize, usize) -> f64) -> Self {
        let mut rows: Vec<FreeRow> = Vec::new();
        for (row, alpha) in alpha.chunks_exact(classes).enumerate() {
            let free = (0..classes).filter(|&m| alpha[m] < upper(row, m)).map(|m| m as u32).collect::<Vec<_>>();
            if free.len() > 1 {
                let begin = rows.last().map_or(0, FreeRow::end);
                rows.push(FreeRow { row, classes: free, begin });
            }
        }
        Self { classes, rows }
    }

    /// The columns of all `U`: the rank of the curvature, at most.
    pub(super) fn rank(&self) -> usize {
        self.rows.last().map_or(0, FreeRow::end)
    }
}

impl FreeRow {
    /// The place after the last unknown.
    pub(super) fn end(&self) -> usize {
        self.begin + self.classes.len() - 1
    }

    /// Appends `Uᵀ v` for the numbers of all classes: differences of each free class from the mean
    /// of those before it (Helmert's basis).
    pub(super) fn reduce(&self, v: &[f64], out: &mut Vec<f64>) {
        let mut before = v[self.classes[0] as usize];
        for (count, &m) in (1_u32..).zip(&self.classes[1..]) {
            let count = f64::from(count);
            out.push((before / count - v[m as usize]) * (count / (count + 1.0)).sqrt());
            before += v[m as usize];
        }
    }

    /// Writes `U t` to the free classes of `out`.
    pub(super) fn expand(&self, t: &[f64], out: &mut [f64]) {
        let mut sum = 0.0;
        for (a, &m) in self.classes.iter().enumerate().rev() {
            // Column a − 1 has the value −a at class a, and 1 at those before it, over its norm.
            let own = if a == 0 { 0.0 } else { t[a - 1] * norm(a) };
            out[m as usize] = sum - a as f64 * own;
            sum += own;
        }
    }

    /// The product of column `a` of this row's `U` with column `b` of another's.
    pub(super) fn product(&self, a: usize, other: &Self, b: usize) -> f64 {
        let at = |k: usize, column: usize| if k > column { -(column as f64 + 1.0) } else { 1.0 };
        let (mut sum, mut k, mut l) = (0.0, 0, 0);
        while k <= a + 1 && l <= b + 1 {
            match self.classes[k].cmp(&other.classes[l]) {
                std::cmp::Ordering::Less => k += 1,
                std::cmp::Ordering::Greater => l += 1,
                std::cmp::Ordering::Equal => {
                    sum += at(k, a) * at(l, b);
                    (k, l) = (k + 1, l + 1);
                }
            }
        }
        sum * norm(a + 1) * norm(b + 1)
    }
}

/// The factor that makes `(1, …, 1, −a)` with `a` ones a unit vector.
fn norm(a: usize) -> f64 {
    let a = a as f64;
    1.0 / (a * (a + 1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// `U Uᵀ` is the projection, and `Uᵀ U` the identity.
        #[test]
        fn the_basis_is_that_of_the_projection(free in proptest::collection::btree_set(0_u32..9, 2..8), v in proptest::collection::vec(-2.0..2.0_f64, 9)) {
            let classes: Vec<u32> = free.into_iter().collect();
            let row = FreeRow { row: 0, classes: classes.clone(), begin: 0 };
            let (mut reduced, mut back) = (Vec::new(), vec![0.0; 9]);
            row.reduce(&v, &mut reduced);
            row.expand(&reduced, &mut back);
            let mean = classes.iter().map(|&m| v[m as usize]).sum::<f64>() / classes.len() as f64;
            for m in 0..9 {
                let want = if classes.contains(&(m as u32)) { v[m] - mean } else { 0.0 };
                prop_assert!((back[m] - want).abs() < 1e-12, "{m}: {} {want}", back[m]);
            }
            for a in 0..row.end() {
                for b in 0..row.end() {
                    prop_assert!((row.product(a, &row, b) - f64::from(u8::from(a == b))).abs() < 1e-12);
                }
            }
        }

        /// Products of columns of two rows are those of their vectors.
        #[test]
        fn products_of_columns_are_those_of_vectors(
            one in proptest::collection::btree_set(0_u32..7, 2..7),
            other in proptest::collection::btree_set(0_u32..7, 2..7),
        ) {
            let row = |classes: std::collections::BTreeSet<u32>| FreeRow { row: 0, classes: classes.into_iter().collect(), begin: 0 };
            let (one, other) = (row(one), row(other));
            let column = |row: &FreeRow, a: usize| {
                let (mut unit, mut out) = (vec![0.0; row.end()], vec![0.0; 7]);
                unit[a] = 1.0;
                row.expand(&unit, &mut out);
                out
            };
            for a in 0..one.end() {
                for b in 0..other.end() {
                    let want: f64 = column(&one, a).iter().zip(column(&other, b)).map(|(x, y)| x * y).sum();
                    prop_assert!((one.product(a, &other, b) - want).abs() < 1e-12);
                }
            }
        }
    }
}
