//! `loo`: exact leave-one-out cross-validation.

use crate::args::LooArgs;
use crate::cv;
use crate::failure::{Done, Failure};
use crate::folds::LEAVE_ONE_OUT;
use crate::places::Places;
use crate::problem::Asked;
use maxmargin::cv::FoldPlan;

pub(crate) fn run(args: &LooArgs) -> Result<Done, Failure> {
    let seeding = args.seeding.seeding;
    let asked = Asked { seeding, ..Asked::new("loo", &args.svm, Some(args.cost.c), &args.data) };
    let mut places = Places::new(args.write.force);
    places.reads([&args.data.source]);
    places.reads(args.svm.problem.weights.as_deref());
    cv::validate(&asked, &args.data, (places, args.output.as_deref()), |input, _| {
        let plan = FoldPlan::leave_one_out(input.data.labels.len()).map_err(|e| Failure::input(&input.name, e))?;
        Ok((plan, LEAVE_ONE_OUT.to_owned()))
    })
}
