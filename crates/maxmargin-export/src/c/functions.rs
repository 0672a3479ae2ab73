//! Decision functions in C: features from inputs, and sums over vectors.

use super::text::Text;
use crate::program::{Expansion, Functions, InputKind, Inputs, KernelFunction, Terms};

/// Adds `PREFIX_decideK(x, decision)`: the decision values of group `k` of functions.
pub(super) fn add(out: &mut Text, inputs: &Inputs, functions: &Functions, k: usize) {
    out.reals(&format!("bias{k}"), &functions.bias);
    match &functions.expansion {
        Expansion::Linear { weights } => out.reals(&format!("weights{k}"), &weights.values),
        Expansion::Kernel { vectors, machines, .. } => {
            out.reals(&format!("vectors{k}"), &vectors.values);
            terms(out, machines, vectors.len(), k);
        }
    }
    features(out, inputs, functions, k);
    let machines = functions.bias.len();
    let features = inputs.features;
    out.add(&format!(
        "static void @_decide{k}(const REAL *x, REAL *decision) {{\n    REAL f[{features}];\n    @_features{k}(x, f);\n    \
         for (unsigned m = 0; m < {machines}; m++) decision[m] = @_bias{k}[m];\n"
    ));
    match &functions.expansion {
        Expansion::Linear { .. } => out.add(&format!(
            "    for (unsigned m = 0; m < {machines}; m++) {{\n        const REAL *w = @_weights{k} + m * {features}ul;\n        \
             REAL sum = 0;\n        for (unsigned j = 0; j < {features}; j++) sum += w[j] * f[j];\n        \
             decision[m] += sum;\n    }}\n}}\n\n"
        )),
        Expansion::Kernel { kernel, vectors, .. } => {
            let value = kernel_value(out, kernel);
            let sum = if machines == 1 {
                format!("decision[0] += @_coefficients{k}[v] * value;")
            } else {
                format!(
                    "for (unsigned long t = @_begin{k}[v]; t < @_begin{k}[v + 1]; t++) \
                     decision[@_machine{k}[t]] += @_coefficients{k}[t] * value;"
                )
            };
            let part = match kernel {
                KernelFunction::Rbf { .. } => "{ const REAL d = f[j] - z[j]; sum += d * d; }",
                _ => "sum += f[j] * z[j];",
            };
            out.add(&format!(
                "    for (unsigned long v = 0; v < {}; v++) {{\n        const REAL *z = @_vectors{k} + v * {features};\n        \
                 REAL sum = 0;\n        for (unsigned j = 0; j < {features}; j++) {part}\n{value}        {sum}\n    }}\n}}\n\n",
                vectors.len()
            ));
        }
    }
}

/// Lines that make `value` of `sum`, a squared distance or a product.
fn kernel_value(out: &Text, kernel: &KernelFunction) -> String {
    match *kernel {
        KernelFunction::Rbf { gamma } => format!("        const REAL value = exp$({} * sum);\n", out.literal(-gamma)),
        KernelFunction::Sigmoid { gamma, coef0 } => {
            format!("        const REAL value = tanh$({} * sum + {});\n", out.literal(gamma), out.literal(coef0))
        }
        KernelFunction::Poly { gamma, coef0, degree } => format!(
            "        const REAL base = {} * sum + {};\n        REAL value = 1, square = base;\n        \
             for (unsigned long left = {degree}; left > 0; left /= 2) {{\n            if (left % 2) value *= square;\n            \
             square *= square;\n        }}\n",
            out.literal(gamma),
            out.literal(coef0)
        ),
    }
}

/// Adds the coefficients: by vector, each with the machine it belongs to.
fn terms(out: &mut Text, machines: &[Terms], vectors: usize, k: usize) {
    if let [terms] = machines {
        let mut coefficients = vec![0.0; vectors];
        terms.vectors.iter().zip(&terms.coefficients).for_each(|(&v, c)| coefficients[v as usize] = *c);
        out.reals(&format!("coefficients{k}"), &coefficients);
        return;
    }
    let mut of_vector = vec![Vec::new(); vectors];
    for (m, terms) in machines.iter().enumerate() {
        terms.vectors.iter().zip(&terms.coefficients).for_each(|(&v, c)| of_vector[v as usize].push((m, *c)));
    }
    let mut begin = vec![0];
    of_vector.iter().for_each(|terms| begin.push(begin[begin.len() - 1] + terms.len()));
    let all: Vec<(usize, f64)> = of_vector.into_iter().flatten().collect();
    out.counts(&format!("begin{k}"), &begin);
    out.counts(&format!("machine{k}"), &all.iter().map(|term| term.0).collect::<Vec<_>>());
    out.reals(&format!("coefficients{k}"), &all.iter().map(|term| term.1).collect::<Vec<_>>());
}

/// Adds `PREFIX_featuresK(x, f)`: filled gaps, words as features, scaling.
fn features(out: &mut Text, inputs: &Inputs, functions: &Functions, k: usize) {
    let features = inputs.features;
    if let Some(scale) = &functions.scale {
        for (name, values) in
            [("shift", &scale.shift), ("factor", &scale.factor), ("divisor", &scale.divisor), ("offset", &scale.offset)]
        {
            out.reals(&format!("{name}{k}"), values);
        }
    }
    let has_columns = !inputs.columns.is_empty();
    if has_columns {
        let fills: Vec<f64> = functions.fills.iter().map(|fill| fill.unwrap_or(f64::NAN)).collect();
        out.reals(&format!("fill{k}"), &fills);
        let width = |kind: &InputKind| if let InputKind::Category { words } = kind { words.len() + 1 } else { 0 };
        // 0 for a number, one more than the words for a column of words.
        out.counts(&format!("words{k}"), &inputs.columns.iter().map(|column| width(&column.kind)).collect::<Vec<_>>());
    }
    out.add(&format!("static void @_features{k}(const REAL *x, REAL *f) {{\n"));
    if has_columns {
        out.add(&format!(
            "    unsigned j = 0;\n    for (unsigned c = 0; c < {}; c++) {{\n        \
             const REAL value = isnan(x[c]) ? @_fill{k}[c] : x[c];\n        \
             if (@_words{k}[c] == 0) f[j++] = value;\n        \
             else for (unsigned w = 0; w + 1 < @_words{k}[c]; w++) f[j++] = isnan(value) ? value : (REAL)(value == (REAL)w);\n    \
             }}\n",
            inputs.columns.len()
        ));
    }
    let from = if has_columns { "f[j]" } else { "x[j]" };
    if functions.scale.is_some() {
        let next = if has_columns { "" } else { "unsigned " };
        out.add(&format!(
            "    for ({next}j = 0; j < {features}; j++)\n        \
             f[j] = ({from} - @_shift{k}[j]) * @_factor{k}[j] / @_divisor{k}[j] + @_offset{k}[j];\n"
        ));
    } else if !has_columns {
        out.add(&format!("    for (unsigned j = 0; j < {features}; j++) f[j] = x[j];\n"));
    }
    out.add("}\n\n");
}
