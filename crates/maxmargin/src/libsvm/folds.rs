//! The folds of `svm-train -v`.

use super::classes::Classes;

/// Rows in LIBSVM's shuffled order, divided into folds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folds {
    /// All rows, those of the first fold first.
    pub order: Vec<usize>,
    /// The start of each fold in `order`, and the end of the last fold. Folds can be empty.
    pub starts: Vec<usize>,
}

impl Folds {
    /// Divides `rows` rows into `folds` folds, or into as many folds as rows if that is less. With
    /// classes and fewer folds than rows, the folds are stratified. `draw` returns random integers:
    /// [`super::Rand::draw`], or the `rand()` of the process.
    pub fn new(rows: usize, folds: usize, classes: Option<&Classes>, draw: &mut dyn FnMut() -> usize) -> Self {
        let folds = folds.min(rows).max(1);
        match classes {
            Some(classes) if folds < rows => Self::stratified(classes, folds, draw),
            _ => {
                let mut order: Vec<usize> = (0..rows).collect();
                shuffle(&mut order, draw);
                Self { order, starts: (0..=folds).map(|fold| cut(fold, rows, folds)).collect() }
            }
        }
    }

    fn stratified(classes: &Classes, folds: usize, draw: &mut dyn FnMut() -> usize) -> Self {
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); classes.labels.len()];
        classes.of.iter().enumerate().for_each(|(row, &class)| members[class].push(row));
        members.iter_mut().for_each(|rows| shuffle(rows, draw));
        let (mut order, mut starts) = (Vec::with_capacity(classes.of.len()), vec![0]);
        for fold in 0..folds {
            for rows in &members {
                order.extend_from_slice(&rows[cut(fold, rows.len(), folds)..cut(fold + 1, rows.len(), folds)]);
            }
            starts.push(order.len());
        }
        Self { order, starts }
    }

    /// Number of folds.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The test rows of a fold.
    pub fn tested(&self, fold: usize) -> &[usize] {
        &self.order[self.starts[fold]..self.starts[fold + 1]]
    }

    /// The training rows of a fold, in LIBSVM's order.
    pub fn trained(&self, fold: usize) -> impl Iterator<Item = usize> + '_ {
        let (before, after) = (&self.order[..self.starts[fold]], &self.order[self.starts[fold + 1]..]);
        before.iter().chain(after).copied()
    }

    /// The fold of each row.
    pub fn fold_of(&self) -> Vec<usize> {
        let mut of = vec![0; self.order.len()];
        (0..self.count()).for_each(|fold| self.tested(fold).iter().for_each(|&row| of[row] = fold));
        of
    }
}

/// Shuffles rows as LIBSVM does: a Fisher–Yates pass from the front.
fn shuffle(rows: &mut [usize], draw: &mut dyn FnMut() -> usize) {
    let n = rows.len();
    (0..n).for_each(|i| rows.swap(i, i + draw() % (n - i)));
}

fn cut(fold: usize, rows: usize, folds: usize) -> usize {
    (fold as u128 * rows as u128 / folds as u128) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libsvm::Rand;

    #[test]
    fn folds_are_even_in_every_class() {
        let labels: Vec<f64> = (0..103).map(|i| if i % 4 == 0 { 1.0 } else { -1.0 }).collect();
        let classes = Classes::new(&labels).expect("classes");
        let of = Folds::new(103, 5, Some(&classes), &mut Rand::default().draws()).fold_of();
        for class in [0, 1] {
            let counts: Vec<usize> = (0..5).map(|f| (0..103).filter(|&i| of[i] == f && classes.of[i] == class).count()).collect();
            assert!(counts.iter().max().expect("folds") - counts.iter().min().expect("folds") <= 1, "{counts:?}");
        }
    }

    #[test]
    fn more_folds_than_rows_leave_one_out() {
        let folds = Folds::new(3, 10, Some(&Classes::new(&[1.0, 2.0, 1.0]).expect("classes")), &mut Rand::default().draws());
        assert_eq!(folds.count(), 3);
        assert_eq!(folds.trained(1).count(), 2);
        assert!((0..3).all(|fold| folds.tested(fold).len() == 1));
    }
}
