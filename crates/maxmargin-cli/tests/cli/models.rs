//! train, predict, verify, info, scale: what is written can be read, judged and used.

use crate::common::{Bench, SMALL, answer};
use maxmargin_testkit::outside::program;
use std::io::Write;
use std::process::Stdio;

#[test]
fn a_model_is_trained_verified_and_used() {
    let bench = Bench::new();
    let trained = bench.json("train gauss-m --rows 300 -c 2 -g 0.5 -o m");
    assert_eq!(trained["status"], "converged");
    assert!(trained["certificate"]["kkt"].as_f64().unwrap() <= 1e-3);
    assert!(trained["certificate"]["holds"].as_bool().unwrap());
    assert_eq!(trained["kernel"]["gamma"], 0.5);
    assert_eq!(trained["model"], "m");
    let verified = bench.json("verify m gauss-m --rows 300");
    assert_eq!(verified["matches"], true);
    for field in ["primal", "dual", "kkt"] {
        let (was, is) = (&trained["certificate"][field], &verified["certificate"][field]);
        assert!((was.as_f64().unwrap() - is.as_f64().unwrap()).abs() < 1e-8, "{field}: {was} {is}");
    }
    let predicted = bench.json("predict gauss-m m --rows 300 -o labels");
    let labels = bench.read("labels");
    assert_eq!(labels.lines().count(), 300);
    let correct = labels.lines().enumerate().filter(|(i, l)| *l == if i % 2 == 0 { "1" } else { "-1" }).count();
    assert_eq!(predicted["correct"], correct);
    assert_eq!(bench.run("predict gauss-m m --rows 300 --decision -o values -q").code, 0);
    for (value, label) in bench.read("values").lines().zip(labels.lines()) {
        assert_eq!(value.parse::<f64>().unwrap() >= 0.0, label == "1");
    }
    let info = bench.json("info m");
    assert_eq!(info["support_vectors"], trained["support_vectors"]);
    assert_eq!(info["training"]["iterations"], trained["iterations"]);
}

#[test]
fn models_for_other_data_are_refuted() {
    let bench = Bench::new();
    bench.file("small", SMALL);
    assert_eq!(bench.run("train small -o m -q").code, 0);
    assert_eq!(bench.run("verify m small -q").code, 0);
    bench.file("other", SMALL.replace("1 1:1 2:0.5\n", "1 1:1 2:0.625\n"));
    let answer = bench.run("verify m other -q");
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(answer.out.contains("REFUTED"), "{answer:?}");
    assert!(answer.out.contains("MISMATCH"), "{answer:?}");
    // The tolerance that the model was trained to is held; a tighter one is not.
    let strict = |eps: &str| bench.run(&format!("verify m small --eps {eps} -q"));
    assert_eq!(strict("1e-12").code, 3);
    assert!(strict("1e-12").out.contains("not solved to the tolerance"), "{:?}", strict("1e-12"));
}

#[test]
fn tampered_models_are_refuted_however_well_sealed() {
    use maxmargin::model::{Model, Parts, decode, encode};
    type Tamper = fn(&mut Parts);
    let bench = Bench::new();
    bench.file("small", SMALL);
    assert_eq!(bench.run("train small -c 2 -o m -q").code, 0);
    let honest = decode(&std::fs::read(bench.path("m")).unwrap()).unwrap();
    let cases: [(&str, Tamper); 8] = [
        ("bias", |p| p.machines[0].bias += 0.25),
        ("feasible", |p| p.machines[0].coef[0] *= 1.5),
        ("certificate", |p| {
            let coef = &mut p.machines[0].coef;
            let free = coef.iter().position(|c| c.abs() < 2.0).unwrap();
            coef[free] *= 0.999;
        }),
        ("certificate", |p| p.record.as_mut().unwrap().machines[0].certificate.dual += 1e-6),
        ("support vectors", |p| {
            p.machines[0].coef.swap(0, 2);
        }),
        ("data hash", |p| p.record.as_mut().unwrap().data_sha256[3] ^= 1),
        ("at C", |p| p.record.as_mut().unwrap().machines[0].bounded += 1),
        ("certificate", |p| {
            let formulation = &mut p.record.as_mut().unwrap().formulation;
            *formulation = formulation.with_c(2.0 * formulation.c().unwrap());
        }),
    ];
    for (check, tamper) in cases {
        let mut parts = honest.parts().clone();
        tamper(&mut parts);
        bench.file("tampered", encode(&Model::new(parts).unwrap()).unwrap());
        let answer = bench.run("verify tampered small -q --json");
        assert_eq!(answer.code, 1, "{check}: {answer:?}");
        let document = answer.json();
        let failed: Vec<&str> = document["checks"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|c| c["passed"] == false)
            .map(|c| c["what"].as_str().unwrap())
            .collect();
        assert!(failed.contains(&check), "{check} is not among {failed:?}");
    }
}

#[test]
fn limits_give_a_usable_model_and_exit_code_3() {
    let bench = Bench::new();
    let answer = bench.run("train gauss-m --rows 400 -c 100 -g 1 --max-iter 20 -o m");
    assert_eq!(answer.code, 3, "{answer:?}");
    let warnings = answer.warnings();
    assert!(warnings.iter().any(|w| w.contains("iteration limit") && w.contains("--max-iter 200")), "{warnings:?}");
    assert_eq!(bench.run("predict gauss-m m --rows 50 -q").code, 0);
    assert_eq!(bench.json("info m")["training"]["status"], "iteration_limit");
    let verified = bench.run("verify m gauss-m --rows 400 -q");
    assert_eq!(verified.code, 3, "{verified:?}");
    let timed = bench.run("train gauss-m --rows 3000 -c 10000 -g 10 --eps 1e-9 --time-limit 1ms -o m -q --json");
    assert_eq!((timed.code, &timed.json()["status"]), (3, &"time_limit".into()));
}

#[test]
fn standard_input_and_packed_files_are_read() {
    let bench = Bench::new();
    let mut child = bench.command("train - -o m -q --json").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(SMALL.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    bench.file("small", SMALL);
    let from_file = bench.json("train small -o m2");
    assert_eq!(document["data"]["sha256"], from_file["data"]["sha256"]);
    assert_eq!(document["machines"][0]["objective"], from_file["machines"][0]["objective"]);
    assert_eq!(std::fs::read(bench.path("m")).unwrap(), std::fs::read(bench.path("m2")).unwrap());
}

#[test]
fn the_cache_gives_the_same_data() {
    let bench = Bench::new();
    bench.file("small", SMALL);
    let first = bench.json("train small -o m --cache kept");
    let names: Vec<_> = std::fs::read_dir(bench.path("kept")).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    let second = bench.json("train small -o m --cache kept");
    assert_eq!(first["machines"][0]["objective"], second["machines"][0]["objective"]);
    assert_eq!(first["data"], second["data"]);
    // A damaged cache is not believed.
    std::fs::write(&names[0], b"nonsense").unwrap();
    assert_eq!(bench.json("train small -o m --cache kept")["machines"][0]["objective"], first["machines"][0]["objective"]);
}

#[test]
fn weights_scalings_and_kernels_are_kept_in_the_model() {
    let bench = Bench::new();
    bench.file("small", SMALL);
    let weighted = bench.json("train small --weight -1=3 -c 0.5 -o m");
    assert_eq!(weighted["weights"], serde_json::json!([3.0, 1.0]));
    assert_eq!(bench.run("verify m small -q").code, 0);
    for kernel in ["linear", "poly -r 1 -d 2", "sigmoid -g 0.1 -r -0.5", "rbf -g scale", "rbf -g mean"] {
        for scale in ["", "--scale minmax", "--scale standard"] {
            let line = format!("train small --kernel {kernel} {scale} -o m -q");
            assert_eq!(bench.run(&line).code, 0, "{line}");
            let verified = bench.run("verify m small -q");
            assert_eq!(verified.code, 0, "{line}: {verified:?}");
        }
    }
    let answer = bench.run("predict small m -o labels -q");
    assert!(answer.out.contains("accuracy"), "{answer:?}");
}

/// A right angle with sides of 3 and 4: the mean squared distance of two of its corners, a corner
/// with itself among the pairs, is 2 (9 + 16 + 25) / 9.
#[test]
fn the_mean_squared_distance_is_a_width() {
    let bench = Bench::new();
    bench.file("angle", "1 1:0 2:0\n-1 1:3\n1 2:4\n");
    for command in ["train angle -g mean -o m", "cv angle -k 2 -g mean", "grid angle -k 2 -c 1 -g mean"] {
        let report = bench.json(command);
        let kernel = if command.starts_with("grid") { &report["best"] } else { &report["kernel"] };
        let gamma = kernel["gamma"].as_f64().unwrap_or_else(|| panic!("{command}: {report}"));
        assert!((gamma - 0.045).abs() < 1e-15, "{command}: {gamma}");
    }
    assert_eq!(bench.json("train angle -g mean -o m --force")["kernel"]["gamma_rule"], "mean: 1/(2 * mean squared distance)");
    let refused = bench.run("train angle -g median -o m");
    assert!(refused.err.contains("it must be a number above 0, `auto`, `scale` or `mean`"), "{refused:?}");
}

#[test]
fn other_feature_counts_are_allowed_and_mentioned_once() {
    let bench = Bench::new();
    bench.file("small", SMALL);
    bench.file("wide", "1 1:0.5 7:1\n-1 2:-0.5 7:2\n");
    assert_eq!(bench.run("train small -o m -q").code, 0);
    let answer = bench.run("predict wide m");
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(answer.err.matches("wide has 7 features, the model 2").count(), 1, "{answer:?}");
    bench.file("unknown", "5 1:1\n1 1:2\n");
    let answer = bench.run("predict unknown m");
    assert!(
        answer.warnings()[0].contains("1 of 2 rows have a label that is none of the model's 2 classes (-1, 1)"),
        "{answer:?}"
    );
}

#[test]
fn precomputed_kernels_work_end_to_end() {
    let bench = Bench::new();
    // Linear kernel values of SMALL.
    let rows: Vec<(f64, [f64; 2])> = SMALL
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let value = |w: &str| w.split(':').nth(1).unwrap().parse::<f64>().unwrap();
            (words[0].parse().unwrap(), [value(words[1]), value(words[2])])
        })
        .collect();
    let mut text = String::new();
    for (i, (label, x)) in rows.iter().enumerate() {
        let mut words = vec![format!("{label} 0:{}", i + 1)];
        for (j, (_, z)) in rows.iter().enumerate() {
            words.push(format!("{}:{}", j + 1, x[0] * z[0] + x[1] * z[1]));
        }
        text += &words.join(" ");
        text.push('\n');
    }
    bench.file("gram", text);
    bench.file("small", SMALL);
    let linear = bench.json("train small --kernel linear -o m1");
    let given = bench.json("train gram --kernel precomputed -o m2");
    let [a, b] = [&linear, &given].map(|d| d["machines"][0]["objective"].as_f64().unwrap());
    assert!((a - b).abs() < 1e-3 * a.abs(), "{a} {b}");
    assert_eq!(bench.run("verify m2 gram -q").code, 0);
    let [a, b] = [bench.json("predict small m1"), bench.json("predict gram m2")];
    assert_eq!(a["correct"], b["correct"]);
}

#[test]
fn libsvm_models_are_read_and_verified() {
    let bench = Bench::new();
    bench.file("small", SMALL);
    let Some(program) = program("svm-train") else { return };
    std::process::Command::new(program)
        .args(["-c", "2", "-g", "0.5", "-e", "1e-6", "small", "theirs"])
        .current_dir(bench.folder())
        .output()
        .expect("svm-train starts");
    assert_eq!(bench.run("predict small theirs -q").code, 0);
    let missing = bench.run("verify theirs small -q");
    assert_eq!(missing.code, 2, "{missing:?}");
    assert!(missing.err.contains("add -c C"), "{missing:?}");
    let verified = bench.run("verify theirs small -c 2 --eps 1e-5 -q");
    assert_eq!(verified.code, 0, "{verified:?}");
    let wrong = bench.run("verify theirs small -c 0.1 -q");
    assert_eq!(wrong.code, 1, "{wrong:?}");
}

#[test]
fn scaling_is_svm_scales() {
    let bench = Bench::new();
    bench.file("data", "1 1:10 2:5\n-1 1:20\n1 1:30 2:10\n");
    let scaled = bench.run("scale data --save-range ranges -q");
    assert_eq!(scaled.code, 0, "{scaled:?}");
    assert_eq!(scaled.out, "1 1:-1\n-1 2:-1\n1 1:1 2:1\n");
    let again = bench.run("scale data --range ranges -o out -q");
    assert_eq!((again.code, bench.read("out")), (0, scaled.out.clone()));
    if let Some(program) = program("svm-scale") {
        let theirs = std::process::Command::new(program).args(["-r", "ranges", "data"]).current_dir(bench.folder()).output();
        let theirs = theirs.expect("svm-scale starts");
        let theirs = String::from_utf8(theirs.stdout).unwrap();
        assert_eq!(theirs.lines().map(str::trim_end).collect::<Vec<_>>(), scaled.out.lines().collect::<Vec<_>>());
    }
    let zero_to_one = bench.run("scale data -l 0 -q");
    assert_eq!(zero_to_one.out, "1 2:0.5\n-1 1:0.5\n1 1:1 2:1\n");
    bench.file("ranges", "x\n-1 1\n1 0 nonsense\n");
    let bad = bench.run("scale data --range ranges -q");
    assert_eq!(bad.code, 1, "{bad:?}");
    assert!(bad.err.starts_with("error: ranges: "), "{bad:?}");
}

#[test]
fn closed_pipes_and_quiet_runs_say_nothing() {
    let bench = Bench::new();
    bench.file("small", SMALL);
    let quiet = bench.run("train small -o m -q");
    assert_eq!((quiet.code, quiet.err.as_str()), (0, ""), "{quiet:?}");
    let mut child = bench.command("info small -q").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn replacing_a_model_keeps_links_and_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let bench = Bench::new();
    bench.file("small", SMALL);
    bench.file("real", "maxmargin-model old");
    std::fs::set_permissions(bench.path("real"), std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real", bench.path("link")).unwrap();
    assert_eq!(answer(&mut bench.command("train small -o link -q")).code, 0);
    assert!(std::fs::symlink_metadata(bench.path("link")).unwrap().is_symlink());
    let mode = std::fs::metadata(bench.path("real")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert!(std::fs::read(bench.path("real")).unwrap().starts_with(b"maxmargin-model 11 "));
    assert_eq!(bench.names(), ["link", "real", "small"]);
}

#[test]
fn a_huge_index_costs_no_memory() {
    let bench = Bench::new();
    bench.file("wide", SMALL.replace("1 1:1 2:0.5\n", "1 1:1 2:0.5 4294967294:0.5\n"));
    for kernel in ["rbf", "linear"] {
        assert_eq!(bench.run(&format!("train wide --kernel {kernel} -g 1 -o m -q")).code, 0, "{kernel}");
        assert_eq!(bench.run("verify m wide -q").code, 0, "{kernel}");
        assert_eq!(bench.run("predict wide m -o labels -q").code, 0, "{kernel}");
        assert_eq!(bench.run("cv wide -k 3 -g 1 -q").code, 0, "{kernel}");
    }
    assert_eq!(bench.run("info wide -q").code, 0);
}

/// `info` looked for a model in named files alone, and took the others for data.
#[test]
fn models_are_described_from_a_pipe() {
    let bench = Bench::new();
    assert_eq!(bench.run("train two-gaussians --rows 40 -o m -q").code, 0);
    bench.file("t", "1 1:0.5\n-1 1:2\n".repeat(10));
    for name in ["m", "t"] {
        let mut command = bench.command("info -");
        command.stdin(std::fs::File::open(bench.path(name)).expect("the file"));
        let (piped, named) = (answer(&mut command), bench.run(&format!("info {name}")));
        assert_eq!((piped.code, named.code), (0, 0), "{piped:?}");
        let is_told = |line: &&str| !line.contains(" time ");
        let rest = |text: &str| text.lines().skip(1).filter(is_told).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(rest(&piped.out), rest(&named.out));
    }
}
