//! Parallelism as an argument: sequential, or on a thread pool that the caller owns.

use rayon::prelude::*;

/// How much parallelism a call may use.
///
/// Every function of maxmargin that takes a `Par` returns the same bits whatever it is given: work is cut into chunks whose
/// size does not depend on the number of threads, and partial results are combined in index order.
#[derive(Clone, Copy, Debug)]
pub enum Par<'p> {
    /// Run on the calling thread.
    Seq,
    /// Run on this pool.
    Pool(&'p rayon::ThreadPool),
}

impl Par<'_> {
    /// The number of threads that may work at once (at least 1).
    pub fn threads(self) -> usize {
        match self {
            Par::Seq => 1,
            Par::Pool(pool) => pool.current_num_threads(),
        }
    }

    /// Calls `task(0) … task(count − 1)`, possibly at the same time, and returns the results in index order.
    pub fn map<T: Send>(self, count: usize, task: impl Fn(usize) -> T + Sync) -> Vec<T> {
        match self {
            Par::Pool(pool) if count > 1 && pool.current_num_threads() > 1 => {
                pool.install(|| (0..count).into_par_iter().with_max_len(1).map(&task).collect())
            }
            _ => (0..count).map(task).collect(),
        }
    }

    /// Cuts `data` into chunks of `chunk` elements (the last may be shorter) and calls `task(chunk_index, chunk)` on each.
    ///
    /// # Panics
    ///
    /// When `chunk` is 0.
    pub fn for_chunks<T: Send>(self, data: &mut [T], chunk: usize, task: impl Fn(usize, &mut [T]) + Sync) {
        match self {
            Par::Pool(pool) if data.len() > chunk && pool.current_num_threads() > 1 => {
                pool.install(|| data.par_chunks_mut(chunk).with_max_len(1).enumerate().for_each(|(i, c)| task(i, c)));
            }
            _ => data.chunks_mut(chunk).enumerate().for_each(|(i, c)| task(i, c)),
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
        assert_eq!(Par::Pool(&pool).map(100, |i| i * i), expected);
        let mut data = vec![0; 10];
        Par::Pool(&pool).for_chunks(&mut data, 4, |i, c| c.fill(i));
        assert_eq!(data, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]);
    }
}
