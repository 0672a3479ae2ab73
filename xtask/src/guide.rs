//! `cargo xtask guide`: the guide as pages, by mdBook, where it is installed, and whether their
//! links lead somewhere. What the pages say is tried by tests, with or without it.

use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use maxmargin_repro::workspace::tools::{on_path, root, target_directory};
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// How to get what makes pages.
pub(crate) const INSTALL: &str = "cargo install --locked mdbook";

/// Whether there is an mdBook.
pub(crate) fn installed() -> bool {
    on_path(&format!("mdbook{}", env::consts::EXE_SUFFIX))
}

pub(crate) fn run() -> Outcome<()> {
    if !installed() {
        println!("left out: {INSTALL}");
        return Ok(());
    }
    let out = target_directory()?.join("guide");
    let mut build = Command::new("mdbook");
    build.arg("build").arg(root().join("docs/guide")).arg("--dest-dir").arg(&out);
    let output = build.output().context("cannot start mdbook")?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    eprint!("{told}");
    if !output.status.success() || told.contains("WARN") || told.contains("ERROR") {
        return fail(format!("mdbook ended with {}, and a page should give no warning", output.status));
    }
    let broken = broken(&pages(&out)?, |file| out.join(file).is_file());
    if !broken.is_empty() {
        return fail(format!("links of the guide lead nowhere:\n{}", broken.join("\n")));
    }
    println!("{}", out.join("index.html").display());
    Ok(())
}

/// The pages of the book by name; they are flat.
fn pages(out: &Path) -> Outcome<BTreeMap<String, String>> {
    let mut pages = BTreeMap::new();
    for entry in fs::read_dir(out).context(out.display())? {
        let path = entry.context(out.display())?.path();
        // The page of all pages (for printers) repeats the others.
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_some_and(|ending| ending == "html")
            && !["print.html", "toc.html", "404.html"].contains(&name.as_str())
        {
            pages.insert(name, fs::read_to_string(&path).context(path.display())?);
        }
    }
    Ok(pages)
}

/// Links within the book to files or places that are not there.
fn broken(pages: &BTreeMap<String, String>, is_file: impl Fn(&str) -> bool) -> Vec<String> {
    let places: BTreeMap<&str, BTreeSet<&str>> =
        pages.iter().map(|(name, text)| (name.as_str(), values(text, " id=\"").collect())).collect();
    let leads = |from: &str, link: &str| {
        let (file, place) = link.split_once('#').unwrap_or((link, ""));
        let file = if file.is_empty() { from } else { file };
        match places.get(file) {
            Some(known) => place.is_empty() || known.contains(place),
            None => is_file(file),
        }
    };
    let away = |link: &str| link.contains("://") || link.starts_with("mailto:");
    let links = pages.iter().flat_map(|(name, text)| values(text, " href=\"").map(move |link| (name, link)));
    let lost: BTreeSet<String> =
        links.filter(|(name, link)| !away(link) && !leads(name, link)).map(|(name, link)| format!("{name}: {link}")).collect();
    lost.into_iter().collect()
}

/// What stands behind each opening, up to the next quote.
fn values<'a>(text: &'a str, opening: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(opening).skip(1).filter_map(|rest| rest.split('"').next())
}

#[cfg(test)]
mod tests {
    use super::broken;
    use std::collections::BTreeMap;

    #[test]
    fn links_to_no_page_and_to_no_place_are_found() {
        let page = "<h1 id=\"top\">x</h1><a href=\"b.html#here\">1</a><a href=\"#top\">2</a><a href=\"b.html#gone\">3</a>\
                    <a href=\"../c.md\">4</a><a href=\"https://example.org/none\">5</a><link href=\"book.css\">";
        let pages = BTreeMap::from([
            ("a.html".to_owned(), page.to_owned()),
            ("b.html".to_owned(), "<p class=\"x\" id=\"here\">".to_owned()),
        ]);
        assert_eq!(broken(&pages, |file| file == "book.css"), ["a.html: ../c.md", "a.html: b.html#gone"]);
    }
}
