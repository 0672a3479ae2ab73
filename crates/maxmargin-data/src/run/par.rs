//! Parallelism as an argument: sequential, or on the rayon pool that the caller is in.

use rayon::prelude::*;

/// The parallelism of a call.
///
/// Functions of maxmargin return the same bits for every `Par`: work is cut into chunks whose size
/// does not depend on the number of threads, and partial results are combined in index order.
///
/// ```
/// use maxmargin_data::Par;
///
/// let squares = || Par::Pool.map(4, |i| i * i);
/// assert_eq!(squares(), [0, 1, 4, 9]); // on rayon's global pool: all processors
/// let two = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
/// assert_eq!(two.install(squares), [0, 1, 4, 9]); // on these two threads
/// # Ok::<(), rayon::ThreadPoolBuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Par {
    /// Run on the calling thread.
    #[default]
    Seq,
    /// Run on the pool of the calling thread: the pool of the surrounding
    /// [`rayon::ThreadPool::install`], otherwise rayon's global pool.
    Pool,
}

/// Largest number of threads of a pool. Idle threads search for work in the queues of all others,
/// so that thousands of threads would do nothing else.
pub const MOST_THREADS: usize = 512;

impl Par {
    /// The number of threads that can work at once (at least 1).
    pub fn threads(self) -> usize {
        match self {
            Par::Seq => 1,
            Par::Pool => rayon::current_num_threads(),
        }
    }

    /// Calls both, possibly at the same time.
    pub fn join<A: Send, B: Send>(self, one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B + Send) -> (A, B) {
        if self.threads() > 1 { rayon::join(one, other) } else { (one(), other()) }
    }

    /// Calls `task(0) … task(count − 1)`, possibly at the same time, and returns the results in
    /// index order.
    pub fn map<T: Send>(self, count: usize, task: impl Fn(usize) -> T + Sync) -> Vec<T> {
        if count > 1 && self.threads() > 1 {
            (0..count).into_par_iter().with_max_len(1).map(&task).collect()
        } else {
            (0..count).map(task).collect()
        }
    }

    /// Cuts `data` into chunks of `chunk` elements (the last may be shorter) and calls
    /// `task(chunk_index, chunk)` on each.
    ///
    /// # Panics
    ///
    /// When `chunk` is 0.
    pub fn for_chunks<T: Send>(self, data: &mut [T], chunk: usize, task: impl Fn(usize, &mut [T]) + Sync) {
        if data.len() > chunk && self.threads() > 1 {
            data.par_chunks_mut(chunk).with_max_len(1).enumerate().for_each(|(i, c)| task(i, c));
        } else {
            data.chunks_mut(chunk).enumerate().for_each(|(i, c)| task(i, c));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_index_order_on_any_pool() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool of two threads");
        let expected: Vec<usize> = (0..100).map(|i| i * i).collect();
        assert_eq!(Par::Seq.map(100, |i| i * i), expected);
        assert_eq!(pool.install(|| Par::Pool.map(100, |i| i * i)), expected);
        let mut data = vec![0; 10];
        pool.install(|| Par::Pool.for_chunks(&mut data, 4, |i, c| c.fill(i)));
        assert_eq!(data, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]);
        assert_eq!((pool.install(|| Par::Pool.threads()), Par::Seq.threads()), (2, 1));
    }
}
