//! JSON whose numbers are read as they are written, so that not one bit of them is lost.

use serde_json::Value;

/// Reads `text`; every number becomes the string of its digits (`serde_json` may be off by the last
/// bit).
pub(crate) fn parse(text: &str) -> Value {
    let mut quoted = String::with_capacity(2 * text.len());
    let (mut inside, mut escaped, mut number) = (false, false, false);
    for c in text.chars() {
        let digit = !inside && (c.is_ascii_digit() || c == '-' || number && matches!(c, '.' | '+' | 'e' | 'E'));
        if digit != number {
            quoted.push('"');
            number = digit;
        }
        quoted.push(c);
        inside ^= c == '"' && !escaped;
        escaped = inside && c == '\\' && !escaped;
    }
    serde_json::from_str(&quoted).unwrap_or_else(|e| panic!("{e} in {text}"))
}

/// FNV-1a of 64 bits.
pub(crate) fn hash(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}
