//! Error messages of the library for Python: rows and columns count from 0, and advice uses names
//! of the package.

use maxmargin::cv::{CvError, UpdateError, VerifyError};
use maxmargin::kernel::KernelError;
use maxmargin::model::ModelError;
use std::error::Error;

/// Returns the message of an error for users of the package.
pub(crate) fn message(error: &(dyn Error + Send + Sync + 'static)) -> String {
    if let Some(error) = of_kernel(error) {
        return kernel(error);
    }
    match error.downcast_ref::<UpdateError>() {
        Some(error) => update(error),
        None => error.to_string(),
    }
}

/// Returns the kernel error that caused an error of the library, if there is one.
fn of_kernel<'a>(error: &'a (dyn Error + Send + Sync + 'static)) -> Option<&'a KernelError> {
    let of_model = |error: &'a ModelError| match error {
        ModelError::Kernel(error) => Some(error),
        _ => None,
    };
    if let Some(error) = error.downcast_ref::<CvError>() {
        return match error {
            CvError::Kernel(error) => Some(error),
            CvError::Model(error) => of_model(error),
            _ => None,
        };
    }
    match error.downcast_ref::<VerifyError>() {
        Some(VerifyError::Kernel(error)) => Some(error),
        Some(VerifyError::Model(error)) => of_model(error),
        Some(_) => None,
        None => error.downcast_ref::<ModelError>().and_then(of_model).or_else(|| error.downcast_ref()),
    }
}

fn kernel(error: &KernelError) -> String {
    match error {
        // Column 0 of these samples is the serial number, so that columns of the caller's matrix
        // are less by 1.
        KernelError::Asymmetric { row, column, other_row, other_column, values: [a, b] } => {
            let (row, column, other_row, other_column) = (row - 1, column - 1, other_row - 1, other_column - 1);
            format!(
                "the kernel matrix has {a} in row {row}, column {column}, but {b} in row {other_row}, column {other_column} \
                 (both from 0): a kernel matrix is symmetric"
            )
        }
        KernelError::TooLarge { row, value } => format!(
            "row {} (from 0): its kernel values reach {value:e}, more than single precision holds; scale the data or lower degree \
             and gamma",
            row - 1
        ),
        KernelError::Length { row, value } => format!(
            "row {} (from 0): the sum of its squares is {value:e}, more than a linear machine can compute with; scale the data",
            row - 1
        ),
        KernelError::NotANumber { row } => {
            format!(
                "row {} (from 0): the kernel gives NaN for it; a kernel returns a finite number for every pair of rows",
                row - 1
            )
        }
        KernelError::Distances { row } => format!(
            "row {} (from 0): its squared distances from other rows may not fit in a 64-bit float; scale the data",
            row - 1
        ),
        other => other.to_string(),
    }
}

fn update(error: &UpdateError) -> String {
    match error {
        UpdateError::Problem { what } => {
            format!("the model has {what}, which add and remove cannot follow: fit on the changed data instead")
        }
        UpdateError::Folded => {
            "the model keeps its weights alone and no support vectors, so that nothing can be added or removed: \
             fit on the changed data instead"
                .to_owned()
        }
        UpdateError::NoData => "the model does not keep its training data: fit with keep_data=True".to_owned(),
        UpdateError::TwoClasses(count) => {
            format!("p_values are for two classes, and the estimator has {count}: use conformal=0.1 and predict_set")
        }
        other => other.to_string(),
    }
}
