#!/bin/sh
# Builds the static library in src/rust/lib; runs in src. Variables of the environment:
#   MAXMARGIN_R_STATICLIB  a library that was built before (cargo xtask r)
#   CARGO_TARGET_DIR       cargo's folder; without it, and outside of the project, a temporary one
set -e
mkdir -p rust/lib
if [ -n "$MAXMARGIN_R_STATICLIB" ]; then
    cp "$MAXMARGIN_R_STATICLIB" rust/lib/libmaxmargin_r.a
    exit 0
fi
PATH="$PATH:$HOME/.cargo/bin"
if ! command -v cargo > /dev/null; then
    echo "maxmargin is written in Rust, and there is no cargo: install Rust from https://rustup.rs" >&2
    exit 1
fi
# Flags of R's own C compiler are not for cargo's.
unset CC CFLAGS CPPFLAGS LDFLAGS MAKEFLAGS MFLAGS
R_INCLUDE_DIR=$1
export R_INCLUDE_DIR
folder=${CARGO_TARGET_DIR:-rust/target}
cargo build --release --locked --lib --package maxmargin-r --manifest-path rust/Cargo.toml --target-dir "$folder"
cp "$folder/release/libmaxmargin_r.a" rust/lib/
# A package is installed from a copy: nothing of cargo's stays.
if [ -z "$CARGO_TARGET_DIR" ] && [ -d rust/crates ]; then
    rm -rf rust/target
fi
