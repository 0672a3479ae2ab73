//! Values grouped by a key.

/// What has the same key, together, in the order of the first of each.
pub(crate) fn grouped<T, K: PartialEq>(all: impl IntoIterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for one in all {
        let wanted = key(&one);
        match groups.iter_mut().find(|(key, _)| *key == wanted) {
            Some((_, group)) => group.push(one),
            None => groups.push((wanted, vec![one])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}
