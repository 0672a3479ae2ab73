//! Formats 1 to 8 of the native model file, as they were: read, never written.
//!
//! Until format 3 a model of two classes and one of many were different types, and only the one of two could carry sections. Fields follow each
//! other in a file without any mark, so that what a later format put at the end of a record stands behind a record of the earlier one here.

use crate::calibration::Calibration;
use crate::error::ModelError;
use crate::machine::{Decide, Machine, Scheme};
use crate::parts::{Parts, Section};
use crate::record::{MachineRecord, Record};
use maxmargin_core::{Certificate, Formulation, Loss, Offset, Status};
use maxmargin_data::scale::Scaler;
use maxmargin_data::{EncoderBefore9, Samples, codec};
use maxmargin_kernel::Kernel;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The content of a file of format 1 to 8, not yet checked.
///
/// # Errors
///
/// When the bytes are not that.
pub(crate) fn decode(format: u32, payload: &[u8]) -> Result<Parts, ModelError> {
    match format {
        // Its first hours stored samples in another way. The bytes are what was written, the checksum says; so they are from then.
        1 => content::<Two<Record1>>(payload).map(Parts::from).map_err(|_| ModelError::Past { found: format }),
        2 => content::<Two<Record2>>(payload).map(Parts::from),
        3 => content::<Either>(payload).map(|either| match either {
            Either::Two(two) => Parts::from(*two),
            Either::Many(many) => Parts::from(*many),
        }),
        4 => content::<Parts4<Record4>>(payload).map(Parts::from),
        5 => content::<Parts4<Record>>(payload).map(Parts::from),
        6 => content::<Parts6>(payload).map(Parts::from),
        7 => content::<Parts7>(payload).map(Parts::from),
        _ => content::<Parts8>(payload).map(Parts::from),
    }
}

fn content<T: DeserializeOwned>(payload: &[u8]) -> Result<T, ModelError> {
    codec::decode(payload, payload.len()).map_err(|e| ModelError::Content(e.to_string()))
}

/// Format 3.
#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
enum Either {
    Two(Box<Two<Record3>>),
    Many(Box<Many>),
}

/// Two classes, in every format.
#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct Two<R> {
    kernel: Kernel,
    support: Samples,
    coef: Vec<f64>,
    bias: f64,
    negative: f64,
    positive: f64,
    index_base: u32,
    scaler: Option<Scaler>,
    record: Option<R>,
    sections: Vec<Section>,
}

/// How two classes were trained, in format 1.
#[derive(Deserialize)]
#[cfg_attr(test, derive(Clone, serde::Serialize))]
struct Record1 {
    c: f64,
    weights: [f64; 2],
    eps: f64,
    rows: u64,
    features: u64,
    data_sha256: [u8; 32],
    support_rows: Vec<u64>,
    bounded: u64,
    status: Status,
    iterations: u64,
    certificate: Certificate,
}

/// Format 2: linear models could keep their weights, and only these had another loss or bias.
#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct Record2 {
    first: Record1,
    folded: Option<Folded2>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct Folded2 {
    coef: Vec<f64>,
    loss: Loss,
    offset: Offset,
}

/// Format 3.
#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct Record3 {
    first: Record1,
    loss: Loss,
    offset: Offset,
    folded: Option<Vec<f64>>,
}

/// Several classes, in format 3.
#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct Many {
    kernel: Kernel,
    support: Samples,
    classes: Vec<f64>,
    machines: Vec<Machine3>,
    index_base: u32,
    scaler: Option<Scaler>,
    record: Option<ManyRecord>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct Machine3 {
    support: Vec<u32>,
    coef: Vec<f64>,
    bias: f64,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct ManyRecord {
    c: f64,
    weights: Vec<f64>,
    eps: f64,
    rows: u64,
    features: u64,
    data_sha256: [u8; 32],
    loss: Loss,
    offset: Offset,
    pairs: Vec<Pair>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct Pair {
    rows: Vec<u64>,
    folded: Option<Vec<f64>>,
    bounded: u64,
    status: Status,
    iterations: u64,
    certificate: Certificate,
}

/// Format 4, where there were classes alone, and format 5: they differ in the record. Machines were of pairs, and none had a calibration.
#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct Parts4<R> {
    kernel: Kernel,
    support: Samples,
    machines: Vec<Machine>,
    decide: Decide,
    classes: Vec<f64>,
    index_base: u32,
    scaler: Option<Scaler>,
    record: Option<R>,
    sections: Vec<Section>,
}

/// Format 6, where no model knew the columns of a table.
#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct Parts6 {
    kernel: Kernel,
    support: Samples,
    machines: Vec<Machine>,
    decide: Decide,
    classes: Vec<f64>,
    index_base: u32,
    scaler: Option<Scaler>,
    record: Option<Record>,
    sections: Vec<Section>,
    scheme: Scheme,
    calibration: Vec<Calibration>,
}

/// Format 7, where no model had a threshold.
#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct Parts7 {
    first: Parts6,
    encoder: Option<EncoderBefore9>,
}

/// Format 8, where no table had words of its own for missing values, and all models decided ties
/// alike.
#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct Parts8 {
    first: Parts7,
    threshold: Option<f64>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
struct Record4 {
    c: f64,
    loss: Loss,
    offset: Offset,
    weights: Vec<f64>,
    eps: f64,
    gap: Option<f64>,
    solver: String,
    rows: u64,
    features: u64,
    data_sha256: [u8; 32],
    machines: Vec<MachineRecord>,
}

impl<R: Into<Record>> From<Parts4<R>> for Parts {
    fn from(old: Parts4<R>) -> Self {
        let Parts4 { kernel, support, machines, decide, classes, index_base, scaler, record, sections } = old;
        let (record, scheme, calibration) = (record.map(R::into), Scheme::Pairs, Vec::new());
        Parts6 { kernel, support, machines, decide, classes, index_base, scaler, record, sections, scheme, calibration }.into()
    }
}

impl From<Parts6> for Parts {
    fn from(first: Parts6) -> Self {
        Parts7 { first, encoder: None }.into()
    }
}

impl From<Parts7> for Parts {
    fn from(first: Parts7) -> Self {
        Parts8 { first, threshold: None }.into()
    }
}

impl From<Parts8> for Parts {
    fn from(Parts8 { first, threshold }: Parts8) -> Self {
        let Parts7 { first, encoder } = first;
        let Parts6 { kernel, support, machines, decide, classes, index_base, scaler, record, sections, scheme, calibration } =
            first;
        let tie_order = Vec::new();
        Self {
            kernel,
            support,
            machines,
            decide,
            classes,
            index_base,
            scaler,
            record,
            sections,
            scheme,
            calibration,
            encoder: encoder.map(Into::into),
            threshold,
            tie_order,
        }
    }
}

impl From<Record4> for Record {
    fn from(old: Record4) -> Self {
        let Record4 { c, loss, offset, weights, eps, gap, solver, rows, features, data_sha256, machines } = old;
        let formulation = Formulation::Svc { c, loss, offset };
        Self { formulation, weights, sample_weights: None, eps, gap, solver, rows, features, data_sha256, machines }
    }
}

impl<R: Into<Record>> From<Two<R>> for Parts {
    fn from(old: Two<R>) -> Self {
        Self {
            kernel: old.kernel,
            // A list that is too long for the vectors stays so, and is refused.
            machines: vec![Machine { support: (0..old.coef.len() as u32).collect(), coef: old.coef, bias: old.bias }],
            support: old.support,
            decide: Decide::Vote,
            classes: vec![old.negative, old.positive],
            index_base: old.index_base,
            scaler: old.scaler,
            record: old.record.map(R::into),
            sections: old.sections,
            scheme: Scheme::Pairs,
            calibration: Vec::new(),
            encoder: None,
            threshold: None,
            tie_order: Vec::new(),
        }
    }
}

impl Record1 {
    fn with(self, loss: Loss, offset: Offset, folded: Option<Vec<f64>>) -> Record {
        let Self { c, weights, eps, rows, features, data_sha256, support_rows, bounded, status, iterations, certificate } = self;
        let machines = vec![MachineRecord { rows: support_rows, folded, bounded, status, iterations, certificate }];
        let (weights, gap, solver) = (weights.to_vec(), None, String::new());
        Record {
            formulation: Formulation::Svc { c, loss, offset },
            weights,
            sample_weights: None,
            eps,
            gap,
            solver,
            rows,
            features,
            data_sha256,
            machines,
        }
    }
}

impl From<Record1> for Record {
    fn from(old: Record1) -> Self {
        old.with(Loss::Hinge, Offset::Free, None)
    }
}

impl From<Record2> for Record {
    fn from(Record2 { first, folded }: Record2) -> Self {
        match folded {
            Some(Folded2 { coef, loss, offset }) => first.with(loss, offset, Some(coef)),
            None => first.into(),
        }
    }
}

impl From<Record3> for Record {
    fn from(old: Record3) -> Self {
        old.first.with(old.loss, old.offset, old.folded)
    }
}

impl From<Many> for Parts {
    fn from(old: Many) -> Self {
        let machine = |Machine3 { support, coef, bias }| Machine { support, coef, bias };
        Self {
            kernel: old.kernel,
            support: old.support,
            machines: old.machines.into_iter().map(machine).collect(),
            decide: Decide::Vote,
            classes: old.classes,
            index_base: old.index_base,
            scaler: old.scaler,
            record: old.record.map(Record::from),
            sections: Vec::new(),
            scheme: Scheme::Pairs,
            calibration: Vec::new(),
            encoder: None,
            threshold: None,
            tie_order: Vec::new(),
        }
    }
}

impl From<ManyRecord> for Record {
    fn from(old: ManyRecord) -> Self {
        let ManyRecord { c, weights, eps, rows, features, data_sha256, loss, offset, pairs } = old;
        let machine = |Pair { rows, folded, bounded, status, iterations, certificate }| MachineRecord {
            rows,
            folded,
            bounded,
            status,
            iterations,
            certificate,
        };
        let (machines, gap, solver) = (pairs.into_iter().map(machine).collect(), None, String::new());
        let formulation = Formulation::Svc { c, loss, offset };
        Self { formulation, weights, sample_weights: None, eps, gap, solver, rows, features, data_sha256, machines }
    }
}

#[cfg(test)]
mod tests;
