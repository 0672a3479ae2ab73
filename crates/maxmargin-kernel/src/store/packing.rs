//! Panels of dense samples, made by several threads.

use crate::store::panel::{Packer, Panel};
use crate::store::parts::for_parts;
use maxmargin_data::{Cancelled, Par, Row, RunControl, Samples};
use std::ops::Range;

/// Operations counted for moving a value to a panel.
const MOVE: u64 = 16;

/// The samples as panels, minus `centre` unless it is empty.
pub(crate) struct Packing<'a> {
    pub(crate) samples: &'a Samples,
    pub(crate) centre: &'a [f64],
    /// Panels of `f64` are made.
    pub(crate) double: bool,
    /// Panels of `f32` are made.
    pub(crate) single: bool,
}

/// Panels of `f64` and of `f32`, each if they are made.
pub(crate) type Panels = (Option<Panel<f64>>, Option<Panel<f32>>);

impl Packing<'_> {
    /// All panels.
    pub(crate) fn pack(&self, par: Par, control: &RunControl) -> Result<Panels, Cancelled> {
        let (len, features) = (self.samples.len(), self.samples.features());
        let (mut double, mut single) = (self.double.then(|| Panel::new(features)), self.single.then(|| Panel::new(features)));
        let each = |(of_double, of_single): Panels| {
            double.as_mut().zip(of_double.as_ref()).into_iter().for_each(|(all, part)| all.append(part, len));
            single.as_mut().zip(of_single.as_ref()).into_iter().for_each(|(all, part)| all.append(part, len));
        };
        for_parts(len, MOVE * features as u64, par, control, |rows| self.of_rows(rows), each)?;
        Ok((double, single))
    }

    /// The panels of some samples.
    fn of_rows(&self, rows: Range<usize>) -> Panels {
        let features = self.samples.features();
        let (mut double, mut single) = (self.double.then(|| Packer::new(features)), self.single.then(|| Packer::new(features)));
        let mut centred = Vec::new();
        for i in rows {
            let mut row = self.samples.row(i);
            if !self.centre.is_empty() {
                centred.clear();
                centred.extend(self.centre.iter().map(|c| -c));
                row.for_each(|k, v| centred[k] = v - self.centre[k]);
                row = Row::Dense64(&centred);
            }
            if let Some(packer) = &mut double {
                packer.push(|slot| row.for_each(|k, v| slot.put(k, v)));
            }
            if let Some(packer) = &mut single {
                packer.push(|slot| row.for_each(|k, v| slot.put(k, v as f32)));
            }
        }
        (double.map(Packer::finish), single.map(Packer::finish))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::parts::PART;
    use maxmargin_data::generate::Generator;

    /// Several threads make the panels of one packer, with and without a centre.
    #[test]
    fn threads_make_the_panels_of_one_packer() {
        let data = Generator::Blobs.generate(3 * PART + 77, Some(6), 3).expect("data");
        let (samples, control) = (&data.samples, RunControl::unlimited());
        let centre = vec![0.5; samples.features()];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
        for centre in [&[], &centre[..]] {
            let packing = Packing { samples, centre, double: true, single: true };
            let (double, single) = pool.install(|| packing.pack(Par::Pool, &control)).expect("not cancelled");
            let (double, single) = (double.expect("asked for"), single.expect("asked for"));
            let (whole, whole32) = packing.of_rows(0..samples.len());
            let (whole, whole32) = (whole.expect("asked for"), whole32.expect("asked for"));
            assert_eq!((double.width(), double.bytes(), single.bytes()), (whole.width(), whole.bytes(), whole32.bytes()));
            for i in 0..samples.len() {
                assert!(double.sample(i).eq(whole.sample(i)) && single.sample(i).eq(whole32.sample(i)), "sample {i}");
            }
        }
    }
}
