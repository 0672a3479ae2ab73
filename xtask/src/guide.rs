//! `cargo xtask guide`: the guide as pages, by mdBook, where it is installed. What the pages say is tried by tests, with or without it.

use crate::failure::Outcome;
use crate::python::succeed;
use crate::tools::{on_path, root, target_directory};
use std::env;
use std::process::Command;

pub(crate) fn run() -> Outcome<()> {
    if !on_path(&format!("mdbook{}", env::consts::EXE_SUFFIX)) {
        println!("left out: cargo install --locked mdbook");
        return Ok(());
    }
    let out = target_directory()?.join("guide");
    succeed(Command::new("mdbook").arg("build").arg(root().join("docs/guide")).arg("--dest-dir").arg(&out))?;
    println!("{}", out.join("index.html").display());
    Ok(())
}
