//! Labels, probabilities and intervals in C.

use super::text::Text;
use crate::program::{CalibrationMap, Classes, FoldIntervals, Labels, Outcome, Program};
use maxmargin_model::DecisionRule;

/// Adds the labels as an array.
fn labels(out: &mut Text, labels: &Labels) {
    let length = labels.len();
    match labels {
        Labels::Integers(numbers) => {
            let literals: Vec<String> = numbers.iter().map(|number| format!("{number}LL")).collect();
            out.add(&format!("const long long @_labels[{length}] = {{ {} }};\n\n", literals.join(", ")));
        }
        Labels::Numbers(numbers) => {
            let literals: Vec<String> = numbers.iter().map(|number| format!("{number:?}")).collect();
            out.add(&format!("const double @_labels[{length}] = {{ {} }};\n\n", literals.join(", ")));
        }
        Labels::Words(words) => {
            let literals: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            let list = literals.join(", ");
            out.add(&format!("const char *const @_labels[{length}] = {{ "));
            // Words may have the characters that stand for something in templates.
            out.written.push_str(&list);
            out.add(" };\n\n");
        }
    }
}

/// A text as a C literal: everything but plain letters in octal.
pub(super) fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b" _-+.,:;=()/".contains(&byte);
    let of = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("\\{byte:03o}") };
    format!("\"{}\"", text.bytes().map(of).collect::<String>())
}

/// Adds the public functions.
pub(super) fn add(out: &mut Text, program: &Program) {
    let machines = program.machines();
    out.add("void @_decision(const REAL *x, REAL *decision) { @_decide0(x, decision); }\n\n");
    if program.outcomes() > 0 {
        probabilities(out, program);
    }
    match &program.outcome {
        Outcome::Value if machines > 1 => levels(out, program),
        Outcome::Value => out.add(
            "REAL @_predict(const REAL *x) {\n    REAL decision[1];\n    @_decide0(x, decision);\n    return decision[0];\n}\n\n",
        ),
        Outcome::Inlier => out.add(
            "int @_predict(const REAL *x) {\n    REAL decision[1];\n    @_decide0(x, decision);\n    \
             return decision[0] > 0 ? 1 : -1;\n}\n\n",
        ),
        Outcome::Classes(classes) => {
            labels(out, &classes.labels);
            elected(out, classes);
            let choice = match (classes.rule, classes.threshold) {
                (DecisionRule::Threshold, Some(threshold)) => {
                    format!("    return d[0] >= {};\n", out.literal(threshold))
                }
                (DecisionRule::Coupled, _) => likeliest(out, classes),
                _ => "    return @_elected(d);\n".to_owned(),
            };
            out.add(&format!("int @_predict(const REAL *x) {{\n    REAL d[{machines}];\n    @_decide0(x, d);\n{choice}}}\n\n"));
        }
    }
    if let Some(intervals) = &program.intervals {
        interval(out, intervals);
    }
}

/// Adds `PREFIX_levels(x, values)`, and the prediction of the central level.
fn levels(out: &mut Text, program: &Program) {
    let (machines, central) = (program.machines(), program.central);
    out.add(&format!(
        "void @_levels(const REAL *x, REAL *values) {{\n    @_decide0(x, values);\n    \
         for (int i = 1; i < {machines}; i++)\n        for (int j = i; j > 0 && values[j - 1] > values[j]; j--) {{\n            \
         const REAL lower = values[j];\n            values[j] = values[j - 1];\n            values[j - 1] = lower;\n        \
         }}\n}}\n\nREAL @_predict(const REAL *x) {{\n    REAL values[{machines}];\n    @_levels(x, values);\n    \
         return values[{central}];\n}}\n\n"
    ));
}

/// Adds the order of ties, and `PREFIX_elected(d)`, the class that decision values elect, where
/// they are needed.
fn elected(out: &mut Text, classes: &Classes) {
    let count = classes.labels.len();
    if classes.rule == DecisionRule::Threshold {
        return;
    }
    out.counts("order", &classes.order);
    if classes.rule == DecisionRule::Coupled && !classes.elected_first {
        return;
    }
    out.add("static int @_elected(const REAL *d) {\n");
    if classes.are_pairs() {
        let zero: Vec<usize> = classes.zero_is_second.iter().map(|is| usize::from(*is)).collect();
        let list = zero.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        out.add(&format!(
            "    static const unsigned char zero_is_second[{}] = {{ {list} }};\n    unsigned v[{count}] = {{ 0 }}, p = 0;\n    \
             for (int a = 0; a < {count}; a++)\n        for (int b = a + 1; b < {count}; b++, p++)\n            \
             v[d[p] > 0 || (d[p] == 0 && zero_is_second[p]) ? b : a]++;\n",
            zero.len()
        ));
    } else {
        out.add("    const REAL *v = d;\n");
    }
    out.add(&format!(
        "    int best = @_order[0];\n    for (int i = 1; i < {count}; i++)\n        \
         if (v[@_order[i]] > v[best]) best = @_order[i];\n    return best;\n}}\n\n"
    ));
}

/// Lines that return the class of the greatest probability.
fn likeliest(out: &Text, classes: &Classes) -> String {
    let count = classes.labels.len();
    let tolerance = out.literal(classes.tie_tolerance);
    let first = if classes.elected_first {
        "    const int chosen = @_elected(d);\n    if (p[chosen] >= most) return chosen;\n"
    } else {
        ""
    };
    format!(
        "    REAL p[{count}], most = 0;\n    @_probable(d, p);\n    for (int i = 0; i < {count}; i++) if (p[i] > most) most = p[i];\n\
         {first}    for (int i = 0; i < {count}; i++) if (p[@_order[i]] >= most - {tolerance}) return @_order[i];\n    return 0;\n"
    )
}

/// Adds `PREFIX_probabilities(x, p)`.
fn probabilities(out: &mut Text, program: &Program) {
    let (machines, outcomes) = (program.machines(), program.outcomes());
    if program.calibration.iter().any(|map| matches!(map, CalibrationMap::Sigmoid { .. })) {
        out.add(
            "static REAL @_sigmoid(REAL z) {\n    \
             return z >= 0 ? exp$(-z) / (1 + exp$(-z)) : 1 / (1 + exp$(z));\n}\n\n",
        );
    }
    if program.calibration.iter().any(|map| matches!(map, CalibrationMap::Steps { .. })) {
        out.add(STEPS);
    }
    if outcomes > 2 && matches!(&program.outcome, Outcome::Classes(classes) if classes.are_pairs()) {
        let epsilon = if out.suffix().is_empty() { "2.220446049250313e-16" } else { "1.1920929e-07f" };
        out.add(&COUPLE.replace("COUNT", &outcomes.to_string()).replace("EPSILON", epsilon));
    }
    for (m, map) in program.calibration.iter().enumerate() {
        match map {
            CalibrationMap::Steps { at, probability } => {
                out.reals(&format!("at{m}"), at);
                out.reals(&format!("probability{m}"), probability);
            }
            CalibrationMap::Marks { marks } => out.reals("marks", marks),
            CalibrationMap::Sigmoid { .. } | CalibrationMap::Laplace { .. } => {}
        }
    }
    out.add(&format!("static void @_probable(const REAL *d, REAL *p) {{\n    REAL each[{machines}];\n"));
    for (m, map) in program.calibration.iter().enumerate() {
        let line = of_machine(out, m, map);
        out.add(&line);
    }
    let rest = of_outcomes(out, program);
    out.add(&rest);
    out.add(&format!(
        "}}\n\nvoid @_probabilities(const REAL *x, REAL *p) {{\n    REAL d[{machines}];\n    @_decide0(x, d);\n    \
         @_probable(d, p);\n}}\n\n"
    ));
}

/// The line that makes the probability of a machine.
fn of_machine(out: &Text, m: usize, map: &CalibrationMap) -> String {
    match map {
        CalibrationMap::Sigmoid { a, b } => {
            format!("    each[{m}] = @_sigmoid({} * d[{m}] + {});\n", out.literal(*a), out.literal(*b))
        }
        CalibrationMap::Steps { at, .. } => {
            format!("    each[{m}] = @_steps(@_at{m}, @_probability{m}, {}, d[{m}]);\n", at.len())
        }
        CalibrationMap::Marks { marks } => format!(
            "    unsigned below = 0;\n    while (below < {0} && d[0] >= @_marks[below]) below++;\n    \
                 each[0] = d[0] != d[0] ? d[0] : below == 0 ? {1} : below == {0} ? {2} : (REAL)below / {0};\n",
            marks.len(),
            out.literal(0.001),
            out.literal(0.999)
        ),
        CalibrationMap::Laplace { .. } => String::new(),
    }
}

/// The lines that make the probabilities of outcomes from those of machines.
fn of_outcomes(out: &Text, program: &Program) -> String {
    let (machines, outcomes) = (program.machines(), program.outcomes());
    let (least, most) = (out.literal(1e-7), out.literal(1.0 - 1e-7));
    let cut = format!(
        "    for (unsigned m = 0; m < {machines}; m++)\n        \
         each[m] = each[m] < {least} ? {least} : each[m] > {most} ? {most} : each[m];\n"
    );
    match &program.outcome {
        Outcome::Classes(_) if outcomes == 2 => cut + "    p[0] = 1 - each[0];\n    p[1] = each[0];\n",
        Outcome::Classes(classes) if classes.are_pairs() => cut + "    @_couple(each, p);\n",
        Outcome::Classes(_) => {
            cut + &format!(
                "    REAL sum = 0;\n    for (unsigned m = 0; m < {machines}; m++) sum += each[m];\n    \
                 for (unsigned m = 0; m < {machines}; m++) p[m] = each[m] / sum;\n"
            )
        }
        Outcome::Value | Outcome::Inlier => "    p[0] = each[0];\n    p[1] = 1 - each[0];\n".to_owned(),
    }
}

/// Adds `PREFIX_interval(x, bounds)`.
fn interval(out: &mut Text, intervals: &FoldIntervals) {
    let folds = intervals.folds.len();
    let mut begins = vec![0];
    intervals.functions.iter().for_each(|of| begins.push(begins[begins.len() - 1] + of.bias.len()));
    let place = |[group, at]: [usize; 2]| begins[group] + at;
    let scores: Vec<f64> = intervals.folds.iter().flat_map(|fold| fold.scores.iter().copied()).collect();
    let mut ends = vec![0];
    intervals.folds.iter().for_each(|fold| ends.push(ends[ends.len() - 1] + fold.scores.len()));
    out.reals("scores", &scores);
    out.counts("score_begin", &ends);
    out.counts("lower_place", &intervals.folds.iter().map(|fold| place(fold.lower)).collect::<Vec<_>>());
    out.counts("upper_place", &intervals.folds.iter().map(|fold| place(fold.upper)).collect::<Vec<_>>());
    let calls: Vec<String> =
        (0..intervals.functions.len()).map(|group| format!("    @_decide{}(x, d + {});\n", group + 1, begins[group])).collect();
    let calls = calls.concat();
    let (all, rank) = (begins[begins.len() - 1], intervals.rank);
    out.add(&format!(
        "/* The rank-th greatest of sign * prediction + score over all scores, each with its fold. */\n\
         static REAL @_end(const REAL *d, REAL sign) {{\n    unsigned long left[{folds}];\n    REAL best = INFINITY;\n    \
         for (unsigned k = 0; k < {folds}; k++) left[k] = @_score_begin[k + 1];\n    \
         for (unsigned long taken = 0; taken < {rank}; taken++) {{\n        int from = -1;\n        \
         for (unsigned k = 0; k < {folds}; k++) {{\n            if (left[k] == @_score_begin[k]) continue;\n            \
         const REAL value = sign * d[sign > 0 ? @_upper_place[k] : @_lower_place[k]] + @_scores[left[k] - 1];\n            \
         if (from < 0 || value > best) {{ best = value; from = (int)k; }}\n        }}\n        \
         if (from >= 0) left[from]--;\n    }}\n    return sign * best;\n}}\n\n\
         void @_interval(const REAL *x, REAL *bounds) {{\n    REAL d[{all}];\n{calls}    bounds[0] = @_end(d, -1);\n    \
         bounds[1] = @_end(d, 1);\n}}\n\n"
    ));
}

/// The function that is linear between knots.
const STEPS: &str = "\
static REAL @_steps(const REAL *at, const REAL *p, unsigned long count, REAL f) {
    unsigned long next = 0;
    if (f != f) return f;
    while (next < count && at[next] <= f) next++;
    if (next == 0) return p[0];
    if (next == count) return p[count - 1];
    const REAL share = (0.5$ * f - 0.5$ * at[next - 1]) / (0.5$ * at[next] - 0.5$ * at[next - 1]);
    const REAL value = p[next - 1] + share * (p[next] - p[next - 1]);
    return value < p[next - 1] ? p[next - 1] : value > p[next] ? p[next] : value;
}

";

/// Pairwise coupling by elimination, pivots from the greatest down.
const COUPLE: &str = "\
static void @_couple(const REAL *later, REAL *p) {
    REAL q[COUNT][COUNT] = { { 0 } }, right[COUNT], diagonal[COUNT], sum = 0;
    int order[COUNT], pair = 0;
    for (int i = 0; i < COUNT; i++)
        for (int j = i + 1; j < COUNT; j++) {
            const REAL r = later[pair++], s = 1 - r;
            q[i][i] += r * r;
            q[j][j] += s * s;
            q[i][j] = q[j][i] = -s * r;
        }
    for (int i = 0; i < COUNT; i++) { right[i] = 1; diagonal[i] = q[i][i]; order[i] = i; }
    for (int step = 0; step < COUNT; step++) {
        int next = step;
        for (int i = step + 1; i < COUNT; i++) if (q[order[i]][order[i]] > q[order[next]][order[next]]) next = i;
        const int k = order[next];
        order[next] = order[step];
        order[step] = k;
        if (q[k][k] < EPSILON * diagonal[k]) q[k][k] = EPSILON * diagonal[k];
        for (int a = step + 1; a < COUNT; a++) {
            const int i = order[a];
            const REAL factor = -q[i][k] / q[k][k];
            right[i] += factor * right[k];
            for (int b = step + 1; b < COUNT; b++) q[i][order[b]] += factor * q[k][order[b]];
        }
    }
    for (int step = COUNT - 1; step >= 0; step--) {
        const int k = order[step];
        REAL value = 0;
        for (int b = step + 1; b < COUNT; b++) value -= q[k][order[b]] * p[order[b]];
        p[k] = (right[k] + value) / q[k][k];
    }
    for (int i = 0; i < COUNT; i++) sum += p[i];
    for (int i = 0; i < COUNT; i++) p[i] /= sum;
}

";
