//! Pairwise coupling: `Q⁻¹ 1` by elimination, as the program does it (docs/math/probabilities.md).
//!
//! Pivots are taken from the greatest down, which differ from row to row. So each step selects its
//! class by a row of zeros and one 1: a product with it and a sum are exact.

use super::graph::{Attribute, Element, Graph, Value};
use maxmargin_data::classes::pairs;

/// The values of one step of the elimination, for every row.
struct Step {
    /// 1 for the class that the step eliminates, rows × classes.
    chosen: Value,
    /// The entries of its row of the matrix, 0 for classes that are eliminated, rows × classes.
    entries: Value,
    /// Its right side, rows × 1.
    right: Value,
    /// Its pivot, rows × 1.
    pivot: Value,
}

/// Adds the probabilities of `count` classes from those of pairs, rows × pairs.
pub(super) fn coupled(graph: &mut Graph, count: usize, of_later: &Value) -> Value {
    let mut matrix = matrix(graph, count, of_later);
    let diagonal = diagonal(graph, count, &matrix);
    let one = graph.scalar("one", 1.0);
    // Ones for every row and class, in the shape of the diagonal.
    let zeros = graph.apply("Sub", &[&diagonal, &diagonal]);
    let mut right = graph.apply("Add", &[&zeros, &one]);
    let mut left = right.clone();
    let mut steps = Vec::with_capacity(count);
    for step in 0..count {
        let (next, entries_below) = eliminate(graph, count, &matrix, &diagonal, &right, &left);
        if step + 1 < count {
            // factor = −q_ik / pivot for the classes that are left.
            left = graph.apply("Sub", &[&left, &next.chosen]);
            let minus = graph.apply("Neg", &[&entries_below]);
            let factor = graph.apply("Div", &[&minus, &next.pivot]);
            let factor = graph.apply("Mul", &[&factor, &left]);
            let added = graph.apply("Mul", &[&factor, &next.right]);
            right = graph.apply("Add", &[&right, &added]);
            let (column, row) = (graph.unsqueeze(&factor, 2), graph.unsqueeze(&next.entries, 1));
            let added = graph.apply("Mul", &[&column, &row]);
            matrix = graph.apply("Add", &[&matrix, &added]);
        }
        steps.push(next);
    }
    let solution = substitute(graph, &steps);
    let sum = graph.reduce_sum(&solution, 1, true);
    graph.apply("Div", &[&solution, &sum])
}

/// Adds the matrix `Q`, rows × classes × classes.
fn matrix(graph: &mut Graph, count: usize, of_later: &Value) -> Value {
    let machines = count * (count - 1) / 2;
    let one = graph.scalar("one", 1.0);
    let of_earlier = graph.apply("Sub", &[&one, of_later]);
    let own = graph.take(of_later, 1, vec![0]);
    let zeros = graph.apply("Sub", &[&own, &own]);
    let all = graph.concat(&[of_later, &of_earlier, &zeros]);
    // Entry (i, j) is the probability of j where it is i or j, and 0 on the diagonal.
    let mut places = vec![2 * machines as i64; count * count];
    for (p, (i, j)) in pairs(count).enumerate() {
        places[i * count + j] = p as i64;
        places[j * count + i] = (machines + p) as i64;
    }
    let flat = graph.take(&all, 1, places);
    let shape = graph.integers("shape", &[3], vec![-1, count as i64, count as i64]);
    let other = graph.apply("Reshape", &[&flat, &shape]);
    let turned = graph.apply_with("Transpose", &[&other], vec![("perm", Attribute::Ints(vec![0, 2, 1]))]);
    let products = graph.apply("Mul", &[&other, &turned]);
    let beside = graph.apply("Neg", &[&products]);
    let squares = graph.apply("Mul", &[&other, &other]);
    let diagonal = graph.reduce_sum(&squares, 2, true);
    let unit = unit(graph, count);
    let diagonal = graph.apply("Mul", &[&diagonal, &unit]);
    graph.apply("Add", &[&beside, &diagonal])
}

/// Adds the unit matrix.
fn unit(graph: &mut Graph, count: usize) -> Value {
    let values = (0..count * count).map(|at| f64::from(u8::from(at % (count + 1) == 0))).collect();
    graph.doubles("unit", &[1, count, count], values)
}

/// Adds the diagonal of matrices, rows × classes.
fn diagonal(graph: &mut Graph, count: usize, matrix: &Value) -> Value {
    let unit = unit(graph, count);
    let only = graph.apply("Mul", &[matrix, &unit]);
    graph.reduce_sum(&only, 2, false)
}

/// Adds the choice of the next class; also returns its column of the matrix.
fn eliminate(
    graph: &mut Graph,
    count: usize,
    matrix: &Value,
    first_diagonal: &Value,
    right: &Value,
    left: &Value,
) -> (Step, Value) {
    let diagonal = diagonal(graph, count, matrix);
    // Eliminated classes have −1, which pivots of this matrix are above even when rounded.
    let zero = graph.scalar("zero", 0.0);
    let is_left = graph.apply("Greater", &[left, &zero]);
    let minus_one = graph.scalar("minus_one", -1.0);
    let candidates = graph.apply("Where", &[&is_left, &diagonal, &minus_one]);
    let place = graph.arg_max(&candidates);
    let classes = graph.integers("classes", &[1, count], (0..count as i64).collect());
    let is_chosen = graph.apply("Equal", &[&place, &classes]);
    let chosen = graph.cast(&is_chosen, Element::Double);
    let of_chosen = |graph: &mut Graph, values: &Value| {
        let only = graph.apply("Mul", &[values, &chosen]);
        graph.reduce_sum(&only, 1, true)
    };
    let pivot = of_chosen(graph, &diagonal);
    let least = of_chosen(graph, first_diagonal);
    let epsilon = graph.scalar("epsilon", f64::EPSILON);
    let least = graph.apply("Mul", &[&least, &epsilon]);
    let pivot = graph.apply("Max", &[&pivot, &least]);
    let right = of_chosen(graph, right);
    let as_column = graph.unsqueeze(&chosen, 2);
    let as_row = graph.unsqueeze(&chosen, 1);
    let only = graph.apply("Mul", &[matrix, &as_column]);
    let entries = graph.reduce_sum(&only, 1, false);
    let later = graph.apply("Sub", &[left, &chosen]);
    let entries = graph.apply("Mul", &[&entries, &later]);
    let only = graph.apply("Mul", &[matrix, &as_row]);
    let below = graph.reduce_sum(&only, 2, false);
    (Step { chosen, entries, right, pivot }, below)
}

/// Adds the solution, from the last step to the first.
fn substitute(graph: &mut Graph, steps: &[Step]) -> Value {
    let mut solution: Option<Value> = None;
    for step in steps.iter().rev() {
        let right = match &solution {
            None => step.right.clone(),
            Some(known) => {
                let products = graph.apply("Mul", &[&step.entries, known]);
                let sum = graph.reduce_sum(&products, 1, true);
                graph.apply("Sub", &[&step.right, &sum])
            }
        };
        let value = graph.apply("Div", &[&right, &step.pivot]);
        let own = graph.apply("Mul", &[&step.chosen, &value]);
        solution = Some(solution.map_or_else(|| own.clone(), |known| graph.apply("Add", &[&known, &own])));
    }
    solution.expect("there are classes")
}
