//! Names in reports, which live as long as the program.

use serde::{Deserialize, Deserializer};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// A name that lives as long as the program.
pub type Name = &'static str;

/// Deserialises a name.
pub(super) fn name<'de, D: Deserializer<'de>>(from: D) -> Result<Name, D::Error> {
    String::deserialize(from).map(|name| interned(&name))
}

/// The copy of a name that lives as long as the program. There are a few dozen names.
pub(super) fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let copy: &'static str = Box::leak(name.into());
    names.insert(copy);
    copy
}
