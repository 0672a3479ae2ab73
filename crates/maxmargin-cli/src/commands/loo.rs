//! `loo`: exact leave-one-out cross-validation.

use crate::args::LooArgs;
use crate::commands::cv::{self, CvFiles, NamedPlan};
use crate::console::failure::{Failure, Outcome};
use crate::files::output_paths::OutputPaths;
use crate::problem::folds::LEAVE_ONE_OUT;
use crate::problem::groups::{training_groups, with_groups};
use maxmargin::cv::FoldPlan;

pub(crate) fn run(args: &LooArgs) -> Result<Outcome, Failure> {
    let seeding = args.seeding.seeding;
    let request = args.svm.request("loo", Some(args.cost.c), &args.data.options)?.seeded(seeding);
    let mut paths = OutputPaths::new(args.write.force);
    paths.reads([&args.data.source]);
    let groups = args.conformal.conformal_groups.as_deref();
    paths.reads(args.svm.problem.weights.as_deref());
    paths.reads(groups);
    let files = CvFiles { decisions: args.output.as_deref(), suspects: args.suspects.suspects.as_deref(), report: None };
    let data = with_groups(cv::with_columns(args.data.request(), &args.suspects), [groups]);
    cv::validate(&request, &args.svm.run, &data, paths, files, |input, _| {
        let plan = FoldPlan::leave_one_out(input.data.labels.len()).map_err(|e| Failure::input(&input.name, e))?;
        let groups = training_groups(groups, args.data.options.max_size, input)?;
        let conformal = args.conformal.request(LEAVE_ONE_OUT, groups);
        Ok(NamedPlan { plan, name: LEAVE_ONE_OUT.to_owned(), conformal, importance: None })
    })
}
