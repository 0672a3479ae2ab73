//! Compressed input: gzip, bzip2, xz and Zstandard, recognised by their first bytes.

use super::zstd::ZstdReader;
use std::io::{self, Read};

/// Upper bound on the working memory of the xz decoder, in KiB: the header of a corrupted file may
/// claim a dictionary of gibibytes.
const XZ_MEMORY_KIB: u32 = 1 << 20;

/// The endings of the names of compressed files.
pub const ENDINGS: [&str; 4] = [".gz", ".bz2", ".xz", ".zst"];

const GZIP: &[u8] = &[0x1F, 0x8B];
const BZIP2: &[u8] = b"BZh";
const XZ: &[u8] = &[0xFD, b'7', b'z', b'X', b'Z', 0];
const ZSTD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];

/// Reads all of `reader` and decompresses gzip (with one or more members), bzip2 and xz (with one
/// or more streams) and Zstandard (with one or more frames). The result has at most `most` bytes,
/// since a small file can decompress to any size.
///
/// # Errors
///
/// The errors of `reader`. Compressed data that are corrupted or truncated, with the format and the
/// number of decompressed bytes. [`FileTooLarge`](io::ErrorKind::FileTooLarge) when there are more
/// than `most` bytes.
pub fn read_all(mut reader: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut magic = Vec::with_capacity(XZ.len());
    reader.by_ref().take(XZ.len() as u64).read_to_end(&mut magic)?;
    let has = |prefix: &[u8]| magic.starts_with(prefix);
    let (gzip, bzip2, xz) = (has(GZIP), has(BZIP2) && magic.get(3).is_some_and(u8::is_ascii_digit), has(XZ));
    let mut all = magic.as_slice().chain(reader);
    if gzip {
        unpack("gzip", most, flate2::bufread::MultiGzDecoder::new(io::BufReader::with_capacity(1 << 16, all)))
    } else if bzip2 {
        unpack("bzip2", most, ::bzip2::bufread::MultiBzDecoder::new(io::BufReader::with_capacity(1 << 16, all)))
    } else if xz {
        let packed = io::BufReader::with_capacity(1 << 16, all);
        unpack("xz", most, lzma_rust2::XzReader::new_mem_limit(packed, true, XZ_MEMORY_KIB))
    } else if has(ZSTD) {
        unpack("zstd", most, ZstdReader::new(io::BufReader::with_capacity(1 << 16, all)))
    } else {
        let mut bytes = Vec::new();
        all.by_ref().take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most { Err(too_large(format!("there are more than {most} bytes"))) } else { Ok(bytes) }
    }
}

fn too_large(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

fn unpack(format: &str, most: u64, decoder: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match decoder.take(most.saturating_add(1)).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > most => Err(too_large(format!("{format} data unpacks to more than {most} bytes"))),
        Ok(_) => Ok(bytes),
        Err(error) => {
            let what = match error.kind() {
                io::ErrorKind::UnexpectedEof => "ends too early (the file is truncated)".to_owned(),
                _ => format!("is damaged ({error})"),
            };
            let unpacked = bytes.len();
            Err(io::Error::new(
                error.kind(),
                format!("{format} data {what} after {unpacked} unpacked bytes; fetch or pack it again"),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn text() -> Vec<u8> {
        (0..5000).flat_map(|i| format!("{} 1:{} 7:0.5\n", i % 2, i).into_bytes()).collect()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).expect("memory");
        encoder.finish().expect("memory")
    }

    fn bzip2(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ::bzip2::write::BzEncoder::new(Vec::new(), ::bzip2::Compression::fast());
        encoder.write_all(bytes).expect("memory");
        encoder.finish().expect("memory")
    }

    fn xz(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).expect("options");
        encoder.write_all(bytes).expect("memory");
        encoder.finish().expect("memory")
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn every_format_reads_back_also_in_two_parts() {
        let text = text();
        let (head, tail) = text.split_at(text.len() / 3);
        for pack in [gzip, bzip2, xz, zstd, <[u8]>::to_vec] {
            assert!(read_all(&pack(&text)[..], u64::MAX).expect("valid data") == text);
            let parts = [pack(head), pack(tail)].concat();
            assert!(read_all(&parts[..], u64::MAX).expect("valid data") == text);
        }
        assert_eq!(read_all(&b""[..], u64::MAX).expect("nothing"), b"");
        assert_eq!(read_all(&b"1"[..], u64::MAX).expect("one byte"), b"1");
    }

    /// A megabyte of gzip used to take gigabytes of memory before the limit was checked.
    #[test]
    fn no_more_is_unpacked_than_is_allowed() {
        let text = text();
        let all = text.len() as u64;
        for pack in [gzip, bzip2, xz, zstd, <[u8]>::to_vec] {
            let packed = pack(&text);
            assert!(read_all(&packed[..], all).expect("just enough") == text);
            for most in [0, 1, all / 2, all - 1] {
                let error = read_all(&packed[..], most).expect_err("too much");
                assert_eq!(error.kind(), io::ErrorKind::FileTooLarge, "{error}");
                assert!(error.to_string().contains(&format!("more than {most} bytes")), "{error}");
            }
        }
        // Decompression stops at the limit: this input has no end.
        let error = read_all(Endless { member: gzip(&vec![0; 1 << 20]), at: 0 }, 1 << 22).expect_err("endless");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge, "{error}");
    }

    /// Repeats the same bytes without end.
    struct Endless {
        member: Vec<u8>,
        at: usize,
    }

    impl Read for Endless {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let read = (&self.member[self.at..]).read(into)?;
            self.at = (self.at + read) % self.member.len();
            Ok(read)
        }
    }

    #[test]
    fn truncated_data_is_an_error_that_says_so() {
        let text = text();
        for (name, packed) in [("gzip", gzip(&text)), ("bzip2", bzip2(&text)), ("xz", xz(&text)), ("zstd", zstd(&text))] {
            for keep in [12, packed.len() / 2, packed.len() - 1] {
                let error = read_all(&packed[..keep], u64::MAX).expect_err("cut data").to_string();
                assert!(error.starts_with(name) && error.contains("truncated"), "{name} cut to {keep}: {error}");
            }
        }
    }

    #[test]
    fn damaged_data_never_panics_and_is_rarely_taken() {
        let text = text();
        for packed in [gzip(&text), bzip2(&text), xz(&text), zstd(&text)] {
            for at in (0..packed.len()).step_by(7) {
                let mut damaged = packed.clone();
                damaged[at] ^= 0x55;
                // Bytes without a checksum (such as gzip's time stamp) may change without effect,
                // and a corrupted magic number makes the input plain data. The text itself is never
                // changed.
                if let Ok(unpacked) = read_all(&damaged[..], u64::MAX) {
                    assert!(unpacked == text || unpacked == damaged, "byte {at}");
                }
            }
        }
    }
}
