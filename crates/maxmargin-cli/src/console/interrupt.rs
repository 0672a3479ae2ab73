//! Ctrl-C: once asks the running step to finish, twice stops at once.

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
    // Without a handler Ctrl-C ends the program as usual: nothing is lost but the partial result.
    let _ = ctrlc::set_handler(pressed);
}

fn pressed() {
    // Before a solver runs there is nothing to keep, and nobody looks at the flag.
    if PRESSED.fetch_add(1, Ordering::SeqCst) > 0 || !LISTENING.load(Ordering::SeqCst) {
        // Whoever has a temporary file open gives it its name or removes it first; that is a matter
        // of moments.
        let _whole = unbroken();
        std::process::exit(i32::from(INTERRUPTED));
    }
    let what = if WHOLE.load(Ordering::SeqCst) { "without a result" } else { "and writing the partial result" };
    print_line(&format!("\nstopping after this step {what}; press Ctrl-C again to stop at once"));
}

/// While this is held, Ctrl-C does not end the program: hold it as long as a temporary file exists.
pub(crate) fn unbroken() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From here on the caller looks at [`requested`]; until now Ctrl-C ended the program.
pub(crate) fn listen() {
    LISTENING.store(true, Ordering::SeqCst);
}

/// As [`listen`], for a step of which a part is worth nothing.
pub(crate) fn listen_without_result() {
    WHOLE.store(true, Ordering::SeqCst);
    listen();
}

/// Whether the user asked to stop.
pub(crate) fn requested() -> bool {
    PRESSED.load(Ordering::SeqCst) > 0
}
