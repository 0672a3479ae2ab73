//! The file that every program of a problem reads: verified, unpacked, and cut or relabelled where
//! the spec says so.

use super::folds;
use super::process::generate;
use crate::cells::settings::Settings;
use crate::datasets::edit::Edit;
use crate::datasets::locate::find;
use crate::datasets::manifest::Manifest;
use crate::datasets::recipes::{fisher, kdd, rest, signal, standardise};
use crate::datasets::unpack::{Form, digest, install};
use crate::specs::problem::{Problem, Recipe, Test};
use crate::workspace::failure::{Context, Outcome, fail};
use std::fs;
use std::path::{Path, PathBuf};

/// A plain file in LIBSVM format.
#[derive(Clone)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) sha256: String,
}

impl Input {
    fn of(path: PathBuf) -> Outcome<Self> {
        Ok(Self { sha256: digest(&path)?, path })
    }
}

/// Where data come from, and where the files that are made of them go.
pub(crate) struct Inputs<'a> {
    manifest: Manifest,
    folders: Vec<PathBuf>,
    scratch: PathBuf,
    /// The measured program, which has the generators.
    bench: Option<&'a Path>,
}

impl<'a> Inputs<'a> {
    pub(crate) fn new(folders: Vec<PathBuf>, scratch: PathBuf, bench: Option<&'a Path>) -> Outcome<Self> {
        Ok(Self { manifest: Manifest::load()?, folders, scratch, bench })
    }

    /// The problem's file; nothing when no folder has its data.
    pub(crate) fn of(&self, problem: &Problem) -> Outcome<Option<Input>> {
        let Some(recipe) = problem.recipe else { return self.edited(&problem.data, &problem.name, problem.edit()) };
        let Some(text) = self.cook(problem, recipe)? else { return Ok(None) };
        Input::of(self.write(&format!("{}.data", problem.name), &text)?).map(Some)
    }

    /// The file of a problem's test samples, relabelled and divided as its data; nothing when no
    /// folder has it.
    pub(crate) fn test_of(&self, problem: &Problem, test: &Test) -> Outcome<Option<PathBuf>> {
        let of = match test {
            Test::File(name) => {
                let edit = Edit { first: None, ..problem.edit() };
                return Ok(self.edited(name, &problem.name, edit)?.map(|input| input.path));
            }
            Test::Rest { of } => of,
        };
        let (Some((_, part)), Some((_, all))) = (self.text(&problem.data)?, self.text(of)?) else { return Ok(None) };
        let rest = rest::rest(&part, &all).context(&problem.data)?;
        self.write(&format!("{}.rest-of-{of}", problem.data), &rest).map(Some)
    }

    /// The file of the folds that `svm-train -v` would use on this input.
    pub(crate) fn folds(&self, problem: &Problem, input: &Input, settings: &Settings) -> Outcome<PathBuf> {
        let Some(k) = settings.get("k").and_then(serde_json::Value::as_u64) else {
            return fail(format!("{}: folds need a number k", problem.name));
        };
        let text = fs::read_to_string(&input.path).context(input.path.display())?;
        let folds = folds::lines(&text, k as usize, true).context(input.path.display())?;
        self.write(&format!("{}.k{k}.folds", problem.name), &folds)
    }

    /// A file of the manifest with an edit for a problem; nothing when no folder has it.
    fn edited(&self, name: &str, problem: &str, edit: Edit) -> Outcome<Option<Input>> {
        let Some(input) = self.verified(name)? else { return Ok(None) };
        if edit == Edit::default() {
            return Ok(Some(input));
        }
        let text = fs::read_to_string(&input.path).context(input.path.display())?;
        let text = edit.apply(&text).context(input.path.display())?;
        Input::of(self.write(&format!("{name}.{problem}"), &text)?).map(Some)
    }

    /// A file of the manifest, plain and verified; nothing when no folder has it.
    fn verified(&self, name: &str) -> Outcome<Option<Input>> {
        let set = self.manifest.named(name)?;
        let Some(found) = find(&set.name, &self.folders) else { return Ok(None) };
        if found.form != Form::Plain {
            let path = self.scratch.join(&set.name);
            if !path.is_file() || digest(&path)? != set.sha256 {
                install(set, &found.path, found.form, &path)?;
            }
            return Ok(Some(Input { path, sha256: set.sha256.clone() }));
        }
        // Peers run in a folder of their own.
        let input = Input::of(found.path.canonicalize().context(found.path.display())?)?;
        if input.sha256 != set.sha256 {
            return fail(format!("{} has sha256 {}, the manifest says {}", input.path.display(), input.sha256, set.sha256));
        }
        Ok(Some(input))
    }

    /// The path and the text of a file of the manifest.
    fn text(&self, name: &str) -> Outcome<Option<(PathBuf, String)>> {
        let Some(Input { path, .. }) = self.verified(name)? else { return Ok(None) };
        let text = fs::read_to_string(&path).context(path.display())?;
        Ok(Some((path, text)))
    }

    /// What a recipe makes of files of the manifest.
    fn cook(&self, problem: &Problem, recipe: Recipe) -> Outcome<Option<String>> {
        if recipe == Recipe::Generate {
            let (Some(bench), Some(rows)) = (self.bench, problem.first) else {
                return fail(format!("{}: generated data need a number of rows, `first`", problem.name));
            };
            return generate(bench, &problem.data, rows).map(Some);
        }
        if recipe == Recipe::Fisher {
            let mut texts = [const { String::new() }; 3];
            for (text, name) in texts.iter_mut().zip(fisher::SERIES) {
                let Some((_, found)) = self.text(name)? else { return Ok(None) };
                *text = found;
            }
            return fisher::rows(&texts).map(Some);
        }
        let Some((path, text)) = self.text(&problem.data)? else { return Ok(None) };
        let rows = match recipe {
            Recipe::Kdd => kdd::rows(&text, kdd::attack),
            Recipe::KddClasses => kdd::rows(&text, kdd::kind),
            Recipe::Signal => signal::rows(&text),
            _ => standardise::rows(&text),
        };
        rows.context(path.display()).map(Some)
    }

    /// Writes a file that all programs can read; its path holds from every folder.
    pub(crate) fn write(&self, name: &str, text: &str) -> Outcome<PathBuf> {
        fs::create_dir_all(&self.scratch).context(self.scratch.display())?;
        let target = self.scratch.join(name.replace(' ', "-"));
        fs::write(&target, text).context(target.display())?;
        target.canonicalize().context(target.display())
    }
}
