//! Ctrl-C: the first finishes the running step, the second stops at once.

use crate::console::stderr::print_line;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static PRESSED: AtomicUsize = AtomicUsize::new(0);
static LISTENING: AtomicBool = AtomicBool::new(false);
static WRITING: Mutex<()> = Mutex::new(());

static WHOLE: AtomicBool = AtomicBool::new(false);

/// The exit code of a program ended by SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

/// Catches Ctrl-C from now on.
pub(crate) fn install() {
    // Without a handler Ctrl-C ends the program as usual, and only the partial result is lost.
    let _ = ctrlc::set_handler(pressed);
}

fn pressed() {
    // Before a solver runs there is nothing to keep, and the flag is not checked.
    if PRESSED.fetch_add(1, Ordering::SeqCst) > 0 || !LISTENING.load(Ordering::SeqCst) {
        // A thread with an open temporary file renames or removes it first, which takes moments.
        let _whole = unbroken();
        std::process::exit(i32::from(INTERRUPTED));
    }
    let what = if WHOLE.load(Ordering::SeqCst) { "without a result" } else { "and writing the partial result" };
    print_line(&format!("\nstopping after this step {what}; press Ctrl-C again to stop at once"));
}

/// Returns a guard during whose life Ctrl-C does not end the program. Hold it while a temporary
/// file exists.
pub(crate) fn unbroken() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Declares that the caller checks [`requested`] from now on. Before, Ctrl-C ends the program.
pub(crate) fn listen() {
    LISTENING.store(true, Ordering::SeqCst);
}

/// As [`listen`], for a step without a partial result.
pub(crate) fn listen_without_result() {
    WHOLE.store(true, Ordering::SeqCst);
    listen();
}

/// Returns whether the user pressed Ctrl-C.
pub(crate) fn requested() -> bool {
    PRESSED.load(Ordering::SeqCst) > 0
}
