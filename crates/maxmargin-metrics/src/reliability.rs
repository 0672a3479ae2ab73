//! How good probabilities are: log loss, Brier score, and whether what is said to happen in seven
//! of ten cases does.

use serde::Serialize;

/// Bins of a reliability table.
const BINS: usize = 10;

/// The samples of one bin of a reliability table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bin {
    /// Least probability of the bin; it is part of it.
    pub from: f64,
    /// Greatest; only 1 itself is part of it.
    pub to: f64,
    /// Samples in it.
    pub count: usize,
    /// Mean of their probabilities; none where there are no samples.
    pub mean_probability: Option<f64>,
    /// The share of them that came true; none where there are no samples.
    pub fraction: Option<f64>,
}

/// Scores of probabilities of classes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reliability {
    /// Samples that are counted: those that have probabilities.
    pub samples: usize,
    /// Mean of `−ln p` of the true class.
    pub log_loss: f64,
    /// Mean of `(1 − p)²` of the true class for two classes; for more, of the sum of squares over
    /// all classes, `Σ (p_k − [k is true])²`.
    pub brier: f64,
    /// `Σ count/samples · |mean probability − fraction|` over the bins.
    pub expected_calibration_error: f64,
    /// Ten bins of equal width: of two classes by the probability of the second (it came true where
    /// the sample is of it), of more by the greatest probability (it came true where that class is
    /// the sample's).
    pub bins: Vec<Bin>,
}

impl Reliability {
    /// Judges probabilities, row-major samples × `classes`, against the class of each sample. Rows
    /// with a value that is not a number are left out; none where no row is left.
    ///
    /// # Panics
    ///
    /// When there are fewer than two classes, not a row for each sample, or a class of a sample is
    /// not one of them.
    pub fn of(probabilities: &[f64], classes: usize, of: &[u32]) -> Option<Self> {
        assert!(
            classes >= 2 && probabilities.len() == classes * of.len(),
            "{} probabilities for {} samples and {classes} classes: give one for each sample and class, of two or more",
            probabilities.len(),
            of.len()
        );
        if let Some(at) = of.iter().position(|class| *class as usize >= classes) {
            panic!("sample {at} (from 0) is of class {}, and there are {classes} classes (from 0)", of[at]);
        }
        let (mut samples, mut log_loss, mut brier) = (0_usize, 0.0, 0.0);
        let mut sums = [(0_usize, 0.0, 0_usize); BINS];
        for (row, &class) in probabilities.chunks_exact(classes).zip(of).filter(|(row, _)| row.iter().all(|p| !p.is_nan())) {
            let class = class as usize;
            samples += 1;
            log_loss -= row[class].ln();
            let squares: f64 = row.iter().enumerate().map(|(k, p)| (p - f64::from(u8::from(k == class))).powi(2)).sum();
            brier += if classes == 2 { 0.5 * squares } else { squares };
            // The last of equal maxima would win otherwise.
            let greatest = (0..classes).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or(0);
            let said = if classes == 2 { 1 } else { greatest };
            let bin = &mut sums[((row[said] * BINS as f64) as usize).min(BINS - 1)];
            *bin = (bin.0 + 1, bin.1 + row[said], bin.2 + usize::from(said == class));
        }
        let n = samples as f64;
        let bin = |(at, &(count, sum, true_ones)): (usize, &(usize, f64, usize))| Bin {
            from: at as f64 / BINS as f64,
            to: (at + 1) as f64 / BINS as f64,
            count,
            mean_probability: (count > 0).then(|| sum / count as f64),
            fraction: (count > 0).then(|| true_ones as f64 / count as f64),
        };
        let off: f64 = sums.iter().map(|(_, sum, true_ones)| (sum - *true_ones as f64).abs()).sum();
        (samples > 0).then(|| Self {
            samples,
            log_loss: log_loss / n,
            brier: brier / n,
            expected_calibration_error: off / n,
            bins: sums.iter().enumerate().map(bin).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_by_hand() {
        // Second class at 0.25 (wrong), 0.75 (right) and 0.75 (wrong).
        let p = [0.75, 0.25, 0.25, 0.75, 0.25, 0.75];
        let two = Reliability::of(&p, 2, &[0, 1, 0]).unwrap();
        assert_eq!(two.samples, 3);
        assert!((two.log_loss - (-2.0 * 0.75_f64.ln() - 0.25_f64.ln()) / 3.0).abs() < 1e-15);
        assert!((two.brier - (0.0625 + 0.0625 + 0.5625) / 3.0).abs() < 1e-15);
        // A third in the bin from 0.2, 0.25 off; two thirds in that from 0.7, 0.25 off.
        assert!((two.expected_calibration_error - 0.25).abs() < 1e-15);
        assert_eq!((two.bins[2].count, two.bins[7].count, two.bins[7].fraction), (1, 2, Some(0.5)));
        assert_eq!((two.bins[0].mean_probability, two.bins[9].to), (None, 1.0));
        // Three classes: said 0.5 (right) and 0.8 (wrong); the last row is not counted.
        let p = [0.5, 0.3, 0.2, 0.1, 0.8, 0.1, f64::NAN, 0.5, 0.5];
        let three = Reliability::of(&p, 3, &[0, 2, 0]).unwrap();
        assert!((three.brier - (0.25 + 0.09 + 0.04 + 0.01 + 0.64 + 0.81) / 2.0).abs() < 1e-15);
        assert_eq!((three.samples, three.bins[5].fraction, three.bins[8].fraction), (2, Some(1.0), Some(0.0)));
        assert_eq!(Reliability::of(&[1.0, 0.0], 2, &[0]).unwrap().bins[0].count, 1);
        assert_eq!(Reliability::of(&[0.0, 1.0], 2, &[1]).unwrap().bins[9].fraction, Some(1.0));
        assert!(Reliability::of(&[f64::NAN; 2], 2, &[0]).is_none());
    }
}
