//! The operators of the interpreter.

use super::tensor::{common, strides, walk};
use crate::onnx::graph::{Attribute, Element, Elements, Node, Tensor};
use std::cmp::Ordering;

/// Returns the first result of an operator; `None` if it does not exist here or does not fit.
pub(super) fn apply(node: &Node, inputs: &[&Tensor]) -> Option<Tensor> {
    let first = *inputs.first()?;
    let second = inputs.get(1).copied();
    match node.operator {
        "Identity" => Some(first.clone()),
        "Neg" => unary(first, |x| -x),
        "Abs" => unary(first, f64::abs),
        "Exp" => unary(first, f64::exp),
        "Tanh" => unary(first, f64::tanh),
        "IsNaN" => {
            let truths = first.doubles()?.iter().map(|x| x.is_nan()).collect();
            Some(Tensor::new(first.dims.clone(), Elements::Bool(truths)))
        }
        "Add" | "Sub" | "Mul" | "Div" | "Max" | "Min" => arithmetic(node.operator, first, second?),
        "Equal" | "Greater" | "GreaterOrEqual" | "LessOrEqual" => comparison(node.operator, first, second?),
        "And" | "Or" => logic(node.operator, first, second?),
        "Where" => select(first, second?, inputs.get(2)?),
        "MatMul" => product(first, second?),
        "ReduceSum" => sum(first, *second?.integers()?.first()? as usize, integer(node, "keepdims")? == 1),
        "ArgMax" => arg_max(first),
        "Gather" => gather(first, second?, integer(node, "axis")? as usize),
        "GatherElements" => elements_at(first, second?),
        "Concat" => concat(inputs),
        "Cast" => cast(first, integer(node, "to")?),
        "Reshape" => Some(reshape(first, second?.integers()?)),
        "Unsqueeze" => {
            let mut dims = first.dims.clone();
            dims.insert(*second?.integers()?.first()? as usize, 1);
            Some(Tensor::new(dims, first.elements.clone()))
        }
        "Transpose" => transpose(node, first),
        "TopK" => ranked(first, *second?.integers()?.first()? as usize, integer(node, "largest")? == 1),
        "LabelEncoder" => encode(node, first),
        _ => None,
    }
}

fn attribute<'n>(node: &'n Node, name: &str) -> Option<&'n Attribute> {
    node.attributes.iter().find(|(own, _)| *own == name).map(|(_, value)| value)
}

fn integer(node: &Node, name: &str) -> Option<i64> {
    if let Attribute::Int(value) = attribute(node, name)? { Some(*value) } else { None }
}

fn unary(of: &Tensor, function: fn(f64) -> f64) -> Option<Tensor> {
    let values = of.doubles()?.iter().map(|x| function(*x)).collect();
    Some(Tensor::new(of.dims.clone(), Elements::Double(values)))
}

/// Both operands, repeated to the same dimensions.
fn same(a: &Tensor, b: &Tensor) -> Option<[Tensor; 2]> {
    let dims = common(&a.dims, &b.dims)?;
    Some([a.broadcast(&dims)?, b.broadcast(&dims)?])
}

fn zip<T: Copy, U>(a: &[T], b: &[T], of: impl Fn(T, T) -> U) -> Vec<U> {
    a.iter().zip(b).map(|(a, b)| of(*a, *b)).collect()
}

fn arithmetic(operator: &str, a: &Tensor, b: &Tensor) -> Option<Tensor> {
    let [a, b] = same(a, b)?;
    let elements = match [&a.elements, &b.elements] {
        [Elements::Double(x), Elements::Double(y)] => Elements::Double(match operator {
            "Add" => zip(x, y, |x, y| x + y),
            "Sub" => zip(x, y, |x, y| x - y),
            "Mul" => zip(x, y, |x, y| x * y),
            "Div" => zip(x, y, |x, y| x / y),
            "Max" => zip(x, y, f64::max),
            _ => zip(x, y, f64::min),
        }),
        [Elements::Int64(x), Elements::Int64(y)] => Elements::Int64(match operator {
            "Add" => zip(x, y, |x, y| x + y),
            "Sub" => zip(x, y, |x, y| x - y),
            "Max" => zip(x, y, i64::max),
            "Min" => zip(x, y, i64::min),
            _ => return None,
        }),
        _ => return None,
    };
    Some(Tensor::new(a.dims.clone(), elements))
}

fn comparison(operator: &str, a: &Tensor, b: &Tensor) -> Option<Tensor> {
    let [a, b] = same(a, b)?;
    let holds = |order: Option<Ordering>| match operator {
        "Equal" => order == Some(Ordering::Equal),
        "Greater" => order == Some(Ordering::Greater),
        "GreaterOrEqual" => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        _ => matches!(order, Some(Ordering::Less | Ordering::Equal)),
    };
    let truths = match [&a.elements, &b.elements] {
        [Elements::Double(x), Elements::Double(y)] => zip(x, y, |x, y| holds(x.partial_cmp(&y))),
        [Elements::Int64(x), Elements::Int64(y)] => zip(x, y, |x, y| holds(Some(x.cmp(&y)))),
        _ => return None,
    };
    Some(Tensor::new(a.dims.clone(), Elements::Bool(truths)))
}

fn logic(operator: &str, a: &Tensor, b: &Tensor) -> Option<Tensor> {
    let [a, b] = same(a, b)?;
    let truths = zip(a.truths()?, b.truths()?, |x, y| if operator == "And" { x && y } else { x || y });
    Some(Tensor::new(a.dims.clone(), Elements::Bool(truths)))
}

fn select(condition: &Tensor, a: &Tensor, b: &Tensor) -> Option<Tensor> {
    let dims = common(&condition.dims, &common(&a.dims, &b.dims)?)?;
    let [condition, a, b] = [condition.broadcast(&dims)?, a.broadcast(&dims)?, b.broadcast(&dims)?];
    let choose = |at: usize| condition.truths().map(|truths| truths[at]);
    let elements = match [&a.elements, &b.elements] {
        [Elements::Double(x), Elements::Double(y)] => {
            let of = |at: usize| Some(if choose(at)? { x[at] } else { y[at] });
            Elements::Double((0..x.len()).map(of).collect::<Option<_>>()?)
        }
        [Elements::Int64(x), Elements::Int64(y)] => {
            let of = |at: usize| Some(if choose(at)? { x[at] } else { y[at] });
            Elements::Int64((0..x.len()).map(of).collect::<Option<_>>()?)
        }
        _ => return None,
    };
    Some(Tensor::new(dims, elements))
}

fn product(a: &Tensor, b: &Tensor) -> Option<Tensor> {
    let ([rows, inner], [other, columns]) = (a.dims[..].try_into().ok()?, b.dims[..].try_into().ok()?);
    let (x, y) = (a.doubles()?, b.doubles()?);
    if inner != other {
        return None;
    }
    let mut values = vec![0.0; rows * columns];
    for i in 0..rows {
        let to = &mut values[i * columns..][..columns];
        for k in 0..inner {
            let factor = x[i * inner + k];
            to.iter_mut().zip(&y[k * columns..][..columns]).for_each(|(to, y)| *to += factor * y);
        }
    }
    Some(Tensor::new(vec![rows, columns], Elements::Double(values)))
}

fn sum(of: &Tensor, axis: usize, keep: bool) -> Option<Tensor> {
    fn sums<T: Copy + std::ops::AddAssign + Default>(values: &[T], length: usize, step: usize) -> Vec<T> {
        let mut sums = vec![T::default(); values.len() / length.max(1)];
        for (at, value) in values.iter().enumerate() {
            sums[at / (length * step) * step + at % step] += *value;
        }
        sums
    }
    let (length, step) = (*of.dims.get(axis)?, strides(&of.dims)[axis]);
    let mut dims = of.dims.clone();
    if keep {
        dims[axis] = 1;
    } else {
        dims.remove(axis);
    }
    let elements = match &of.elements {
        Elements::Double(values) => Elements::Double(sums(values, length, step)),
        Elements::Int64(values) => Elements::Int64(sums(values, length, step)),
        _ => return None,
    };
    Some(Tensor::new(dims, elements))
}

/// The places of the greatest values of rows, the first of equal ones.
fn arg_max(of: &Tensor) -> Option<Tensor> {
    let [rows, columns]: [usize; 2] = of.dims[..].try_into().ok()?;
    let values = of.doubles()?;
    let place = |row: &[f64]| (1..row.len()).fold(0, |best, at| if row[at] > row[best] { at } else { best });
    let places = values.chunks_exact(columns).map(|row| place(row) as i64).collect();
    Some(Tensor::new(vec![rows, 1], Elements::Int64(places)))
}

fn gather(of: &Tensor, places: &Tensor, axis: usize) -> Option<Tensor> {
    let own = strides(&of.dims);
    let chosen = places.integers()?;
    let (before, after) = (of.dims.get(..axis)?, of.dims.get(axis + 1..)?);
    let (outer, inner) = (walk(before, &own[..axis]), walk(after, &own[axis + 1..]));
    let mut all = Vec::with_capacity(outer.len() * chosen.len() * inner.len());
    for begin in outer {
        for &place in chosen {
            all.extend(inner.iter().map(|at| begin + place as usize * own[axis] + at));
        }
    }
    let dims = [before, &places.dims, after].concat();
    Some(of.pick(dims, &all))
}

/// One element of each row.
fn elements_at(of: &Tensor, places: &Tensor) -> Option<Tensor> {
    let columns = *of.dims.get(1)?;
    let chosen: Vec<usize> = places.integers()?.iter().enumerate().map(|(row, at)| row * columns + *at as usize).collect();
    Some(of.pick(places.dims.clone(), &chosen))
}

/// Matrices side by side.
fn concat(parts: &[&Tensor]) -> Option<Tensor> {
    let rows = *parts.first()?.dims.first()?;
    let columns: usize = parts.iter().map(|part| part.dims[1]).sum();
    let mut values = Vec::with_capacity(rows * columns);
    for row in 0..rows {
        for part in parts {
            let width = part.dims[1];
            values.extend_from_slice(&part.doubles()?[row * width..][..width]);
        }
    }
    Some(Tensor::new(vec![rows, columns], Elements::Double(values)))
}

fn cast(of: &Tensor, to: i64) -> Option<Tensor> {
    let elements = match &of.elements {
        Elements::Bool(values) if to == Element::Int64.number() => {
            Elements::Int64(values.iter().map(|value| i64::from(*value)).collect())
        }
        Elements::Bool(values) if to == Element::Double.number() => {
            Elements::Double(values.iter().map(|value| f64::from(u8::from(*value))).collect())
        }
        _ => return None,
    };
    Some(Tensor::new(of.dims.clone(), elements))
}

fn reshape(of: &Tensor, shape: &[i64]) -> Tensor {
    let known: usize = shape.iter().filter(|length| **length >= 0).map(|length| *length as usize).product();
    let size: usize = of.dims.iter().product();
    let dims = shape.iter().map(|length| usize::try_from(*length).unwrap_or(size / known.max(1))).collect();
    Tensor::new(dims, of.elements.clone())
}

fn transpose(node: &Node, of: &Tensor) -> Option<Tensor> {
    let Attribute::Ints(order) = attribute(node, "perm")? else { return None };
    let own = strides(&of.dims);
    let dims: Vec<usize> = order.iter().map(|&axis| of.dims[axis as usize]).collect();
    let steps: Vec<usize> = order.iter().map(|&axis| own[axis as usize]).collect();
    Some(of.pick(dims.clone(), &walk(&dims, &steps)))
}

/// The `count` smallest or greatest values of each row, in order.
fn ranked(of: &Tensor, count: usize, greatest: bool) -> Option<Tensor> {
    let [rows, columns]: [usize; 2] = of.dims[..].try_into().ok()?;
    let mut all = Vec::with_capacity(rows * count);
    for row in of.doubles()?.chunks_exact(columns) {
        let mut sorted = row.to_vec();
        sorted.sort_by(|a, b| if greatest { b.total_cmp(a) } else { a.total_cmp(b) });
        all.extend_from_slice(sorted.get(..count)?);
    }
    Some(Tensor::new(vec![rows, count], Elements::Double(all)))
}

fn encode(node: &Node, of: &Tensor) -> Option<Tensor> {
    let (Attribute::Texts(keys), Attribute::Ints(values)) = (attribute(node, "keys_strings")?, attribute(node, "values_int64s")?)
    else {
        return None;
    };
    let other = integer(node, "default_int64")?;
    let Elements::Text(texts) = &of.elements else { return None };
    let code = |text: &String| keys.iter().position(|key| key == text).map_or(other, |at| values[at]);
    Some(Tensor::new(of.dims.clone(), Elements::Int64(texts.iter().map(code).collect())))
}
