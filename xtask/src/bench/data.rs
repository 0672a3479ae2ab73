//! The file that every program of a problem reads: verified, unpacked, and cut or relabelled where the spec says so.

use super::folds;
use super::spec::{Problem, Recipe, Settings, Test};
use crate::datasets::{Edit, Form, Manifest, derive, digest, find, fisher, install, kdd, standardise};
use crate::failure::{Context, Outcome, fail};
use std::collections::BTreeMap;
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
    /// The measured program, which has the generators.
    bench: Option<PathBuf>,
}

impl Inputs {
    pub(crate) fn new(folders: Vec<PathBuf>, scratch: PathBuf) -> Outcome<Self> {
        Ok(Self { manifest: Manifest::load()?, folders, scratch, ready: BTreeMap::new(), bench: None })
    }

    /// The same with the program that writes generated data.
    pub(crate) fn with_generators(self, bench: PathBuf) -> Self {
        Self { bench: Some(bench), ..self }
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

    /// The file of a problem's test samples, relabelled and divided as its data; nothing when no folder has it.
    pub(crate) fn test_of(&self, problem: &Problem, test: &Test) -> Outcome<Option<PathBuf>> {
        let of = match test {
            Test::File(name) => {
                let Some((path, _)) = self.verified(name)? else { return Ok(None) };
                let edit = Edit { first: None, positive: problem.positive.as_deref(), divide: problem.divide };
                if edit == Edit::default() {
                    return Ok(Some(path));
                }
                let target = self.scratch.join(format!("{name}.{}", problem.name.replace(' ', "-")));
                let text = fs::read_to_string(&path).context(path.display())?;
                write(&target, &edit.apply(&text).context(path.display())?)?;
                return Ok(Some(target.canonicalize().context(target.display())?));
            }
            Test::Rest { of } => of,
        };
        let (Some((part, _)), Some((all, _))) = (self.verified(&problem.data)?, self.verified(of)?) else { return Ok(None) };
        let read = |path: &Path| fs::read_to_string(path).context(path.display());
        let target = self.scratch.join(format!("{}.rest-of-{of}", problem.data));
        write(&target, &derive::rest(&read(&part)?, &read(&all)?).context(part.display())?)?;
        Ok(Some(target.canonicalize().context(target.display())?))
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
        let edit = Edit { first: problem.first, positive: problem.positive.as_deref(), divide: problem.divide };
        if edit == Edit::default() {
            return Ok(Some(Input { path, sha256 }));
        }
        let target = self.scratch.join(format!("{}.{}", problem.data, problem.name.replace(' ', "-")));
        let text = fs::read_to_string(&path).context(path.display())?;
        write(&target, &edit.apply(&text).context(path.display())?)?;
        let path = target.canonicalize().context(target.display())?;
        Ok(Some(Input { sha256: digest(&path)?, path }))
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
            Recipe::Standardise => {
                let Some((path, _)) = self.verified(&problem.data)? else { return Ok(None) };
                standardise::rows(&fs::read_to_string(&path).context(path.display())?).context(path.display())?
            }
            Recipe::Generate => {
                let (Some(bench), Some(rows)) = (&self.bench, problem.first) else {
                    return fail(format!("{}: generated data need a number of rows, `first`", problem.name));
                };
                super::run::generate(bench, &problem.data, rows)?
            }
            Recipe::Fisher => {
                let mut texts = [const { String::new() }; 3];
                for (text, name) in texts.iter_mut().zip(fisher::SERIES) {
                    let Some((path, _)) = self.verified(name)? else { return Ok(None) };
                    *text = fs::read_to_string(&path).context(path.display())?;
                }
                fisher::rows(&texts)?
            }
            Recipe::Kdd | Recipe::KddClasses => {
                let Some((path, _)) = self.verified(&problem.data)? else { return Ok(None) };
                let label = if recipe == Recipe::Kdd { kdd::attack } else { kdd::kind };
                kdd::rows(&fs::read_to_string(&path).context(path.display())?, label).context(path.display())?
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
