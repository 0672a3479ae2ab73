//! Circles of imports between the modules of a crate.
//!
//! Modules are compared with their siblings: an import from anywhere below `a` of anything below
//! `b` is an arrow from `a` to `b`. A module and its own children may use each other. Imports of
//! tests do not count.

use super::imports::{paths, without_tests};
use std::collections::{BTreeMap, BTreeSet};

/// A path of modules from the root of the crate, which is the empty path.
type Module = Vec<String>;

/// Siblings that import each other, in a circle or in several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Circle {
    /// The path of their parent.
    pub(super) parent: String,
    /// Their names, ascending.
    pub(super) modules: Vec<String>,
}

/// The modules of a crate and what each uses.
struct Crate {
    modules: BTreeSet<Module>,
    /// What a module exports under a name of its own: `pub use path::Name`.
    exports: BTreeMap<(Module, String), Vec<String>>,
}

/// Returns the module of a file below `src`, such as `a/b.rs`.
fn module(file: &str) -> Module {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let mut path: Module = stem.split('/').map(str::to_owned).collect();
    if path.last().is_some_and(|last| ["lib", "main", "mod"].contains(&last.as_str())) {
        path.pop();
    }
    path
}

impl Crate {
    /// Returns the module to which a path leads that is written in the module `from`.
    fn resolve(&self, from: &Module, path: &[String], depth: usize) -> Option<Module> {
        let mut at = from.clone();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => (at, rest) = (Module::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {}
            first => {
                at.push(first.to_owned());
                if !self.modules.contains(&at) {
                    return None;
                }
                rest = &rest[1..];
            }
        }
        while rest.first().is_some_and(|word| word == "super") {
            at.pop()?;
            rest = &rest[1..];
        }
        for word in rest {
            at.push(word.clone());
            if !self.modules.contains(&at) {
                at.pop();
                let export = self.exports.get(&(at.clone(), word.clone())).filter(|_| depth < 8);
                return export.and_then(|target| self.resolve(&at, target, depth + 1)).or(Some(at));
            }
        }
        Some(at)
    }
}

/// Returns the circles of a crate, given its files below `src` with their code, comments and
/// literals blanked.
pub(super) fn circles(files: &[(String, String)]) -> Vec<Circle> {
    let known: Vec<(Module, String)> = files.iter().map(|(file, code)| (module(file), without_tests(code))).collect();
    let mut krate = Crate { modules: BTreeSet::new(), exports: BTreeMap::new() };
    for (path, _) in &known {
        krate.modules.extend((0..=path.len()).map(|length| path[..length].to_vec()));
    }
    for (path, code) in &known {
        for used in paths(code).into_iter().filter(|used| used.exported) {
            krate.exports.insert((path.clone(), used.name.clone()), used.path);
        }
    }
    // By parent: arrows between its children.
    let mut arrows: BTreeMap<Module, BTreeSet<(String, String)>> = BTreeMap::new();
    for (from, code) in &known {
        for used in paths(code) {
            let Some(to) = krate.resolve(from, &used.path, 0) else { continue };
            let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(a), Some(b)) = (from.get(common), to.get(common)) {
                arrows.entry(from[..common].to_vec()).or_default().insert((a.clone(), b.clone()));
            }
        }
    }
    arrows.into_iter().flat_map(|(parent, arrows)| components(&parent.join("::"), &arrows)).collect()
}

/// Returns the sets of siblings of which each reaches all others.
fn components(parent: &str, arrows: &BTreeSet<(String, String)>) -> Vec<Circle> {
    let names: Vec<&String> = arrows.iter().flat_map(|(a, b)| [a, b]).collect::<BTreeSet<_>>().into_iter().collect();
    let reach = |start: &String| {
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            let next = arrows.iter().filter(|(a, _)| a == at).map(|(_, b)| b);
            open.extend(next.filter(|b| seen.insert(b)).collect::<Vec<_>>());
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<&String>> = names.iter().map(|name| (*name, reach(name))).collect();
    let mut circles: Vec<Circle> = Vec::new();
    for name in &names {
        let same = |other: &&&String| reached[*name].contains(**other) && reached[**other].contains(*name);
        let modules: Vec<String> = names.iter().filter(same).map(|other| (*other).clone()).collect();
        if modules.len() > 1 && modules.first() == Some(*name) {
            circles.push(Circle { parent: parent.to_owned(), modules });
        }
    }
    circles
}

#[cfg(test)]
mod tests {
    use super::circles;

    fn found(files: &[(&str, &str)]) -> Vec<(String, Vec<String>)> {
        let files: Vec<_> = files.iter().map(|(file, code)| ((*file).to_owned(), (*code).to_owned())).collect();
        circles(&files).into_iter().map(|circle| (circle.parent, circle.modules)).collect()
    }

    fn circle(parent: &str, modules: &[&str]) -> (String, Vec<String>) {
        (parent.to_owned(), modules.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn siblings_that_import_each_other() {
        let lib = ("lib.rs", "mod a; mod b; mod c;");
        assert_eq!(found(&[lib, ("a.rs", "use crate::b::X;"), ("b.rs", "use super::c::{Y, Z};"), ("c.rs", "")]), []);
        let three = [lib, ("a.rs", "use crate::b::X;"), ("b.rs", "use super::c::{Y, Z};"), ("c.rs", "fn f() { crate::a::g() }")];
        assert_eq!(found(&three), [circle("", &["a", "b", "c"])]);
        let tests = "#[cfg(test)]\nmod tests { use crate::a::X; }";
        assert_eq!(found(&[lib, ("a.rs", "use crate::b::X;"), ("b.rs", tests), ("c.rs", "")]), []);
    }

    #[test]
    fn re_exports_lead_to_their_module() {
        let lib = ("lib.rs", "mod a; mod b;\npub use a::Thing;\npub use b::{Other as Renamed};");
        assert_eq!(found(&[lib, ("a.rs", "use crate::Renamed;"), ("b.rs", "use crate::Thing;")]), [circle("", &["a", "b"])]);
        assert_eq!(found(&[lib, ("a.rs", "use crate::Unknown;"), ("b.rs", "use crate::Thing;")]), []);
    }

    #[test]
    fn folders_are_siblings_and_children_may_use_their_parent() {
        let lib = ("lib.rs", "mod x { mod one; mod two; } mod y;");
        let files =
            [lib, ("x/one.rs", "use super::two::A;"), ("x/two.rs", "use crate::y::B;"), ("y.rs", "use crate::x::one::C;")];
        assert_eq!(found(&files), [circle("", &["x", "y"])]);
        assert_eq!(found(&[("lib.rs", "mod p;"), ("p.rs", "mod q; use q::A;"), ("p/q.rs", "use super::B;")]), []);
    }
}
