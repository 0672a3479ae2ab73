//! Products of a group of rows with a panel: the same loops for every level, over vectors of its
//! width.

/// Defines the products in one real type. `parts` pieces of two vectors are a panel; the sums of at
/// most as many rows as the last of `rows` fit in the registers beside a piece.
macro_rules! products {
    (
        $name:ident, $block:ident, $real:ty, $features:literal, $lanes:literal, $parts:literal, [$($row:literal)*] $most:literal,
        $zero:ident, $load:ident, $store:ident, $splat:ident, $fma:ident, $add:ident
    ) => {
        /// See [`super::products`].
        ///
        /// # Safety
        ///
        /// Requires the instructions of the level; `1 ≤ count ≤ 12`; `rows` holds `depth × count`
        /// elements, `panel` `PANEL` values of each of its features, which are below `depth`; `out`
        /// at least `(count − 1) × stride + PANEL`.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $name(rows: &[$real], count: usize, panel: &PanelColumns<$real>, out: &mut [$real], stride: usize) {
            for first in (0..count).step_by($most) {
                for part in 0..$parts {
                    // SAFETY: the caller's promises; rows `first …` exist, and so does each part of
                    // the panel.
                    unsafe {
                        let out = out.as_mut_ptr().add(first * stride + part * 2 * $lanes);
                        match count - first {
                            $($row => $block::<$row>(rows, count, first, panel, part, out, stride),)*
                            _ => $block::<$most>(rows, count, first, panel, part, out, stride),
                        }
                    }
                }
            }
        }

        /// Multiplies rows `first … first + R − 1` with a part of a panel.
        ///
        /// # Safety
        ///
        /// As above; `out` points at the product of row `first` and the first sample of the part.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn $block<const R: usize>(
            rows: &[$real],
            count: usize,
            first: usize,
            panel: &PanelColumns<$real>,
            part: usize,
            out: *mut $real,
            stride: usize,
        ) {
            let depth = rows.len() / count;
            let list = panel.features.map(Features::list);
            let (mut done, mut limit) = (0, PIECE);
            loop {
                let end = panel.piece_end(done, limit, depth);
                let mut low = [$zero(); R];
                let mut high = [$zero(); R];
                for at in done..end {
                    // SAFETY: `rows` has the feature k < depth, `panel` all parts of its feature
                    // `at`.
                    unsafe {
                        let k = list.map_or(at, |list| *list.get_unchecked(at) as usize);
                        let row = rows.as_ptr().add(k * count + first);
                        let column = panel.values.as_ptr().add(($parts * at + part) * 2 * $lanes);
                        let (one, two) = ($load(column), $load(column.add($lanes)));
                        for r in 0..R {
                            let x = $splat(*row.add(r));
                            low[r] = $fma(x, one, low[r]);
                            high[r] = $fma(x, two, high[r]);
                        }
                    }
                }
                for r in 0..R {
                    // SAFETY: the caller's `out` has room for `R` rows of a part, `stride` apart.
                    unsafe {
                        let to = out.add(r * stride);
                        let (mut one, mut two) = (low[r], high[r]);
                        if limit > PIECE {
                            one = $add($load(to), one);
                            two = $add($load(to.add($lanes)), two);
                        }
                        $store(to, one);
                        $store(to.add($lanes), two);
                    }
                }
                if limit >= depth {
                    break;
                }
                (done, limit) = (end, limit + PIECE);
            }
        }
    };
}

pub(super) use products;
