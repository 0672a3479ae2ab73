"""The page of what was measured, from its raw lines alone."""

import json
import math
from statistics import median
from textwrap import fill

import picture
import works

HEAD = """# The Python package beside scikit-learn and scikit-learn-intelex

<!-- Written by `cargo xtask peers`. Do not edit. -->

Whole calls with the conversion of arrays, each in a process of its own that has its data and has trained once on 60 rows; programs
take turns, `OMP_WAIT_POLICY=PASSIVE`. Seconds are the median of the repeats, least and greatest in brackets; a peer that took more
than a minute (`--once`) is asked once, one beyond the limit is cut, and its ratio is at least the printed one. Ratios are theirs over ours;
*asked* is what the project asks for.

- `tol=0.001` for all kernel machines. Peers may cache 8 GB, this package has its default of 2 GB.
- scikit-learn trains on one thread; its searches, cross-validations and calibrations have a process for each core (`n_jobs=-1`).
- `GridSearchCV`: five folds, peers with a process for each core (`n_jobs=-1`). 36 cells: powers of 10 from 0.1 (C) and 0.0001 (γ) on;
  110 cells: LIBSVM's ranges (C 2⁻⁵ to 2¹⁵, γ 2⁻¹⁵ to 2³).
- `cross_val_predict`: ten folds; here `SVC.cross_validate(…).predicted()`.
- `probabilities`: `SVC(probability=True)` on four fifths of the rows; for the peers `CalibratedClassifierCV(SVC(), ensemble=False)`.
- `predict`: a million rows, by a machine of 5,000.
- `predict_one`: a thousand calls with a row each, after a first one; milliseconds of them are microseconds of one.
"""

SUITE = """# Works as users have them, beside the best peer of each

<!-- Written by `cargo xtask peers --suite`. Do not edit. -->

Every work of `crates/maxmargin-python/benchmarks/suite.py`, in Python, beside scikit-learn (LIBSVM and LIBLINEAR) and
scikit-learn-intelex, of which the faster one counts. The ratio is its time over ours; the worst comes first. How it is
measured is said in [python.md](python.md).
"""

ANSWERS = """
## Whether answers agree

- Trainings of two classes: the dual objective, computed afresh from coefficients and support vectors. Two solutions to
  the tolerance differ by at most `tol · C · rows`, since no gap is larger.
- Linear machines: the primal objective. Ours may exceed another by its certified gap and not by more; theirs is what
  LIBLINEAR ended with.
- Searches: the greatest difference of a mean score (at most 0.002).
- Probabilities: the logarithmic loss on the last fifth of the rows (within 0.01). Regression: the difference of
  predictions over their spread (at most 0.01). The rest: the share of equal predictions (at least 0.99).

| work | program | answer | beside ours | agrees |
| --- | --- | --: | --: | --- |
"""


def read(raw):
    """The lines of the last run of every work."""
    lines = [json.loads(line) for line in raw.read_text().splitlines()] if raw.exists() else []
    last = {line["work"]: line["run"] for line in lines}
    return [line for line in lines if line["run"] == last[line["work"]]]


def rendered(lines):
    """The page."""
    text, answers = HEAD, ANSWERS
    text += f"\n{circumstances(lines)}\n\n"
    text += "| work | rows × features | maxmargin, s | scikit-learn, s | ratio | scikit-learn-intelex, s | ratio | asked |\n"
    text += "| --- | --- | --: | --: | --: | --: | --: | --- |\n"
    for work in [work for work in works.WORKS if any(line["work"] == work.name for line in lines)]:
        own = [line for line in lines if line["work"] == work.name]
        by = {program: [line for line in own if line["program"] == program] for program in works.PROGRAMS}
        ours = by[works.OURS]
        cells = [work.name, f"{own[0]['rows']:,} × {own[0]['features']:,}", said(ours)]
        for peer in (works.THEIRS, works.INTEL):
            cells += [said(by[peer]), ratio(ours, by[peer])]
        cells.append(", ".join(f"≥ {least:g}" for least in work.asked))
        text += f"| {' | '.join(cells)} |\n"
        for peer in (works.THEIRS, works.INTEL):
            answers += compared(work, ours, by[peer], own[0]["rows"])
    return text + answers


def suite(lines):
    """The page of the suite: every work beside the best of its peers."""
    rows, answers = of_suite(lines)
    text = f"{SUITE}\n{circumstances(lines)}\n\n{summary(rows)}\n\n![The ratio of each work](suite.svg)\n\n"
    text += "| work | rows × features | maxmargin, s | best peer | its s | ratio |\n| --- | --- | --: | --- | --: | --: |\n"
    return text + "".join(f"| {' | '.join(cells)} |\n" for _, _, cells in rows) + answers


def suite_picture(lines):
    """The picture of the same."""
    rows, _ = of_suite(lines)
    machines = sorted({"{cpu}, {cores} cores".format(**line["machine"]) for line in lines if line["machine"]})
    return picture.drawn([(cells[0], of, cut) for of, cut, cells in rows], summary(rows), "; ".join(machines))


def of_suite(lines):
    """Of every work the ratio, whether the best peer was cut, and its cells, the worst first; then the answers."""
    rows, answers = [], ANSWERS
    for work in [work for work in works.listed("suite") if any(line["work"] == work.name for line in lines)]:
        own = [line for line in lines if line["work"] == work.name]
        by = {program: [line for line in own if line["program"] == program] for program in works.PROGRAMS}
        ours = by.pop(works.OURS)
        peers = {program: theirs for program, theirs in by.items() if theirs}
        if not ours or not peers or "cut" in ours[0]:
            continue
        best = min(peers, key=lambda program: seconds(peers[program]))
        of = seconds(peers[best]) / seconds(ours)
        size = f"{own[0]['rows']:,} × {own[0]['features']:,}"
        cells = [work.name, size, said(ours), best, said(peers[best]), ratio(ours, peers[best])]
        rows.append((of, any("cut" in line for line in peers[best]), cells))
        for theirs in peers.values():
            answers += compared(work, ours, theirs, own[0]["rows"])
    return sorted(rows, key=lambda row: row[0]), answers


def summary(rows):
    ratios = [of for of, _, _ in rows]
    middle = math.exp(sum(map(math.log, ratios)) / len(ratios))
    text = f"{len(rows)} works. Geometric mean of the ratios {middle:.1f}, the worst {ratios[0]:.2f}; "
    text += f"{sum(of < 1 for of in ratios)} below 1, {sum(of < 1.5 for of in ratios)} below 1.5, "
    return text + f"{sum(of > 4 for of in ratios)} above 4."


def circumstances(lines):
    """Versions, machine and command, for all runs that the lines are of."""
    told = []
    for run in sorted({line["run"] for line in lines}):
        of = [line for line in lines if line["run"] == run]
        packages = sorted({f"{line['program']} {line['version']}" for line in of if "version" in line})
        machine = of[0]["machine"]
        where = (
            "{cpu}, {cores} cores, {memory_gib} GiB, {os}, revision {revision}".format(**machine)
            if machine
            else "a machine that was not named"
        )
        works_of = len({line["work"] for line in of})
        rest = f"{', '.join(packages)}, numpy {of[0]['numpy']}, Python {of[0]['python']}."
        told.append(fill(f"`{of[0]['command']}` ({works_of} works): {where}; {rest}", 120, break_on_hyphens=False))
    return "\n\n".join(told)


def seconds(lines):
    """Of one program; a lower bound where it was cut."""
    return median(line.get("seconds", line.get("cut")) for line in lines)


def digits(value):
    """Three digits."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def said(lines):
    if not lines:
        return "–"
    if any("cut" in line for line in lines):
        return f"> {digits(seconds(lines))}"
    every = [line["seconds"] for line in lines]
    spread = f" ({digits(min(every))}–{digits(max(every))})" if len(every) > 1 else ""
    left = ", by scikit-learn's code" if any(line.get("fallbacks") for line in lines) else ""
    short = ", not converged" if any(line["warnings"] for line in lines) else ""
    return f"{digits(seconds(lines))}{spread}{left}{short}"


def ratio(ours, theirs):
    if not ours or not theirs or any("cut" in line for line in ours):
        return "–"
    found = seconds(theirs) / seconds(ours)
    told = f"{found:.0f}" if found >= 100 else f"{found:.1f}"
    return f"> {told}" if any("cut" in line for line in theirs) else told


def compared(work, ours, theirs, rows):
    """A line of the second table for what one peer found."""
    done = [line for line in theirs if "answer" in line and "cut" not in line]
    if not done or not ours or "cut" in ours[0]:
        return ""
    mine, other = ours[0]["answer"], done[0]["answer"]
    if "dual" in other:
        difference = other["dual"] - mine["dual"]
        good = abs(difference) <= works.TOL * work.parameters["C"] * rows
        answer, beside = f"dual {other['dual']:.6f}", f"{difference / abs(mine['dual']):+.1e} of it"
    elif "primal" in other:
        difference = other["primal"] / mine["primal"] - 1
        good = difference >= -mine["gap"]
        answer, beside = f"primal {other['primal']:.6g}", f"{100 * difference:+.2g} %, gap of ours {mine['gap']:.1e}"
    elif "scores" in other:
        difference = max(abs(a - b) for a, b in zip(mine["scores"], other["scores"], strict=True))
        good = difference <= 0.002
        answer, beside = f"best score {max(other['scores']):.4f}", f"{difference:.1e} at most"
    elif "apart_values" in other:
        good = other["apart_values"] <= 0.01
        answer, beside = "values", f"{other['apart_values']:.1e} of their spread apart"
    elif "log_loss" in other:
        difference = other["log_loss"] - mine["log_loss"]
        good = abs(difference) <= 0.01
        answer, beside = f"log loss {other['log_loss']:.4f}", f"{difference:+.4f}"
    else:
        equal = other["equal_predicted"]
        good = equal >= 0.99
        answer, beside = "predictions", f"{100 * equal:.3f} % equal"
    return f"| {work.name} | {done[0]['program']} | {answer} | {beside} | {'yes' if good else 'NO'} |\n"
