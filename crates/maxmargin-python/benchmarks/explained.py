"""Explanations beside shapiq and shap, on the same machines: prints docs/reproduction/explain.md.

Needs the packages shapiq and shap, and real data (`MAXMARGIN_DATA`).
"""

import platform
import time
import warnings
from importlib.metadata import version

import numpy as np
import shap
from sets import real
from shapiq.explainer.product_kernel import ProductKernelExplainer
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

import maxmargin
from maxmargin import SVC, to_sklearn

HEAD = """# Explanations beside shapiq and shap

<!-- Written by `python crates/maxmargin-python/benchmarks/explained.py`. Do not edit. -->

Exact Shapley values of decision values of one machine: the coefficients and support vectors of a fitted `SVC` are given
to every program. Peers explain fewer rows where all would take minutes; seconds are of one row, after a first call.
Without a background (*functional*) an absent feature takes no part in the kernel, as shapiq's explainer of product
kernels has it. With one (*interventional*) shap's `KernelExplainer` is asked for all subsets of the features, so that
it makes no error of sampling. *Difference*: the largest between both programs' values, over the largest value.
"""


def clock(call):
    """The result of a call and its seconds."""
    begun = time.perf_counter()
    found = call()
    return found, time.perf_counter() - begun


def per_row(seconds, rows):
    return f"{seconds / rows:.3g}"


def heart_like(rows=270, features=13):
    """A machine of about 130 support vectors, and its standardised rows."""
    X, y = datasets.make_classification(rows, features, n_informative=6, flip_y=0.2, random_state=1)
    X = StandardScaler().fit_transform(X)
    return SVC(C=1.0, gamma=0.02).fit(X, y), X


def large(features=20):
    """A machine of about 5,000 support vectors."""
    X, y = datasets.make_classification(9_000, features, n_informative=10, flip_y=0.3, random_state=2)
    X = StandardScaler().fit_transform(X)
    return SVC(C=1.0, gamma=0.05).fit(X, y), X


def adult():
    """The machine of a9a: features of 0 and 1."""
    X, y, _ = real("a9a")
    X = np.ascontiguousarray(X.toarray())
    return SVC(C=100.0, gamma=0.5).fit(X, y), X


def of_shapiq(machine, rows):
    """The values of shapiq's explainer for these rows."""
    explainer = ProductKernelExplainer(to_sklearn(machine))
    return np.array([[explainer.explain_function(row)[(j,)] for j in range(rows.shape[1])] for row in rows])


def functional(name, machine, X, rows, fewer):
    """A line of the table, beside shapiq where `fewer` is not 0."""
    machine.explain(X[:1])
    ours, seconds = clock(lambda: machine.explain(X[:rows]))
    if not fewer:
        return line(name, machine, f"{rows}", ours, seconds, None, None, None)
    theirs, longer = clock(lambda: of_shapiq(machine, X[:fewer]))
    return line(name, machine, f"{rows}", ours, seconds, "shapiq", theirs, longer)


def interventional(name, machine, X, rows, others, fewer):
    """A line of the table, beside shap where `fewer` is not 0."""
    background = X[-others:]
    machine.explain(X[:1], background)
    ours, seconds = clock(lambda: machine.explain(X[:rows], background))
    if not fewer:
        return line(name, machine, f"{rows} × {others}", ours, seconds, None, None, None)
    explainer = shap.KernelExplainer(machine.decision_function, background)
    subsets = 2 ** X.shape[1] - 2
    theirs, longer = clock(lambda: explainer.shap_values(X[:fewer], nsamples=subsets, l1_reg=0, silent=True))
    return line(name, machine, f"{rows} × {others}", ours, seconds, "shap", theirs, longer)


def line(name, machine, rows, ours, seconds, peer, theirs, longer):
    vectors, features = machine.support_vectors_.shape
    count = len(ours.values)
    cells = [name, rows, f"{features}", f"{vectors:,}", f"{seconds:.3g}", per_row(seconds, count), f"{ours.efficiency_error:.1e}"]
    if peer is None:
        cells += ["", "", "", ""]
    else:
        fewer = len(theirs)
        difference = np.abs(theirs - ours.values[:fewer]).max() / np.abs(ours.values).max()
        ratio = (longer / fewer) / (seconds / count)
        cells += [peer, per_row(longer, fewer), f"{ratio:,.0f}", f"{difference:.1e}"]
    return f"| {' | '.join(cells)} |"


def main():
    warnings.simplefilter("ignore")
    print(HEAD)
    print(
        f"{platform.processor() or platform.machine()}, {maxmargin.threads()} threads; maxmargin {maxmargin.__version__}, "
        f"shapiq {version('shapiq')}, shap {shap.__version__}, numpy {np.__version__}.\n"
    )
    print(
        "| values | rows | features | support vectors | all rows, s | a row, s | efficiency error | peer | a row, s | ratio | difference |"
    )
    print("| --- | --: | --: | --: | --: | --: | --: | --- | --: | --: | --: |")
    small = heart_like()
    print(functional("functional", *small, rows=200, fewer=20))
    print(interventional("interventional", *small, rows=200, others=100, fewer=2))
    print(interventional("interventional", *large(), rows=200, others=100, fewer=0))
    # A row of 123 features takes shapiq minutes.
    print(functional("functional, a9a", *adult(), rows=100, fewer=0))


if __name__ == "__main__":
    main()
