"""Labels that were flipped on purpose, by the margin of out-of-fold decision values and by cleanlab: prints docs/reproduction/suspects.md.

Needs the package cleanlab, and real data (`MAXMARGIN_DATA`).
"""

import warnings
from importlib.metadata import version

import numpy as np
from cleanlab.rank import get_label_quality_scores
from scipy.special import softmax
from sets import real
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

import maxmargin
from maxmargin import SVC

HEAD = """# Which labels are wrong, beside cleanlab

<!-- Written by `python crates/maxmargin-python/benchmarks/suspected.py`. Do not edit. -->

Of every set 5 % of the labels were replaced by another label at random (seed 1), and rows ranked by five folds of an
`SVC` that never saw the row in question. A number is the share of the wrong labels among the first 5 % of the rows.
*margin*: `SVC.suspects`. The others are cleanlab's scores of the same decision values: votes and decision values of
`decision_function` become numbers that add up to 1 by a softmax, since cleanlab takes probabilities.
"""

METHODS = ("self_confidence", "normalized_margin", "confidence_weighted_entropy")

SHARE = 0.05


def bundled(name):
    return getattr(datasets, f"load_{name}")(return_X_y=True)


def first(name, rows):
    X, y, _ = real(name)
    return X[:rows].toarray(), y[:rows]


SETS = {
    "breast_cancer": (lambda: bundled("breast_cancer"), {"C": 1.0, "gamma": 0.03}),
    "digits": (lambda: bundled("digits"), {"C": 1.0, "gamma": 0.01}),
    "splice": (lambda: first("splice", 1000), {"C": 1.0, "gamma": 0.01}),
    "pendigits": (lambda: first("pendigits", 4000), {"C": 1.0, "gamma": 0.05}),
    "usps": (lambda: first("usps", 3000), {"C": 1.0, "gamma": 0.005}),
    "ijcnn1": (lambda: first("ijcnn1.tr", 5000), {"C": 1.0, "gamma": 0.1}),
}


def flipped(y, random):
    """The labels with 5 % wrong ones, and which they are."""
    classes = np.unique(y)
    wrong = random.choice(len(y), round(SHARE * len(y)), replace=False)
    y = y.copy()
    for row in wrong:
        y[row] = random.choice(classes[classes != y[row]])
    return y, wrong


def main():
    warnings.simplefilter("ignore")
    print(HEAD)
    print(f"maxmargin {maxmargin.__version__}, cleanlab {version('cleanlab')}.\n")
    print(f"| set | rows | classes | margin | {' | '.join(METHODS)} |")
    print("| --- | --: | --: | --: | --: | --: | --: |")
    for name, (load, parameters) in SETS.items():
        X, y = load()
        X = StandardScaler().fit_transform(X)
        y, wrong = flipped(y, np.random.default_rng(1))
        found = lambda rows: f"{np.isin(rows[: len(wrong)], wrong).mean():.3f}"  # noqa: E731, B023
        machine = SVC(**parameters, decision_function_shape="ovr")
        shares = [found(machine.suspects(X, y).rows)]
        folds = machine.cross_validate(X, y, cv=5)
        decisions = np.concatenate(folds.decisions)[np.argsort(np.concatenate(folds.test))]
        two = decisions.ndim == 1
        probabilities = softmax(np.column_stack([-decisions, decisions]) if two else decisions, axis=1)
        codes = np.unique(y, return_inverse=True)[1]
        for method in METHODS:
            adjust = method != "confidence_weighted_entropy"
            scores = get_label_quality_scores(codes, probabilities, method=method, adjust_pred_probs=adjust and not two)
            shares.append(found(np.argsort(scores, kind="stable")))
        print(f"| {name} | {len(y):,} | {len(np.unique(y))} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main()
