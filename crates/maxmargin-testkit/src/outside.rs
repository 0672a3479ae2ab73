//! What some tests need and no checkout has: real data, and other people's programs.
//!
//! A test without them skips, and must say so: `cargo test` swallows what a passing test prints, so
//! skips are also written to the file that `MAXMARGIN_SKIPS` names. `cargo xtask ci` sets it, shows
//! its lines last, and fails on them where `CI` says that nothing may be missing.

use maxmargin_data::libsvm::{ReadOptions, parse};
use maxmargin_data::{Dataset, Par, compress};
use std::env;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file of real data called `name`, plain or packed with xz: in the folder `MAXMARGIN_DATA`, or
/// in `datasets/files`, which `cargo xtask datasets` fills. `None` where there is none, which is
/// then on record.
pub fn data_file(name: &str) -> Option<PathBuf> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/files");
    let folders = env::var_os("MAXMARGIN_DATA").map(PathBuf::from).into_iter().chain([ours]);
    let found = folders.flat_map(|folder| [folder.join(name), folder.join(format!("{name}.xz"))]).find(|path| path.is_file());
    if found.is_none() {
        skip(&format!("data {name}"));
    }
    found
}

/// The unpacked text of [`data_file`].
///
/// # Panics
///
/// On a file that cannot be read or unpacked.
pub fn data_text(name: &str) -> Option<Vec<u8>> {
    let path = data_file(name)?;
    let file = File::open(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    Some(compress::read_all(file, u64::MAX).unwrap_or_else(|why| panic!("{}: {why}", path.display())))
}

/// The samples of [`data_file`], in LIBSVM's format.
///
/// # Panics
///
/// On a file that cannot be read or is not in that format.
pub fn dataset(name: &str) -> Option<Dataset> {
    let text = data_text(name)?;
    Some(parse(&text, &ReadOptions::default(), Par::Seq).unwrap_or_else(|why| panic!("{name}: {why}")))
}

/// Where the program `name` is installed. `None` where it is not, which is then on record.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    if found.is_none() {
        skip(&format!("program {name}"));
    }
    found
}

/// Says that the running test leaves something out for want of `missing`: `data NAME`, `program
/// NAME`, or what a program has to be.
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
