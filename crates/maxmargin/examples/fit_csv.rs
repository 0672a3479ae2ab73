//! Fits a CSV file: features, then the label, in every line. `cargo run --release --example fit_csv
//! -- FILE`; a small file is made without one.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use maxmargin::data::scale::ScaleMethod;
use maxmargin::model::encode;
use maxmargin::prelude::*;
use std::error::Error;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let file = match std::env::args_os().nth(1) {
        Some(file) => PathBuf::from(file),
        None => made()?,
    };
    let data = read(&file)?;
    println!("{}: {} rows, {} features", file.display(), data.samples.len(), data.samples.features());

    let svm = Svm::rbf(0.5).scale(ScaleMethod::Standard).threads(Par::Pool);
    let plan = FoldPlan::stratified(&data.labels, 5, 1)?;
    // Each fold scaled by its training rows.
    let grid = svm.grid(&data, &plan, &Ranges::new().c(&[0.1, 1.0, 10.0, 100.0]).gamma(&[0.1, 0.5]))?;
    for cell in &grid.cells {
        let report = &cell.result;
        println!("C = {:<5} {} of {} correct", report.c.unwrap_or_default(), report.correct, report.samples_counted);
    }
    let best = grid.cells.iter().max_by_key(|cell| cell.result.correct).ok_or("nothing was tried")?;

    let fitted = best.svm.fit(&data)?;
    let place = std::env::temp_dir().join("fit_csv.model");
    std::fs::write(&place, encode(&fitted.model)?)?;
    println!("the best: {} support vectors, KKT violation {:.1e}", fitted.model.support_vectors(), fitted.certificate.kkt);
    println!("{}", place.display());
    Ok(())
}

fn read(file: &Path) -> Result<Dataset, Box<dyn Error>> {
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for (n, line) in std::fs::read_to_string(file)?.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let numbers: Result<Vec<f64>, _> = line.split(',').map(|cell| cell.trim().parse()).collect();
        let mut row = numbers.map_err(|error| format!("line {}: {error}", n + 1))?;
        labels.extend(row.pop());
        rows.push(row);
    }
    Ok(Dataset::from_rows(&rows, &labels)?)
}

fn made() -> Result<PathBuf, Box<dyn Error>> {
    let data = Generator::Banana.generate(200, None, 1)?;
    let line = |i: usize| {
        let mut cells = Vec::new();
        data.samples.row(i).for_each(|_, value| cells.push(value.to_string()));
        cells.push(data.labels[i].to_string());
        cells.join(",") + "\n"
    };
    let text: String = (0..data.labels.len()).map(line).collect();
    let place = std::env::temp_dir().join("fit_csv.csv");
    std::fs::write(&place, text)?;
    Ok(place)
}
