//! Almost valid text.

use super::{gap, line_end, number, whole};
use crate::draws::Draws;

/// Returns text in LIBSVM's format.
pub fn data(draws: &mut Draws) -> Vec<u8> {
    let mut text = String::new();
    let grouped = draws.once_in(4);
    let wide = draws.once_in(6);
    for _ in 0..draws.below(9) {
        text += &number(draws);
        if grouped != draws.once_in(60) {
            text += " qid:";
            text += &whole(draws);
        }
        features(&mut text, wide, draws);
        text += line_end(draws);
    }
    text.into_bytes()
}

/// Returns ` index:value` a few times, usually ascending.
fn features(text: &mut String, wide: bool, draws: &mut Draws) {
    let mut index = usize::from(!draws.once_in(8));
    for _ in 0..draws.below(7) {
        index += if wide { draws.wide(31) } else { draws.below(3) };
        text.push_str(gap(draws));
        if draws.once_in(60) {
            text.push_str(&whole(draws));
        } else {
            text.push_str(&index.to_string());
        }
        text.push(':');
        text.push_str(&number(draws));
        index += usize::from(!draws.once_in(40));
    }
}

/// Returns rows with labels only, of a few classes.
pub fn labels(draws: &mut Draws) -> Vec<u8> {
    let classes: Vec<String> = (0..=draws.below(4)).map(|_| number(draws)).collect();
    let lines = (0..draws.below(30)).map(|_| classes[draws.below(classes.len())].clone() + line_end(draws));
    lines.collect::<String>().into_bytes()
}

/// Returns a fold number per line.
pub fn folds(draws: &mut Draws) -> Vec<u8> {
    let folds = 1 + draws.below(5);
    let lines = (0..draws.below(40)).map(|_| {
        let mut fold = if draws.once_in(80) { whole(draws) } else { draws.below(folds).to_string() };
        if draws.once_in(8) {
            // A fold that leaves the sample out, an extra fold, or none.
            fold = match draws.below(3) {
                0 => format!("!{fold}"),
                1 => format!("{fold} {}", draws.below(folds)),
                _ => "-".to_owned(),
            };
        }
        fold + line_end(draws)
    });
    lines.collect::<String>().into_bytes()
}

/// Returns the text of a range file.
pub fn range(draws: &mut Draws) -> Vec<u8> {
    let mut text = String::new();
    if draws.once_in(3) {
        text += "y\n";
        for _ in 0..2 {
            text += &(number(draws) + gap(draws) + &number(draws) + line_end(draws));
        }
    }
    text += "x\n";
    text += &(number(draws) + " " + &number(draws) + "\n");
    let mut index = draws.below(2);
    for _ in 0..draws.below(10) {
        text += &(index.to_string() + gap(draws) + &number(draws) + gap(draws) + &number(draws) + line_end(draws));
        index += 1 + draws.below(2) * draws.wide(32);
    }
    text.into_bytes()
}

/// Returns numbers and ranges of numbers.
pub fn numbers(draws: &mut Draws) -> Vec<u8> {
    let mut text = String::new();
    for _ in 0..draws.below(20) {
        let first = 1 + draws.below(50);
        match draws.below(8) {
            0 => text += &whole(draws),
            1..4 => text += &format!("{first}-{}", first + draws.below(9)),
            _ => text += &first.to_string(),
        }
        text += draws.pick(&[",", ",", " ", "\n", ", ", "\t", "\r\n"]);
    }
    text.into_bytes()
}

/// Returns the text of a LIBSVM model, usually with an ordered header.
pub fn libsvm_model(draws: &mut Draws) -> Vec<u8> {
    let classes = 2 + usize::from(draws.once_in(2)) * draws.below(3);
    let kernel = draws.pick(&["linear", "rbf", "polynomial", "sigmoid", "precomputed"]);
    let sizes: Vec<usize> = (0..classes).map(|_| draws.below(4)).collect();
    let total: usize = sizes.iter().sum();
    let mut list = |count: usize, make: &dyn Fn(&mut Draws) -> String| -> String {
        (0..count).map(|_| format!(" {}", make(draws))).collect()
    };
    let (rho, labels) =
        (list(classes * (classes - 1) / 2, &number), (0..classes).map(|k| format!(" {}", 7 - 3 * k as i32)).collect::<String>());
    let mut head = vec![
        "svm_type c_svc".to_owned(),
        format!("kernel_type {kernel}"),
        format!("nr_class {classes}"),
        format!("total_sv {total}"),
        format!("rho{rho}"),
        format!("label{labels}"),
        format!("nr_sv{}", sizes.iter().map(|size| format!(" {size}")).collect::<String>()),
    ];
    if kernel == "polynomial" {
        head.push(format!("degree {}", 1 + draws.below(4)));
    }
    if kernel != "linear" && kernel != "precomputed" {
        head.push(format!("gamma {}", if draws.once_in(9) { number(draws) } else { "0.25".to_owned() }));
    }
    if kernel == "polynomial" || kernel == "sigmoid" {
        head.push(format!("coef0 {}", number(draws)));
    }
    if draws.once_in(6) {
        let (a, b) = (draws.below(head.len()), draws.below(head.len()));
        head.swap(a, b);
    }
    let mut text = head.join("\n") + "\nSV\n";
    for _ in 0..total {
        (1..classes).for_each(|_| text += &(number(draws) + " "));
        if kernel == "precomputed" {
            text += &format!("0:{}", 1 + draws.below(9));
        } else {
            features(&mut text, draws.once_in(20), draws);
        }
        text += line_end(draws);
    }
    text.into_bytes()
}

/// Returns the text of a model of LIBLINEAR.
pub fn liblinear_model(draws: &mut Draws) -> Vec<u8> {
    let (name, has_labels) = draws.pick(&[
        ("L2R_L2LOSS_SVC_DUAL", true),
        ("L2R_L1LOSS_SVC_DUAL", true),
        ("MCSVM_CS", true),
        ("L2R_LR", true),
        ("L2R_L2LOSS_SVR", false),
        ("ONECLASS_SVM", false),
    ]);
    let classes = if has_labels { 1 + draws.below(4) } else { 2 };
    let (features, has_bias) = (draws.below(6), draws.once_in(2));
    let labels: String = (0..classes).map(|k| format!(" {}", 7 - 3 * k as i32)).collect();
    let mut head = vec![
        format!("solver_type {name}"),
        format!("nr_class {classes}"),
        format!("nr_feature {features}"),
        format!("bias {}", if has_bias { number(draws) } else { "-1".to_owned() }),
    ];
    head.extend(has_labels.then(|| format!("label{labels}")));
    head.extend((name == "ONECLASS_SVM").then(|| format!("rho {}", number(draws))));
    if draws.once_in(6) {
        let (a, b) = (draws.below(head.len()), draws.below(head.len()));
        head.swap(a, b);
    }
    let mut text = head.join("\n") + "\nw\n";
    let columns = if has_labels && (classes != 2 || name == "MCSVM_CS") { classes } else { 1 };
    for _ in 0..features + usize::from(has_bias) {
        (0..columns).for_each(|_| text += &(number(draws) + gap(draws)));
        text += line_end(draws);
    }
    text.into_bytes()
}
