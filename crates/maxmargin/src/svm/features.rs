//! Preparation of features: scaling, missing values and feature weights.

use super::Svm;
use maxmargin_data::Impute;
use maxmargin_data::scale::ScaleMethod;

impl Svm {
    /// Scales the features. The scaler is fitted to the training samples, in a cross-validation to
    /// those of each fold. The model stores the scaler.
    #[must_use]
    pub fn scale(self, method: ScaleMethod) -> Self {
        self.with(|options| options.scale = Some(method))
    }

    /// Fills in missing values of a table ([`maxmargin_data::table`]). The values come from the
    /// training samples, in a cross-validation from those of each fold. The model stores them.
    /// Without this option, a missing value is an error.
    ///
    /// ```
    /// use maxmargin::data::table::{self, TableOptions};
    /// use maxmargin::prelude::*;
    ///
    /// let text = "height,eyes,kind\n1.2,round,cat\n0.3,slit,mouse\n,round,cat\n0.2,?,mouse\n";
    /// let options = TableOptions { missing: true, ..TableOptions::default() };
    /// let control = RunControl::unlimited();
    /// let data = table::read(text.as_bytes(), &options, &control)?.data;
    /// let fitted = Svm::rbf(1.0).c(10.0).impute(Impute::Median).fit(&data)?;
    /// let columns = data.columns.as_ref().expect("of a table");
    /// let new = b"eyes,height\nround,1.1\n";
    /// let new = table::read_like(new, columns, &TableOptions::default(), &control)?.data;
    /// let label = fitted.predict(&new.samples)?[0];
    /// assert_eq!(columns.labels()[label as usize], "cat");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn impute(self, impute: Impute) -> Self {
        self.with(|options| options.impute = Some(impute))
    }

    /// Multiplies every feature by a factor after scaling. A Gaussian kernel of width γ then has,
    /// for each feature, the width γ times the square of the factor. The model stores the factors
    /// with the scaler. They must be positive, one for each feature (in a table, one for each
    /// word).
    #[must_use]
    pub fn feature_weights(self, factors: &[f64]) -> Self {
        self.with(|options| options.feature_weights = Some(factors.into()))
    }
}
