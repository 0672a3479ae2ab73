//! `completions` and `man`: completion scripts and manual pages, generated from the command line's
//! definition.

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::console::failure::{Failure, Outcome, reason};
use crate::files::output::{print, write_whole};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::fs;

/// The name of the program, independent of its file.
const NAME: &str = "maxmargin";

pub(crate) fn completions(args: &CompletionsArgs) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), NAME, &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Finished)
}

pub(crate) fn man(args: &ManArgs) -> Result<Outcome, Failure> {
    let folder = &args.folder;
    fs::create_dir_all(folder).map_err(|e| Failure::input(folder.display(), format!("cannot make it: {}", reason(&e))))?;
    // Building gives every command its full name, maxmargin-train.
    let mut whole = Cli::command().disable_help_subcommand(true);
    whole.build();
    let pages = whole.get_subcommands().chain([&whole]);
    for page in pages {
        let man = page_of(page);
        let place = folder.join(man.get_filename());
        let written = write_whole(&place, None, |mut out| man.render(&mut out));
        written.map_err(|e| Failure::write(place.display(), &e))?;
    }
    Ok(Outcome::Finished)
}

/// Returns the page of one command.
fn page_of(command: &Command) -> Man {
    Man::new(command.clone()).source(format!("{NAME} {}", crate::machine::version::VERSION)).manual("maxmargin")
}
