//! Ctrl-C: once asks the running step to finish, twice stops at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static PRESSED: AtomicUsize = AtomicUsize::new(0);
static LISTENING: AtomicBool = AtomicBool::new(false);
static WRITING: Mutex<()> = Mutex::new(());

/// The exit code of a program ended by SIGINT.
const INTERRUPTED: i32 = 130;

/// Catches Ctrl-C from now on.
pub(crate) fn install() {
    // Without a handler Ctrl-C ends the program as usual: nothing is lost but the partial result.
    let _ = ctrlc::set_handler(pressed);
}

#[expect(clippy::print_stderr, reason = "the answer to a key press")]
fn pressed() {
    // Before a solver runs there is nothing to keep, and nobody looks at the flag.
    if PRESSED.fetch_add(1, Ordering::SeqCst) > 0 || !LISTENING.load(Ordering::SeqCst) {
        // Whoever has a temporary file open gives it its name or removes it first; that is a matter of moments.
        let _whole = unbroken();
        std::process::exit(INTERRUPTED);
    }
    eprintln!("\nstopping after this step and writing what is known; press Ctrl-C again to stop at once");
}

/// While this is held, Ctrl-C does not end the program: hold it as long as a temporary file exists.
pub(crate) fn unbroken() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From here on the caller looks at [`requested`]; until now Ctrl-C ended the program.
pub(crate) fn listen() {
    LISTENING.store(true, Ordering::SeqCst);
}

/// Whether the user asked to stop.
pub(crate) fn requested() -> bool {
    PRESSED.load(Ordering::SeqCst) > 0
}
