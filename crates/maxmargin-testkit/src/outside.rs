//! Real data and other programs that some tests need and no checkout has.
//!
//! A test without them skips and must report it. `cargo test` hides the output of passing tests, so
//! skips are also written to the file named by `MAXMARGIN_SKIPS`. `cargo xtask ci` sets it and
//! shows its lines last. It fails on them if `CI` requires that nothing is missing.

use maxmargin_data::libsvm::{ReadOptions, parse};
use maxmargin_data::{Dataset, Par, RunControl, compress};
use std::env;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Returns the file of real data called `name`, plain or packed with xz: in the folder
/// `MAXMARGIN_DATA`, or in `datasets/files`, which `cargo xtask datasets` fills. If there is none,
/// it records the skip and returns `None`.
pub fn data_file(name: &str) -> Option<PathBuf> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/files");
    let folders = env::var_os("MAXMARGIN_DATA").map(PathBuf::from).into_iter().chain([ours]);
    let found = folders.flat_map(|folder| [folder.join(name), folder.join(format!("{name}.xz"))]).find(|path| path.is_file());
    if found.is_none() {
        skip(&format!("data {name}"));
    }
    found
}

/// Returns the unpacked text of [`data_file`].
///
/// # Panics
///
/// When the file cannot be read or unpacked.
pub fn data_text(name: &str) -> Option<Vec<u8>> {
    let path = data_file(name)?;
    let file = File::open(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    Some(compress::read_all(file, u64::MAX).unwrap_or_else(|why| panic!("{}: {why}", path.display())))
}

/// Returns the samples of [`data_file`], in LIBSVM's format.
///
/// # Panics
///
/// When the file cannot be read or is not in that format.
pub fn dataset(name: &str) -> Option<Dataset> {
    let text = data_text(name)?;
    Some(parse(&text, &ReadOptions::default(), Par::Seq, &RunControl::unlimited()).unwrap_or_else(|why| panic!("{name}: {why}")))
}

/// Returns the path of the program `name`. If it is not installed, it records the skip and returns
/// `None`.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    if found.is_none() {
        skip(&format!("program {name}"));
    }
    found
}

/// Records that the running test skips a part because of `missing`: `data NAME`, `program NAME`, or
/// a property of a program.
///
/// # Panics
///
/// When the record of skipped tests cannot be written.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub fn skip(missing: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    eprintln!("skipped: no {missing}");
    let Some(record) = env::var_os("MAXMARGIN_SKIPS") else { return };
    // One write of one short line: tests of several processes append to the same file.
    let line = format!("{missing}: {test}\n");
    let mut file = OpenOptions::new().create(true).append(true).open(&record).expect("the file that MAXMARGIN_SKIPS names");
    file.write_all(line.as_bytes()).expect("a line in the file that MAXMARGIN_SKIPS names");
}
