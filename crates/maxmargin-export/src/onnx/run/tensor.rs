//! Tensors of the interpreter, with broadcasting.

use crate::onnx::graph::{Elements, Tensor};

impl Tensor {
    /// The number of elements.
    fn size(dims: &[usize]) -> usize {
        dims.iter().product()
    }

    pub(super) fn new(dims: Vec<usize>, elements: Elements) -> Self {
        Self { dims, elements }
    }

    /// The elements as numbers.
    pub(super) fn doubles(&self) -> Option<&[f64]> {
        if let Elements::Double(values) = &self.elements { Some(values) } else { None }
    }

    /// The elements as whole numbers.
    pub(super) fn integers(&self) -> Option<&[i64]> {
        if let Elements::Int64(values) = &self.elements { Some(values) } else { None }
    }

    /// The elements as truth values.
    pub(super) fn truths(&self) -> Option<&[bool]> {
        if let Elements::Bool(values) = &self.elements { Some(values) } else { None }
    }

    /// The same kind of elements at these places.
    pub(super) fn pick(&self, dims: Vec<usize>, places: &[usize]) -> Self {
        fn of<T: Clone>(values: &[T], places: &[usize]) -> Vec<T> {
            places.iter().map(|&at| values[at].clone()).collect()
        }
        let elements = match &self.elements {
            Elements::Double(values) => Elements::Double(of(values, places)),
            Elements::Int64(values) => Elements::Int64(of(values, places)),
            Elements::Bool(values) => Elements::Bool(of(values, places)),
            Elements::Text(values) => Elements::Text(of(values, places)),
        };
        Self { dims, elements }
    }

    /// The tensor with its elements repeated to these dimensions.
    pub(super) fn broadcast(&self, dims: &[usize]) -> Option<Self> {
        if self.dims == dims {
            return Some(self.clone());
        }
        let lead = dims.len().checked_sub(self.dims.len())?;
        let own = strides(&self.dims);
        let mut steps = vec![0; dims.len()];
        for (axis, (&length, &stride)) in self.dims.iter().zip(&own).enumerate() {
            match length {
                1 => {}
                _ if length == dims[lead + axis] => steps[lead + axis] = stride,
                _ => return None,
            }
        }
        Some(self.pick(dims.to_vec(), &walk(dims, &steps)))
    }
}

/// The dimensions that both have after broadcasting.
pub(super) fn common(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let length = a.len().max(b.len());
    let at = |of: &[usize], axis: usize| (axis + of.len()).checked_sub(length).map_or(1, |own| of[own]);
    (0..length)
        .map(|axis| match [at(a, axis), at(b, axis)] {
            [x, y] if x == y || y == 1 => Some(x),
            [1, y] => Some(y),
            _ => None,
        })
        .collect()
}

/// The distance of neighbours along each axis.
pub(super) fn strides(dims: &[usize]) -> Vec<usize> {
    (0..dims.len()).map(|axis| Tensor::size(&dims[axis + 1..])).collect()
}

/// The places of all elements in order, from the distance of neighbours along each axis.
pub(super) fn walk(dims: &[usize], steps: &[usize]) -> Vec<usize> {
    let mut places = vec![0];
    for (length, step) in dims.iter().zip(steps) {
        places = places.iter().flat_map(|&at| (0..*length).map(move |k| at + k * step)).collect();
    }
    places
}
