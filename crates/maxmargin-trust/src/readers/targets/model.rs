//! Readers of models, of cached data and of the cells of a search.

use super::{Outcome, refused};
use crate::readers::make::KEY;
use crate::readers::memory::{BASE, CELL_BASE, MODEL_BASE, PREDICTION_BASE, in_proportion};
use maxmargin::cv::Finished;
use maxmargin::data::{Par, Samples, cache as stored};
use maxmargin::model::liblinear as linear;
use maxmargin::model::libsvm::{read_model, write_model};
use maxmargin::model::{Model, decode, encode, read};

/// Reads a native model file, or another kind by its first word.
pub(super) fn native(input: &[u8]) -> Outcome {
    let by_word = read(input).is_ok();
    match in_proportion(input, MODEL_BASE, || decode(input)) {
        Err(error) => refused(&error, false),
        Ok(model) => {
            assert!(by_word, "the first word tells a native file");
            let bytes = encode(&model).expect("what was read can be written");
            let again = decode(&bytes).unwrap_or_else(|error| panic!("what was written is refused: {error}"));
            // Compare bytes: a record may contain NaN.
            assert!(encode(&again).ok() == Some(bytes), "what was written reads back otherwise");
            used(input, &model);
            Outcome::Accepted
        }
    }
}

/// Reads LIBSVM's model text.
pub(super) fn libsvm(input: &[u8]) -> Outcome {
    match in_proportion(input, MODEL_BASE, || read_model(input)) {
        // A fault of the whole model has no line.
        Err(error) => refused(&error, false),
        Ok(model) => {
            let mut text = Vec::new();
            let written = write_model(&model, &mut text);
            if let Err(error) = written {
                refused(&error, false);
            } else {
                let again = read_model(&text).unwrap_or_else(|error| panic!("what was written is refused: {error}"));
                let mut second = Vec::new();
                write_model(&again, &mut second).expect("what was written once can be written again");
                assert_eq!(
                    String::from_utf8_lossy(&second),
                    String::from_utf8_lossy(&text),
                    "what was written reads back otherwise"
                );
            }
            used(input, &model);
            Outcome::Accepted
        }
    }
}

/// Reads LIBLINEAR's model text.
pub(super) fn liblinear(input: &[u8]) -> Outcome {
    match in_proportion(input, BASE, || linear::read_model(input)) {
        // A fault of the whole model has no line.
        Err(error) => refused(&error, false),
        Ok(model) => {
            let mut text = Vec::new();
            model.write(&mut text).expect("memory takes everything");
            assert_eq!(linear::read_model(&text).ok().as_ref(), Some(&model), "what was written reads back otherwise");
            let decisions = in_proportion(input, PREDICTION_BASE, || model.decision_values(&queries(), Par::Seq));
            for row in decisions.chunks_exact(model.weights.len()) {
                let label = model.label(row);
                assert!(
                    model.labels.is_empty() || model.labels.iter().any(|known| f64::from(*known) == label),
                    "a label is a class"
                );
            }
            match in_proportion(input, MODEL_BASE, || model.to_model()) {
                Err(error) => drop(refused(&error, false)),
                Ok(ours) => used(input, &ours),
            }
            Outcome::Accepted
        }
    }
}

/// Two rows for predictions.
fn queries() -> Samples {
    Samples::from_dense(2, 3, vec![1.0, 0.0, -2.5, 0.0, 0.5, 3.0]).expect("finite values")
}

/// Checks that an accepted model predicts, or returns an error.
fn used(input: &[u8], model: &Model) {
    match in_proportion(input, PREDICTION_BASE, || model.predict(&queries(), Par::Seq)) {
        Err(error) => drop(refused(&error, false)),
        Ok(labels) => {
            let known = |label: &f64| model.classes().is_empty() || model.classes().contains(label);
            assert!(labels.iter().all(known), "a prediction is a class");
        }
    }
}

/// Reads a binary cache of a data set.
pub(super) fn cache(input: &[u8]) -> Outcome {
    match in_proportion(input, BASE, || stored::decode_dataset(input, &KEY)) {
        Err(error) => refused(&error, false),
        Ok(data) => {
            let bytes = stored::encode_dataset(&data, &KEY).expect("what was read can be written");
            let again =
                stored::decode_dataset(&bytes, &KEY).unwrap_or_else(|error| panic!("what was written is refused: {error}"));
            assert!(stored::encode_dataset(&again, &KEY).ok() == Some(bytes), "what was written reads back otherwise");
            Outcome::Accepted
        }
    }
}

/// Reads a finished cell of a search.
pub(super) fn cell(input: &[u8]) -> Outcome {
    match in_proportion(input, CELL_BASE, || Finished::decode(input, &KEY)) {
        Err(error) => refused(&error, false),
        Ok(cell) => {
            let bytes = cell.encode(&KEY).expect("what was read can be written");
            let again = Finished::decode(&bytes, &KEY).unwrap_or_else(|error| panic!("what was written is refused: {error}"));
            // Compare bytes: a cell may contain NaN.
            assert!(again.encode(&KEY).ok() == Some(bytes), "what was written reads back otherwise");
            Outcome::Accepted
        }
    }
}
