//! The row store: right rows under every budget and thread count, sane counters.

mod common;

use common::{Kind, samples};
use maxmargin_data::{Asking, Par};
use maxmargin_kernel::{Arena, FnGram, Gram, Kernel, KernelGram, Rows};

fn gram(kind: Kind, n: usize) -> KernelGram {
    KernelGram::new(&samples(kind, n, 12, 1), Kernel::Rbf { gamma: 0.1 }).expect("a valid kernel")
}

fn expected(gram: &dyn Gram, i: usize) -> Vec<f32> {
    let mut row = vec![0.0; gram.len()];
    gram.fill(&[i], 0..gram.len(), &mut row);
    row
}

fn pool() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool")
}

#[test]
fn complete_holds_every_row() {
    let pool = pool();
    for kind in [Kind::Integers, Kind::Scaled, Kind::Sparse] {
        for n in [1, 31, 700, 1300] {
            let gram = gram(kind, n);
            pool.install(|| {
                for par in [Par::Seq, Par::Pool] {
                    let rows = Rows::new(&gram, u64::MAX, par);
                    assert!(rows.holds_all());
                    assert!(rows.resident(0).is_none());
                    let early = rows.row(n / 2);
                    rows.fetch(&[0, n - 1, n / 3, 0]);
                    rows.complete(&Asking::nobody()).expect("nobody calls it off");
                    for i in 0..n {
                        assert!(rows.contains(i));
                        let want = expected(&gram, i);
                        assert_eq!(*rows.row(i), want, "{kind:?} n {n} row {i}");
                        assert_eq!(rows.resident(i).expect("held"), want);
                    }
                    assert_eq!(*early, *rows.row(n / 2));
                    let work = rows.work();
                    assert_eq!(work.computed, n as u64);
                    assert_eq!(work.bytes, 4 * (n * n) as u64);
                    assert_eq!(work.peak_bytes, work.bytes);
                    assert_eq!(work.hits, n as u64 + 1);
                }
            });
        }
    }
}

#[test]
fn a_small_budget_keeps_the_most_recent() {
    let n = 200;
    let gram = gram(Kind::Scaled, n);
    let rows = Rows::new(&gram, 10 * 4 * n as u64, Par::Seq);
    assert!(!rows.holds_all());
    let held = rows.row(0);
    rows.fetch(&(1..10).collect::<Vec<_>>());
    assert_eq!(rows.work().computed, 10);
    assert!((0..10).all(|i| rows.contains(i)));
    let _ = rows.row(1);
    assert_eq!(rows.work().hits, 1);
    let _ = rows.row(10);
    assert!(!rows.contains(0), "row 0 was the least recently used");
    assert!(rows.contains(1));
    assert_eq!(*held, expected(&gram, 0), "a row in use is never overwritten");
    for step in 0..2000usize {
        let i = (step * step + 3 * step) % n;
        assert_eq!(*rows.row(i), expected(&gram, i));
    }
    rows.fetch(&(0..n).collect::<Vec<_>>());
    rows.complete(&Asking::nobody()).expect("nobody calls it off");
    let work = rows.work();
    assert!(work.bytes <= 10 * 4 * n as u64 && work.peak_bytes <= 10 * 4 * n as u64, "{work:?}");
    assert_eq!(*held, expected(&gram, 0));
}

#[test]
fn fetch_spares_what_it_was_asked_for() {
    let n = 100;
    let gram = gram(Kind::Scaled, n);
    let rows = Rows::new(&gram, 10 * 4 * n as u64, Par::Seq);
    rows.fetch(&(0..10).collect::<Vec<_>>());
    rows.fetch(&[0, 1, 2, 50, 51, 52, 53]);
    assert!([0, 1, 2, 50, 51, 52, 53].iter().all(|&i| rows.contains(i)));
    assert_eq!(rows.work().computed, 14);
}

#[test]
fn threads_share_one_store() {
    let n = 300;
    let gram = FnGram::new(n, |i, j| (i * 1000 + j) as f64);
    let pool = pool();
    for budget in [20 * 4 * n as u64, u64::MAX] {
        let rows = pool.install(|| Rows::new(&gram, budget, Par::Pool));
        pool.install(|| {
            Par::Pool.map(8, |t| {
                for step in 0..500usize {
                    let i = (step * (t + 3) + t) % n;
                    if step % 50 == 0 {
                        rows.fetch(&[i, (i + 1) % n, (i + 7) % n]);
                    }
                    let row = rows.row(i);
                    for j in 0..n {
                        assert_eq!(row[j], (i.min(j) * 1000 + i.max(j)) as f32);
                    }
                }
                if t == 3 {
                    rows.complete(&Asking::nobody()).expect("nobody calls it off");
                }
            })
        });
        let work = rows.work();
        assert!(work.hits + work.computed >= 4000, "{work:?}");
        assert!(work.bytes <= budget.min(4 * n as u64 * work.computed) && work.peak_bytes >= work.bytes, "{work:?}");
    }
}

#[test]
fn an_arena_carries_memory_to_the_next_store() {
    let n = 1100;
    let first = gram(Kind::Scaled, n);
    let second = first.with_gamma(0.5).expect("a valid gamma");
    let arena = Arena::new();
    let kept = {
        let rows = Rows::with_arena(&first, u64::MAX, Par::Seq, &arena);
        rows.complete(&Asking::nobody()).expect("nobody calls it off");
        assert_eq!(arena.bytes(), 0);
        rows.row(n - 1)
    };
    // 1,100 rows are blocks of 512, 512 and 76; the last is too small to be mapped or is still read.
    let block = 4 * 512 * n as u64;
    assert_eq!(arena.bytes(), 2 * block);
    let rows = Rows::with_arena(&second, u64::MAX, Par::Seq, &arena);
    rows.complete(&Asking::nobody()).expect("nobody calls it off");
    assert_eq!(arena.bytes(), 0);
    for i in (0..n).step_by(97) {
        assert_eq!(*rows.row(i), expected(&second, i));
    }
    assert_eq!(*kept, expected(&first, n - 1));
    drop(rows);
    arena.clear();
    assert_eq!(arena.bytes(), 0);
}

#[test]
fn an_empty_matrix() {
    let gram = FnGram::new(0, |_, _| 0.0);
    let rows = Rows::new(&gram, 0, Par::Seq);
    rows.fetch(&[]);
    rows.complete(&Asking::nobody()).expect("nobody calls it off");
    assert_eq!(rows.work(), maxmargin_kernel::RowWork::default());
}
