//! Passes over the shards of a problem, on the solver's own thread or shared with helpers that spin
//! between two passes.
//!
//! A pass takes some ten microseconds, and waking a sleeping thread for each would cost as much. A
//! helper therefore watches for the next pass for a short while before it leaves. The solver never
//! waits for a helper that has not begun: the first thread that locks a shard works on it. A helper
//! that is late, or never comes, delays nothing.
//!
//! Results are merged in the order of the places, and shards depend on the problem only. The result
//! has the same bits for any number of threads.

use crate::passes::shard::{Pass, PassResult, Shard};
use maxmargin_data::Par;
use maxmargin_kernel::RowRef;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{
    AtomicBool, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// The time for which a helper watches for the next pass before it leaves.
const WATCH_TIME: Duration = Duration::from_micros(60);

/// The data that the threads share.
#[derive(Debug)]
pub(crate) struct Board {
    shards: Vec<Mutex<Shard>>,
    /// The number of passes so far.
    pass: AtomicU64,
    /// The number of helpers that are present or on their way.
    helpers: AtomicUsize,
    /// True if no help is needed until the next pass.
    resting: AtomicBool,
    /// The solver's thread: a helper on it would wait for itself.
    solver: ThreadId,
}

/// The shards of a problem and the threads that work on them.
pub(crate) enum Team {
    /// The solver's thread. Small problems make a pass in less time than a lock for each access
    /// would take.
    Alone(Vec<Shard>),
    /// The solver's thread and so many helpers.
    Helped(Arc<Board>, usize),
}

/// A shard between two passes: by reference, or locked.
pub(crate) enum ShardGuard<'t, R> {
    Own(R),
    Locked(MutexGuard<'t, Shard>),
}

impl<R: Deref<Target = Shard>> Deref for ShardGuard<'_, R> {
    type Target = Shard;

    #[inline]
    fn deref(&self) -> &Shard {
        match self {
            Self::Own(shard) => shard,
            Self::Locked(shard) => shard,
        }
    }
}

impl<R: DerefMut<Target = Shard>> DerefMut for ShardGuard<'_, R> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Shard {
        match self {
            Self::Own(shard) => shard,
            Self::Locked(shard) => shard,
        }
    }
}

/// Locks a shard. After a panic in a pass the numbers are unreliable, but the solver panics as
/// well, so no caller reads them.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    loop {
        match shard.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            // A lock is held for one pass over a shard at most; sleeping would take longer.
            Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
        }
    }
}

impl Team {
    pub(crate) fn new(shards: Vec<Shard>, par: Par) -> Self {
        let wanted = par.threads().min(shards.len()) - 1;
        if wanted == 0 {
            return Self::Alone(shards);
        }
        let board = Board {
            shards: shards.into_iter().map(Mutex::new).collect(),
            pass: AtomicU64::new(0),
            helpers: AtomicUsize::new(0),
            resting: AtomicBool::new(false),
            solver: std::thread::current().id(),
        };
        Self::Helped(Arc::new(board), wanted)
    }

    /// Returns the number of shards.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Alone(shards) => shards.len(),
            Self::Helped(board, _) => board.shards.len(),
        }
    }

    /// Returns shard `s`, between two passes.
    #[inline]
    pub(crate) fn shard(&self, s: usize) -> ShardGuard<'_, &Shard> {
        match self {
            Self::Alone(shards) => ShardGuard::Own(&shards[s]),
            Self::Helped(board, _) => ShardGuard::Locked(lock(&board.shards[s])),
        }
    }

    /// Returns shard `s` to be changed, between two passes.
    #[inline]
    pub(crate) fn shard_mut(&mut self, s: usize) -> ShardGuard<'_, &mut Shard> {
        match self {
            Self::Alone(shards) => ShardGuard::Own(&mut shards[s]),
            Self::Helped(board, _) => ShardGuard::Locked(lock(&board.shards[s])),
        }
    }

    /// Makes a pass over all shards.
    pub(crate) fn make(&mut self, pass: &Pass<&RowRef>) -> PassResult {
        let mut result = PassResult::NONE;
        match self {
            Self::Alone(shards) => shards.iter_mut().for_each(|shard| result.join(shard.make(pass))),
            Self::Helped(board, wanted) => {
                board.call(*wanted);
                for shard in &board.shards {
                    lock(shard).open = Some(pass.map(|row| (*row).clone()));
                }
                board.pass.fetch_add(1, Release);
                // First the shards that are free, then those that helpers have begun.
                for shard in &board.shards {
                    if let Ok(mut shard) = shard.try_lock() {
                        shard.work();
                    }
                }
                for shard in &board.shards {
                    let mut shard = lock(shard);
                    shard.work();
                    result.join(shard.result);
                }
            }
        }
        result
    }

    /// Sends the helpers away: the pool's threads are needed for other work.
    pub(crate) fn rest(&self) {
        if let Self::Helped(board, _) = self {
            board.resting.store(true, Relaxed);
        }
    }
}

impl Board {
    /// Starts helpers for those that have left.
    fn call(self: &Arc<Self>, wanted: usize) {
        self.resting.store(false, Relaxed);
        while self.helpers.load(Relaxed) < wanted {
            let number = self.helpers.fetch_add(1, Relaxed);
            let board = Arc::clone(self);
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
            if since.elapsed() > WATCH_TIME {
                break;
            }
            std::hint::spin_loop();
            continue;
        }
        seen = pass;
        // Begins at the other end than the solver, so that each thread finds its shards in its own
        // cache.
        for s in (0..count).rev() {
            if let Ok(mut shard) = board.shards[(s + count - number % count) % count].try_lock() {
                shard.work();
            }
        }
        since = Instant::now();
    }
}
