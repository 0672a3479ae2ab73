//! Training samples and test samples of a cell.

use super::input;
use crate::cell::job::{Data, Train};
use crate::failure::Failure;
use maxmargin::data::scale::{ScaleMethod, Scaler};
use maxmargin::data::{Dataset, Par};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The range of scaled features in the training samples.
const RANGE: ScaleMethod = ScaleMethod::MinMax { lower: -1.0, upper: 1.0 };

/// The seed of held-out rows, the same in every run.
const HELD_OUT: u64 = 1;

/// Returns the training samples, from `data`, and the test samples of a cell.
///
/// Test samples come from the cell's file, or are a random part of the data where the cell holds
/// one out. For a validation they are a random part of the training samples, drawn with the cell's
/// seed. Ranges for scaling are those of all training samples.
pub(crate) fn load(cell: &Train, data: &Data, par: Par) -> Result<(Dataset, Option<Dataset>), Failure> {
    let split = &cell.split;
    let mut train = input::load(data, par)?;
    let mut test = None;
    if let Some(share) = split.hold_out {
        let (rest, held) = cut(&train, share, HELD_OUT)?;
        (train, test) = (rest, Some(held));
    } else if let Some(data) = split.test.as_ref().filter(|_| split.validation.is_none()) {
        test = Some(input::load(data, par)?);
    }
    if split.scale {
        let scaler = Scaler::fit(&train.samples, RANGE);
        for data in [Some(&mut train), test.as_mut()].into_iter().flatten() {
            data.samples = scaler.apply(&data.samples)?;
        }
    }
    match split.validation {
        Some(share) => cut(&train, share, cell.setting.seed).map(|(rest, held)| (rest, Some(held))),
        None => Ok((train, test)),
    }
}

/// Returns the remaining rows and a random `share` of the rows, both in their order.
fn cut(data: &Dataset, share: f64, seed: u64) -> Result<(Dataset, Dataset), Failure> {
    if !(share > 0.0 && share < 1.0) {
        return Err(Failure::Share(share));
    }
    let n = data.labels.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let (held, rest) = order.split_at_mut((share * n as f64).round() as usize);
    rest.sort_unstable();
    held.sort_unstable();
    Ok((data.select(rest), data.select(held)))
}

#[cfg(test)]
mod tests {
    use super::cut;
    use maxmargin::data::generate::Generator;

    #[test]
    fn parts_are_disjoint_and_depend_on_the_seed() {
        let mut data = Generator::ALL[0].generate(50, None, 1).expect("data");
        data.labels = (0..50).map(f64::from).collect();
        let (rest, held) = cut(&data, 0.3, 4).expect("parts");
        assert_eq!((rest.labels.len(), held.labels.len(), rest.samples.len(), held.samples.len()), (35, 15, 35, 15));
        assert!(rest.labels.is_sorted() && held.labels.is_sorted());
        let mut all = [rest.labels, held.labels.clone()].concat();
        all.sort_by(f64::total_cmp);
        assert_eq!(all, data.labels);
        assert_ne!(cut(&data, 0.3, 5).expect("parts").1.labels, held.labels);
        assert!(cut(&data, 1.0, 1).is_err());
    }
}
