"""Sizes of sets and widths of intervals by each kind of score, and MAPIE's on the same machines and halves.

    python benchmarks/conformal_scores.py [--splits 20] [--out docs/reproduction/conformal-scores.md]

The sets, the halves and the band are those of ``conformal.py``. A method that covers more than it is asked for has larger predictions for it: the last
column compares methods where each covers exactly what was asked, at a level of its own.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from conformal import CLASSES, REGRESSION, Row, halves, standard

from maxmargin import SVC, SVR, NuSVR

ALPHA = 0.1

#: Levels between which the one with the asked coverage is interpolated; :data:`ALPHA` is one of them.
LEVELS = (0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.17, 0.2, 0.25)

Half = tuple[np.ndarray, np.ndarray]


class Curve(Row):
    """A row, and the mean size of its predictions at the level that covers exactly what is asked."""

    def __init__(self, name: str) -> None:
        super().__init__(name, ALPHA)
        self.levels: list[list[tuple[float, float]]] = []

    def add_levels(self, covered: Sequence[np.ndarray], sizes: Sequence[float], scored: int) -> None:
        at = LEVELS.index(ALPHA)
        self.add(covered[at], sizes[at], scored)
        self.levels.append([(of.mean(), size) for of, size in zip(covered, sizes, strict=True)])

    def where_covered(self) -> str:
        coverage, size = np.mean(self.levels, axis=0)[::-1].T
        return f"{np.interp(1 - ALPHA, coverage, size):.2f}" if coverage[0] <= 1 - ALPHA <= coverage[-1] else "–"

    def text(self) -> str:
        return f"{super().text()} {self.where_covered()} |"


def add_bounds(row: Curve, bounds: Sequence[np.ndarray], truth: np.ndarray, scored: int) -> None:
    covered = [(of[:, 0] <= truth) & (truth <= of[:, 1]) for of in bounds]
    row.add_levels(covered, [float((of[:, 1] - of[:, 0]).mean()) for of in bounds], scored)


def our_bounds(machine: Any, train: Half, new: np.ndarray) -> list[np.ndarray]:
    fitted = machine.fit(*train)
    return [fitted.predict_interval(new, alpha=alpha) for alpha in LEVELS]


def mapie_plus(train: Half, new: np.ndarray) -> list[np.ndarray]:
    """Return MAPIE's CV+ of ten folds, which trains again for every fold."""
    from mapie.regression import CrossConformalRegressor  # noqa: PLC0415

    found = CrossConformalRegressor(
        SVR(C=10, gamma="auto"), confidence_level=[1 - alpha for alpha in LEVELS], method="plus", cv=10, random_state=1
    )
    bounds = found.fit_conformalize(*train).predict_interval(new)[1]
    return [bounds[:, :, at] for at in range(len(LEVELS))]


def mapie_scaled(train: Half, new: np.ndarray) -> list[np.ndarray]:
    """Return MAPIE's locally weighted intervals, which it has for a split alone: half of the rows train, half are scored."""
    from mapie.conformity_scores import ResidualNormalisedScore  # noqa: PLC0415
    from mapie.regression import SplitConformalRegressor  # noqa: PLC0415

    X, y = train
    half = len(y) // 2
    score = ResidualNormalisedScore(residual_estimator=SVR(), split_size=0.5, random_state=1, sym=True)
    found = SplitConformalRegressor(
        SVR(C=10, gamma="auto"), confidence_level=[1 - alpha for alpha in LEVELS], conformity_score=score, prefit=False
    )
    bounds = found.fit(X[:half], y[:half]).conformalize(X[half:], y[half:]).predict_interval(new)[1]
    return [bounds[:, :, at] for at in range(len(LEVELS))]


def values(splits: int, beside: bool) -> Iterator[Curve]:
    machines: dict[str, Any] = {
        "epsilon-SVR": SVR(C=10, gamma="auto", conformal=ALPHA),
        "nu-SVR": NuSVR(C=10, gamma="auto", conformal=ALPHA),
    }
    for name, load in REGRESSION.items():
        X, y = standard(load, values=True)
        for kind, machine in machines.items():
            for score in ("plain", "scaled"):
                row = Curve(f"{name}, {kind}, {score}")
                machine.set_params(conformal_score=score)
                for train, test in halves(len(y), splits):
                    add_bounds(row, our_bounds(machine, (X[train], y[train]), X[test]), y[test], len(train))
                yield row
        for kind, bounds_of in (("plus", mapie_plus), ("split, scaled", mapie_scaled)) if beside else ():
            row = Curve(f"{name}, MAPIE {kind}")
            for train, test in halves(len(y), splits):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    bounds = bounds_of((X[train], y[train]), X[test])
                add_bounds(row, bounds, y[test], len(train) if bounds_of is mapie_plus else len(train) - len(train) // 2)
            yield row


def our_sets(kind: str, train: Half, new: np.ndarray) -> list[np.ndarray]:
    fitted = SVC(C=10, gamma="auto", conformal=ALPHA, conformal_score=kind).fit(*train)
    return [fitted.predict_set(new, alpha=alpha) for alpha in LEVELS]


def mapie_sets(score: str, train: Half, new: np.ndarray) -> list[np.ndarray]:
    """Return MAPIE's cross-conformal sets of ten folds, of machines with Platt's probabilities."""
    from mapie.classification import CrossConformalClassifier  # noqa: PLC0415

    machine = SVC(C=10, gamma="auto", calibration="platt")
    levels = [1 - alpha for alpha in LEVELS]
    found = CrossConformalClassifier(machine, confidence_level=levels, conformity_score=score, cv=10, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sets = np.asarray(found.fit_conformalize(*train).predict_set(new)[1])
    return [sets[:, :, at] for at in range(len(LEVELS))]


def classes(splits: int, beside: bool) -> Iterator[Curve]:
    for name, load in CLASSES.items():
        X, y = standard(load, values=False)
        labels = np.unique(y)
        # MAPIE has no APS for two classes.
        theirs = (["MAPIE lac", "MAPIE aps"] if len(labels) > 2 else ["MAPIE lac"]) if beside else []
        for kind in ["plain", "aps", "raps", *theirs]:
            row = Curve(f"{name}, {kind}")
            for train, test in halves(len(y), splits):
                half = X[train], y[train]
                sets = mapie_sets(kind.split()[1], half, X[test]) if kind in theirs else our_sets(kind, half, X[test])
                at = np.searchsorted(labels, y[test])
                covered = [of[np.arange(len(test)), at] for of in sets]
                row.add_levels(covered, [float(of.sum(axis=1).mean()) for of in sets], len(train))
            yield row


def smallest(sizes: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Write the smallest predictions of ours and of MAPIE's for each set, from names of rows and their sizes where covered."""
    found: dict[str, dict[bool, list[tuple[float, str]]]] = {}
    for row, size in sizes:
        name, kind = row.split(", ", 1)
        if size != "–":
            of_set = found.setdefault(name, {False: [], True: []})
            of_set[kind.startswith("MAPIE")].append((float(size), kind.removeprefix("MAPIE ")))
    yield "| set | smallest of ours | smallest of MAPIE's | ratio |\n|---|---|---|---|"
    for name, kinds in found.items():
        (ours, our_kind), (theirs, their_kind) = min(kinds[False]), min(kinds[True])
        yield f"| {name} | {ours:.2f} ({our_kind}) | {theirs:.2f} ({their_kind}) | {ours / theirs:.2f} |"


#: For some sets, a group of each row that is known beforehand: a sex, a part of a range.
GROUPS = {"diabetes": lambda X: X[:, 1] > 0, "growing noise": lambda X: np.digitize(X[:, 0], [-0.6, 0.6])}


def groups(splits: int) -> Iterator[Row]:
    for name, group_of in GROUPS.items():
        X, y = standard(REGRESSION[name], values=True)
        of = group_of(X)
        rows = {
            (kind, group): Row(f"{name}, {kind}, group {group:g}", ALPHA)
            for kind in ("all rows", "each group")
            for group in np.unique(of)
        }
        for train, test in halves(len(y), splits):
            machine = SVR(C=10, gamma="auto", conformal=ALPHA)
            together = machine.fit(X[train], y[train]).predict_interval(X[test])
            apart = machine.fit(X[train], y[train], conformal_groups=of[train]).predict_interval(
                X[test], conformal_groups=of[test]
            )
            for kind, bounds in (("all rows", together), ("each group", apart)):
                covered = (bounds[:, 0] <= y[test]) & (y[test] <= bounds[:, 1])
                for group in np.unique(of):
                    own = of[test] == group
                    rows[kind, group].add(covered[own], (bounds[own, 1] - bounds[own, 0]).mean(), int((of[train] == group).sum()))
        yield from rows.values()


def installed_mapie() -> str | None:
    try:
        import mapie  # noqa: PLC0415
    except ImportError:
        return None
    return str(mapie.__version__)


HEAD = "| prediction | asked | covered | band | splits inside | splits below | size |"
RULE = "|---|---|---|---|---|---|---|"


def page(splits: int) -> Iterator[str]:
    version = installed_mapie()
    yield "# Kinds of conformal scores\n"
    yield "In crates/maxmargin-python, with mapie installed, this writes the page:\n"
    yield f"    python benchmarks/conformal_scores.py --splits {splits} --out ../../docs/reproduction/conformal-scores.md\n"
    yield (
        "Sets, halves, band and columns are those of [the coverage of conformal predictions](conformal.md), over fewer splits.\n"
        "`scaled` divides errors by those that a second machine predicts, `aps` and `raps` add up probabilities\n"
        "([the equations](../math/conformal.md)). The last column is the mean size at the level at which the mean coverage is\n"
        "exactly what was asked, interpolated between ten levels from 2 to 25 %: there methods compare (–: none of them has it).\n"
    )
    if version is None:
        yield "mapie is not installed: nothing was compared with it.\n"
    else:
        yield (
            f"MAPIE {version} has the same machines: `CrossConformalRegressor` (`plus`) and `CrossConformalClassifier` of ten\n"
            "folds, the latter over Platt's probabilities, and `ResidualNormalisedScore` (`split, scaled`), which it has for\n"
            "`SplitConformalRegressor` alone: a half of the rows trains. It trains again for every fold.\n"
        )
    yield "## Widths of intervals\n"
    sizes = []
    for title, rows in ((None, values), ("Sizes of sets", classes)):
        if title is not None:
            yield f"\n## {title}\n"
        yield f"{HEAD} size where covered |\n{RULE}---|"
        for row in rows(splits, beside=version is not None):
            sizes.append((row.name, row.where_covered()))
            yield row.text()
    if version is not None:
        yield "\n## Beside each other\n"
        yield (
            "The smallest predictions of each where they cover what was asked; a ratio above 1 is for MAPIE. Ours is the best of\n"
            "four kinds of intervals over two machines, MAPIE's of two over epsilon-SVR. Folds differ.\n"
        )
        yield from smallest(sizes)
    yield "\n## Groups\n"
    yield (
        "Intervals with the promise for all rows, and for each group by itself: the sex in the first set, three parts of\n"
        "the range in the second, along which the noise grows. Band and coverage are those of the rows of the group.\n"
    )
    yield f"{HEAD}\n{RULE}"
    yield from (row.text() for row in groups(splits))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    lines = []
    for line in page(args.splits):
        print(line, flush=True)
        lines.append(line)
    if args.out is not None:
        args.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
