//! Pages of the R reference: the manual's pages of the R package, made HTML by R itself.

use super::pages::toctree;
use super::tree::{Tree, files_in};
use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use maxmargin_repro::workspace::tools::on_path;
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The manual's pages of the R package, from the workspace's root.
const MANUAL: &str = "crates/maxmargin-r/man";

/// Adds the pages, if there is the package and R.
pub(super) fn pages(root: &Path, home: &Path, tree: &mut Tree) -> Outcome<()> {
    let manual = root.join(MANUAL);
    if !manual.is_dir() {
        println!("left out, no {MANUAL}: the R reference");
        return Ok(());
    }
    if !on_path(&format!("Rscript{}", env::consts::EXE_SUFFIX)) {
        println!("left out, no R (Debian: r-base-core): the R reference");
        return Ok(());
    }
    let folder = home.join("rd");
    super::clear(&folder)?;
    let mut convert = Command::new("Rscript");
    convert.arg("--vanilla").arg(root.join(super::SITE).join("rd.R")).arg(&manual).arg(&folder);
    crate::python::succeed(&mut convert)?;
    let mut names = Vec::new();
    for file in files_in(&folder, "html")? {
        let name = file.trim_end_matches(".html").to_owned();
        let html = fs::read_to_string(folder.join(&file)).context(&file)?;
        let Some(page) = page(&name, &html) else { return fail(format!("R's page {file} has no title")) };
        tree.add(format!("r/reference/{name}.md"), page);
        names.push(format!("reference/{name}"));
    }
    tree.add_below("r/index.md", &toctree("Reference", names));
    Ok(())
}

/// Returns the page of an R help page: its title, and its sections below headings of the site.
fn page(name: &str, html: &str) -> Option<String> {
    let (_, body) = html.split_once("<h2")?;
    let (title, body) = body.split_once('>')?.1.split_once("</h2>")?;
    let body = body.split("</main>").next()?.split("</body>").next()?.trim_end().trim_end_matches("</div>");
    let mut sections = body.split("<h3");
    let mut page = format!("# {name}: {}\n", text(title));
    page += &raw(sections.next()?);
    for section in sections {
        let (heading, below) = section.split_once('>')?.1.split_once("</h3>")?;
        page.extend(["\n## ", &text(heading), "\n", &raw(below)]);
    }
    Some(page)
}

/// Returns the directive that keeps HTML as it is.
fn raw(html: &str) -> String {
    let html = html.trim();
    if html.is_empty() { String::new() } else { format!("\n````{{raw}} html\n{html}\n````\n") }
}

/// Returns HTML without tags, as the text of a heading.
fn text(html: &str) -> String {
    html.split('<')
        .enumerate()
        .filter_map(|(at, part)| if at == 0 { Some(part) } else { Some(part.split_once('>')?.1) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn sections_of_a_help_page_are_below_headings() {
        let html = "<body><main>\n<h2 id='x'>The <code>svm</code></h2>\n\n<h3>Usage</h3>\n\n<pre>svm(x)</pre>\n</main>\n</body>";
        let expected = "# svm: The svm\n\n## Usage\n\n````{raw} html\n<pre>svm(x)</pre>\n````\n";
        assert_eq!(page("svm", html).as_deref(), Some(expected));
        assert_eq!(page("svm", "<p>no title</p>"), None);
    }
}
