//! Other programs on the same files: how to call them and how to read what they print.

use super::record::Measured;
use super::spec::Peer;
use crate::tools::on_path;
use serde::Deserialize;

/// The known forms of output.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reads {
    /// LIBSVM's svm-train with or without `-v`: `#iter = N` of every training, `Cross Validation Accuracy = P%`.
    Libsvm,
}

impl Reads {
    pub(crate) fn read(self, output: &str) -> Measured {
        match self {
            Self::Libsvm => libsvm(output),
        }
    }
}

/// A path that holds from every folder; a bare name is left to the search path.
fn absolute(binary: &str) -> String {
    match std::path::Path::new(binary).canonicalize() {
        Ok(path) if binary.contains('/') => path.to_string_lossy().into_owned(),
        _ => binary.to_owned(),
    }
}

/// The binary for a peer: named on the command line (`PROGRAM=PATH`), or found on the search path.
pub(crate) fn binary(peer: &Peer, named: &[String]) -> Option<String> {
    let prefix = format!("{}=", peer.program);
    let given = named.iter().find_map(|entry| entry.strip_prefix(&prefix)).map(absolute);
    given.or_else(|| on_path(&peer.program).then(|| peer.program.clone()))
}

fn libsvm(output: &str) -> Measured {
    let after = |line: &str, key: &str| line.split_once(key).map(|(_, tail)| tail.trim().trim_end_matches('%').to_owned());
    let mut measured = Measured::default();
    for line in output.lines() {
        if let Some(count) = after(line, "#iter = ").and_then(|text| text.parse::<u64>().ok()) {
            measured.iterations = Some(measured.iterations.unwrap_or(0) + count);
        }
        // LIBSVM prints the minimised dual; ours is the maximised one.
        if let Some(text) = line.strip_prefix("obj = ").and_then(|tail| tail.split(',').next()) {
            measured.objective = text.parse::<f64>().ok().map(|value| measured.objective.unwrap_or(0.0) - value);
        }
        if let Some(percent) = after(line, "Cross Validation Accuracy = ").and_then(|text| text.parse().ok()) {
            measured.accuracy = Some(percent);
        }
    }
    measured
}

#[cfg(test)]
mod tests {
    use super::Reads;

    #[test]
    fn libsvm_cross_validation() {
        let output = "*\noptimization finished, #iter = 134\nnu = 0.45\nobj = -68.5, rho = 0.29\nnSV = 95, nBSV = 67\n\
                      *.*\noptimization finished, #iter = 137\nnu = 0.46\nobj = -71.25, rho = 0.19\nCross Validation Accuracy = 83.7037%\n";
        let measured = Reads::Libsvm.read(output);
        assert_eq!(measured.iterations, Some(271));
        assert_eq!(measured.objective, Some(139.75));
        assert_eq!(measured.accuracy, Some(83.7037));
        assert_eq!(Reads::Libsvm.read("nothing").iterations, None);
    }
}
