//! Ctrl-C: once asks the running step to finish, twice stops at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static PRESSED: AtomicUsize = AtomicUsize::new(0);
static LISTENING: AtomicBool = AtomicBool::new(false);

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
        std::process::exit(INTERRUPTED);
    }
    eprintln!("\nstopping after this step and writing what is known; press Ctrl-C again to stop at once");
}

/// From here on the caller looks at [`requested`]; until now Ctrl-C ended the program.
pub(crate) fn listen() {
    LISTENING.store(true, Ordering::SeqCst);
}

/// Whether the user asked to stop.
pub(crate) fn requested() -> bool {
    PRESSED.load(Ordering::SeqCst) > 0
}
