//! `links`: links with which this program replaces LIBSVM's and LIBLINEAR's programs.

use crate::args::LinksArgs;
use crate::console::failure::{Failure, Outcome, reason};
use crate::dropin::Program;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &LinksArgs) -> Result<Outcome, Failure> {
    let own = std::env::current_exe().and_then(fs::canonicalize);
    let own = own.map_err(|error| Failure::input("this program", format!("cannot tell where it is: {}", reason(&error))))?;
    let folder = &args.folder;
    let failed =
        |place: &Path, error: &std::io::Error| Failure::input(place.display(), format!("cannot make it: {}", reason(error)));
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let paths: Vec<PathBuf> = Program::NAMES.iter().map(|(name, _)| folder.join(name)).collect();
    // All or none: conflicts are found before the first link is created.
    for place in &paths {
        let what = match fs::symlink_metadata(place) {
            Err(_) => continue,
            Ok(found) if found.is_dir() => "this is a folder; choose another one for the links",
            Ok(_) if args.force || is_ours(place, &own) => continue,
            Ok(_) => "something else is there; choose another folder, or pass --force to replace it",
        };
        return Err(Failure::input(place.display(), what));
    }
    for place in &paths {
        if fs::symlink_metadata(place).is_ok() {
            fs::remove_file(place).map_err(|error| failed(place, &error))?;
        }
        link(&own, place).map_err(|error| failed(place, &error))?;
    }
    Ok(Outcome::Finished)
}

/// Returns whether a link to this program, or to another version of it, is at this path.
fn is_ours(place: &Path, own: &Path) -> bool {
    fs::read_link(place).is_ok_and(|to| to.file_name() == own.file_name())
}

#[cfg(unix)]
fn link(own: &Path, place: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(own, place)
}

/// Symbolic links need a privilege that users lack on these systems.
#[cfg(not(unix))]
fn link(own: &Path, place: &Path) -> std::io::Result<()> {
    let place = place.with_extension(std::env::consts::EXE_EXTENSION);
    fs::hard_link(own, &place).or_else(|_| fs::copy(own, &place).map(drop))
}
