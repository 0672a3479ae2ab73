//! Linear machines that are no dual of the other solvers, by their options.

use super::groups::SvmArgs;
use super::values::{LossName, SchemeName};
use crate::problem::weights::Weight;
use maxmargin::core::{BiasTerm, Loss, MarginLoss, Penalty};
use maxmargin::kernel::Kernel;
use maxmargin::{LinearObjective, Solver};

/// Returns the objective that `--loss logistic`, `--penalty l1` or `--classes crammer-singer` asks
/// for.
///
/// # Errors
///
/// When another option does not go with it.
pub(super) fn objective(args: &SvmArgs) -> Result<Option<LinearObjective>, String> {
    let SvmArgs { kernel, problem, solver, .. } = args;
    let all_classes = problem.classes == SchemeName::CrammerSinger;
    let (l1, logistic) = (solver.penalty == Some(Penalty::L1), solver.loss == Some(LossName::Logistic));
    let option = match () {
        () if all_classes => "--classes crammer-singer",
        () if l1 => "--penalty l1",
        () if logistic => "--loss logistic",
        () if solver.penalty.is_some() && kernel.kernel() != Kernel::Linear => {
            return Err("--penalty: it is for linear machines; pass --kernel linear".to_owned());
        }
        () => return Ok(None),
    };
    let free = solver.bias == Some(BiasTerm::Free);
    let formulation = problem.formulation.formulation.map_or("c-svc", |kind| kind.name);
    let wrong = [
        (kernel.kernel() != Kernel::Linear, "it is for linear machines; pass --kernel linear"),
        (formulation != "c-svc", "it is for --formulation c-svc"),
        (!matches!(solver.solver, Solver::Auto | Solver::Linear), "it has a solver of its own; leave --solver out"),
        (problem.weight.contains(&Weight::Balanced), "--weight balanced is not for it; give factors, --weight LABEL=W"),
        (all_classes && l1, "it has the L2 norm; leave --penalty l1 out"),
        (all_classes && solver.loss.is_some(), "it has a loss of its own; leave --loss out"),
        (all_classes && free, "it has no free bias; pass --bias none, or the value of one more feature"),
        (l1 && solver.loss == Some(LossName::Svm(Loss::Hinge)), "it has no hinge loss; pass --loss squared or --loss logistic"),
    ];
    if let Some((_, what)) = wrong.iter().find(|wrong| wrong.0) {
        return Err(format!("{option}: {what}"));
    }
    let loss = if logistic { MarginLoss::Logistic } else { MarginLoss::SquaredHinge };
    let penalty = solver.penalty.unwrap_or_default();
    Ok(Some(if all_classes { LinearObjective::CrammerSinger } else { LinearObjective::Margin { loss, penalty } }))
}
