//! Linear machines with a differentiable loss of the margin: logistic regression and the squared
//! hinge loss, with the L2 or the L1 norm of the weights.

mod column_descent;
mod conjugate;
mod context;
mod dual;
mod evaluate;
mod face;
mod l1_problem;
mod lasso;
mod line;
mod matrix_descent;
mod model;
mod newton;
mod passes;
mod rising_costs;
mod run;
mod store;
mod working_set;

pub use run::{MarginSolution, MarginSolver};
