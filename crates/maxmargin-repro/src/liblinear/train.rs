//! Trainings of one problem by both programs.

use super::model::{LinearModel, Rows};
use super::objective::{dual_bound, primal};
use super::tolerance::{self, Trial, capped};
use crate::run::process::{limited, timed};
use crate::searches::page::text_of;
use crate::workspace::failure::{Outcome, fail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How far below the dual bound an objective may lie, relative to the bound: the digits of both.
const DIGITS: f64 = 1e-9;

/// One of the two programs.
#[derive(Clone, Copy)]
pub(crate) enum Program<'a> {
    /// LIBLINEAR's `train`.
    Theirs(&'a str),
    /// Our program, and its threads.
    Ours(&'a Path, Option<usize>),
}

impl Program<'_> {
    fn command(self) -> Command {
        match self {
            Self::Theirs(program) => Command::new(program),
            Self::Ours(program, threads) => {
                let mut command = Command::new(program);
                command.arg("liblinear-train");
                command.args(threads.map(|threads| format!("--threads={threads}")));
                command
            }
        }
    }
}

/// A problem for both programs: a solver, the cost, samples and where models go.
pub(crate) struct Task<'a> {
    pub(crate) solver: u8,
    pub(crate) c: f64,
    pub(crate) data: &'a Path,
    pub(crate) rows: &'a Rows,
    pub(crate) model: PathBuf,
    pub(crate) limit: Duration,
}

impl Task<'_> {
    fn command(&self, program: Program, epsilon: f64, options: &[&str]) -> Command {
        let mut command = program.command();
        command.args(options).args(["-s", &self.solver.to_string(), "-c", &self.c.to_string(), "-e", &epsilon.to_string()]);
        command.arg(self.data).arg(&self.model);
        command
    }

    /// Returns the certified lower bound on the optimum: the dual of our solution at `gap`.
    pub(crate) fn bound(&self, ours: Program, gap: f64) -> Outcome<f64> {
        let epsilon = tolerance::default(self.solver) * gap / tolerance::DEFAULT_GAP;
        let (_, output) = timed(&mut self.command(ours, epsilon, &["-q", "--certificate"]), None)?;
        let output = output.or_else(fail)?;
        let Some(bound) = dual_bound(&output) else { return fail(format!("no certificate in `{output}`")) };
        Ok(bound)
    }

    /// Trains at a tolerance, and computes the gap of the model to the bound.
    pub(crate) fn trial(&self, program: Program, epsilon: f64, bound: f64) -> Outcome<Trial> {
        let (seconds, output) = limited(&mut self.command(program, epsilon, &[]), self.limit)?;
        let output = match output {
            None => return Ok(Trial::OverTime { seconds }),
            Some(Err(reason)) if reason.contains("unknown solver type") => return Ok(Trial::Refused(reason)),
            Some(output) => output.or_else(fail)?,
        };
        let model = LinearModel::parse(&text_of(&self.model)?)?;
        let gap = self.gap(&model, bound)?;
        let problems = if self.solver == 4 { 1 } else { model.columns };
        Ok(Trial::Ended { gap, seconds, capped: capped(&output, problems) })
    }

    /// Returns the relative gap of a model to the bound.
    fn gap(&self, model: &LinearModel, bound: f64) -> Outcome<f64> {
        let objective = primal(self.solver, model, self.rows, self.c);
        let gap = (objective - bound) / bound.abs().max(f64::MIN_POSITIVE);
        if gap < -DIGITS {
            return fail(format!("-s {}: the objective {objective} is below the certified bound {bound}", self.solver));
        }
        Ok(gap)
    }

    /// Returns the seconds of one training.
    pub(crate) fn seconds(&self, program: Program, epsilon: f64) -> Outcome<f64> {
        let (seconds, output) = timed(&mut self.command(program, epsilon, &["-q"]), None)?;
        output.or_else(fail)?;
        Ok(seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_objective_below_the_bound_is_a_fault_and_one_above_it_is_a_gap() {
        let rows = Rows::parse("1 1:1\n-1 1:-1\n").expect("rows");
        let model = LinearModel { labels: vec![1.0, -1.0], columns: 1, rho: 0.0, weights: vec![1.0] };
        let task = Task {
            solver: 3,
            c: 1.0,
            data: Path::new("data"),
            rows: &rows,
            model: PathBuf::from("model"),
            limit: Duration::from_secs(1),
        };
        // The objective is ½.
        assert_eq!(task.gap(&model, 0.4).expect("a gap"), (0.5 - 0.4) / 0.4);
        assert_eq!(task.gap(&model, 0.5).expect("a gap"), 0.0);
        assert!(task.gap(&model, 0.6).is_err_and(|failure| failure.to_string().contains("below the certified bound")));
        let words = |program: Program| format!("{:?}", task.command(program, 0.1, &["-q"]));
        assert_eq!(words(Program::Theirs("train")), r#""train" "-q" "-s" "3" "-c" "1" "-e" "0.1" "data" "model""#);
        assert!(words(Program::Ours(Path::new("mm"), Some(1))).starts_with(r#""mm" "liblinear-train" "--threads=1" "-q""#));
    }
}
