//! Passes over the shards of a problem, on the solver's own thread or shared with helpers that spin
//! between two passes.
//!
//! A pass takes some ten microseconds, and waking a sleeping thread for each would cost as much. A
//! helper therefore watches for the next pass for a short while before it leaves. The solver never
//! waits for a helper that has not begun: the first thread that locks a shard works on it. A helper
//! that is late, or never comes, delays nothing.
//!
//! A processor waits for every cache line that another one wrote last. What different threads write
//! is therefore on different lines, and a thread looks before it locks.
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
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// The time for which a helper watches for the next pass before it leaves.
const WATCH_TIME: Duration = Duration::from_micros(60);

/// The least number of places in one of two shards: smaller passes are not worth a second thread.
const SHARD: usize = 4096;

/// The least number of places in one of four or more shards: each costs a lock in every pass.
const SHARD_OF_MANY: usize = 6144;

/// The largest number of shards.
const MOST_SHARDS: usize = 8;

/// Returns the number of shards for so many places: a power of two, which two and four threads
/// share evenly.
pub(crate) fn shards_of(places: usize) -> usize {
    let many = places / SHARD_OF_MANY;
    if many >= 4 { 1 << many.min(MOST_SHARDS).ilog2() } else { (places / SHARD).clamp(1, 2) }
}

/// A value on cache lines of its own: processors fetch them in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Apart<T>(T);

/// A shard, and the numbers of the passes that a thread has begun and made on it.
#[derive(Debug)]
struct Place {
    shard: Apart<Mutex<Shard>>,
    begun: Apart<AtomicU64>,
    made: Apart<AtomicU64>,
}

impl Place {
    fn new(shard: Shard) -> Self {
        let [begun, made] = [(); 2].map(|()| Apart(AtomicU64::new(0)));
        Self { shard: Apart(Mutex::new(shard)), begun, made }
    }

    /// Makes pass `number`, unless a thread has begun this or a later one.
    fn work(&self, number: u64, pass: &Pass<&RowRef>) {
        let is_begun = || self.begun.0.load(Relaxed) >= number;
        if is_begun() {
            return;
        }
        if let Ok(mut shard) = self.shard.0.try_lock()
            && !is_begun()
        {
            self.begun.0.store(number, Relaxed);
            shard.result = shard.make(pass);
            self.made.0.store(number, Release);
        }
    }

    /// Waits for pass `number`, or makes it if no thread has begun it.
    fn finish(&self, number: u64, pass: &Pass<&RowRef>) -> PassResult {
        while self.made.0.load(Acquire) != number {
            assert!(!self.shard.0.is_poisoned(), "another thread panicked in a pass");
            self.work(number, pass);
            std::hint::spin_loop();
        }
        lock(&self.shard.0).result
    }
}

/// The data that the threads share.
#[derive(Debug)]
pub(crate) struct Board {
    places: Vec<Place>,
    /// The present pass, for helpers, and its number.
    open: Apart<RwLock<Option<Pass<RowRef>>>>,
    pass: Apart<AtomicU64>,
    /// The number of helpers that are present or on their way.
    helpers: Apart<AtomicUsize>,
    /// True if no help is needed until the next pass.
    resting: Apart<AtomicBool>,
    /// The solver's thread: a helper on it would wait for itself.
    solver: ThreadId,
}

/// The shards of a problem and the threads that work on them.
pub(crate) enum Team {
    /// The solver's thread. Small problems make a pass in less time than a lock for each access
    /// would take.
    Alone(Vec<Shard>),
    /// The solver's thread and so many helpers; the number of passes so far.
    Helped { board: Arc<Board>, wanted: usize, passes: u64 },
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
            places: shards.into_iter().map(Place::new).collect(),
            open: Apart(RwLock::new(None)),
            pass: Apart(AtomicU64::new(0)),
            helpers: Apart(AtomicUsize::new(0)),
            resting: Apart(AtomicBool::new(false)),
            solver: std::thread::current().id(),
        };
        Self::Helped { board: Arc::new(board), wanted, passes: 0 }
    }

    /// Returns the number of shards.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Alone(shards) => shards.len(),
            Self::Helped { board, .. } => board.places.len(),
        }
    }

    /// Returns shard `s`, between two passes.
    #[inline]
    pub(crate) fn shard(&self, s: usize) -> ShardGuard<'_, &Shard> {
        match self {
            Self::Alone(shards) => ShardGuard::Own(&shards[s]),
            Self::Helped { board, .. } => ShardGuard::Locked(lock(&board.places[s].shard.0)),
        }
    }

    /// Returns shard `s` to be changed, between two passes.
    #[inline]
    pub(crate) fn shard_mut(&mut self, s: usize) -> ShardGuard<'_, &mut Shard> {
        match self {
            Self::Alone(shards) => ShardGuard::Own(&mut shards[s]),
            Self::Helped { board, .. } => ShardGuard::Locked(lock(&board.places[s].shard.0)),
        }
    }

    /// Makes a pass over all shards.
    pub(crate) fn make(&mut self, pass: &Pass<&RowRef>) -> PassResult {
        let mut result = PassResult::NONE;
        match self {
            Self::Alone(shards) => shards.iter_mut().for_each(|shard| result.join(shard.make(pass))),
            Self::Helped { board, wanted, passes } => {
                *passes += 1;
                board.call(*wanted);
                // Without this lock a helper is late; the solver then makes this pass alone.
                if let Ok(mut open) = board.open.0.try_write() {
                    *open = Some(pass.map(|row| (*row).clone()));
                    board.pass.0.store(*passes, Release);
                }
                // First the shards that are free, then those that helpers have begun.
                board.places.iter().for_each(|place| place.work(*passes, pass));
                board.places.iter().for_each(|place| result.join(place.finish(*passes, pass)));
            }
        }
        result
    }

    /// Sends the helpers away: the pool's threads are needed for other work. Releases the rows of
    /// the last pass.
    pub(crate) fn rest(&self) {
        if let Self::Helped { board, .. } = self {
            board.resting.0.store(true, Relaxed);
            // The last pass would keep its rows, and the pages that they lie on.
            if let Ok(mut open) = board.open.0.try_write() {
                *open = None;
            }
        }
    }
}

impl Board {
    /// Starts helpers for those that have left.
    fn call(self: &Arc<Self>, wanted: usize) {
        if self.resting.0.load(Relaxed) {
            self.resting.0.store(false, Relaxed);
        }
        while self.helpers.0.load(Relaxed) < wanted {
            let number = self.helpers.0.fetch_add(1, Relaxed);
            let board = Arc::clone(self);
            rayon::spawn(move || {
                if std::thread::current().id() != board.solver {
                    help(&board, number);
                }
                board.helpers.0.fetch_sub(1, Relaxed);
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
fn help(board: &Board, helper: usize) {
    let count = board.places.len();
    let mut seen = board.pass.0.load(Acquire).wrapping_sub(1);
    let mut since = Instant::now();
    while !board.resting.0.load(Relaxed) {
        let number = board.pass.0.load(Acquire);
        if number == seen {
            if since.elapsed() > WATCH_TIME {
                break;
            }
            std::hint::spin_loop();
            continue;
        }
        seen = number;
        // If a later pass is open by now, this one is begun on all shards, and none is free.
        if let Some(pass) = board.open.0.read().unwrap_or_else(PoisonError::into_inner).as_ref() {
            let pass = pass.map(|row| row);
            // Begins at the other end than the solver, so that each thread finds its shards in its
            // own cache.
            for at in (0..count).rev() {
                board.places[(at + count - helper % count) % count].work(number, &pass);
            }
        }
        since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::shards_of;

    #[test]
    fn shards_are_evenly_shared() {
        let counts = [64, 8128, 8192, 24_512, 24_576, 49_088, 49_152, 1 << 20].map(shards_of);
        assert_eq!(counts, [1, 1, 2, 2, 4, 4, 8, 8]);
    }
}
