//! Changes of an input: bytes, numbers, pieces and lines.

use crate::draws::Draws;

/// Numbers at limits where readers branch.
const INTEGERS: [u64; 14] =
    [0, 1, 2, 127, 255, 256, 65_535, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, u64::MAX];

/// Changes `input` once or a few times; `words` are pieces of the format, `others` inputs that give
/// pieces.
pub fn changed(mut input: Vec<u8>, words: &[&str], others: &[Vec<u8>], draws: &mut Draws) -> Vec<u8> {
    for _ in 0..=draws.below(4) * draws.below(3) {
        change(&mut input, words, others, draws);
    }
    input
}

fn change(input: &mut Vec<u8>, words: &[&str], others: &[Vec<u8>], draws: &mut Draws) {
    let at = draws.below(input.len() + 1);
    let length = 1 + draws.below(8);
    let end = (at + length).min(input.len());
    match draws.below(12) {
        0 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << draws.below(8);
            }
        }
        1 => {
            if let Some(byte) = input.get_mut(at) {
                *byte = draws.word() as u8;
            }
        }
        2 => drop(input.drain(at..end)),
        3 => input.truncate(at),
        4 | 5 if !words.is_empty() => drop(input.splice(at..at, draws.pick(words).bytes())),
        6 if !words.is_empty() => drop(input.splice(at..end, draws.pick(words).bytes())),
        7 => {
            let piece = input[at..end].to_vec();
            (0..=draws.below(4)).for_each(|_| drop(input.splice(at..at, piece.iter().copied())));
        }
        8 => {
            let bytes = draws.pick(&INTEGERS).wrapping_add(draws.below(3) as u64).to_le_bytes();
            let width = draws.pick(&[1, 2, 4, 8]);
            let end = (at + width).min(input.len());
            drop(input.splice(at..end, bytes[..width].iter().copied()));
        }
        9 if !others.is_empty() => {
            let other = &others[draws.below(others.len())];
            let from = draws.below(other.len() + 1);
            let to = from + draws.below(other.len() - from + 1);
            drop(input.splice(at..end, other[from..to].iter().copied()));
        }
        10 => lines(input, draws),
        _ => {
            let text = draws.pick(&INTEGERS).to_string();
            drop(input.splice(at..end.min(at + 2).max(at), text.bytes()));
        }
    }
}

/// Deletes, repeats or moves one line.
fn lines(input: &mut Vec<u8>, draws: &mut Draws) {
    let mut lines: Vec<Vec<u8>> = input.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return;
    }
    let at = draws.below(lines.len());
    let line = lines.remove(at);
    let to = draws.below(lines.len() + 1);
    match draws.below(3) {
        0 => {}
        1 => lines.insert(to, line),
        _ => {
            lines.insert(at, line.clone());
            lines.insert(to, line);
        }
    }
    *input = lines.concat();
}
