//! Checks of the finished site: links between its pages, and a place for every public name of the
//! Python package.

use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::tree::normal;

/// Checks the site in this folder.
pub(super) fn site(out: &Path, names: &[String]) -> Outcome<()> {
    let mut pages = BTreeMap::new();
    read(out, "", &mut pages)?;
    let broken = broken(&pages, |file| out.join(file).is_file());
    if !broken.is_empty() {
        return fail(format!("links of the site lead nowhere:\n{}", broken.join("\n")));
    }
    let missing: Vec<&str> = missing(&pages, names);
    if !missing.is_empty() {
        return fail(format!("public names without a place in the Python reference: {}", missing.join(", ")));
    }
    println!("{} pages, {} names of the Python package", pages.len(), names.len());
    Ok(())
}

/// Reads the pages that Sphinx made, by their path. Rustdoc checks its own.
fn read(out: &Path, folder: &str, pages: &mut BTreeMap<String, String>) -> Outcome<()> {
    let here = out.join(folder);
    for entry in fs::read_dir(&here).context(here.display())? {
        let path = entry.context(here.display())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let place = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        if path.is_dir() && folder != "rust" && !name.starts_with('_') {
            read(out, &place, pages)?;
        } else if path.extension().is_some_and(|ending| ending == "html") && (folder != "rust" || name == "index.html") {
            pages.insert(place, fs::read_to_string(&path).context(path.display())?);
        }
    }
    Ok(())
}

/// Returns the names that are the place of no page of the reference.
fn missing<'a>(pages: &BTreeMap<String, String>, names: &'a [String]) -> Vec<&'a str> {
    let reference = pages.iter().filter(|(page, _)| page.starts_with("python/reference/"));
    let places: BTreeSet<&str> = reference.flat_map(|(_, text)| values(text, " id=\"")).collect();
    names.iter().map(String::as_str).filter(|name| !places.contains(name)).collect()
}

/// Links to files or places that are not there.
fn broken(pages: &BTreeMap<String, String>, is_file: impl Fn(&str) -> bool) -> Vec<String> {
    let places: BTreeMap<&str, BTreeSet<&str>> =
        pages.iter().map(|(name, text)| (name.as_str(), values(text, " id=\"").collect())).collect();
    let leads = |from: &str, link: &str| {
        let (file, place) = link.split_once('#').unwrap_or((link, ""));
        let file = file.split('?').next().unwrap_or(file);
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let file = if file.is_empty() { Some(from.to_owned()) } else { normal(&format!("{folder}/{file}")) };
        let Some(file) = file else { return false };
        match places.get(file.as_str()) {
            Some(known) => place.is_empty() || known.contains(place),
            None => is_file(&file),
        }
    };
    let away = |link: &str| link.contains("://") || link.starts_with("mailto:") || link.starts_with("data:");
    let links = pages.iter().flat_map(|(name, text)| values(text, " href=\"").map(move |link| (name, link)));
    let lost: BTreeSet<String> =
        links.filter(|(name, link)| !away(link) && !leads(name, link)).map(|(name, link)| format!("{name}: {link}")).collect();
    lost.into_iter().collect()
}

/// Returns the texts behind each opening, up to the next quote.
fn values<'a>(text: &'a str, opening: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(opening).skip(1).filter_map(|rest| rest.split('"').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_no_page_and_to_no_place_are_found() {
        let page = "<h1 id=\"top\">x</h1><a href=\"b.html#here\">1</a><a href=\"#top\">2</a><a href=\"b.html#gone\">3</a>\
                    <a href=\"../../c.md\">4</a><a href=\"https://example.org/none\">5</a><link href=\"../s.css?v=1\">";
        let pages = BTreeMap::from([
            ("x/a.html".to_owned(), page.to_owned()),
            ("x/b.html".to_owned(), "<p class=\"x\" id=\"here\">".to_owned()),
        ]);
        assert_eq!(broken(&pages, |file| file == "s.css"), ["x/a.html: ../../c.md", "x/a.html: b.html#gone"]);
    }

    #[test]
    fn a_name_without_a_place_is_found() {
        let pages = BTreeMap::from([("python/reference/m.A.html".to_owned(), "<dt class=\"sig\" id=\"m.A\">".to_owned())]);
        assert_eq!(missing(&pages, &["m.A".to_owned(), "m.B".to_owned()]), ["m.B"]);
    }
}
