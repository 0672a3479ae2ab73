//! Protocol buffers, as far as ONNX needs them: fields of a message as bytes.
//!
//! A field is its number and kind in one varint, then a varint, four bytes, or a length and bytes.
//! Field numbers are those of onnx.proto.

/// A message that is being written.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

/// The kinds of fields.
const VARINT: u64 = 0;
const BYTES: u64 = 2;
const FOUR_BYTES: u64 = 5;

impl Message {
    fn raw_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Adds a whole number. Negative numbers take ten bytes, as the format has it.
    pub(super) fn integer(mut self, field: u64, value: i64) -> Self {
        self.raw_varint(field << 3 | VARINT);
        self.raw_varint(value as u64);
        self
    }

    /// Adds a number in single precision.
    pub(super) fn float(mut self, field: u64, value: f32) -> Self {
        self.raw_varint(field << 3 | FOUR_BYTES);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Adds bytes.
    pub(super) fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.raw_varint(field << 3 | BYTES);
        self.raw_varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Adds a text.
    pub(super) fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    /// Adds a message.
    pub(super) fn message(self, field: u64, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    /// Adds one field for each value.
    pub(super) fn each<T>(self, values: impl IntoIterator<Item = T>, add: impl Fn(Self, T) -> Self) -> Self {
        values.into_iter().fold(self, add)
    }

    /// The bytes of the message.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the format's documentation.
    #[test]
    fn numbers_and_texts_have_the_documented_bytes() {
        assert_eq!(Message::default().integer(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        let text = Message::default().text(2, "testing").into_bytes();
        assert_eq!(text, [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);
        let inner = Message::default().integer(1, 150);
        assert_eq!(Message::default().message(3, &inner).into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(Message::default().integer(1, -2).into_bytes().len(), 11);
        assert_eq!(Message::default().float(2, 1.0).into_bytes(), [0x15, 0, 0, 0x80, 0x3f]);
    }
}
