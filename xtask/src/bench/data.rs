//! The file that every program of a problem reads: verified, unpacked, and cut or relabelled where the spec says so.

use super::spec::{Problem, Recipe, Settings};
use super::{fisher, folds};
use crate::datasets::{Form, Manifest, digest, find, install};
use crate::failure::{Context, Outcome, fail};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// A plain file in LIBSVM format.
#[derive(Clone)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) sha256: String,
}

/// Files prepared so far, by problem.
pub(crate) struct Inputs {
    manifest: Manifest,
    folders: Vec<PathBuf>,
    scratch: PathBuf,
    ready: BTreeMap<String, Option<Input>>,
}

impl Inputs {
    pub(crate) fn new(folders: Vec<PathBuf>, scratch: PathBuf) -> Outcome<Self> {
        Ok(Self { manifest: Manifest::load()?, folders, scratch, ready: BTreeMap::new() })
    }

    /// The problem's file; nothing when no folder has its data.
    pub(crate) fn of(&mut self, problem: &Problem) -> Outcome<Option<Input>> {
        if let Some(input) = self.ready.get(&problem.name) {
            return Ok(input.clone());
        }
        let input = self.prepare(problem)?;
        self.ready.insert(problem.name.clone(), input.clone());
        Ok(input)
    }

    /// The file of the folds that `svm-train -v` would use on this input.
    pub(crate) fn folds(&self, problem: &Problem, input: &Input, settings: &Settings) -> Outcome<PathBuf> {
        let Some(k) = settings.get("k").and_then(serde_json::Value::as_u64) else {
            return fail(format!("{}: folds need a number k", problem.name));
        };
        let target = self.scratch.join(format!("{}.k{k}.folds", problem.name.replace(' ', "-")));
        fs::create_dir_all(&self.scratch).context(self.scratch.display())?;
        folds::write(&input.path, k as usize, &target)?;
        target.canonicalize().context(target.display())
    }

    fn prepare(&self, problem: &Problem) -> Outcome<Option<Input>> {
        if let Some(recipe) = problem.recipe {
            return self.cook(problem, recipe);
        }
        let Some((path, sha256)) = self.verified(&problem.data)? else { return Ok(None) };
        if problem.first.is_none() && problem.positive.is_none() {
            return Ok(Some(Input { path, sha256 }));
        }
        let target = self.scratch.join(format!("{}.{}", problem.data, problem.name));
        let text = fs::read_to_string(&path).context(path.display())?;
        write(&target, &derive(&text, problem.first, problem.positive.as_deref()).context(path.display())?)?;
        Ok(Some(Input { sha256: digest(&target)?, path: target }))
    }

    /// A file of the manifest, plain and verified, and its hash; nothing when no folder has it.
    fn verified(&self, name: &str) -> Outcome<Option<(PathBuf, String)>> {
        let set = self.manifest.named(name)?;
        let Some(found) = find(&set.name, &self.folders) else { return Ok(None) };
        // Peers run in a folder of their own.
        let path = found.path.canonicalize().context(found.path.display())?;
        if found.form == Form::Plain {
            let sha256 = digest(&path)?;
            if sha256 != set.sha256 {
                return fail(format!("{} has sha256 {sha256}, the manifest says {}", path.display(), set.sha256));
            }
            return Ok(Some((path, sha256)));
        }
        let target = self.scratch.join(&set.name);
        if !target.is_file() || digest(&target)? != set.sha256 {
            install(set, &path, found.form, &target)?;
        }
        Ok(Some((target, set.sha256.clone())))
    }

    /// The file that a recipe makes of several files of the manifest.
    fn cook(&self, problem: &Problem, recipe: Recipe) -> Outcome<Option<Input>> {
        let text = match recipe {
            Recipe::Fisher => {
                let mut texts = [const { String::new() }; 3];
                for (text, name) in texts.iter_mut().zip(fisher::SERIES) {
                    let Some((path, _)) = self.verified(name)? else { return Ok(None) };
                    *text = fs::read_to_string(&path).context(path.display())?;
                }
                fisher::rows(&texts)?
            }
        };
        let target = self.scratch.join(format!("{}.data", problem.name.replace(' ', "-")));
        write(&target, &text)?;
        let path = target.canonicalize().context(target.display())?;
        Ok(Some(Input { sha256: digest(&path)?, path }))
    }
}

fn write(target: &Path, text: &str) -> Outcome<()> {
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).context(folder.display())?;
    fs::write(target, text).context(target.display())
}

fn derive(text: &str, first: Option<usize>, positive: Option<&[i64]>) -> Outcome<String> {
    let mut out = String::with_capacity(text.len());
    for (n, line) in text.lines().take(first.unwrap_or(usize::MAX)).enumerate() {
        let (label, features) = line.split_once(' ').unwrap_or((line, ""));
        match positive {
            None => out += line,
            Some(labels) => {
                let value: f64 = label.parse().context(format_args!("line {}: label `{label}`", n + 1))?;
                let sign = if labels.iter().any(|&l| l as f64 == value) { "+1" } else { "-1" };
                let _ = write!(out, "{sign} {features}");
            }
        }
        out.push('\n');
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::derive;

    #[test]
    fn cut_and_relabel() {
        let text = "5 1:2 3:4\n0 2:1\n1\n";
        assert_eq!(derive(text, Some(2), None).expect("cut"), "5 1:2 3:4\n0 2:1\n");
        assert_eq!(derive(text, None, Some(&[1, 5])).expect("relabel"), "+1 1:2 3:4\n-1 2:1\n+1 \n");
        assert!(derive("x 1:2\n", None, Some(&[1])).unwrap_err().to_string().contains("line 1"));
    }
}
