//! The row store: correct rows for every budget and thread count, plausible counters.

use crate::common::{Kind, samples};
use maxmargin_data::{Par, RunControl};
use maxmargin_kernel::{FnGram, Gram, Kernel, KernelGram, Pages, RowRef, Rows, part_of};

fn gram(kind: Kind, n: usize) -> KernelGram {
    KernelGram::new(&samples(kind, n, 12, 1), Kernel::Rbf { gamma: 0.1 }, &RunControl::unlimited()).expect("a valid kernel")
}

fn expected(gram: &dyn Gram, i: usize) -> Vec<f32> {
    let mut row = vec![0.0; gram.len()];
    gram.fill(&[i], 0..gram.len(), &mut row);
    row
}

fn values(row: &RowRef) -> Vec<f32> {
    row.entries().held().to_vec()
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
                    rows.fetch(&[0, n - 1, n / 3, 0], &RunControl::unlimited()).expect("unlimited");
                    rows.complete(&RunControl::unlimited()).expect("not cancelled");
                    for i in 0..n {
                        assert!(rows.contains(i));
                        let want = expected(&gram, i);
                        assert_eq!(values(&rows.row(i)), want, "{kind:?} n {n} row {i}");
                        assert_eq!(rows.resident(i).expect("held").to_vec(), want);
                    }
                    assert_eq!(values(&early), values(&rows.row(n / 2)));
                    let work = rows.work();
                    assert_eq!(work.computed, n as u64);
                    // Distances between these integers fit a byte.
                    let width = if matches!(kind, Kind::Integers) { 1 } else { 4 };
                    assert_eq!(work.bytes, width * (n * n) as u64);
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
    rows.fetch(&(1..10).collect::<Vec<_>>(), &RunControl::unlimited()).expect("unlimited");
    assert_eq!(rows.work().computed, 10);
    assert!((0..10).all(|i| rows.contains(i)));
    let _ = rows.row(1);
    assert_eq!(rows.work().hits, 1);
    let _ = rows.row(10);
    assert!(!rows.contains(0), "row 0 was the least recently used");
    assert!(rows.contains(1));
    assert_eq!(values(&held), expected(&gram, 0), "a row in use is never overwritten");
    for step in 0..2000usize {
        let i = (step * step + 3 * step) % n;
        assert_eq!(values(&rows.row(i)), expected(&gram, i));
    }
    rows.fetch(&(0..n).collect::<Vec<_>>(), &RunControl::unlimited()).expect("unlimited");
    rows.complete(&RunControl::unlimited()).expect("not cancelled");
    let work = rows.work();
    assert!(work.bytes <= 10 * 4 * n as u64 && work.peak_bytes <= 10 * 4 * n as u64, "{work:?}");
    assert_eq!(values(&held), expected(&gram, 0));
}

#[test]
fn fetch_spares_what_it_was_asked_for() {
    let n = 100;
    let gram = gram(Kind::Scaled, n);
    let rows = Rows::new(&gram, 10 * 4 * n as u64, Par::Seq);
    rows.fetch(&(0..10).collect::<Vec<_>>(), &RunControl::unlimited()).expect("unlimited");
    rows.fetch(&[0, 1, 2, 50, 51, 52, 53], &RunControl::unlimited()).expect("unlimited");
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
                        rows.fetch(&[i, (i + 1) % n, (i + 7) % n], &RunControl::unlimited()).expect("unlimited");
                    }
                    let row = rows.row(i);
                    for j in 0..n {
                        assert_eq!(row.at(j), (i.min(j) * 1000 + i.max(j)) as f64);
                    }
                }
                if t == 3 {
                    rows.complete(&RunControl::unlimited()).expect("not cancelled");
                }
            })
        });
        let work = rows.work();
        assert!(work.hits + work.computed >= 4000, "{work:?}");
        assert!(work.bytes <= budget.min(4 * n as u64 * work.computed) && work.peak_bytes >= work.bytes, "{work:?}");
    }
}

/// The reservation covers all rows of the distinct samples. Its unused part does not count.
#[test]
fn rows_of_different_samples_count_by_what_they_hold() {
    let once = samples(Kind::Scaled, 40, 12, 1);
    let gram =
        KernelGram::new(&once.select(&(0..200).map(|i| i % 40).collect::<Vec<_>>()), Kernel::rbf(0.1), &RunControl::unlimited())
            .expect("a kernel");
    let rows = Rows::new(&gram, 1 << 20, Par::Seq);
    let merged = rows.merged(&RunControl::unlimited()).expect("not cancelled").expect("copies");
    assert_eq!((rows.work().bytes, rows.work().peak_bytes), (0, 0));
    let row = merged.rows().row(3);
    let work = rows.work();
    assert!(row.entries().len() == 40 && work.computed == 1 && work.bytes > 0 && work.peak_bytes == work.bytes, "{work:?}");
}

#[test]
fn pages_carry_memory_to_the_next_store() {
    let n = 1100;
    let first = gram(Kind::Scaled, n);
    let second = first.with_gamma(0.5).expect("a valid gamma");
    let pages = Pages::new();
    let whole = |gram| {
        let rows = Rows::in_pages(gram, u64::MAX, Par::Seq, pages.clone());
        rows.complete(&RunControl::unlimited()).expect("not cancelled");
        rows
    };
    drop(whole(&first));
    let mapped = pages.bytes();
    assert!(mapped >= 4 * (n * n) as u64);
    let kept = whole(&first).row(n - 1);
    assert_eq!(pages.bytes(), mapped, "the same memory again");
    let rows = whole(&second);
    for i in (0..n).step_by(97) {
        assert_eq!(values(&rows.row(i)), expected(&second, i));
    }
    assert_eq!(values(&kept), expected(&first, n - 1), "a row in use is never overwritten");
}

#[test]
fn one_solvers_memory_is_the_next_ones() {
    let gram = gram(Kind::Scaled, 40);
    let bytes = 1 << 20;
    let rows = Rows::new(&gram, 100 * bytes, Par::Seq);
    let of = |size: u64| {
        let pages = rows.part_pages();
        let piece = pages.take(size as usize);
        (pages.bytes(), piece.as_ptr() as usize)
    };
    let first = of(bytes);
    assert_eq!(of(bytes), first, "the same memory again");
    let (mine, other) = (rows.part_pages(), rows.part_pages());
    assert_eq!((mine.bytes(), other.bytes()), (first.0, 0), "two solvers never share pages");
    drop((mine, other));
    let held = rows.reserve(95 * bytes);
    drop(rows.part_pages());
    drop(rows.part_pages());
    assert!(rows.part_pages().bytes() == 0, "too much for what is left");
    drop(held);
}

#[test]
fn codes_stand_for_the_values() {
    for kernel in [
        Kernel::Linear,
        Kernel::Rbf { gamma: 0.1 },
        Kernel::Rbf { gamma: 3.0 },
        Kernel::Rbf { gamma: 1e-6 },
        Kernel::Poly { gamma: 0.5, coef0: 1.0, degree: 3 },
        Kernel::Sigmoid { gamma: 0.01, coef0: -0.5 },
    ] {
        for (kind, coded) in [(Kind::Bits, true), (Kind::Scaled, false)] {
            let gram =
                KernelGram::new(&samples(kind, 150, 40, 3), kernel.clone(), &RunControl::unlimited()).expect("a valid kernel");
            assert_eq!(gram.table().is_some(), coded, "{kernel:?} {kind:?}");
            let rows = Rows::new(&gram, u64::MAX, Par::Seq);
            let few = Rows::new(&gram, 0, Par::Seq);
            rows.fetch(&[3, 90, 17], &RunControl::unlimited()).expect("unlimited");
            for i in [3, 17, 90, 149] {
                let bits = |row: Vec<f32>| row.into_iter().map(f32::to_bits).collect::<Vec<_>>();
                let want = bits(expected(&gram, i));
                assert_eq!(bits(values(&rows.row(i))), want, "{kernel:?} {kind:?}");
                assert_eq!(bits(values(&few.row(i))), want, "{kernel:?} {kind:?}");
            }
        }
    }
}

#[test]
fn codes_that_do_not_fit_are_values() {
    // d² reaches 400 · 9: codes suffice only where the kernel of larger distances is 0.
    let samples = samples(Kind::Integers, 60, 400, 1);
    let coded = |gamma| {
        KernelGram::new(&samples, Kernel::Rbf { gamma }, &RunControl::unlimited()).expect("a valid kernel").table().is_some()
    };
    assert!(!coded(0.01) && coded(0.5));
    let gram = KernelGram::new(&samples, Kernel::Rbf { gamma: 0.5 }, &RunControl::unlimited()).expect("a valid kernel");
    let rows = Rows::new(&gram, u64::MAX, Par::Seq);
    assert!((0..60).all(|i| values(&rows.row(i)) == expected(&gram, i)));
}

#[test]
fn a_part_has_the_bits_of_the_whole() {
    for kind in [Kind::Integers, Kind::Scaled, Kind::Sparse, Kind::Bits] {
        for kernel in [Kernel::Rbf { gamma: 0.1 }, Kernel::Rbf { gamma: 1e-9 }, Kernel::Linear] {
            let whole =
                KernelGram::new(&samples(kind, 200, 30, 1), kernel.clone(), &RunControl::unlimited()).expect("a valid kernel");
            let ids: Vec<usize> = (0..90).map(|k| (k * 37 + 5) % 200).chain([7, 7]).collect();
            let part = part_of(&whole, &ids);
            assert_eq!((part.len(), part.value_cost() > 0.0), (92, true));
            let (mut single, mut exact) = (vec![0.0; 92], vec![0.0; 92]);
            for r in [0, 31, 91] {
                part.fill(&[r], 0..92, &mut single);
                part.fill_exact(&[r], 0..92, &mut exact);
                let (mut one, mut wide) = (vec![0.0; 200], vec![0.0; 200]);
                whole.fill(&[ids[r]], 0..200, &mut one);
                whole.fill_exact(&[ids[r]], 0..200, &mut wide);
                assert!(ids.iter().zip(&single).all(|(&id, value)| one[id].to_bits() == value.to_bits()), "{kind:?}");
                assert!(ids.iter().zip(&exact).all(|(&id, value)| wide[id].to_bits() == value.to_bits()), "{kind:?}");
                assert_eq!(part.diagonal()[r].to_bits(), whole.diagonal()[ids[r]].to_bits());
                assert_eq!(part.base(), whole.base());
            }
        }
    }
}

#[test]
fn an_empty_matrix() {
    let gram = FnGram::new(0, |_, _| 0.0);
    let rows = Rows::new(&gram, 0, Par::Seq);
    rows.fetch(&[], &RunControl::unlimited()).expect("unlimited");
    rows.complete(&RunControl::unlimited()).expect("not cancelled");
    assert_eq!(rows.work(), maxmargin_kernel::RowWork::default());
}
