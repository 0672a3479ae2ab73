//! `cargo xtask datasets`: the benchmark data, fetched or taken from a mirror, verified, unpacked.

use maxmargin_repro::datasets::fetch::fetch;
use maxmargin_repro::datasets::locate::{find, folder};
use maxmargin_repro::datasets::manifest::{Manifest, ManifestEntry};
use maxmargin_repro::datasets::unpack::{Form, digest, install};
use maxmargin_repro::workspace::failure::{Outcome, fail};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Data sets by name
    names: Vec<String>,
    /// Every data set of the manifest
    #[arg(long)]
    all: bool,
    /// List the manifest and the files that are here
    #[arg(long)]
    list: bool,
    /// Take NAME, NAME.xz, NAME.bz2 or NAME.gz from this folder instead of the net
    #[arg(long, value_name = "DIR")]
    mirror: Option<PathBuf>,
    /// Folder of the files [default: datasets/files]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome<()> {
    let manifest = Manifest::load()?;
    let out = arguments.out.clone().unwrap_or_else(folder);
    if arguments.list {
        list(&manifest, &out);
        return Ok(());
    }
    if arguments.names.is_empty() && !arguments.all {
        return fail("name some data sets, or say --all (--list shows them)");
    }
    let wanted: Vec<&ManifestEntry> = if arguments.all {
        manifest.datasets.iter().collect()
    } else {
        arguments.names.iter().map(|name| manifest.named(name)).collect::<Outcome<_>>()?
    };
    let mut missing = Vec::new();
    for set in wanted {
        match place(set, arguments.mirror.as_deref(), &out) {
            Ok(how) => println!("{:<28} {how}", set.name),
            Err(failure) => {
                eprintln!("{:<28} {failure}", set.name);
                missing.push(set.name.as_str());
            }
        }
    }
    if missing.is_empty() { Ok(()) } else { fail(format!("not installed: {}", missing.join(", "))) }
}

fn list(manifest: &Manifest, out: &Path) {
    println!("{:<28} {:>8} {:>8} {:>7}  here", "name", "rows", "features", "classes");
    for set in &manifest.datasets {
        let here = match out.join(&set.name).metadata() {
            Ok(found) if found.len() == set.bytes => "yes",
            Ok(_) => "another size",
            Err(_) if set.address.is_none() => "no (mirror only)",
            Err(_) => "no",
        };
        println!("{:<28} {:>8} {:>8} {:>7}  {here}", set.name, set.rows, set.features, set.classes);
    }
}

fn place(set: &ManifestEntry, mirror: Option<&Path>, out: &Path) -> Outcome<&'static str> {
    let target = out.join(&set.name);
    if target.is_file() && digest(&target)? == set.sha256 {
        return Ok("verified, already here");
    }
    let Some(folder) = mirror else {
        fetch(set, &target)?;
        return Ok("fetched");
    };
    let Some(found) = find(&set.name, &[folder.to_path_buf()]) else {
        return fail(format!("{} holds none of {}", folder.display(), Form::names(&set.name).join(", ")));
    };
    install(set, &found.path, found.form, &target)?;
    Ok("installed from the mirror")
}
