//! Passes shared by threads: the solver's own thread and helpers that stay awake between two
//! passes.
//!
//! A pass takes some ten microseconds: waking a sleeping thread for each would cost as much. A
//! helper therefore watches for the next pass for a short while before it goes. Nobody waits for a
//! helper that has not begun: every shard is worked on by whoever takes its lock first, so that a
//! helper that is late, or never comes, costs nothing but its help. What is found is joined in the
//! order of the places, and shards depend on the problem only: results have the same bits for any
//! number of threads.

use crate::shard::{Found, Pass, Shard};
use maxmargin_data::Par;
use std::sync::atomic::{
    AtomicBool, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// How long a helper watches for the next pass before it goes.
const PATIENCE: Duration = Duration::from_micros(60);

/// What the threads share.
#[derive(Debug)]
struct Board {
    shards: Vec<Mutex<Shard>>,
    /// Counts the passes.
    pass: AtomicU64,
    /// Helpers that are there or on their way.
    helpers: AtomicUsize,
    /// Nobody is wanted until the next pass.
    resting: AtomicBool,
    /// The solver's thread: a helper on it would wait for itself.
    solver: ThreadId,
}

/// The shards of a problem and who works on them.
pub(crate) struct Team {
    board: Arc<Board>,
    wanted: usize,
}

/// The lock of a shard. A panic in a pass leaves numbers behind, which the solver's own panic makes
/// unreachable.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    loop {
        match shard.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            // Held for one pass over a shard at most: sleeping would take longer.
            Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
        }
    }
}

impl Team {
    pub(crate) fn new(shards: Vec<Shard>, par: Par) -> Self {
        let wanted = par.threads().min(shards.len()) - 1;
        let board = Board {
            shards: shards.into_iter().map(Mutex::new).collect(),
            pass: AtomicU64::new(0),
            helpers: AtomicUsize::new(0),
            resting: AtomicBool::new(false),
            solver: std::thread::current().id(),
        };
        Self { board: Arc::new(board), wanted }
    }

    /// The number of shards.
    pub(crate) fn len(&self) -> usize {
        self.board.shards.len()
    }

    /// Shard `s`, between two passes.
    pub(crate) fn shard(&self, s: usize) -> MutexGuard<'_, Shard> {
        lock(&self.board.shards[s])
    }

    /// Makes a pass over all shards.
    pub(crate) fn make(&self, pass: &Pass) -> Found {
        let mut found = Found::NONE;
        if self.wanted == 0 {
            (0..self.len()).for_each(|s| found.join(self.shard(s).make(pass)));
            return found;
        }
        self.board.resting.store(false, Relaxed);
        self.call();
        for shard in &self.board.shards {
            lock(shard).open = Some(pass.clone());
        }
        self.board.pass.fetch_add(1, Release);
        // Whatever is free first, then wait for what helpers have begun.
        for shard in &self.board.shards {
            if let Ok(mut shard) = shard.try_lock() {
                shard.work();
            }
        }
        for shard in &self.board.shards {
            let mut shard = lock(shard);
            shard.work();
            found.join(shard.found);
        }
        found
    }

    /// Sends the helpers away: the pool's threads are wanted for something else.
    pub(crate) fn rest(&self) {
        self.board.resting.store(true, Relaxed);
    }

    /// Calls for helpers that have gone.
    fn call(&self) {
        while self.board.helpers.load(Relaxed) < self.wanted {
            let number = self.board.helpers.fetch_add(1, Relaxed);
            let board = Arc::clone(&self.board);
            rayon::spawn(move || {
                if std::thread::current().id() != board.solver {
                    help(&board, number);
                }
                board.helpers.fetch_sub(1, Relaxed);
            });
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.rest();
    }
}

/// Works on open passes until none has come for a while.
fn help(board: &Board, number: usize) {
    let count = board.shards.len();
    let mut seen = board.pass.load(Acquire).wrapping_sub(1);
    let mut since = Instant::now();
    while !board.resting.load(Relaxed) {
        let pass = board.pass.load(Acquire);
        if pass == seen {
            if since.elapsed() > PATIENCE {
                break;
            }
            std::hint::spin_loop();
            continue;
        }
        seen = pass;
        // From the other end than the solver: each thread finds its shards in its own cache again.
        for s in (0..count).rev() {
            if let Ok(mut shard) = board.shards[(s + count - number % count) % count].try_lock() {
                shard.work();
            }
        }
        since = Instant::now();
    }
}
