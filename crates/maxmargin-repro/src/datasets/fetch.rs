//! Downloads by curl or wget, which know the machine's proxies and certificates.

use super::manifest::ManifestEntry;
use super::unpack::{Form, install};
use crate::workspace::failure::{Context, Outcome, fail};
use crate::workspace::tools::{on_path, read};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Downloads a data set and installs it.
///
/// # Errors
///
/// If it has no address, the download fails, or the content is another one.
pub fn fetch(set: &ManifestEntry, target: &Path) -> Outcome<()> {
    let Some(address) = &set.address else {
        let note = set.note.as_deref().unwrap_or("no address is known");
        return fail(format!(
            "cannot be downloaded ({note}); use --mirror DIR with one of {}",
            Form::names(&set.name).join(", ")
        ));
    };
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).context(folder.display())?;
    let packed = tempfile::NamedTempFile::new_in(folder).context(folder.display())?;
    download(address, packed.path())?;
    install(set, packed.path(), Form::of(address), target).context(address)
}

fn download(address: &str, to: &Path) -> Outcome<()> {
    let mut command = if on_path("curl") {
        let mut curl = Command::new("curl");
        curl.args(["--fail", "--location", "--silent", "--show-error", "--retry", "2", "--output"]).arg(to);
        curl
    } else if on_path("wget") {
        let mut wget = Command::new("wget");
        wget.args(["--quiet", "--tries=3", "-O"]).arg(to);
        wget
    } else {
        return fail("neither curl nor wget is installed; install one, or fetch the file yourself and use --mirror DIR");
    };
    read(command.arg(address)).map(drop).context(address)
}
