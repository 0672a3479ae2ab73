//! The encoding of text: UTF-8, UTF-16 or Windows-1252.

use super::error::TableError;
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::borrow::Cow;

/// Number of bytes that are examined for UTF-16 without a byte order mark.
const BYTES: usize = 512;

/// The encoding of a table that is not in UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextEncoding {
    /// UTF-16, with or without a byte order mark.
    Utf16,
    /// Windows-1252, which includes the printable characters of Latin-1.
    Windows1252,
}

impl TextEncoding {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf16 => "UTF-16",
            Self::Windows1252 => "Windows-1252 (Latin-1)",
        }
    }
}

/// Returns the bytes as text without a byte order mark, and their encoding unless it is UTF-8.
///
/// Bytes that are not UTF-8 are Windows-1252, unless it has no such characters.
pub(super) fn decode(bytes: &[u8]) -> Result<(Cow<'_, str>, Option<TextEncoding>), TableError> {
    if let Some(encoding) = utf16(bytes) {
        let (text, has_errors) = encoding.decode_with_bom_removal(bytes);
        // A surrogate without its partner has no place in the bytes.
        return if has_errors || text.contains('\0') {
            let before = text.chars().take_while(|&c| c != '\u{fffd}' && c != '\0');
            Err(TableError::Encoding { line: 1 + before.filter(|&c| c == '\n').count() as u64 })
        } else {
            Ok((Cow::Owned(without_marks(&text).into_owned()), Some(TextEncoding::Utf16)))
        };
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let line = |at: usize| bytes[..at].split(|byte| *byte == b'\n').count() as u64;
    if let Some(zero) = bytes.iter().position(|byte| *byte == 0) {
        return Err(TableError::ZeroByte { line: line(zero) });
    }
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok((without_marks(text), None)),
        Err(error) => error,
    };
    // Words in UTF-8 before the first other byte are no coincidence.
    if !bytes[..error.valid_up_to()].is_ascii() {
        return Err(TableError::TwoEncodings { line: line(error.valid_up_to()) });
    }
    // These bytes are control characters, or have no character.
    let is_control = |byte: u8| matches!(byte, 1..=8 | 0x0E..=0x1F | 0x7F | 0x81 | 0x8D | 0x8F | 0x90 | 0x9D);
    if bytes.iter().any(|byte| is_control(*byte)) {
        return Err(TableError::Encoding { line: line(error.valid_up_to()) });
    }
    let (text, _) = WINDOWS_1252.decode_without_bom_handling(bytes);
    Ok((text, Some(TextEncoding::Windows1252)))
}

/// Removes byte order marks inside of a text, which joined files have.
pub(super) fn without_marks(text: &str) -> Cow<'_, str> {
    if text.contains('\u{feff}') { Cow::Owned(text.replace('\u{feff}', "")) } else { Cow::Borrowed(text) }
}

/// Returns the byte order of UTF-16: by its mark, or by the zeros of ASCII characters.
fn utf16(bytes: &[u8]) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return Some(encoding).filter(|encoding| *encoding == UTF_16LE || *encoding == UTF_16BE);
    }
    let pairs = bytes[..bytes.len().min(BYTES)].chunks_exact(2);
    let (all, low, high) = pairs
        .fold((0, 0, 0), |(all, low, high), pair| (all + 1, low + usize::from(pair[0] == 0), high + usize::from(pair[1] == 0)));
    let mostly = |zeros: usize, others: usize| all > 1 && others == 0 && 10 * zeros >= 9 * all;
    if mostly(high, low) {
        Some(UTF_16LE)
    } else if mostly(low, high) {
        Some(UTF_16BE)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2], mark: bool) -> Vec<u8> {
        text.encode_utf16().filter(|&unit| mark || unit != 0xFEFF).flat_map(bytes).collect()
    }

    #[test]
    fn every_encoding_gives_the_same_text() {
        let text = "größe,y\n1,0\n2,1\n";
        let latin: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).expect("Latin-1")).collect();
        assert_eq!(decode(text.as_bytes()), Ok((text.into(), None)));
        assert_eq!(decode(format!("\u{feff}{text}").as_bytes()), Ok((text.into(), None)));
        assert_eq!(decode(format!("\u{feff}{text}\u{feff}3,0\n").as_bytes()), Ok((format!("{text}3,0\n").into(), None)));
        assert_eq!(decode(&latin), Ok((text.into(), Some(TextEncoding::Windows1252))));
        for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            for mark in [true, false] {
                let encoded = utf16(&format!("\u{feff}{text}"), bytes, mark);
                assert_eq!(decode(&encoded), Ok((text.into(), Some(TextEncoding::Utf16))), "{mark}");
            }
            // Joined files.
            let joined = utf16(&format!("\u{feff}{text}\u{feff}3,0\n"), bytes, true);
            assert_eq!(decode(&joined), Ok((format!("{text}3,0\n").into(), Some(TextEncoding::Utf16))));
        }
    }

    #[test]
    fn bytes_of_no_encoding_are_refused_with_their_line() {
        assert_eq!(decode(b"a,b\n1,\x00\n"), Err(TableError::ZeroByte { line: 2 }));
        assert_eq!(decode("größe\n1\n".as_bytes()).map(|found| found.1), Ok(None));
        assert_eq!(decode(b"gr\xc3\xb6\xc3\x9fe\n1\n\xe9\n"), Err(TableError::TwoEncodings { line: 3 }));
        let refused: [(&[u8], u64); 3] = [(b"a,b\n1,\xff\x01\n", 2), (b"a\n\nb\x81", 3), (b"\xff\xfea\0\n\0\x00\xd8", 2)];
        for (bytes, line) in refused {
            assert_eq!(decode(bytes), Err(TableError::Encoding { line }), "{bytes:?}");
        }
    }
}
