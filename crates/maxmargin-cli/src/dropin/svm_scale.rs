//! `svm-scale`.

use super::arguments::{Arguments, OwnOptions, atof, letter};
use super::data;
use super::exit::{Exit, print};
use crate::console::stderr::print_line;
use crate::files::input::MaxSize;
use crate::files::output::Output;
use crate::files::range_file::read_scaler;
use maxmargin::data::Dataset;
use maxmargin::data::libsvm::IndexBase;
use maxmargin::data::number::format_g;
use maxmargin::data::scale::{ScaleMethod, Scaler, TargetRange};
use std::cmp::Ordering;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;

const USAGE: &str = "Usage: svm-scale [options] data_filename
options:
-l lower             lower end of the range of features (default -1)
-u upper             upper end of the range of features (default +1)
-y y_lower y_upper   range of labels (default: labels are left alone)
-s save_filename     write the ranges to save_filename
-r restore_filename  take the ranges of restore_filename

Of maxmargin:
--threads N          threads (default: all processors)
";

#[derive(Default)]
struct ScaleRequest {
    lower: f64,
    upper: f64,
    target: Option<(f64, f64)>,
    save: Option<String>,
    restore: Option<String>,
    ours: OwnOptions,
    data: OsString,
}

fn request(words: &[OsString]) -> Result<ScaleRequest, Exit> {
    let mut request = ScaleRequest { lower: -1.0, upper: 1.0, ..ScaleRequest::default() };
    let mut ours = OwnOptions::default();
    // The second value of -y is in the position of an option.
    let mut taken: Vec<OsString> = words.to_vec();
    let is_target = |word: &OsString| word.to_string_lossy().starts_with("-y");
    if let Some(at) = taken.iter().position(is_target).filter(|at| at + 2 < taken.len()) {
        let upper = taken.remove(at + 2);
        request.target = Some((0.0, atof(&upper.to_string_lossy())));
    }
    let words = Arguments::new(&taken, USAGE);
    let files = words.options("", Some(&mut ours), |word, value| {
        match letter(word) {
            Some('l') => request.lower = atof(value),
            Some('u') => request.upper = atof(value),
            Some('y') => request.target = request.target.map(|(_, upper)| (atof(value), upper)),
            Some('s') => request.save = Some(value.to_owned()),
            Some('r') => request.restore = Some(value.to_owned()),
            _ => return Err("unknown option".to_owned()),
        }
        Ok(())
    })?;
    if request.upper.partial_cmp(&request.lower).is_none_or(Ordering::is_le) || request.target.is_some_and(|(l, u)| u <= l) {
        return Err(Exit::Error("inconsistent lower/upper specification".to_owned()));
    }
    if request.save.is_some() && request.restore.is_some() {
        return Err(Exit::Error("cannot use -r and -s simultaneously".to_owned()));
    }
    let [data] = files else { return Err(words.usage(None)) };
    Ok(ScaleRequest { data: data.clone(), ours, ..request })
}

pub(super) fn run(words: &[OsString]) -> Result<(), Exit> {
    let request = request(words)?;
    let threads = request.ours.threads()?;
    let name = request.data.to_string_lossy();
    let unopened = |path: &str| Exit::Error(format!("can't open file {path}"));
    if !Path::new(&request.data).exists() {
        return Err(unopened(&name));
    }
    let data = data::read(&request.data, IndexBase::Auto, threads.par()).map_err(unlabelled)?;
    if data.index_base == 0 {
        print_line("WARNING: minimal feature index is 0, but indices should start from 1");
    }
    let save = request.save.as_deref().map(|path| Output::open(Path::new(path)).map_err(|_| unopened(path))).transpose()?;
    let fitted = Scaler::fit(&data.samples, ScaleMethod::MinMax { lower: request.lower, upper: request.upper });
    let own = request.target.map(|(lower, upper)| target(&data.labels, lower, upper));
    let scaler = match &request.restore {
        None => fitted.with_target(own),
        Some(path) => {
            if !Path::new(path).exists() {
                return Err(unopened(path));
            }
            let restored = read_scaler(Path::new(path), data.index_base, MaxSize::usual())?;
            warn_of_unseen(&fitted, &restored, &data, &name, path);
            let target = restored.target().or(own);
            restored.with_target(target)
        }
    };
    if let Some(save) = save {
        save_ranges(&scaler, data.index_base, save)?;
    }
    let scaled = scaler.apply(&data.samples).map_err(Exit::parameter)?;
    let mut text = String::new();
    for row in 0..scaled.len() {
        let label = scaler.target().map_or(data.labels[row], |target| target.apply(data.labels[row]));
        text += &format_g(label, 17);
        text.push(' ');
        scaled.row(row).for_each(|column, value| {
            let _ = write!(text, "{}:{} ", column + data.index_base as usize, format_g(value, 6));
        });
        text.push('\n');
        if text.len() > 1 << 16 {
            print(&text)?;
            text.clear();
        }
    }
    print(&text)?;
    let (before, after) = (data.samples.non_zeros(), scaled.non_zeros());
    if after > before {
        print_line(&format!(
            "WARNING: original #nonzeros {before}\n       > new      #nonzeros {after}\n\
             If feature values are non-negative and sparse, use -l 0 rather than the default -l -1"
        ));
    }
    Ok(())
}

/// Writes the ranges as svm-scale does, which leaves index 0 out.
fn save_ranges(scaler: &Scaler, index_base: u32, save: Output) -> Result<(), Exit> {
    let text = scaler.to_range_text(index_base).map_err(Exit::parameter)?;
    if index_base == 0 {
        let place = save.name();
        print_line(&format!("WARNING: scaling factors with indices smaller than 1 are not stored to the file {place}."));
    }
    let kept = text.lines().filter(|line| index_base > 0 || !line.starts_with("0 ") || line.split(' ').count() < 3);
    let text: String = kept.flat_map(|line| [line, "\n"]).collect();
    save.write(|out| out.write_all(text.as_bytes()))?;
    Ok(())
}

/// Returns LIBSVM's message and exit code for a row without a label.
fn unlabelled(ended: Exit) -> Exit {
    match ended {
        Exit::Error(line) if line.contains("label") || line.contains("blank line") => {
            Exit::Code(format!("ERROR: failed to read labels: {line}"), 255)
        }
        other => other,
    }
}

fn target(labels: &[f64], lower: f64, upper: f64) -> TargetRange {
    let min = labels.iter().copied().fold(f64::INFINITY, f64::min);
    let max = labels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    TargetRange { lower, upper, min, max }
}

fn warn_of_unseen(fitted: &Scaler, restored: &Scaler, data: &Dataset, name: &str, path: &str) {
    for column in (0..data.samples.features()).filter(|&j| fitted.column(j).is_some() && restored.column(j).is_none()) {
        let index = column + data.index_base as usize;
        print_line(&format!(
            "WARNING: feature index {index} appeared in file {name} was not seen in the scaling factor file {path}. The feature is scaled to 0."
        ));
    }
}
