//! The parts of a release: a `CycloneDX` document of all packages that its files are built from.

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Node, Package, PackageId};
use maxmargin_repro::workspace::failure::{Context, Outcome};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use toml::Table;

/// The packages whose files a release has. Those that the workspace lacks are left out.
const RELEASED: [&str; 4] = ["maxmargin-cli", "maxmargin-libsvm", "maxmargin-python", "maxmargin-r"];

/// Returns the document, in JSON. The same sources give the same bytes.
pub(super) fn document(root: &Path) -> Outcome<String> {
    let mut command = MetadataCommand::new();
    command.current_dir(root).features(cargo_metadata::CargoOpt::AllFeatures).other_options(vec!["--locked".to_owned()]);
    let metadata = command.exec().context("cargo metadata")?;
    let lock = fs::read_to_string(root.join("Cargo.lock")).context("Cargo.lock")?;
    let sums = checksums(&lock.parse().context("Cargo.lock")?);
    let used = used(&metadata);
    let components: Vec<Value> = used.values().map(|one| component(one.package, &sums)).collect();
    let dependencies: Vec<Value> = used.iter().map(|(purl, one)| json!({ "ref": purl, "dependsOn": one.needs })).collect();
    let version = used.values().find(|one| one.package.name.as_str() == RELEASED[0]).map(|one| one.package.version.to_string());
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": { "type": "application", "bom-ref": "maxmargin", "name": "maxmargin", "version": version } },
        "components": components,
        "dependencies": dependencies,
    });
    serde_json::to_string_pretty(&document).context("the SBOM").map(|text| text + "\n")
}

/// A package, and the addresses of those that it needs itself.
struct Used<'a> {
    package: &'a Package,
    needs: BTreeSet<String>,
}

/// Returns the packages that released files are built from, by their addresses. Packages of tests
/// do not count.
fn used(metadata: &Metadata) -> BTreeMap<String, Used<'_>> {
    let packages: BTreeMap<&PackageId, &Package> = metadata.packages.iter().map(|package| (&package.id, package)).collect();
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let nodes: BTreeMap<&PackageId, &Node> = nodes.map(|node| (&node.id, node)).collect();
    let released = metadata
        .packages
        .iter()
        .filter(|package| RELEASED.contains(&package.name.as_str()) && metadata.workspace_members.contains(&package.id));
    let mut open: Vec<&PackageId> = released.map(|package| &package.id).collect();
    let mut found = BTreeMap::new();
    while let Some(id) = open.pop() {
        let (Some(package), Some(node)) = (packages.get(id), nodes.get(id)) else { continue };
        if found.contains_key(&purl(package)) {
            continue;
        }
        let counts = node
            .deps
            .iter()
            .filter(|dependency| dependency.dep_kinds.iter().any(|kind| kind.kind != DependencyKind::Development));
        let needs: Vec<&PackageId> = counts.map(|dependency| &dependency.pkg).collect();
        let own = needs.iter().filter_map(|id| packages.get(id)).map(|package| purl(package)).collect();
        found.insert(purl(package), Used { package, needs: own });
        open.extend(needs);
    }
    found
}

/// Returns the checksums of a lock file by the package's address.
fn checksums(lock: &Table) -> BTreeMap<String, String> {
    let packages = lock.get("package").and_then(toml::Value::as_array).into_iter().flatten();
    let of = |package: &toml::Value| {
        let text = |key: &str| package.get(key).and_then(toml::Value::as_str);
        Some((format!("pkg:cargo/{}@{}", text("name")?, text("version")?), text("checksum")?.to_owned()))
    };
    packages.filter_map(of).collect()
}

fn component(package: &Package, sums: &BTreeMap<String, String>) -> Value {
    let purl = purl(package);
    let mut component = json!({
        "type": "library",
        "bom-ref": purl,
        "name": package.name.as_str(),
        "version": package.version.to_string(),
        "purl": purl,
    });
    if let Some(license) = &package.license {
        // Older manifests separate choices by a bar.
        component["licenses"] = json!([{ "expression": license.replace('/', " OR ") }]);
    }
    if let Some(sum) = sums.get(&purl) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    component
}

fn purl(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_repro::workspace::tools::root;

    #[test]
    fn packages_from_a_registry_have_a_licence_and_a_checksum() {
        let document: Value = serde_json::from_str(&document(&root()).expect("metadata")).expect("JSON");
        let components = document["components"].as_array().expect("components");
        let find = |name: &str| components.iter().find(|component| component["name"] == name);
        for name in ["clap", "rayon", "numpy"] {
            let found = find(name).expect(name);
            assert_eq!(found["hashes"][0]["content"].as_str().map(str::len), Some(64), "{found}");
            assert!(
                found["licenses"][0]["expression"].as_str().is_some_and(|text| text.contains("MIT") || text.contains("BSD")),
                "{found}"
            );
        }
        assert!(find("maxmargin-simd").is_some_and(|own| own.get("hashes").is_none()));
        for name in ["xtask", "maxmargin-testkit", "proptest", "insta"] {
            assert!(find(name).is_none(), "{name} is for tests");
        }
        let known: BTreeSet<&str> = components.iter().filter_map(|component| component["bom-ref"].as_str()).collect();
        assert_eq!(known.len(), components.len());
        let needs =
            document["dependencies"].as_array().expect("dependencies").iter().filter_map(|one| one["dependsOn"].as_array());
        assert!(needs.flatten().all(|one| one.as_str().is_some_and(|one| known.contains(one))));
    }
}
