//! Every packed form installs; a wrong length, a wrong hash or a broken archive leaves nothing
//! behind.

use super::{Form, digest, install};
use crate::datasets::locate::find;
use crate::datasets::manifest::ManifestEntry;
use std::fs;
use std::io::Write;
use std::path::Path;

const TEXT: &[u8] = b"+1 1:0.5 3:2\n-1 2:1\n";

fn sample(folder: &Path) -> ManifestEntry {
    fs::write(folder.join("plain"), TEXT).expect("write");
    let sha256 = digest(&folder.join("plain")).expect("digest");
    ManifestEntry {
        name: "tiny".into(),
        rows: 2,
        features: 3,
        classes: 2,
        bytes: TEXT.len() as u64,
        sha256,
        address: None,
        note: Some("made for a test".into()),
    }
}

fn packed(form: Form, content: &[u8]) -> Vec<u8> {
    match form {
        Form::Plain => content.to_vec(),
        Form::Xz => {
            let mut writer = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(6)).expect("xz");
            writer.write_all(content).expect("xz");
            writer.finish().expect("xz")
        }
        Form::Bzip2 => {
            let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
            writer.write_all(content).expect("bz2");
            writer.finish().expect("bz2")
        }
        Form::Gzip => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            writer.write_all(content).expect("gz");
            writer.finish().expect("gz")
        }
    }
}

#[test]
fn known_hash() {
    let folder = tempfile::tempdir().expect("folder");
    fs::write(folder.path().join("abc"), "abc").expect("write");
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(digest(&folder.path().join("abc")).expect("digest"), expected);
}

#[test]
fn every_form_installs() {
    for form in Form::ALL {
        let folder = tempfile::tempdir().expect("folder");
        let set = sample(folder.path());
        fs::write(folder.path().join(form.name("tiny")), packed(form, TEXT)).expect("write");
        let found = find("tiny", &[folder.path().to_path_buf()]).expect("found");
        assert_eq!(found.form, form);
        assert_eq!(Form::of(&form.name("tiny")), form);
        let target = folder.path().join("new/folder/tiny");
        install(&set, &found.path, found.form, &target).expect("install");
        assert_eq!(fs::read(target).expect("read"), TEXT);
    }
}

#[test]
fn other_content_is_refused() {
    let cases: [(&[u8], &str); 3] =
        [(b"+1 1:0.5 3:2\n-1 2:2\n", "sha256"), (b"+1 1:0.5", "fewer"), (b"+1 1:0.5 3:2\n-1 2:1\n+1 1:1\n", "more")];
    for form in Form::ALL {
        for (content, word) in cases {
            let folder = tempfile::tempdir().expect("folder");
            let set = sample(folder.path());
            let source = folder.path().join("source");
            fs::write(&source, packed(form, content)).expect("write");
            let target = folder.path().join("out/tiny");
            let message = install(&set, &source, form, &target).expect_err("refused").to_string();
            assert!(message.contains(word) && message.contains("made for a test"), "{message}");
            assert_eq!(fs::read_dir(folder.path().join("out")).expect("folder").count(), 0, "nothing half-written");
        }
    }
}

#[test]
fn broken_archives_are_refused() {
    for form in [Form::Xz, Form::Bzip2, Form::Gzip] {
        let folder = tempfile::tempdir().expect("folder");
        let set = sample(folder.path());
        let source = folder.path().join("source");
        let whole = packed(form, TEXT);
        fs::write(&source, &whole[..whole.len() - 5]).expect("write");
        let target = folder.path().join("out/tiny");
        assert!(install(&set, &source, form, &target).is_err(), "{form:?} cut short");
        assert!(!target.exists());
    }
}
