//! One comparison of a verification.

/// One comparison.
pub(super) struct Finding {
    pub(super) what: &'static str,
    /// The difference as a share of the tolerance: a value above 1 is a mismatch.
    pub(super) off: f64,
    pub(super) detail: String,
}

impl Finding {
    /// Returns true if the difference is within the tolerance. NaN is a mismatch.
    pub(super) fn passed(&self) -> bool {
        self.off <= 1.0
    }

    /// The same difference where it proves nothing.
    pub(super) fn excused(self, why: &str) -> Self {
        let detail = format!("{}; {why}", self.detail);
        Self { off: 0.0, detail, ..self }
    }
}
