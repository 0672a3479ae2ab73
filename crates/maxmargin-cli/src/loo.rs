//! `loo`: exact leave-one-out cross-validation.

use crate::args::LooArgs;
use crate::failure::{Done, Failure};
use crate::notes::Notes;
use crate::problem::Asked;
use crate::threads::Threads;
use crate::{cv, input};
use maxmargin::cv::FoldPlan;

pub(crate) fn run(args: &LooArgs) -> Result<Done, Failure> {
    let asked = Asked {
        command: "loo",
        args: &args.svm,
        c: Some(args.cost.c),
        seeding: args.seeding.seeding,
        seed: args.data.options.seed,
        updatable: false,
    };
    let load = |threads: &Threads, notes: &mut Notes| input::load(&args.data, None, threads.par(), notes);
    cv::validate(&asked, load, args.output.as_deref(), |input| {
        let plan = FoldPlan::leave_one_out(input.data.labels.len()).map_err(|e| Failure::input(&input.name, e))?;
        Ok((plan, "leave-one-out".to_owned()))
    })
}
