//! `loo`: exact leave-one-out cross-validation.

use crate::args::LooArgs;
use crate::failure::{Done, Failure};
use crate::folds::{self, Run, Setting};
use crate::notes::Notes;
use crate::output::Output;
use crate::report::loo_report;
use crate::threads::Threads;
use crate::{cv, input, problem};
use maxmargin::cv::FoldPlan;
use std::time::Instant;

pub(crate) fn run(args: &LooArgs) -> Result<Done, Failure> {
    let begun = Instant::now();
    let mut notes = Notes::new(args.run.quiet);
    if args.run.json && args.output.as_deref().is_some_and(|p| p.as_os_str() == "-") {
        return Err(Failure::Usage("--json and -o -: both write to standard output; name a file".to_owned()));
    }
    let output = args.output.as_deref().map(Output::open).transpose()?;
    let threads = Threads::new(args.run.threads)?;
    let input = input::load(&args.data, None, threads.par(), &mut notes)?;
    let prepared = problem::prepare(&args.kernel, &args.problem, &input, &mut notes)?;
    let plan = FoldPlan::leave_one_out(input.data.labels.len()).map_err(|e| Failure::input(&input.name, e))?;
    let setting = Setting {
        input: &input,
        prepared: &prepared,
        plan: &plan,
        plan_name: "leave-one-out".to_owned(),
        seeding: args.seeding,
        kernel: &args.kernel,
        problem: &args.problem,
        linear: None,
        run: &args.run,
        seed: args.data.options.seed,
        threads: &threads,
        begun,
    };
    let Run { document, decisions } = folds::cross_validate(&setting, &mut notes)?;
    cv::finish(&setting, output, args.run.json, &decisions, || loo_report(&document), &document)
}
