//! Plain functions that are compiled once for each level.

/// Calls a plain, always inlined function, compiled with the instructions of the level in use:
/// `at_level!(plain [generics] [arguments of these] (argument: type, …) -> result)`. The bits do
/// not depend on the level, because the compiler does not change the order of sums.
macro_rules! at_level {
    ($plain:ident [$($generics:tt)*] [$($of:tt)*] ($($arg:ident: $ty:ty),*) -> $ret:ty) => {{
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
        fn avx512<$($generics)*>($($arg: $ty),*) -> $ret {
            $plain::<$($of)*>($($arg),*)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn avx2<$($generics)*>($($arg: $ty),*) -> $ret {
            $plain::<$($of)*>($($arg),*)
        }

        match $crate::dispatch::level::level() {
            // SAFETY: `level` found these instructions on this machine.
            #[cfg(target_arch = "x86_64")]
            $crate::dispatch::level::Level::Avx512 => unsafe { avx512::<$($of)*>($($arg),*) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            $crate::dispatch::level::Level::Avx2 => unsafe { avx2::<$($of)*>($($arg),*) },
            _ => $plain::<$($of)*>($($arg),*),
        }
    }};
}

pub(crate) use at_level;
