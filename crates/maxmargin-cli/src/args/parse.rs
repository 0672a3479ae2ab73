//! Parsing of the command line: other spellings, advice for the options of other programs, and the
//! help that fits a screen.

use super::Cli;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Command, CommandFactory, FromArgMatches};
use std::ffi::{OsStr, OsString};

/// The arguments that `-h` shows of the commands that have the most, in a line each; `--help` shows
/// all.
const SHORT: [(&str, &[(&str, &str)]); 2] = [
    (
        "train",
        &[
            ("source", "LIBSVM file, table (CSV), - or a generator"),
            ("c", "Cost of margin violations"),
            ("kernel", "linear, rbf, poly, sigmoid"),
            ("gamma", "Width: a number, auto, scale"),
            ("scale", "Scale the features: minmax or standard"),
            ("weight", "Factor of C for a class, or balanced"),
            ("probability", "Add probabilities: platt or isotonic"),
            ("output", "File for the model"),
        ],
    ),
    (
        "grid",
        &[
            ("source", "LIBSVM file, table (CSV), - or a generator"),
            ("k", "Number of folds (also --folds K)"),
            ("kernel", "Kernels, comma-separated"),
            ("c", "A list, or FROM:TO:FACTOR"),
            ("gamma", "A list, or FROM:TO:FACTOR"),
            ("scale", "Scale the features: minmax or standard"),
            ("output", "Train the best and write the model"),
            ("report", "Write a page with pictures"),
        ],
    ),
];

/// Options that only comparisons of algorithms need, which `-h` leaves out of every command.
const RESEARCH: [&str; 10] =
    ["equal_rows", "no_shrinking", "seeding", "solver", "loss", "bias", "max_machines", "write_folds", "fold_gap", "window"];

/// Parameters of scikit-learn, and our options.
const SCIKIT_LEARN: [(&str, &str); 8] = [
    ("class-weight", "--weight LABEL=W, or --weight balanced"),
    ("tol", "--eps"),
    ("n-jobs", "--threads"),
    ("cache-size", "--memory SIZE, such as 4G"),
    ("random-state", "--seed"),
    ("cv", "-k, or --folds"),
    ("decision-function-shape", "--classes"),
    ("verbose", "shown on standard error as it is; --quiet hides it"),
];

/// The answer to the option `columns` of `predict`, which has one for each kind of columns.
const COLUMNS: &str = "columns are --decision, --probability, --intervals or --sets, and --id NAME for those of the table";

/// Options of LIBSVM's svm-train, and ours.
const LIBSVM: [(&str, &str); 10] = [
    ("-s", "--formulation NAME"),
    ("-t", "--kernel NAME"),
    ("-v", "the command cv with -k N"),
    ("-b", "--probability platt"),
    ("-e", "--eps"),
    ("-n", "--nu"),
    ("-p", "--epsilon"),
    ("-m", "--memory SIZE, such as 4G"),
    ("-w", "--weight LABEL=W"),
    ("-B", "--bias"),
];

/// Parses the words of the command line, and ends the program where they ask for help or are wrong.
pub(crate) fn parse() -> Cli {
    parse_from(std::env::args_os().collect()).unwrap_or_else(|error| error.exit())
}

fn parse_from(words: Vec<OsString>) -> Result<Cli, Error> {
    let words = with_counts_of_folds(words);
    let is_short = words.iter().take_while(|word| *word != "--").any(|word| word == "-h");
    let command = if is_short { short(Cli::command()) } else { Cli::command() };
    let matches = command.try_get_matches_from(&words);
    matches.and_then(|matches| Cli::from_arg_matches(&matches)).map_err(|error| advised(error, &words))
}

/// Turns `--folds 5` and `--folds=5` into `-k 5`: a number is a count, and everything else the kind
/// of the folds, or their file.
fn with_counts_of_folds(words: Vec<OsString>) -> Vec<OsString> {
    let is_count = |word: &OsStr| word.to_str().is_some_and(|word| word.parse::<u64>().is_ok());
    let mut found: Vec<OsString> = Vec::with_capacity(words.len());
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let joined = word.to_str().and_then(|word| word.strip_prefix("--folds=")).map(OsString::from);
        if word == "--" {
            found.push(word);
            break;
        } else if word == "--folds" && words.peek().is_some_and(|next| is_count(next)) {
            found.push("-k".into());
        } else if let Some(count) = joined.filter(|count| is_count(count)) {
            found.extend(["-k".into(), count]);
        } else {
            found.push(word);
        }
    }
    found.extend(words);
    found
}

/// Leaves out of the help what few need, and of the longest commands what does not fit a screen.
fn short(command: Command) -> Command {
    command.mut_subcommands(|command| {
        let shown = SHORT.iter().find(|(name, _)| *name == command.get_name()).map(|(_, shown)| *shown);
        command.mut_args(|arg| {
            let id = arg.get_id().as_str();
            let Some(shown) = shown else {
                let is_hidden = arg.is_hide_set() || RESEARCH.contains(&id);
                return arg.hide(is_hidden);
            };
            match shown.iter().find(|(name, _)| *name == id) {
                Some((_, help)) => arg.help(*help).help_heading(None::<&str>).hide_possible_values(true),
                None => arg.hide(true),
            }
        })
    })
}

/// Adds advice to the error for an option of another program, or a name that we do not have.
fn advised(mut error: Error, words: &[OsString]) -> Error {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else { return error };
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    // Ours has no value, so that the parser complains of LIBSVM's.
    let is_count_of_folds = words.windows(2).any(|pair| pair[0] == "-v" && pair[1] == unknown.as_str());
    let unknown = if is_count_of_folds { "-v" } else { unknown.as_str() };
    let of = |known: &[(&str, &'static str)], word: &str| known.iter().find(|(name, _)| *name == word).map(|(_, ours)| *ours);
    let tip = match (of(&SCIKIT_LEARN, unknown.trim_start_matches('-')), of(&LIBSVM, unknown)) {
        _ if unknown.strip_prefix("--") == Some("columns") => COLUMNS.to_owned(),
        (Some(ours), _) if unknown == "--verbose" => format!("progress is {ours}"),
        (Some(ours), _) => format!("scikit-learn's option is here {ours}"),
        (None, Some(ours)) => format!("LIBSVM's {unknown} is here {ours}; `maxmargin svm-train` takes its options as they are"),
        (None, None) => {
            // No value begins with two dashes.
            if unknown.starts_with("--") {
                error.remove(ContextKind::Suggested);
            }
            return error;
        }
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_folds_is_a_count() {
        let of = |line: &str| with_counts_of_folds(line.split(' ').map(OsString::from).collect());
        let same = |line: &str| of(line) == line.split(' ').collect::<Vec<_>>();
        assert_eq!(of("cv a --folds 5 -q"), ["cv", "a", "-k", "5", "-q"]);
        assert_eq!(of("cv --folds=5 a"), ["cv", "-k", "5", "a"]);
        assert!(same("cv a --folds shuffled -k 3") && same("cv a --folds ./5") && same("cv -- --folds 5"));
    }

    #[test]
    fn every_name_of_an_option_exists() {
        let command = Cli::command();
        let ids = |name: &str| {
            let command = command.find_subcommand(name).expect("a command");
            command.get_arguments().map(|arg| arg.get_id().to_string()).collect::<Vec<_>>()
        };
        for (name, shown) in SHORT {
            assert!(shown.iter().all(|(id, _)| ids(name).contains(&(*id).to_owned())), "{name}: {:?}", ids(name));
        }
        assert!(RESEARCH.iter().all(|id| ids("cv").contains(&(*id).to_owned())), "{:?}", ids("cv"));
    }
}
