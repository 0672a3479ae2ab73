//! Tests of reading data.

use super::MaxSize;
use crate::machine::memory;

/// A packed file of one megabyte once exceeded the memory.
#[test]
fn a_file_may_take_half_of_what_is_free_unless_told() {
    let (before, usual, after) = (memory::free(), MaxSize::usual(), memory::free());
    // Other processes allocate and free memory meanwhile.
    let (least, most) = (before.min(after) / 4, before.max(after) / 4 * 3);
    assert!(usual.bytes > 0 && (least..=most).contains(&usual.bytes), "{} of {before} and {after}", usual.bytes);
    assert!(usual.bytes <= memory::whole() / 2 || memory::whole() == 0);
    for (limit, says, proposes) in [
        (usual, "half of the free memory", false),
        (MaxSize::of(None), "half of the free memory; raise --max-size", true),
        (MaxSize::of(Some(5)), "(--max-size); raise", true),
    ] {
        let words = limit.in_words();
        assert!(words.contains(says) && words.contains("raise --max-size") == proposes, "{words}");
    }
}
