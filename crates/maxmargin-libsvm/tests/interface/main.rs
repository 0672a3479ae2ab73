//! The C interface through its structures, and programs linked against libsvm with this library.
#![allow(unsafe_code, clippy::borrow_as_ptr, reason = "it is called as C calls it")]

mod properties;

use maxmargin_testkit::outside;
use std::ffi::{CStr, CString, c_char};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::ptr;
use std::sync::Mutex;
use svm::{
    Node, Parameter, SvmModel, SvmProblem, svm_check_parameter, svm_check_probability_model, svm_cross_validation,
    svm_free_and_destroy_model, svm_get_labels, svm_get_nr_class, svm_get_nr_sv, svm_get_sv_indices, svm_get_svm_type,
    svm_get_svr_probability, svm_load_model, svm_predict, svm_predict_probability, svm_predict_values, svm_save_model,
    svm_set_print_string_function, svm_train,
};

/// A problem and what it points to.
struct Data {
    labels: Vec<f64>,
    nodes: Vec<Vec<Node>>,
    rows: Vec<*mut Node>,
}

impl Data {
    /// Rows of (index, value), with labels.
    fn new(rows: &[(f64, &[(i32, f64)])]) -> Self {
        let end = Node { index: -1, value: 0.0 };
        let row =
            |row: &&[(i32, f64)]| -> Vec<Node> { row.iter().map(|&(index, value)| Node { index, value }).chain([end]).collect() };
        let mut nodes: Vec<Vec<Node>> = rows.iter().map(|(_, own)| row(own)).collect();
        let places = nodes.iter_mut().map(Vec::as_mut_ptr).collect();
        Self { labels: rows.iter().map(|row| row.0).collect(), nodes, rows: places }
    }

    /// Three classes on a line, and a feature that some rows lack.
    fn three() -> Self {
        let values: Vec<(f64, [(i32, f64); 2])> = (0..30)
            .map(|i| {
                let at = f64::from(i);
                ([4.0, 2.0, 9.0][i as usize / 10], [(1, at / 7.0), (3, (at * 1.7).sin())])
            })
            .collect();
        let rows: Vec<(f64, &[(i32, f64)])> =
            values.iter().map(|(label, row)| (*label, &row[..if *label == 2.0 { 1 } else { 2 }])).collect();
        Self::new(&rows)
    }

    fn problem(&mut self) -> SvmProblem {
        SvmProblem { l: self.labels.len() as i32, y: self.labels.as_mut_ptr(), x: self.rows.as_mut_ptr() }
    }
}

fn parameter() -> Parameter {
    Parameter {
        svm_type: 0,
        kernel_type: 2,
        degree: 3,
        gamma: 0.5,
        coef0: 0.0,
        cache_size: 100.0,
        eps: 1e-5,
        C: 10.0,
        nr_weight: 0,
        weight_label: ptr::null_mut(),
        weight: ptr::null_mut(),
        nu: 0.2,
        p: 0.1,
        shrinking: 1,
        probability: 0,
    }
}

/// The lock of tests that read the output or must be silent.
static PRINTING: Mutex<()> = Mutex::new(());
static SAID: Mutex<String> = Mutex::new(String::new());

unsafe extern "C" fn keep(text: *const c_char) {
    // SAFETY: the library gives strings of C.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    *SAID.lock().expect("nobody panicked") += &text;
}

fn freed(mut model: *mut SvmModel) {
    // SAFETY: a model of this library, freed once.
    unsafe { svm_free_and_destroy_model(&raw mut model) };
    assert!(model.is_null());
}

#[test]
fn structures_are_those_of_svm_h() {
    // On machines with pointers of 64 bits, as a C compiler lays them out.
    if size_of::<usize>() == 8 {
        assert_eq!(
            [size_of::<Node>(), size_of::<SvmProblem>(), size_of::<Parameter>(), size_of::<SvmModel>()],
            [16, 24, 104, 192]
        );
        assert_eq!([std::mem::offset_of!(Parameter, weight_label), std::mem::offset_of!(Parameter, shrinking)], [64, 96]);
        let model = [
            std::mem::offset_of!(SvmModel, SV),
            std::mem::offset_of!(SvmModel, prob_density_marks),
            std::mem::offset_of!(SvmModel, label),
            std::mem::offset_of!(SvmModel, free_sv),
        ];
        assert_eq!(model, [112, 152, 168, 184]);
    }
    assert_eq!(svm::libsvm_version, 337);
}

#[test]
fn models_say_what_they_are_and_go_through_files() {
    let _turn = PRINTING.lock();
    let mut data = Data::three();
    let problem = data.problem();
    let folder = tempfile::tempdir().expect("a folder");
    let file = CString::new(folder.path().join("m").to_str().expect("a name")).expect("a name");
    // SAFETY: all pointers are to what svm.h says, and live.
    unsafe {
        svm_set_print_string_function(Some(keep));
        for (svm_type, kernel_type) in [(0, 2), (1, 0), (2, 2), (3, 1), (4, 3)] {
            let asked = Parameter { svm_type, kernel_type, gamma: 0.1, ..parameter() };
            assert!(svm_check_parameter(&problem, &asked).is_null());
            SAID.lock().expect("nobody panicked").clear();
            let model = svm_train(&problem, &asked);
            assert!(!model.is_null() && SAID.lock().expect("nobody panicked").contains("optimization finished, #iter = "));
            let (classes, count) = (svm_get_nr_class(model), svm_get_nr_sv(model) as usize);
            assert_eq!((svm_get_svm_type(model), classes), (svm_type, if svm_type < 2 { 3 } else { 2 }));
            let (mut labels, mut indices) = ([0; 3], vec![0; count]);
            svm_get_labels(model, labels.as_mut_ptr());
            assert_eq!(labels, if svm_type < 2 { [4, 2, 9] } else { [0; 3] });
            svm_get_sv_indices(model, indices.as_mut_ptr());
            for (at, &index) in indices.iter().enumerate() {
                assert_eq!(*(*model).SV.add(at), data.rows[index as usize - 1], "support vectors are rows of the problem");
            }
            assert_eq!(svm_check_probability_model(model), 0);
            assert_eq!(svm_save_model(file.as_ptr(), model), 0);
            let again = svm_load_model(file.as_ptr());
            assert!(!again.is_null());
            let mut right = 0;
            for (row, label) in data.nodes.iter().zip(&data.labels) {
                let (mut a, mut b) = ([f64::NAN; 3], [f64::NAN; 3]);
                let said = svm_predict_values(model, row.as_ptr(), a.as_mut_ptr());
                assert_eq!(said.to_bits(), svm_predict_values(again, row.as_ptr(), b.as_mut_ptr()).to_bits());
                assert_eq!(a.map(f64::to_bits), b.map(f64::to_bits), "17 digits read back");
                assert_eq!(said.to_bits(), svm_predict(model, row.as_ptr()).to_bits());
                right += u32::from(said == *label);
            }
            assert!(svm_type > 1 || right >= 28, "{right}");
            freed(model);
            freed(again);
        }
        svm_set_print_string_function(None);
    }
}

#[test]
fn probabilities_sum_to_one_and_go_through_files() {
    let _turn = PRINTING.lock();
    let folder = tempfile::tempdir().expect("a folder");
    let file = CString::new(folder.path().join("m").to_str().expect("a name")).expect("a name");
    let mut two = Data::three();
    two.labels.iter_mut().for_each(|label| *label = label.min(4.0));
    // SAFETY: all pointers are to what svm.h says, and live.
    unsafe {
        svm_set_print_string_function(Some(keep));
        for (mut data, svm_type) in [(Data::three(), 0), (two, 0), (Data::three(), 2), (Data::three(), 3)] {
            let asked = Parameter { svm_type, probability: 1, ..parameter() };
            let problem = data.problem();
            let model = svm_train(&problem, &asked);
            assert_eq!((svm_check_probability_model(model), svm_save_model(file.as_ptr(), model)), (1, 0), "{svm_type}");
            let again = svm_load_model(file.as_ptr());
            let classes = svm_get_nr_class(model) as usize;
            let mut right = 0;
            for (row, label) in data.nodes.iter().zip(&data.labels) {
                let (mut a, mut b) = ([0.0; 3], [0.0; 3]);
                let said = svm_predict_probability(model, row.as_ptr(), a.as_mut_ptr());
                assert_eq!(said.to_bits(), svm_predict_probability(again, row.as_ptr(), b.as_mut_ptr()).to_bits());
                assert_eq!(a, b);
                let sum: f64 = a[..classes].iter().sum();
                assert!((sum - if svm_type == 3 { 0.0 } else { 1.0 }).abs() < 1e-12, "{a:?}");
                right += u32::from(said == *label);
                if svm_type == 0 {
                    let mut labels = [0; 3];
                    svm_get_labels(model, labels.as_mut_ptr());
                    let place = labels.iter().position(|known| f64::from(*known) == said).expect("a label");
                    assert!(a[..classes].iter().all(|p| *p <= a[place]), "{a:?} {said}");
                }
            }
            assert!(svm_type != 0 || right >= 24, "{right}");
            assert_eq!(svm_get_svr_probability(model) > 0.0, svm_type == 3);
            freed(model);
            freed(again);
        }
        svm_set_print_string_function(None);
    }
}

#[test]
fn folds_predict_every_row() {
    let _turn = PRINTING.lock();
    let mut data = Data::three();
    let problem = data.problem();
    let mut target = vec![f64::NAN; 30];
    // SAFETY: all pointers are to what svm.h says, and live.
    unsafe {
        svm_set_print_string_function(Some(keep));
        svm_cross_validation(&problem, &parameter(), 5, target.as_mut_ptr());
        svm_set_print_string_function(None);
    }
    let right = target.iter().zip(&data.labels).filter(|(a, b)| a == b).count();
    assert!(right >= 24, "{right}");
}

#[test]
fn what_is_wrong_is_a_text_or_a_null_pointer_and_never_a_panic() {
    let _turn = PRINTING.lock();
    let mut data = Data::three();
    let problem = data.problem();
    let row = Node { index: -1, value: 0.0 };
    // SAFETY: pointers are null or to what svm.h says.
    unsafe {
        let text = |asked: Parameter| CStr::from_ptr(svm_check_parameter(&problem, &asked)).to_string_lossy().into_owned();
        assert_eq!(text(Parameter { svm_type: 7, ..parameter() }), "unknown svm type");
        assert_eq!(text(Parameter { C: -1.0, ..parameter() }), "C <= 0");
        assert_eq!(text(Parameter { probability: 2, ..parameter() }), "probability != 0 and probability != 1");
        assert!(svm_train(&problem, &Parameter { gamma: f64::NAN, ..parameter() }).is_null());
        assert!(svm_train(ptr::null(), ptr::null()).is_null());
        let mut twisted = Data::new(&[(1.0, &[(2, 1.0), (1, 1.0)]), (2.0, &[(1, 1.0)])]);
        assert!(svm_train(&twisted.problem(), &parameter()).is_null());
        let mut endless = Data::new(&[(1.0, &[(1, f64::INFINITY)]), (2.0, &[(1, 1.0)])]);
        assert!(svm_train(&endless.problem(), &parameter()).is_null());
        assert!(svm_predict(ptr::null(), &row).is_nan());
        assert!(svm_load_model(c"/absent".as_ptr()).is_null() && svm_load_model(ptr::null()).is_null());
        assert_eq!(svm_save_model(c"/absent/m".as_ptr(), ptr::null()), -1);
        svm_free_and_destroy_model(ptr::null_mut());
        freed(ptr::null_mut());
    }
    let folder = tempfile::tempdir().expect("a folder");
    let head = "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0\nlabel 1 2\n";
    for (name, text) in [
        ("nothing", String::new()),
        ("sizes", format!("{head}nr_sv 5 5\nSV\n1 1:1\n")),
        ("negative", format!("{head}nr_sv -1 2\nSV\n1 1:1\n")),
        ("marks", format!("{head}prob_density_marks 1 2\nnr_sv 1 0\nSV\n1 1:1\n")),
        ("sigmoids", format!("{head}probA 1 2 3\nprobB 1\nnr_sv 1 0\nSV\n1 1:1\n")),
        ("short", format!("{head}nr_sv 1 0\nSV\n")),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("room");
        let path = CString::new(path.to_str().expect("a name")).expect("a name");
        // SAFETY: a string of C.
        assert!(unsafe { svm_load_model(path.as_ptr()) }.is_null(), "{name}");
    }
}

#[test]
fn labels_that_do_not_fit_are_refused_and_ties_are_libsvms() {
    let _turn = PRINTING.lock();
    let mut wide = Data::new(&[(1.0, &[(1, 1.0)]), (3e9, &[(1, -1.0)])]);
    let (problem, parameter) = (wide.problem(), Parameter { kernel_type: 0, ..parameter() });
    // SAFETY: the structures are those of `svm.h`, and live as long as the calls.
    assert!(unsafe { svm_train(&problem, &parameter) }.is_null());
    let mut even = Data::new(&[(1.0, &[(1, 1.0)]), (-1.0, &[(2, 1.0)])]);
    let problem = even.problem();
    let other = [Node { index: 9, value: 1.0 }, Node { index: -1, value: 0.0 }];
    let mut decision = [f64::NAN];
    // SAFETY: likewise; a model of two classes has one decision value.
    let said = unsafe {
        let model = svm_train(&problem, &parameter);
        let said = svm_predict_values(model, other.as_ptr(), decision.as_mut_ptr());
        freed(model);
        said
    };
    assert_eq!((decision, said), ([0.0], -1.0));
}

#[test]
fn one_class_with_probabilities_has_probability_1_and_goes_through_a_file() {
    let _turn = PRINTING.lock();
    let mut data = Data::new(&[(7.0, &[(1, 1.0)]), (7.0, &[(1, 2.0)])]);
    let (problem, row) = (data.problem(), [Node { index: 1, value: 1.0 }, Node { index: -1, value: 0.0 }]);
    let folder = tempfile::tempdir().expect("room");
    let path = CString::new(folder.path().join("m").to_string_lossy().as_bytes()).expect("no zero");
    for probability in [0, 1] {
        let parameter = Parameter { probability, ..parameter() };
        let mut estimates = [f64::NAN];
        // SAFETY: the structures are those of `svm.h`, and live as long as the calls.
        unsafe {
            let model = svm_train(&problem, &parameter);
            assert_eq!(svm_save_model(path.as_ptr(), model), 0);
            let back = svm_load_model(path.as_ptr());
            for model in [model, back] {
                assert_eq!((svm_check_probability_model(model), svm_get_nr_class(model)), (probability, 1));
                assert_eq!(svm_predict(model, row.as_ptr()), 7.0);
                assert_eq!(svm_predict_probability(model, row.as_ptr(), estimates.as_mut_ptr()), 7.0);
                assert_eq!(estimates[0] == 1.0, probability == 1);
                freed(model);
            }
        }
    }
}

/// This library under the name by which Debian's programs ask for LIBSVM 3.24, whose parameters and
/// functions have the same layout.
fn library(folder: &Path) -> Option<PathBuf> {
    let own = std::env::current_exe().expect("a test has a place");
    let built = own.ancestors().skip(1).take(2).map(|place| place.join("libsvm.so")).find(|place| place.is_file());
    let Some(built) = built else {
        outside::skip("shared library libsvm.so beside the test");
        return None;
    };
    std::fs::copy(built, folder.join("libsvm.so.3")).expect("room");
    Some(folder.to_owned())
}

#[test]
fn debians_programs_run_on_this_library() {
    let (Some(train), Some(predict)) = (outside::program("svm-train"), outside::program("svm-predict")) else { return };
    let (Some(linker), Some(text)) = (outside::program("ldd"), outside::data_text("heart_scale")) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let Some(library) = library(folder.path()) else { return };
    std::fs::write(folder.path().join("heart"), text).expect("room");
    let run = |program: &Path, ours: bool, line: &str| -> Output {
        let mut command = Command::new(program);
        command.current_dir(folder.path()).args(line.split_whitespace());
        if ours {
            command.env("LD_LIBRARY_PATH", &library);
        }
        command.output().expect("it runs")
    };
    let out = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let asked = out(&run(&linker, true, train.to_str().expect("a name")));
    if !asked.contains(&format!("libsvm.so.3 => {}", library.join("libsvm.so.3").display())) {
        outside::skip("program svm-train linked against libsvm.so.3");
        return;
    }
    for options in ["-c 2", "-s 1 -n 0.3", "-t 0 -w1 2", "-s 2 -n 0.2", "-s 3", "-s 4"] {
        let (theirs, ours) = (
            run(&train, false, &format!("{options} -e 1e-7 heart theirs")),
            run(&train, true, &format!("{options} -e 1e-7 heart ours")),
        );
        let objective = |output: &Output| -> f64 {
            let text = out(output);
            let line = text.lines().find_map(|line| line.strip_prefix("obj = ")).expect("an objective");
            line.split(',').next().expect("a number").parse().expect("a number")
        };
        let (a, b) = (objective(&theirs), objective(&ours));
        assert!((a - b).abs() <= 1e-6 * a.abs() + 1e-6, "{options}: {a} {b}");
        // Their library and ours say the same of either model, to the digits that files of theirs
        // keep.
        for model in ["theirs", "ours"] {
            let (theirs, ours) =
                (run(&predict, false, &format!("heart {model} a")), run(&predict, true, &format!("heart {model} b")));
            let values = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("predictions");
            assert_eq!((out(&theirs), values("a")), (out(&ours), values("b")), "{options}: {model}");
        }
    }
    for options in ["-v 5", "-v 3 -s 1 -n 0.4", "-v 270"] {
        let (theirs, ours) = (run(&train, false, &format!("{options} heart")), run(&train, true, &format!("{options} heart")));
        let result = |output: &Output| out(output).lines().find(|line| line.starts_with("Cross Validation")).map(str::to_owned);
        assert_eq!(result(&theirs), result(&ours), "{options}");
    }
}
