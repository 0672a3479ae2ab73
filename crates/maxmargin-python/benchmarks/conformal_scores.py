"""Sizes of sets and widths of intervals by each kind of score, and MAPIE's on the same machines and halves.

    python benchmarks/conformal_scores.py [--splits 20] [--out docs/reproduction/conformal-scores.md]

The sets, the halves and the band are those of ``conformal.py``. MAPIE trains again for every fold; its intervals by ``method="plus"`` are the same as ours,
so that it is compared on classes, where it has other scores and draws another random part.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from conformal import CLASSES, REGRESSION, Row, halves, standard

from maxmargin import SVC, SVR, NuSVR

ALPHA = 0.1


def values(splits: int) -> Iterator[Row]:
    machines: dict[str, Any] = {
        "epsilon-SVR": SVR(C=10, gamma="auto", conformal=ALPHA),
        "nu-SVR": NuSVR(C=10, gamma="auto", conformal=ALPHA),
    }
    for name, load in REGRESSION.items():
        X, y = standard(load, values=True)
        for kind, machine in machines.items():
            for score in ("plain", "scaled"):
                row = Row(f"{name}, {kind}, {score}", ALPHA)
                for train, test in halves(len(y), splits):
                    bounds = machine.set_params(conformal_score=score).fit(X[train], y[train]).predict_interval(X[test])
                    covered = (bounds[:, 0] <= y[test]) & (y[test] <= bounds[:, 1])
                    row.add(covered, (bounds[:, 1] - bounds[:, 0]).mean(), len(train))
                yield row


def mapie_sets(score: str, train: tuple[np.ndarray, np.ndarray], new: np.ndarray) -> np.ndarray:
    """Return MAPIE's cross-conformal sets of ten folds, of machines with Platt's probabilities."""
    from mapie.classification import CrossConformalClassifier  # noqa: PLC0415

    machine = SVC(C=10, gamma="auto", calibration="platt")
    found = CrossConformalClassifier(machine, confidence_level=1 - ALPHA, conformity_score=score, cv=10, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found.fit_conformalize(*train)
        return np.asarray(found.predict_set(new)[1][:, :, 0])


def classes(splits: int, beside: bool) -> Iterator[Row]:
    for name, load in CLASSES.items():
        X, y = standard(load, values=False)
        kinds = ["plain", "aps", "raps"] + (["MAPIE lac", "MAPIE aps"] if beside else [])
        for kind in kinds:
            row = Row(f"{name}, {kind}", ALPHA)
            for train, test in halves(len(y), splits):
                if kind.startswith("MAPIE"):
                    sets = mapie_sets(kind.split()[1], (X[train], y[train]), X[test])
                else:
                    sets = (
                        SVC(C=10, gamma="auto", conformal=ALPHA, conformal_score=kind)
                        .fit(X[train], y[train])
                        .predict_set(X[test])
                    )
                at = np.searchsorted(np.unique(y), y[test])
                row.add(sets[np.arange(len(test)), at], sets.sum(axis=1).mean(), len(train))
            yield row


def page(splits: int) -> Iterator[str]:
    yield "# Kinds of conformal scores\n"
    yield "In crates/maxmargin-python, with mapie installed, this writes the page:\n"
    yield f"    python benchmarks/conformal_scores.py --splits {splits} --out ../../docs/reproduction/conformal-scores.md\n"
    yield (
        "Sets, halves, band and columns are those of [the coverage of conformal predictions](conformal.md). `scaled` divides\n"
        "errors by those that a second machine predicts, `aps` and `raps` add up probabilities\n"
        "([the equations](../math/conformal.md)).\n"
    )
    head = "| prediction | asked | covered | band | splits inside | splits below | size |\n|---|---|---|---|---|---|---|"
    yield "## Widths of intervals\n"
    yield head
    yield from (row.text() for row in values(splits))
    try:
        import mapie  # noqa: PLC0415
    except ImportError:
        version = None
    else:
        version = mapie.__version__
    yield "\n## Sizes of sets\n"
    if version is None:
        yield "mapie is not installed: sets were compared with nothing.\n"
    else:
        yield f"MAPIE {version} is `CrossConformalClassifier` of ten folds, of the same machines with Platt's probabilities.\n"
    yield head
    yield from (row.text() for row in classes(splits, beside=version is not None))


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
