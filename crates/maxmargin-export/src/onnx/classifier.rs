//! Machines of all pairs of classes as one `SVMClassifier`, which computes each kernel value once.
//!
//! Its layout is LIBSVM's: vectors by class, and for each of them one coefficient for each other
//! class. Its scores select the earlier class of a pair above 0, so that all signs are turned.

use super::attributes::{kernel_attributes, single};
use super::graph::{Attribute, Graph, Value};
use crate::program::{Expansion, Functions, Outcome, Terms};
use maxmargin_data::classes::pairs;

/// Adds the decision values of three classes or more; `None` if the machines are not those of
/// pairs, or a vector has coefficients of two classes.
pub(super) fn decisions(graph: &mut Graph, features: &Value, functions: &Functions, outcome: &Outcome) -> Option<Value> {
    let Outcome::Classes(classes) = outcome else { return None };
    let Expansion::Kernel { kernel, vectors, machines } = &functions.expansion else { return None };
    let count = classes.labels.len();
    if count < 3 || !classes.are_pairs() {
        return None;
    }
    let classes_of = class_of_vectors(count, vectors.len(), machines)?;
    // Vectors by class; those without coefficients are left out.
    let mut order: Vec<usize> = (0..vectors.len()).filter(|&k| classes_of[k].is_some()).collect();
    order.sort_by_key(|&k| classes_of[k]);
    let sizes = (0..count).map(|class| classes_of.iter().filter(|of| **of == Some(class)).count() as i64).collect();
    let mut place = vec![0; vectors.len()];
    order.iter().enumerate().for_each(|(at, &k)| place[k] = at);
    let mut coefficients = vec![0.0; (count - 1) * order.len()];
    for ((a, b), terms) in pairs(count).zip(machines) {
        for (&k, coefficient) in terms.vectors.iter().zip(&terms.coefficients) {
            // The line of the other class, counted without the own one.
            let line = if classes_of[k as usize] == Some(a) { b - 1 } else { a };
            coefficients[line * order.len() + place[k as usize]] = -coefficient;
        }
    }
    let width = vectors.columns;
    let own: Vec<f64> = order.iter().flat_map(|&k| &vectors.values[k * width..][..width]).copied().collect();
    let turned: Vec<f64> = functions.bias.iter().map(|bias| -bias).collect();
    let mut attributes = kernel_attributes(kernel);
    attributes.extend([
        ("support_vectors", single(&own)),
        ("vectors_per_class", Attribute::Ints(sizes)),
        ("coefficients", single(&coefficients)),
        ("rho", single(&turned)),
        ("classlabels_ints", Attribute::Ints((0..count as i64).collect())),
    ]);
    let scores = graph.svm_classifier(features, attributes);
    Some(graph.apply("Neg", &[&scores]))
}

/// The class of each vector, by the sides of its coefficients; `None` inside for a vector without
/// any. `None` if a vector has coefficients of two classes.
fn class_of_vectors(count: usize, vectors: usize, machines: &[Terms]) -> Option<Vec<Option<usize>>> {
    let mut of = vec![None; vectors];
    for ((a, b), terms) in pairs(count).zip(machines) {
        for (&k, coefficient) in terms.vectors.iter().zip(&terms.coefficients).filter(|term| *term.1 != 0.0) {
            let side = if *coefficient > 0.0 { b } else { a };
            match of[k as usize] {
                Some(known) if known != side => return None,
                _ => of[k as usize] = Some(side),
            }
        }
    }
    Some(of)
}
