//! The BFGS method with backtracking, inside a box.

/// The share of the decrease predicted by the slope that a step must reach (Armijo's condition).
const ARMIJO: f64 = 1e-4;

/// The limits of a descent and of its steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DescentLimits {
    /// The greatest number of evaluations, with that of the start.
    pub most: usize,
    /// The largest entry of a gradient that counts as flat.
    pub flat: f64,
    /// The least largest entry of a step.
    pub shortest: f64,
    /// The largest entry of the first step.
    pub first: f64,
    /// The greatest largest entry of a step.
    pub longest: f64,
    /// The greatest distance of a coordinate from the start.
    pub reach: f64,
}

/// The reason for the end of a descent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescentEnd {
    /// The gradient is flat, or points out of the box.
    Flat,
    /// No step of at least the least length decreases the value.
    Short,
    /// The limit of evaluations is reached.
    Evaluations,
}

/// A point of a descent with its value and gradient.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Evaluation {
    /// The coordinates.
    pub at: Vec<f64>,
    /// The value at this point.
    pub value: f64,
    /// The gradient at this point.
    pub gradient: Vec<f64>,
}

/// Descends from `start` by the BFGS method (Nocedal and Wright 2006, algorithm 6.1). It uses
/// backtracking instead of Wolfe's conditions and skips updates of negative curvature. Returns all
/// evaluations in order, and the reason for the end.
///
/// # Errors
///
/// When `evaluate` fails; the evaluations before the error are returned as well.
///
/// # Panics
///
/// When `evaluate` returns a gradient of another length.
pub(super) fn descend<E>(
    start: &[f64],
    how: DescentLimits,
    mut evaluate: impl FnMut(&[f64]) -> Result<(f64, Vec<f64>), E>,
) -> (Vec<Evaluation>, Result<DescentEnd, E>) {
    let mut known: Vec<Evaluation> = Vec::new();
    let ended = run(start, how, |at| {
        let (value, gradient) = evaluate(at)?;
        assert_eq!(gradient.len(), at.len(), "a derivative for each coordinate");
        known.push(Evaluation { at: at.to_vec(), value, gradient });
        Ok(known[known.len() - 1].clone())
    });
    (known, ended)
}

/// Returns the lowest of some points, the first of equals.
pub(super) fn lowest(visited: &[Evaluation]) -> Option<&Evaluation> {
    visited.iter().reduce(|low, next| if next.value < low.value { next } else { low })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn largest(of: impl Iterator<Item = f64>) -> f64 {
    of.fold(0.0, |most: f64, value| most.max(value.abs()))
}

fn run<E>(start: &[f64], how: DescentLimits, mut evaluate: impl FnMut(&[f64]) -> Result<Evaluation, E>) -> Result<DescentEnd, E> {
    let n = start.len();
    let mut here = evaluate(start)?;
    let mut left = how.most.saturating_sub(1);
    let mut inverse: Option<Vec<f64>> = None;
    loop {
        // Coordinates at the border whose slope points out of the box are blocked.
        let blocked = |k: usize, slope: f64| {
            (here.at[k] - start[k]).abs() >= (1.0 - 1e-12) * how.reach && slope * (here.at[k] - start[k]) < 0.0
        };
        let slope: Vec<f64> =
            here.gradient.iter().enumerate().map(|(k, slope)| if blocked(k, *slope) { 0.0 } else { *slope }).collect();
        let steepest = largest(slope.iter().copied());
        if steepest.is_nan() || steepest <= how.flat {
            return Ok(DescentEnd::Flat);
        }
        let newton = |inverse: &Vec<f64>| (0..n).map(|k| -dot(&inverse[k * n..(k + 1) * n], &slope)).collect::<Vec<f64>>();
        let mut step = inverse.as_ref().map(newton).filter(|step| dot(step, &slope) < 0.0).unwrap_or_else(|| {
            inverse = None;
            slope.iter().map(|slope| -slope * how.first / steepest).collect()
        });
        // Blocked coordinates do not move. The others still descend, because a principal submatrix
        // of a positive definite matrix is positive definite.
        step.iter_mut().enumerate().filter(|(k, _)| blocked(*k, here.gradient[*k])).for_each(|(_, step)| *step = 0.0);
        let length = largest(step.iter().copied());
        if length > how.longest {
            step.iter_mut().for_each(|step| *step *= how.longest / length);
        }
        let mut share = 1.0;
        let next = loop {
            let at: Vec<f64> =
                (0..n).map(|k| (here.at[k] + share * step[k]).clamp(start[k] - how.reach, start[k] + how.reach)).collect();
            let moved: Vec<f64> = at.iter().zip(&here.at).map(|(at, here)| at - here).collect();
            if largest(moved.iter().copied()) < how.shortest {
                return Ok(DescentEnd::Short);
            }
            if left == 0 {
                return Ok(DescentEnd::Evaluations);
            }
            left -= 1;
            let next = evaluate(&at)?;
            let promised = dot(&moved, &here.gradient);
            if next.value <= here.value + ARMIJO * promised {
                break next;
            }
            // The next length is the minimum of the parabola through both values and the slope,
            // within bounds.
            let parabola = -0.5 * promised / (next.value - here.value - promised);
            share *= if parabola.is_finite() { parabola.clamp(0.1, 0.5) } else { 0.5 };
        };
        let moved: Vec<f64> = next.at.iter().zip(&here.at).map(|(next, here)| next - here).collect();
        let turned: Vec<f64> = next.gradient.iter().zip(&here.gradient).map(|(next, here)| next - here).collect();
        update(&mut inverse, &moved, &turned);
        here = next;
    }
}

/// Applies the BFGS update to the inverse Hessian, which begins as a multiple of the identity.
fn update(inverse: &mut Option<Vec<f64>>, moved: &[f64], turned: &[f64]) {
    let (n, curvature, size) = (moved.len(), dot(moved, turned), dot(turned, turned));
    if curvature <= 1e-10 * (dot(moved, moved) * size).sqrt() {
        return;
    }
    let old = inverse.get_or_insert_with(|| {
        let mut identity = vec![0.0; n * n];
        (0..n).for_each(|k| identity[k * n + k] = curvature / size);
        identity
    });
    let through: Vec<f64> = (0..n).map(|k| dot(&old[k * n..(k + 1) * n], turned)).collect();
    let along = (1.0 + dot(turned, &through) / curvature) / curvature;
    for j in 0..n {
        for k in 0..n {
            old[j * n + k] += along * moved[j] * moved[k] - (through[j] * moved[k] + moved[j] * through[k]) / curvature;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOW: DescentLimits = DescentLimits { most: 60, flat: 1e-8, shortest: 1e-10, first: 0.5, longest: 3.0, reach: 10.0 };

    type Descended = (Vec<Evaluation>, Result<DescentEnd, ()>);

    fn banana(at: &[f64]) -> (f64, Vec<f64>) {
        let (a, b) = (1.0 - at[0], at[1] - at[0] * at[0]);
        (a * a + 20.0 * b * b, vec![-2.0 * a - 80.0 * at[0] * b, 40.0 * b])
    }

    #[test]
    fn a_bent_valley_is_followed_to_its_end() {
        let (visited, ended): Descended = descend(&[-1.0, 2.0], HOW, |at| Ok(banana(at)));
        let last = lowest(&visited).expect("points");
        assert_eq!(ended, Ok(DescentEnd::Flat), "{}", visited.len());
        assert!(largest(last.at.iter().map(|x| x - 1.0)) < 1e-8 && last.value < 1e-15, "{last:?}");
        assert!(visited.iter().all(|point| point.value >= last.value));
    }

    #[test]
    fn it_ends_at_the_border_and_when_nothing_is_left() {
        let plane = |at: &[f64]| Ok((at[0] + (at[1] - 1.0) * (at[1] - 1.0), vec![1.0, 2.0 * (at[1] - 1.0)]));
        let (visited, ended): Descended = descend(&[0.0, 0.0], HOW, plane);
        let last = lowest(&visited).expect("points");
        assert_eq!(ended, Ok(DescentEnd::Flat));
        assert!((last.at[0] + 10.0).abs() < 1e-12 && (last.at[1] - 1.0).abs() < 1e-7, "{last:?}");
        let (visited, ended): Descended = descend(&[-1.0, 2.0], DescentLimits { most: 5, ..HOW }, |at| Ok(banana(at)));
        assert_eq!((visited.len(), ended), (5, Ok(DescentEnd::Evaluations)));
        // A gradient with the wrong sign gives no descent.
        let (visited, ended): Descended =
            descend(&[1.0], DescentLimits { shortest: 0.1, ..HOW }, |at| Ok((at[0] * at[0], vec![-2.0 * at[0]])));
        assert_eq!((lowest(&visited).map(|point| point.value), ended), (Some(1.0), Ok(DescentEnd::Short)));
    }

    #[test]
    fn what_was_visited_before_an_error_is_kept() {
        let mut calls = 0;
        let (visited, ended) = descend(&[-1.0, 2.0], HOW, |at| {
            calls += 1;
            if calls == 4 { Err("over") } else { Ok(banana(at)) }
        });
        assert_eq!((visited.len(), ended), (3, Err("over")));
    }
}
