"""Coverage of intervals and sets over random splits of ten sets, and CV+ beside MAPIE on given folds.

    python benchmarks/conformal.py [--splits 100] [--out docs/reproduction/conformal.md]

A split trains on one half of a set and predicts the other. Its coverage varies as a beta-binomial number: by the rows that are scored, and by the rows
that are predicted. The band is the central 95 % of it for exact coverage; ``inside`` counts the splits in it, ``below`` those under it. With mapie
installed, the second table compares bounds.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import betabinom
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_friedman1,
    make_friedman3,
    make_moons,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

import maxmargin
from maxmargin import SVC, SVR, QuantileSVR

LEVELS = (0.2, 0.1, 0.05)

Set = tuple[np.ndarray, np.ndarray]


def growing_noise() -> Set:
    """A sine whose noise grows along it."""
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 6, (600, 1))
    return X, np.sin(X[:, 0]) + (0.05 + X[:, 0] / 6) * rng.normal(size=600)


def heavy_tails() -> Set:
    """A plane with errors of a t distribution with two degrees of freedom."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 4))
    return X, X @ [1.0, -2.0, 0.5, 0.0] + rng.standard_t(2, 600)


def rare_class() -> Set:
    """Two moons, of which one has a tenth of the rows."""
    X, y = make_moons(n_samples=(900, 100), noise=0.3, random_state=3)
    return X, y


REGRESSION: dict[str, Callable[[], Set]] = {
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "friedman1": lambda: make_friedman1(600, noise=1.0, random_state=1),
    "friedman3": lambda: make_friedman3(600, noise=0.2, random_state=1),
    "growing noise": growing_noise,
    "heavy tails": heavy_tails,
}

CLASSES: dict[str, Callable[[], Set]] = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "rare class": rare_class,
}


def standard(load: Callable[[], Set], values: bool) -> Set:
    X, y = load()
    X = StandardScaler().fit_transform(X)
    return X, (y - y.mean()) / y.std() if values else y


def halves(rows: int, splits: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(rows)
        yield order[: rows // 2], order[rows // 2 :]


def band(scored: int, predicted: int, alpha: float) -> tuple[float, float]:
    """Return the central 95 % of the coverage of ``predicted`` rows by ``scored`` scores, where it is exact."""
    rank = int(np.floor(alpha * (scored + 1) + 1e-9))
    of = betabinom(predicted, scored + 1 - rank, max(rank, 1))
    return of.ppf(0.025) / predicted, of.ppf(0.975) / predicted


class Row:
    """The coverage of one kind of prediction over all splits, at one level."""

    def __init__(self, name: str, alpha: float) -> None:
        self.name, self.alpha = name, alpha
        self.found: list[tuple[float, float, float, float]] = []

    def add(self, covered: np.ndarray, size: float, scored: int) -> None:
        low, high = band(scored, len(covered), self.alpha)
        self.found.append((covered.mean(), size, low, high))

    def text(self) -> str:
        coverage, size, low, high = np.array(self.found).T
        inside, below = ((low <= coverage) & (coverage <= high)).sum(), (coverage < low).sum()
        share = f"{100 - 100 * self.alpha:.0f} %"
        return (
            f"| {self.name} | {share} | {100 * coverage.mean():.1f} % | {100 * low.mean():.1f} to {100 * high.mean():.1f} % "
            f"| {inside} | {below} | {size.mean():.2f} |"
        )


def values(splits: int) -> Iterator[Row]:
    machines = {"CV+": SVR(C=10, gamma="auto", conformal=0.1), "quantiles": QuantileSVR(C=10, gamma="auto", conformal=0.1)}
    for name, load in REGRESSION.items():
        X, y = standard(load, values=True)
        for kind, machine in machines.items():
            rows = [Row(f"{name}, {kind}", alpha) for alpha in LEVELS]
            for train, test in halves(len(y), splits):
                fitted = machine.fit(X[train], y[train])
                for row in rows:
                    bounds = fitted.predict_interval(X[test], alpha=row.alpha)
                    covered = (bounds[:, 0] <= y[test]) & (y[test] <= bounds[:, 1])
                    row.add(covered, (bounds[:, 1] - bounds[:, 0]).mean(), len(train))
            yield from rows


def classes(splits: int) -> Iterator[Row]:
    for name, load in CLASSES.items():
        X, y = standard(load, values=False)
        together = [Row(f"{name}, all rows", alpha) for alpha in LEVELS]
        labels = np.unique(y)
        apart = {(label, alpha): Row(f"{name}, class {label} by itself", alpha) for label in labels for alpha in LEVELS}
        for train, test in halves(len(y), splits):
            fitted = SVC(C=10, gamma="auto", conformal=0.1).fit(X[train], y[train])
            at = np.searchsorted(fitted.classes_, y[test])
            for row in together:
                sets = fitted.predict_set(X[test], alpha=row.alpha)
                row.add(sets[np.arange(len(test)), at], sets.sum(axis=1).mean(), len(train))
            for alpha in LEVELS:
                sets = fitted.predict_set(X[test], alpha=alpha, per_class=True)
                for label in labels:
                    own = y[test] == label
                    found = sets[own]
                    apart[label, alpha].add(
                        found[np.arange(own.sum()), at[own]], found.sum(axis=1).mean(), (y[train] == label).sum()
                    )
        yield from together
        yield from apart.values()


def largest_difference(X: np.ndarray, y: np.ndarray, folds: int) -> float:
    """Return the largest difference of bounds from MAPIE's, on the same folds and levels."""
    from mapie.regression import CrossConformalRegressor  # noqa: PLC0415

    settings: dict[str, Any] = {"C": 2.0, "gamma": 0.1, "epsilon": 0.05, "tol": 1e-12}
    half = len(y) // 2
    splitter = KFold(folds)
    tests = [(test.tolist(), []) for _, test in splitter.split(X[:half])]
    native = maxmargin._native.Svm("epsilon-svr", kernel="rbf", c=2.0, gamma=0.1, epsilon=0.05, tol=1e-12, conformal=0.1)
    data = maxmargin._native.Data
    model = native.fit(data.dense(X[:half], y[:half]), folds=tests)
    most = 0.0
    for alpha in LEVELS:
        theirs = CrossConformalRegressor(SVR(**settings), confidence_level=1 - alpha, method="plus", cv=splitter)
        with warnings.catch_warnings():
            # The tolerance is below what double precision reaches on some folds.
            warnings.simplefilter("ignore", ConvergenceWarning)
            theirs.fit_conformalize(X[:half], y[:half])
        bounds = theirs.predict_interval(X[half:])[1][:, :, 0]
        most = max(most, float(np.abs(bounds - model.intervals(data.dense(X[half:]), alpha)).max()))
    return most


def beside_mapie() -> Iterator[str]:
    import mapie  # noqa: PLC0415

    yield f"## CV+ beside MAPIE {mapie.__version__}\n"
    yield 'The largest difference of any bound from those of MAPIE\'s `CrossConformalRegressor` with `method="plus"`, of machines'
    yield "solved to 10⁻¹² on the same folds.\n"
    yield "| set | folds | difference |\n|---|---|---|"
    for name, load in REGRESSION.items():
        X, y = standard(load, values=True)
        for folds in (5, 10):
            yield f"| {name} | {folds} | {largest_difference(X, y, folds):.1e} |"


def page(splits: int) -> Iterator[str]:
    yield "# Coverage of conformal predictions\n"
    yield "In crates/maxmargin-python, with mapie installed, this writes the page:\n"
    yield "    python benchmarks/conformal.py --out ../../docs/reproduction/conformal.md\n"
    yield (
        f"Each set is split {splits} times into halves, one to train and one to predict; features and targets are standardised.\n"
        "The band is where the coverage of 95 of 100 splits lies if it is exact, by a beta-binomial distribution. CV+ promises\n"
        "less than that ([the equations](../math/conformal.md)) and covers more where machines change with the fold. `size` is\n"
        "the mean width of intervals, in deviations of the target, or the mean number of classes in a set.\n"
    )
    head = "| prediction | asked | covered | band | splits inside | splits below | size |\n|---|---|---|---|---|---|---|"
    for title, rows in (("Intervals", values), ("Sets of classes", classes)):
        yield f"## {title}\n"
        yield head
        yield from (row.text() for row in rows(splits))
        yield ""
    try:
        yield from beside_mapie()
    except ImportError:
        yield "mapie is not installed: CV+ was compared with nothing."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=100)
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
