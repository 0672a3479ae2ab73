"""What is measured, and one call of it: this file is the program of every measured process."""

import json
import logging
import math
import resource
import sys
import time
import warnings
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
import scipy.sparse as sp

#: Programs by what lines and pages call them, with their packages.
OURS, THEIRS, INTEL = "maxmargin", "scikit-learn", "scikit-learn-intelex"
PROGRAMS = (OURS, THEIRS, INTEL)

TOL = 1e-3

#: What peers may cache; ours stays with its default of 2048 MB.
CACHE = 8192

#: Folds of `cross_val_predict`, of a search, and of probabilities.
MANY, FEW = 10, 5


@dataclass(frozen=True)
class Work:
    """One row of the page."""

    call: str
    data: str
    parameters: dict[str, Any]
    #: The first so many rows; all where there are none.
    rows: int | None = None
    sparse: bool = False
    #: What values are divided by.
    divide: float = 1.0
    #: Features are brought to mean 0 and variance 1.
    standard: bool = False
    #: Counts of words become weights: tf-idf, logarithms of counts, rows of length 1.
    weighted: bool = False
    programs: tuple[str, ...] = PROGRAMS
    #: The ratios that the project asks for, of the two peers.
    asked: tuple[float, ...] = ()
    grid: dict[str, list[float]] = field(default_factory=dict)

    @property
    def name(self):
        settings = " ".join(
            f"{key}={value:g}" if isinstance(value, float) else f"{value}" for key, value in self.parameters.items()
        )
        cells = math.prod(len(values) for values in self.grid.values())
        of = f"{' tf-idf' if self.weighted else ''}{' CSR' if self.sparse else ''}{f' of {cells} cells' if self.grid else ''}"
        return f"{self.call} {self.data}{of}{f' {settings}' if settings else ''}"


EASY = {"C": 1.0, "gamma": 0.05}
LINEAR = {"C": 100.0}
HINGE = {"C": 100.0, "loss": "hinge"}

#: Six by six powers of ten, as in many tutorials.
TENS = {"C": [10.0**k for k in range(-1, 5)], "gamma": [10.0**k for k in range(-4, 2)]}

#: LIBSVM's grid.py.
GRID = {"C": [2.0**k for k in range(-5, 16, 2)], "gamma": [2.0**k for k in range(-15, 4, 2)]}
#: What it is tried on, and how much of it.
SEARCHED = {"heart_scale": None, "splice": None, "ijcnn1": 5000, "w8a": 5000, "a9a": 5000, "letter.scale": 5000}

WORKS = [
    Work("SVC.fit", "a9a", EASY, asked=(15, 8)),
    Work("SVC.fit", "a9a", {"C": 100.0, "gamma": 0.5}, asked=(15, 8)),
    Work("SVC.fit", "w8a", EASY, asked=(15, 8)),
    Work("SVC.fit", "w8a", {"C": 64.0, "gamma": 7.8125}, asked=(15, 8)),
    Work("SVC.fit", "ijcnn1", EASY, asked=(15, 8)),
    Work("SVC.fit", "ijcnn1", {"C": 10.0, "gamma": 1.0}, asked=(15, 8)),
    Work("SVC.fit", "mnist", {"C": 10.0, "gamma": 0.02}, rows=10_000, divide=255, asked=(15, 8)),
    Work("SVC.fit", "reuters", {"C": 10.0, "gamma": 1.0}, sparse=True, asked=(15, 8)),
    Work(
        "GridSearchCV.fit",
        "a9a",
        {},
        rows=5000,
        asked=(100, 20),
        grid=TENS,
    ),
    *(
        Work("GridSearchCV.fit", data, {}, rows=rows, programs=(OURS, INTEL), asked=(20,), grid=GRID)
        for data, rows in SEARCHED.items()
    ),
    Work("LinearSVC.fit", "a9a", LINEAR, programs=(OURS, THEIRS), asked=(20,)),
    Work("LinearSVC.fit", "ijcnn1", LINEAR, programs=(OURS, THEIRS), asked=(20,)),
    Work("LinearSVC.fit", "a9a", HINGE, programs=(OURS, THEIRS), asked=(20,)),
    Work("LinearSVC.fit", "ijcnn1", HINGE, programs=(OURS, THEIRS), asked=(20,)),
    Work("cross_val_predict", "a9a", {"C": 10.0, "gamma": 0.05}, rows=10_000),
    Work("probabilities", "a9a", {"C": 1.0, "gamma": 0.05}, rows=10_000),
    Work("probabilities", "ijcnn1", {"C": 10.0, "gamma": 1.0}, rows=10_000),
    Work("predict", "ijcnn1", {"C": 10.0, "gamma": 1.0}, rows=5000, asked=(3, 3)),
    Work("predict", "ijcnn1", {"C": 1.0, "kernel": "linear"}, rows=5000, asked=(2, 2)),
    Work("predict_one", "ijcnn1", {"C": 10.0, "gamma": 1.0}, rows=5000),
]


def smaller(work):
    """The same in a second or two: of tests."""
    few = {"SVC.fit": 1500, "LinearSVC.fit": 1500, "GridSearchCV.fit": 400}.get(work.call, 800)
    grid = {name: values[1:4:2] for name, values in work.grid.items()}
    return Work(**vars(work) | {"rows": min(few, work.rows or few), "grid": grid, "asked": ()})


def listed(which):
    """The works of a page."""
    if which == "suite":
        import suite  # noqa: PLC0415

        return suite.WORKS
    return WORKS


class Library:
    """The names of one program."""

    def __init__(self, program):
        from sklearn.model_selection import GridSearchCV  # noqa: PLC0415

        self.program, self.search, self.more, self.jobs = program, {}, {"cache_size": CACHE}, {}
        self.GridSearchCV = GridSearchCV
        if program == OURS:
            import maxmargin as library  # noqa: PLC0415

            self.GridSearchCV, self.more = library.GridSearchCV, {}
        elif program == THEIRS:
            import sklearn.svm as library  # noqa: PLC0415

            # Its trainings know one thread, its searches as many processes as there are cores.
            self.jobs = {"n_jobs": -1}
        else:
            import sklearnex.svm as library  # noqa: PLC0415
        self.estimators = library

    def svc(self, **parameters):
        return self.kernel("SVC", **parameters)

    def kernel(self, estimator, **parameters):
        """A machine with a kernel."""
        return getattr(self.estimators, estimator)(tol=TOL, **self.more, **parameters)

    def linear(self, estimator, **parameters):
        """A machine without one."""
        return getattr(self.estimators, estimator)(random_state=1, **parameters)


def fit(library, work, X, y):
    """A training, and the dual objective of what it found: of two classes."""
    svc = library.svc(**work.parameters)
    yield lambda: svc.fit(X, y)
    if len(svc.classes_) > 2 or "gamma" not in work.parameters or "kernel" in work.parameters:
        yield {}, {"predicted": svc.predict(X[::5])}
    else:
        yield {"dual": dual(svc, work.parameters["gamma"])}, {}


def dual(svc, gamma):
    """Σ|β| − ½ βᵀKβ of the coefficients, which are all that is believed."""
    beta, vectors = svc.dual_coef_, svc.support_vectors_
    beta = np.asarray(beta.todense() if sp.issparse(beta) else beta, dtype=np.float64).ravel()
    vectors = sp.csr_matrix(vectors, dtype=np.float64)
    norms = np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel()
    dense = vectors.shape[1] <= 1000
    all_of = vectors.toarray() if dense else vectors
    quadratic = 0.0
    for begin in range(0, len(beta), 500):
        block = slice(begin, begin + 500)
        products = all_of[block] @ all_of.T
        products = products if dense else products.toarray()
        distances = np.maximum(norms[block, None] + norms[None, :] - 2 * products, 0)
        quadratic += beta[block] @ (np.exp(-gamma * distances) @ beta)
    return float(np.abs(beta).sum() - 0.5 * quadratic)


def linear(library, work, X, y):
    """A training without kernel, and its primal objective."""
    svc = library.linear("LinearSVC", **work.parameters)
    yield lambda: svc.fit(X, y)
    if len(svc.classes_) > 2:
        yield {}, {"predicted": svc.predict(X)}
        return
    signs = np.where(y == svc.classes_[1], 1.0, -1.0)
    slack = np.maximum(0, 1 - signs * svc.decision_function(X))
    losses = slack if svc.loss == "hinge" else slack**2
    primal = svc.C * losses.sum() + 0.5 * ((svc.coef_**2).sum() + (svc.intercept_**2).sum())
    certificate = getattr(svc, "certificate_", None)
    yield {"primal": float(primal)} | ({"gap": certificate.relative_gap} if certificate else {}), {}


def other(library, work, X, y):
    """A training of another estimator, and what it says of every fifth row."""
    estimator = work.call.removesuffix(".fit")
    make = library.linear if estimator.startswith("Linear") else library.kernel
    fitted = make(estimator, **work.parameters)
    # One class takes no labels.
    yield lambda: fitted.fit(X) if estimator == "OneClassSVM" else fitted.fit(X, y)
    told = fitted.predict(X[::5])
    yield {}, {"values" if estimator.endswith("SVR") else "predicted": told}


def search(library, work, X, y):
    """A search, and its scores."""
    # Of scikit-learn-intelex, too: two trainings of one thread each take less time than one of two threads after the other.
    jobs = {} if library.program == OURS else {"n_jobs": -1}
    found = library.GridSearchCV(library.svc(), work.grid, cv=FEW, **jobs)
    yield lambda: found.fit(X, y)
    yield {"scores": found.cv_results_["mean_test_score"].tolist(), "shared": bool(getattr(found, "shared_", False))}, {}


def cross(library, work, X, y):
    """What machines say of the rows that they did not see."""
    from sklearn.model_selection import cross_val_predict  # noqa: PLC0415

    svc, told = library.svc(**work.parameters), []
    if library.program == OURS:
        yield lambda: told.append(svc.cross_validate(X, y, cv=MANY).predicted())
    else:
        yield lambda: told.append(cross_val_predict(svc, X, y, cv=MANY, **library.jobs))
    yield {}, {"predicted": told[0]}


def probabilities(library, work, X, y):
    """A training for probabilities by five folds, as each library has them; and how good they are of the rows that follow."""
    from sklearn.calibration import CalibratedClassifierCV  # noqa: PLC0415
    from sklearn.metrics import log_loss  # noqa: PLC0415

    cut = len(y) * 4 // 5
    if library.program == OURS:
        fitted = library.svc(probability=True, **work.parameters)
    else:
        fitted = CalibratedClassifierCV(library.svc(**work.parameters), ensemble=False, cv=FEW, **library.jobs)
    yield lambda: fitted.fit(X[:cut], y[:cut])
    yield {"log_loss": float(log_loss(y[cut:], fitted.predict_proba(X[cut:])))}, {}


def predict(library, work, X, y):
    """Labels of a million rows near those of the training, which is not timed."""
    svc = library.svc(**work.parameters).fit(X, y)
    rng = np.random.default_rng(1)
    many = X[rng.integers(0, len(X), 1_000_000 if len(X) > 1000 else 20_000)]
    many += rng.normal(scale=0.01, size=many.shape)
    told = []
    yield lambda: told.append(svc.predict(many))
    yield {"support_vectors": int(svc.n_support_.sum())}, {"predicted": told[0]}


def predict_one(library, work, X, y):
    """A thousand labels, each by a call of its own."""
    svc = library.svc(**work.parameters).fit(X, y)
    rows = [np.ascontiguousarray(X[i : i + 1]) for i in np.arange(1000) % len(X)]
    svc.predict(rows[0])
    told = []
    yield lambda: told.extend(svc.predict(row)[0] for row in rows)
    yield {}, {"predicted": np.array(told)}


CALLS = {
    "SVC.fit": fit,
    "LinearSVC.fit": linear,
    "NuSVC.fit": other,
    "SVR.fit": other,
    "NuSVR.fit": other,
    "OneClassSVM.fit": other,
    "LinearSVR.fit": other,
    "GridSearchCV.fit": search,
    "cross_val_predict": cross,
    "probabilities": probabilities,
    "predict": predict,
    "predict_one": predict_one,
}


def arrays(work, X, y):
    """The rows of a work in its form."""
    X, y = X[: work.rows], y[: work.rows]
    X = (X.toarray() if sp.issparse(X) and not work.sparse else X) / work.divide
    if work.standard:
        from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

        X = StandardScaler().fit_transform(X)
    if work.weighted:
        from sklearn.feature_extraction.text import TfidfTransformer  # noqa: PLC0415

        X = TfidfTransformer(sublinear_tf=True).fit_transform(X)
    return X, y


class Fallbacks(logging.Handler):
    """Hears whether scikit-learn-intelex leaves a call to scikit-learn."""

    def __init__(self):
        super().__init__(logging.INFO)
        self.count = 0

    def emit(self, record):
        self.count += "fallback" in record.getMessage()


def measured(program, work, data):
    """One call in this process: what a line says of it, and what is compared outside."""
    with np.load(data) as arrays:
        y = arrays["y"]
        X = (
            arrays["X"]
            if "X" in arrays
            else sp.csr_matrix((arrays["data"], arrays["indices"], arrays["indptr"]), arrays["shape"])
        )
    heard = Fallbacks()
    logging.getLogger("sklearnex").setLevel(logging.INFO)
    logging.getLogger("sklearnex").addHandler(heard)
    library = Library(program)
    warm = np.random.default_rng(0).normal(size=(60, 4))
    # Threads are started and libraries loaded before the clock.
    library.svc().fit(warm, warm[:, 0] > 0).predict(warm)
    steps = CALLS[work.call](library, work, X, y)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        call = next(steps)
        heard.count = 0
        begun = time.perf_counter()
        call()
        seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer, compared = next(steps)
    told = sorted({warning.category.__name__ for warning in said if "Convergence" in warning.category.__name__})
    package = version({OURS: "maxmargin", THEIRS: "scikit-learn", INTEL: "scikit-learn-intelex"}[program])
    line = {"version": package, "seconds": seconds, "peak_rss_bytes": peak * 1024, "answer": answer, "warnings": told}
    return line | ({"fallbacks": heard.count} if program == INTEL else {}), compared


def main(program, which, at, quick, data, compared):
    """One call of a work, and what came of it as a line of JSON."""
    work = listed(which)[int(at)]
    work = smaller(work) if quick == "quick" else work
    line, arrays = measured(program, work, data)
    np.savez(compared, **arrays)
    print(json.dumps(line))


if __name__ == "__main__":
    main(*sys.argv[1:])
