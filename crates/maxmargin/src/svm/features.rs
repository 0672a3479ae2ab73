//! What is done to features before a kernel sees them.

use super::Svm;
use maxmargin_data::Impute;
use maxmargin_data::scale::Method;

impl Svm {
    /// Scales the features by what the training samples show: in a cross-validation those of each
    /// fold. The model keeps the scaler.
    #[must_use]
    pub fn scale(self, method: Method) -> Self {
        Self { scale: Some(method), ..self }
    }

    /// Fills in missing values of a table ([`maxmargin_data::table`]) by what the training samples
    /// show: in a cross-validation those of each fold. The model keeps what it fills in. Without it
    /// a missing value is an error.
    ///
    /// ```
    /// use maxmargin::data::table::{self, TableOptions};
    /// use maxmargin::prelude::*;
    ///
    /// let text = "height,eyes,kind\n1.2,round,cat\n0.3,slit,mouse\n,round,cat\n0.2,?,mouse\n";
    /// let data = table::read(text.as_bytes(), &TableOptions { missing: true, ..TableOptions::default() })?.data;
    /// let fitted = Svm::rbf(1.0).c(10.0).impute(Impute::Median).fit(&data)?;
    /// let columns = data.columns.as_ref().expect("of a table");
    /// let new = table::read_like(b"eyes,height\nround,1.1\n", columns, &TableOptions::default())?.data;
    /// let label = fitted.predict(&new.samples)?[0];
    /// assert_eq!(columns.labels()[label as usize], "cat");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn impute(self, way: Impute) -> Self {
        Self { impute: Some(way), ..self }
    }

    /// Multiplies every feature that the kernel sees by a factor, behind the scaling: a Gaussian
    /// kernel of width γ has width γ times the square for each. The model keeps them with the
    /// scaler. They must be positive, one for each feature (of a table one for each word).
    #[must_use]
    pub fn feature_weights(self, factors: &[f64]) -> Self {
        Self { feature_weights: Some(factors.into()), ..self }
    }
}
