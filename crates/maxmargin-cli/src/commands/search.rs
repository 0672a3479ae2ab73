//! `search`: finds scaling, C and gamma, and trains the best combination.

use crate::args::{
    CellChoice, FoldArgs, GridArgs, LogArgs, SearchArgs, SearchCommandArgs, SeedingArgs, SolverArgs, StrategyArgs, Values, Widths,
};
use crate::commands::grid;
use crate::commands::train;
use crate::console::failure::{Failure, Outcome};
use maxmargin::Solver;
use maxmargin::cv::Seeding;
use maxmargin::kernel::KernelKind;

pub(crate) fn run(args: &SearchCommandArgs) -> Result<Outcome, Failure> {
    let output = args.output.clone().unwrap_or_else(|| train::default_model(&args.data.source));
    let how = StrategyArgs {
        fast: Some(1.0),
        prune: false,
        random: None,
        halving: false,
        extend: true,
        refine: !args.gradient,
        gradient: args.gradient,
        per_feature: args.per_feature,
        // Of equals the first would be at an edge of the ranges. A descent has its own end.
        take: if args.gradient { CellChoice::Best } else { CellChoice::Flattest },
    };
    grid::run(&GridArgs {
        data: args.data.clone(),
        folds: FoldArgs {
            k: args.folds.k,
            loo: false,
            folds: args.folds.folds.clone(),
            fold_gap: 0,
            window: None,
            repeat: 1,
            write_folds: None,
            seeding: SeedingArgs { seeding: Seeding::Full },
        },
        search: SearchArgs {
            kernel: KernelKind::named("rbf").into_iter().collect(),
            // In steps twice as large as those of LIBSVM's grid.py: the best is refined, and ranges
            // are extended. Widths are those of the data.
            c: Values((-5..=11).step_by(4).map(|k| 2.0_f64.powi(k)).collect()),
            gamma: Widths::Values(vec![1.0]),
            degree: vec![3],
            coef0: 0.0,
            metric: args.metric.clone(),
            how,
        },
        problem: args.problem.clone(),
        solver: SolverArgs {
            solver: Solver::Auto,
            loss: None,
            penalty: None,
            no_shrinking: false,
            equal_rows: "joined".to_owned(),
            bias: None,
        },
        run: args.run.clone(),
        output: Some(output),
        outer: None,
        csv: None,
        plot: None,
        report: args.report.clone(),
        out_grid: None,
        probability: args.probability,
        log: LogArgs { log: args.log.clone(), resume: false, shard: None, merge_logs: None },
        whole: true,
        write: args.write.clone(),
    })
}
