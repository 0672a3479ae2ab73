//! Lengths close to 2⁶⁴: unchecked sums and products would wrap and appear small.

use crate::at_each_level;
use maxmargin_simd::moves::{Between, moved};
use maxmargin_simd::passes::{Along, Diagonal, PairUpdate, PartnerSelection, conjugate_and_scan, second_order};
use maxmargin_simd::row::RowSlice;
use maxmargin_simd::row_sums::{PartialSum, RowTerm, add_sums_of_rows};
use maxmargin_simd::{bits, bytes, products, transpose};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Checks the panic message of `pass` at each level; it must not return.
fn refused(pass: impl Fn() + Copy, says: &str) {
    at_each_level(|level| {
        let error = catch_unwind(AssertUnwindSafe(pass)).expect_err("a length that cannot be is refused");
        let plain = error.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let said = error.downcast_ref::<String>().cloned().or(plain).unwrap_or_default();
        assert!(said.contains(says), "{level:?}: {said}");
    });
}

/// A panel with all features.
fn whole<T>(values: &[T]) -> products::PanelColumns<'_, T> {
    products::PanelColumns { features: None, values }
}

/// `(count − 1) · stride + PANEL` wraps to 32 for three rows 2⁶³ apart, to 31 for two rows 2⁶⁴ − 1
/// apart, and so on.
#[test]
fn products_refuse_strides_whose_ends_wrap() {
    let (panel, rows) = (vec![0.0_f32; 32], vec![0.0_f32; 12]);
    for (count, stride) in [(2, usize::MAX), (2, usize::MAX - 31), (3, 1 << 63), (5, 1 << 62), (9, 1 << 61), (12, usize::MAX)] {
        refused(|| products::products(&rows[..count], count, &whole(&panel), &mut vec![0.0; 64], stride), "room for 64 products");
    }
    let (panel, rows) = (vec![0.0_f64; 16], vec![0.0_f64; 2]);
    refused(|| products::products(&rows, 2, &whole(&panel), &mut vec![0.0; 64], usize::MAX - 15), "room for 64 products");
}

#[test]
fn byte_products_refuse_strides_whose_ends_wrap() {
    let (panel, rows) = (vec![0_u8; 128], vec![[0_i8; 4]; 12]);
    for (count, stride) in [(2, usize::MAX), (2, usize::MAX - 31), (3, 1 << 63), (5, 1 << 62), (9, 1 << 61), (12, usize::MAX)] {
        refused(|| bytes::products(&rows[..count], count, &panel, &mut vec![0; 64], stride), "room for 64 sums");
    }
}

#[test]
fn sums_refuse_rows_without_all_blocks() {
    let row = [0.0; 47];
    let terms = [RowTerm { row: &row, factor: 1.0 }];
    for columns in [0..33, 40..47, usize::MAX - 31..usize::MAX, usize::MAX - 40..usize::MAX - 31] {
        let sum = || add_sums_of_rows(columns.clone(), &[PartialSum { point: 0, terms: &terms }], &mut [0.0; 64]);
        refused(sum, "whole blocks");
    }
    let beside = || add_sums_of_rows(0..32, &[PartialSum { point: 1, terms: &terms }], &mut [0.0; 63]);
    refused(beside, "range");
}

#[test]
fn transposes_refuse_places_whose_ends_wrap() {
    let source = [0.0_f32; 20];
    let sources = [&source[..]; 16];
    for (from, to, says) in [
        (usize::MAX, 0, "sources of less than"),
        (usize::MAX - 15, 0, "sources of less than"),
        (0, usize::MAX, "rows of less than"),
        (0, usize::MAX - 15, "rows of less than"),
    ] {
        let call = || {
            let mut target = vec![vec![0.0_f32; 20]; 16];
            let mut out: Vec<&mut [f32]> = target.iter_mut().map(Vec::as_mut_slice).collect();
            transpose::transpose(&sources, from, &mut out, to);
        };
        refused(call, says);
    }
}

#[test]
fn what_is_one_element_short_is_refused() {
    refused(|| products::products(&[0.0_f32; 3], 3, &whole(&[0.0; 32]), &mut [0.0; 2 * 40 + 31], 40), "room for 111 products");
    refused(|| products::products(&[0.0_f32; 3], 3, &whole(&[0.0; 31]), &mut [0.0; 200], 40), "a panel of 31 values");
    refused(|| products::products(&[0.0_f32; 3], 2, &whole(&[0.0; 32]), &mut [0.0; 200], 40), "row elements");
    refused(|| products::products(&[0.0_f32; 13], 13, &whole(&[0.0; 32]), &mut [0.0; 2000], 40), "row elements");
    refused(|| products::products::<f32>(&[], 0, &whole(&[]), &mut [0.0; 64], 32), "row elements");
    let beyond = products::PanelColumns { features: Some(products::Features::new(&[0, 2])), values: &[0.0_f32; 64] };
    refused(|| products::products(&[0.0_f32; 2], 1, &beyond, &mut [0.0; 32], 32), "feature 3 of 2");
    let fewer = products::PanelColumns { features: Some(products::Features::new(&[1])), values: &[0.0_f32; 64] };
    refused(|| products::products(&[0.0_f32; 2], 1, &fewer, &mut [0.0; 32], 32), "a panel of 64 values for 1 features");
    refused(|| bytes::products(&[[0; 4]; 3], 3, &[0; 128], &mut [0; 2 * 40 + 31], 40), "room for 111 sums");
    refused(|| bytes::products(&[[0; 4]; 3], 3, &[0; 127], &mut [0; 200], 40), "a panel of 127 bytes");
    refused(|| bytes::products(&[], 0, &[], &mut [0; 64], 32), "row elements");
    refused(|| transpose::transpose(&[&[0.0; 4]], 4, &mut [&mut [0.0; 4]], 0), "sources of less than 4 + 1 values");
    refused(|| transpose::transpose(&[&[0.0; 4]], 0, &mut [&mut [0.0; 4]], 4), "rows of less than 4 + 1 values");
}

/// The passes of conjugate steps refuse rows, `q`, bounds and bits of sets that are one too short.
#[test]
fn passes_with_a_direction_refuse_what_is_short() {
    let (row, set) = ([0.0_f32; 24], [0_u8; 3]);
    let beta = |f: usize, q: usize, ki: usize, kj: usize, bits: usize| {
        let update = PairUpdate { ki: RowSlice::Values(&row[..ki]), kj: RowSlice::Values(&row[..kj]), beta: 0.5, delta: 0.1 };
        conjugate_and_scan(&mut [0.0; 24][..f], &mut [0.0; 24][..q], update, &set[..bits], &set);
    };
    beta(24, 24, 24, 24, 3);
    for (q, ki, kj) in [(23, 24, 24), (24, 23, 24), (24, 24, 23)] {
        refused(|| beta(24, q, ki, kj, 3), "rows and gradient have one length");
    }
    refused(|| beta(24, 24, 24, 24, 2), "one bit per element");
    let select = |q: usize, diagonal: usize| {
        let along = Some(Along { q: &[0.0; 24][..q], qi: 0.0, scale: 1.0 });
        let selection =
            PartnerSelection { diagonal: Diagonal::Each(&[1.0; 24][..diagonal]), along, kii: 1.0, fi: 0.0, tau: 1e-12 };
        second_order(&[0.0; 24], RowSlice::Values(&row), &selection, &set);
    };
    select(24, 24);
    for (q, diagonal) in [(23, 24), (24, 23)] {
        refused(|| select(q, diagonal), "rows and gradient have one length");
    }
    let go = |at: usize, p: usize| {
        let from = Between { at: &[0.0; 24][..at], least: &[-1.0; 24], most: &[1.0; 24] };
        moved(from, &mut [0.0; 24][..p], 1.0, 0.1, &mut [0.0; 24]);
    };
    go(24, 24);
    refused(|| go(23, 24), "one length");
    refused(|| go(24, 23), "one length");
    refused(|| bits::products(&[0; 3], 3, &[0; 31], &mut [0; 200], 40), "a panel of 31 words");
    refused(|| bits::products(&[0; 3], 3, &[0; 32], &mut [0; 2 * 40 + 31], 40), "room for 111 sums");
}

/// A method of a public trait can be called without the documented function.
#[test]
fn the_hidden_way_to_products_checks_lengths_too() {
    refused(|| <f32 as products::Real>::dispatch(&[0.0; 12], 12, &whole(&[0.0; 32]), &mut [0.0; 31], 32), "room for 31 products");
    refused(|| <f64 as products::Real>::dispatch(&[0.0; 2], 1, &whole(&[0.0; 16]), &mut [0.0; 16], 16), "a panel of 16 values");
}
