//! The cells of a table, as far as a run covers them.

use super::problem::Problem;
use super::spec::Spec;
use super::table::Table;
use crate::cells::cell::Cell;
use crate::cells::settings::{Settings, label};
use crate::workspace::failure::{Outcome, fail};

/// The cells that a run covers, by the names that a report shows. An empty list covers all.
#[derive(Clone, Copy, Default)]
pub(crate) struct Extent<'a> {
    pub(crate) quick: bool,
    pub(crate) full: bool,
    pub(crate) only: &'a [String],
    pub(crate) setting: &'a [String],
    pub(crate) variant: &'a [String],
}

fn among(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

impl Extent<'_> {
    fn has_problem(&self, problem: &Problem) -> bool {
        match self.only {
            [] => (!self.quick || problem.quick) && (!problem.slow || self.full),
            named => among(named, &problem.name),
        }
    }

    /// Returns whether its names are those of a cell.
    pub(crate) fn names(&self, cell: &Cell) -> bool {
        let named = |names: &[String], name: &str| names.is_empty() || among(names, name);
        named(self.only, &cell.problem) && named(self.setting, &cell.shown) && named(self.variant, &cell.variant)
    }

    /// Returns the settings of `vary` that are covered.
    fn settings<'t>(&self, table: &'t Table) -> Vec<&'t Settings> {
        let all = table.quick_vary.as_ref().filter(|_| self.quick && self.setting.is_empty()).unwrap_or(&table.vary);
        all.iter().filter(|vary| self.setting.is_empty() || among(self.setting, &table.shown(vary))).collect()
    }

    /// Checks that every name is one of some table.
    pub(crate) fn check(&self, tables: &[&Table]) -> Outcome<()> {
        let problems = tables.iter().flat_map(|table| table.problems.clone()).collect();
        let settings = tables.iter().flat_map(|table| table.vary.iter().map(|vary| table.shown(vary))).collect();
        let variants = tables.iter().flat_map(|table| table.variants.iter().map(|variant| variant.name.clone())).collect();
        known("--only", self.only, problems)?;
        known("--setting", self.setting, settings)?;
        known("--variant", self.variant, variants)
    }
}

fn known(option: &str, names: &[String], mut all: Vec<String>) -> Outcome<()> {
    all.retain(|name| !name.is_empty());
    all.sort();
    all.dedup();
    match names.iter().find(|name| !among(&all, name)) {
        Some(name) => fail(format!("{option}: nothing is called `{name}`; there is:\n  {}", all.join("\n  "))),
        None => Ok(()),
    }
}

/// Returns every cell of a table, problem by problem.
pub(crate) fn cells(spec: &Spec, table: &Table, extent: Extent) -> Vec<Cell> {
    let mut cells = Vec::new();
    for name in &table.problems {
        let Some(problem) = spec.problems.iter().find(|problem| problem.name == *name && extent.has_problem(problem)) else {
            continue;
        };
        for vary in extent.settings(table) {
            let variants = table.variants.iter().filter(|variant| variant.is_for(name));
            for variant in variants.filter(|variant| extent.variant.is_empty() || among(extent.variant, &variant.name)) {
                let mut settings = Settings::new();
                for layer in [&spec.set, &table.set, &problem.set, vary, &variant.set] {
                    settings.extend(layer.clone());
                }
                if extent.full {
                    settings.extend(spec.full.clone());
                }
                let (problem, variant) = (name.clone(), variant.name.clone());
                cells.push(Cell { table: table.number, problem, vary: label(vary), shown: table.shown(vary), variant, settings });
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::{Extent, cells};
    use crate::specs::spec::Spec;
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
        cells(&spec, &spec.tables[0], Extent { quick, full, only, ..Extent::default() }).iter().map(super::Cell::name).collect()
    }

    #[test]
    fn expansion() {
        assert_eq!(names(true, false, &[]), ["table 1 A k=3 cold", "table 1 A k=3 sir"]);
        assert_eq!(names(false, false, &[]).len(), 4);
        assert_eq!(names(false, true, &[]).len(), 8);
        assert_eq!(names(false, false, &["b".into()]).len(), 4);
    }

    #[test]
    fn names_as_reports_show_them() {
        let spec = Spec::parse(SPEC).expect("spec");
        let (b, k, sir) = (["B".to_owned()], ["k=10".to_owned()], ["sir".to_owned()]);
        let one = Extent { only: &b, setting: &k, variant: &sir, ..Extent::default() };
        assert_eq!(cells(&spec, &spec.tables[0], one).iter().map(super::Cell::name).collect::<Vec<_>>(), ["table 1 B k=10 sir"]);
        one.check(&[&spec.tables[0]]).expect("known");
        // Named settings are those of all, quick or not.
        assert_eq!(cells(&spec, &spec.tables[0], Extent { quick: true, ..one }).len(), 1);
        let said = |extent: Extent| extent.check(&[&spec.tables[0]]).unwrap_err().to_string();
        assert!(said(Extent { only: &sir, ..one }).ends_with("--only: nothing is called `sir`; there is:\n  A\n  B"));
        assert!(
            said(Extent { variant: &k, ..one }).contains("cold\n  sir") && said(Extent { setting: &b, ..one }).contains("k=3")
        );
    }

    #[test]
    fn inner_settings_win() {
        let spec = Spec::parse(SPEC).expect("spec");
        let all = cells(&spec, &spec.tables[0], Extent { full: true, ..Extent::default() });
        let expected = json!({"job": "cv", "tol": 0.1, "k": 10, "seeding": "sir"});
        assert_eq!(serde_json::Value::Object(all[7].settings.clone()), expected);
    }

    #[test]
    fn unknown_names_are_refused() {
        let broken = SPEC.replace(r#"["A", "B"]"#, r#"["A", "X"]"#);
        assert!(Spec::parse(&broken).err().expect("refused").to_string().contains("`X`"));
        assert!(Spec::parse(&SPEC.replace("slow =", "slwo =")).is_err());
        let quick = Spec::parse(&SPEC.replace("quick_vary = [{ k = 3 }]", "quick_vary = [{ k = 4 }]")).err().expect("refused");
        assert!(quick.to_string().contains("k=4"), "{quick}");
    }
}
