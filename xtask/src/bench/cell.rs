//! Cells: one measurement each, made from a spec.

use super::spec::{Settings, Spec, Table, plain};

/// One measurement to make.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) table: u32,
    pub(crate) problem: String,
    /// The varied settings as text, such as `folds=contiguous k=10`.
    pub(crate) vary: String,
    pub(crate) variant: String,
    /// What the measured program is told, apart from the data.
    pub(crate) settings: Settings,
}

impl Cell {
    /// How a person sees the cell named.
    pub(crate) fn name(&self) -> String {
        format!("table {} {} {} {}", self.table, self.problem, self.vary, self.variant)
    }
}

/// Which problems a run covers.
#[derive(Clone, Copy)]
pub(crate) struct Extent<'a> {
    pub(crate) quick: bool,
    pub(crate) full: bool,
    pub(crate) only: &'a [String],
}

/// Every cell of a table, problem by problem.
pub(crate) fn cells(spec: &Spec, table: &Table, extent: Extent) -> Vec<Cell> {
    let chosen = |problem: &super::spec::Problem| {
        if extent.only.is_empty() {
            (!extent.quick || problem.quick) && (!problem.slow || extent.full)
        } else {
            extent.only.iter().any(|name| name.eq_ignore_ascii_case(&problem.name))
        }
    };
    let quick_vary = table.quick_vary.as_ref().filter(|_| extent.quick);
    let mut cells = Vec::new();
    for name in &table.problems {
        let Some(problem) = spec.problems.iter().find(|problem| problem.name == *name && chosen(problem)) else { continue };
        for vary in quick_vary.unwrap_or(&table.vary) {
            for variant in table.variants.iter().filter(|variant| variant.is_for(name)) {
                let mut settings = Settings::new();
                for layer in [&spec.set, &table.set, &problem.set, vary, &variant.set] {
                    settings.extend(layer.clone());
                }
                if extent.full {
                    settings.extend(spec.full.clone());
                }
                let label = label(vary);
                cells.push(Cell {
                    table: table.number,
                    problem: name.clone(),
                    vary: label,
                    variant: variant.name.clone(),
                    settings,
                });
            }
        }
    }
    cells
}

/// Settings as text, sorted by name.
pub(crate) fn label(settings: &Settings) -> String {
    let parts: Vec<String> = settings.iter().map(|(key, value)| format!("{key}={}", plain(value))).collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Extent, cells};
    use crate::bench::spec::Spec;
    use serde_json::json;

    const SPEC: &str = r#"
        title = "Test"
        set = { job = "cv", tol = 0.001 }
        [[problem]]
        name = "A"
        data = "heart"
        quick = true
        set = { c = 1, gamma = 0.5 }
        [[problem]]
        name = "B"
        data = "mnist"
        slow = true
        set = { tol = 0.1 }
        [[table]]
        number = 1
        title = "T"
        paper = "p.csv"
        problems = ["A", "B"]
        vary = [{ k = 3 }, { k = 10 }]
        quick_vary = [{ k = 3 }]
        variant = [{ name = "cold", set = { seeding = "cold" } }, { name = "sir", set = { seeding = "sir" } }]
    "#;

    fn names(quick: bool, full: bool, only: &[String]) -> Vec<String> {
        let spec = Spec::parse(SPEC).expect("spec");
        cells(&spec, &spec.tables[0], Extent { quick, full, only }).iter().map(super::Cell::name).collect()
    }

    #[test]
    fn expansion() {
        assert_eq!(names(true, false, &[]), ["table 1 A k=3 cold", "table 1 A k=3 sir"]);
        assert_eq!(names(false, false, &[]).len(), 4);
        assert_eq!(names(false, true, &[]).len(), 8);
        assert_eq!(names(false, false, &["b".into()]).len(), 4);
    }

    #[test]
    fn inner_settings_win() {
        let spec = Spec::parse(SPEC).expect("spec");
        let all = cells(&spec, &spec.tables[0], Extent { quick: false, full: true, only: &[] });
        let expected = json!({"job": "cv", "tol": 0.1, "k": 10, "seeding": "sir"});
        assert_eq!(serde_json::Value::Object(all[7].settings.clone()), expected);
    }

    #[test]
    fn unknown_names_are_refused() {
        let broken = SPEC.replace(r#"["A", "B"]"#, r#"["A", "X"]"#);
        assert!(Spec::parse(&broken).err().expect("refused").to_string().contains("`X`"));
        assert!(Spec::parse(&SPEC.replace("slow =", "slwo =")).is_err());
    }
}
