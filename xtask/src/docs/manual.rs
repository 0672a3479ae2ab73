//! Pages of the program's commands, from the manual pages that it writes itself.

use super::pages::toctree;
use super::tree::{Tree, files_in};
use maxmargin_repro::workspace::failure::{Context, Outcome};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The page of the whole program.
const WHOLE: &str = "maxmargin";

/// Sections that are left out: the name is the page's title, and the version says how the program
/// was built.
const LEFT_OUT: [&str; 2] = ["NAME", "VERSION"];

/// Adds a page for each manual page of a folder.
pub(super) fn pages(folder: &Path, tree: &mut Tree) -> Outcome<()> {
    let mut names = Vec::new();
    for file in files_in(folder, "1")? {
        let roff = fs::read_to_string(folder.join(&file)).context(&file)?;
        let name = file.trim_end_matches(".1");
        tree.add(format!("cli/{name}.md"), page(name, &roff).context(&file)?);
        names.push(name.to_owned());
    }
    // The whole comes before its parts.
    names.sort_by_key(|name| name != WHOLE);
    tree.add_below("cli/index.md", &toctree("Manual pages", names));
    Ok(())
}

/// A page as it grows.
#[derive(Default)]
struct Page {
    text: String,
    /// Elements that are open, the innermost last.
    open: Vec<&'static str>,
    left_out: bool,
    /// The next line is the term of a definition.
    term: bool,
    /// The section keeps its lines.
    lines: bool,
}

/// Returns the page in Markdown, whose definitions are HTML. Knows the requests that the program
/// writes, and no other.
fn page(name: &str, roff: &str) -> Outcome<String> {
    let mut page = Page { text: format!("# {}\n", name.replacen('-', " ", 1)), left_out: true, ..Page::default() };
    for line in roff.lines() {
        let (request, rest) = line.split_once(' ').unwrap_or((line, ""));
        match request {
            ".ie" | ".el" | ".TH" => {}
            ".SH" => page.section(rest),
            _ if page.left_out => {}
            ".TP" => {
                page.inside("dl");
                page.term = true;
            }
            ".RS" => {}
            ".RE" => {
                let list = page.open.iter().position(|element| *element == "ul");
                page.close_to(list.unwrap_or(page.open.len()));
            }
            ".PP" => page.close_to(0),
            ".br" => page.put("<br>\n"),
            ".IP" => page.inside("ul"),
            _ if request.starts_with('.') => {
                return maxmargin_repro::workspace::failure::fail(format!("roff's request {request} is unknown"));
            }
            _ => page.line(line),
        }
    }
    page.close_to(0);
    Ok(page.text)
}

impl Page {
    fn section(&mut self, title: &str) {
        self.close_to(0);
        self.left_out = LEFT_OUT.contains(&title);
        if !self.left_out {
            let mut letters = title.chars();
            let first: String = letters.next().into_iter().collect();
            let _ = write!(self.text, "\n## {}{}\n", first, letters.as_str().to_lowercase());
        }
        self.lines = title == "EXTRA";
        self.term = false;
    }

    /// Writes a piece of HTML. Blank lines would end it.
    fn put(&mut self, html: &str) {
        if self.open.is_empty() {
            self.text.push('\n');
            self.open("p");
        }
        self.text.push_str(html);
    }

    fn open(&mut self, element: &'static str) {
        let _ = write!(self.text, "<{element}>");
        self.open.push(element);
    }

    fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth {
            let element = self.open.pop().unwrap_or_default();
            let _ = write!(self.text, "</{element}>");
            if self.open.is_empty() {
                self.text.push('\n');
            }
        }
    }

    /// Goes to the next item of a list of this kind: of `dl` on the outside, of `ul` in a
    /// definition.
    fn inside(&mut self, list: &'static str) {
        let at = self.open.iter().position(|element| *element == list);
        if let Some(at) = at {
            self.close_to(at + 1);
        } else {
            if list == "dl" {
                self.close_to(0);
                self.text.push('\n');
            }
            self.open(list);
        }
        self.open(if list == "dl" { "dt" } else { "li" });
    }

    fn line(&mut self, line: &str) {
        if line.trim().is_empty() {
            if self.lines {
                self.put("\n<br>\n");
            }
            return;
        }
        let html = html(line.trim_end());
        if self.term {
            self.term = false;
            self.text.push_str(&html);
            self.close_to(1);
            self.open("dd");
            return;
        }
        self.put(&html);
        self.text.push_str(if self.lines { "<br>\n" } else { "\n" });
    }
}

/// Returns a line of roff as HTML: bold words are code, others in the second font are emphasised.
fn html(line: &str) -> String {
    let mut out = String::new();
    let mut end = "";
    let mut rest = line;
    let escapes = [
        Escape { roff: "\\-", html: "-" },
        Escape { roff: "\\*(Aq", html: "'" },
        Escape { roff: "\\(aq", html: "'" },
        Escape { roff: "\\(bu", html: "•" },
        Escape { roff: "\\e", html: "\\" },
        Escape { roff: "\\&", html: "" },
        Escape { roff: "&", html: "&amp;" },
        Escape { roff: "<", html: "&lt;" },
        Escape { roff: ">", html: "&gt;" },
    ];
    while let Some(c) = rest.chars().next() {
        let fonts = [Font { roff: "\\fB", tag: "code" }, Font { roff: "\\fI", tag: "em" }, Font { roff: "\\fR", tag: "" }];
        if let Some(font) = fonts.iter().find(|font| rest.starts_with(font.roff)) {
            out += end;
            end = match font.tag {
                "code" => "</code>",
                "em" => "</em>",
                _ => "",
            };
            if !font.tag.is_empty() {
                let _ = write!(out, "<{}>", font.tag);
            }
            rest = &rest[font.roff.len()..];
        } else if let Some(escape) = escapes.iter().find(|escape| rest.starts_with(escape.roff)) {
            out += escape.html;
            rest = &rest[escape.roff.len()..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out + end
}

/// A sequence of roff and its HTML.
struct Escape {
    roff: &'static str,
    html: &'static str,
}

/// A change of the font, and the element that stands for it.
struct Font {
    roff: &'static str,
    tag: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_with_their_values_are_definitions() {
        let roff = ".ie \\n(.g .ds Aq \\(aq\n.TH x 1\n.SH NAME\nx \\- y\n.SH DESCRIPTION\nA\n.PP\nB\n.SH OPTIONS\n.TP\n\\fB\\-o\\fR \\fI<FILE>\\fR\nA & b\n.br\n\n\
                    .br\n\\fIPossible values:\\fR\n.RS 14\n.IP \\(bu 2\none\n.IP \\(bu 2\ntwo\n.RE\n.TP\n\\fB\\-q\\fR\nQuiet\n.SH VERSION\nv1\n";
        let text = page("maxmargin-train", roff).expect("known requests");
        let expected = "# maxmargin train\n\n## Description\n\n<p>A\n</p>\n\n<p>B\n</p>\n\n## Options\n\n<dl><dt><code>-o</code> <em>&lt;FILE&gt;</em></dt><dd>A &amp; b\n<br>\n<br>\n\
                        <em>Possible values:</em>\n<ul><li>one\n</li><li>two\n</li></ul></dd><dt><code>-q</code></dt><dd>Quiet\n</dd></dl>\n";
        assert_eq!(text, expected);
        assert!(page("x", ".SH OPTIONS\n.XX\n").is_err());
    }
}
