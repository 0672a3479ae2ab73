"""Cases of the differential tests: an entry point, an estimator, its parameters, and data, drawn from a seed and a number."""

import os
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from sklearn import model_selection as splits
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import maxmargin

SEARCHES = ["GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV"]
CLUSTER = ["distributed.grid", "distributed.cross_validate"]
CLASSIFIERS = ["SVC", "NuSVC", "LinearSVC"]
REGRESSORS = ["SVR", "NuSVR", "LinearSVR"]


class Turned(maxmargin.SVC):
    """A subclass that predicts otherwise."""

    def predict(self, X):
        return self.classes_[::-1][np.searchsorted(self.classes_, super().predict(X))]


class Fails(TransformerMixin, BaseEstimator):
    """Raises for one setting, in some training sets or in all."""

    def __init__(self, error="none", above=-1.0):
        self.error = error
        self.above = above

    def fit(self, X, y=None):
        errors = {"runtime": RuntimeError, "key": KeyError, "value": ValueError}
        if self.error in errors and float(np.abs(np.asarray(X, dtype=float)[0, 0])) > self.above:
            raise errors[self.error]("fails")
        return self

    def transform(self, X):
        return X


class Noise(TransformerMixin, BaseEstimator):
    """Draws from numpy's common generator."""

    def fit(self, X, y=None):
        self.noise_ = np.random.normal(size=np.shape(X)[1])
        return self

    def transform(self, X):
        return np.asarray(X) + self.noise_


class Count:
    """A splitter that counts how often it was asked, and splits accordingly."""

    def __init__(self):
        self.asked = 0

    def get_n_splits(self, X=None, y=None, groups=None):
        return 2

    def split(self, X, y=None, groups=None):
        self.asked += 1
        rows = np.random.RandomState(self.asked).permutation(len(y))
        half = len(rows) // 2
        yield rows[:half], rows[half:]
        yield rows[half:], rows[:half]


def weighted_mean(estimator, X, y):
    """A scorer that is a function."""
    return float(np.mean(np.asarray(estimator.predict(X)) == np.asarray(y).ravel()))


@dataclass
class Case:
    """One case."""

    entry: str
    name: str
    estimator: object
    X: object
    y: object
    targets: np.ndarray
    rule: str
    scoring: object = None
    grid: object = None
    refit: object = True
    weights: object = None
    weights_name: str = "sample_weight"
    groups: object = None
    costs: list = field(default_factory=list)
    gammas: list = field(default_factory=list)
    forms: str = ""
    seed: int = 0

    @property
    def grouped(self):
        return self.groups is not None

    def fit_params(self):
        found = {} if self.weights is None else {self.weights_name: self.weights}
        return found if self.groups is None else found | {"groups": self.groups}

    def state(self):
        return self.seed if self.seed % 2 else np.random.RandomState(self.seed)

    def splitter(self):
        """A new splitter, for each side its own."""
        return SPLITTERS[self.rule](self)

    def __str__(self):
        weights = "" if self.weights is None else f" {self.weights_name}"
        text = f"{self.entry} {self.estimator} {self.forms} cv={self.rule} scoring={self.scoring}{weights} grid={self.grid}"
        return " ".join(text.split())


def parts_of(case, count):
    rows = np.random.RandomState(case.seed).permutation(len(case.targets))
    return [np.sort(part) for part in np.array_split(rows, count)]


def masks_of(case):
    tests = [np.isin(np.arange(len(case.targets)), part) for part in parts_of(case, 3)]
    return [(~test, test) for test in tests]


def lists_of(case):
    tests = parts_of(case, 3)
    rows = np.arange(len(case.targets))
    return [(np.setdiff1d(rows, test).tolist(), test.tolist()) for test in tests]


def negative_of(case):
    return [(np.asarray(train) - len(case.targets), np.asarray(test)) for train, test in lists_of(case)]


def overlapping(case):
    rows = np.arange(len(case.targets))
    return [(rows[: len(rows) * 3 // 4], rows[len(rows) // 2 :]), (rows[::2], rows[1::2])]


def repeated(case):
    rows = np.random.RandomState(case.seed).randint(len(case.targets), size=len(case.targets))
    return [(rows, np.setdiff1d(np.arange(len(rows)), rows))]


SPLITTERS = {
    "3": lambda _: 3,
    "None": lambda _: None,
    "KFold": lambda _: splits.KFold(3),
    "KFold shuffled": lambda case: splits.KFold(3, shuffle=True, random_state=case.state()),
    "KFold random": lambda _: splits.KFold(3, shuffle=True),
    "StratifiedKFold": lambda case: splits.StratifiedKFold(4, shuffle=True, random_state=case.seed),
    "ShuffleSplit": lambda case: splits.ShuffleSplit(3, test_size=0.3, random_state=case.state()),
    "few": lambda case: splits.ShuffleSplit(2, train_size=0.4, test_size=0.2, random_state=case.seed),
    "GroupKFold": lambda _: splits.GroupKFold(3),
    "LeaveOneGroupOut": lambda _: splits.LeaveOneGroupOut(),
    "TimeSeriesSplit": lambda _: splits.TimeSeriesSplit(3),
    "RepeatedKFold": lambda case: splits.RepeatedKFold(n_splits=2, n_repeats=2, random_state=case.seed),
    "masks": masks_of,
    "lists": lists_of,
    "negative": negative_of,
    "generator": lambda case: iter(lists_of(case)),
    "overlapping": overlapping,
    "repeated": repeated,
    "counting": lambda _: Count(),
}


def drawn(seed, number):
    """The case of this number."""
    rng = np.random.default_rng([seed, number])
    pick = lambda *of: of[rng.integers(len(of))]  # noqa: E731 it is short
    entry = pick(*SEARCHES, "GridSearchCV", "cross_validate", "cross_validate", "leave_one_out", "SVCCV", *CLUSTER)
    names = {"SVCCV": ["SVC", "SVR"]}.get(entry, [*CLASSIFIERS, "SVC", "SVC", *REGRESSORS])
    if entry in SEARCHES:
        names = [*names, "OneClassSVM", "Turned"]
    if entry == "cross_validate":
        names = [*names, "Turned"]
    name = pick(*names)
    classes = name in {*CLASSIFIERS, "Turned", "OneClassSVM"}
    X, targets = rows_of(rng, pick, classes, name, small=entry == "leave_one_out")
    machine, costs, gammas = machine_of(rng, pick, name, targets)
    rule = pick(*(of for of in SPLITTERS if entry != "HalvingGridSearchCV" or of in {"3", "KFold", "StratifiedKFold", "None"}))
    case = Case(entry, name, machine, X, targets, targets, rule, costs=costs, gammas=gammas, seed=int(rng.integers(1000)))
    if rule in {"GroupKFold", "LeaveOneGroupOut"} or rng.random() < 0.1:
        case.groups = None if entry in {*CLUSTER, "leave_one_out"} else rng.integers(0, 5, len(targets))
    if rng.random() < 0.3 and name not in {"OneClassSVM"}:
        case.weights = pick(rng.uniform(0.2, 3, len(targets)), rng.integers(0, 3, len(targets)).astype(float))
    case.scoring = scoring_of(rng, pick, name, classes, len(np.unique(targets)))
    several = isinstance(case.scoring, list | dict)
    case.refit = (next(iter(case.scoring)) if several else True) if rng.random() < 0.7 else False
    if several and entry in {"SVCCV", "HalvingGridSearchCV"}:
        case.scoring, case.refit = None, True
    if entry == "HalvingGridSearchCV":
        case.refit = True
    with_steps(rng, pick, case, classes)
    shaped(rng, pick, case)
    return case


def rows_of(rng, pick, classes, name, *, small):
    rows, features = int(rng.integers(20, 34) if small else rng.integers(36, 90)), int(rng.integers(2, 6))
    X = rng.normal(size=(rows, features)) * np.exp(rng.normal(size=features) * 0.5)
    if rng.random() < 0.25:
        # The scale of gamma differs from one training set to the next.
        X[rows * 2 // 3 :] *= 5
    lines = X[:, 0] - X[:, 1] + 0.6 * rng.normal(size=rows)
    if not classes:
        return X, lines * pick(1.0, 10.0)
    count = 2 if name in {"OneClassSVM", "Turned"} else pick(2, 2, 2, 3, 4)
    shares = np.cumsum(rng.dirichlet(np.full(count, pick(1.0, 4.0, 20.0))))[:-1]
    codes = np.searchsorted(np.quantile(lines, shares), lines)
    if rng.random() < 0.15:
        # A class of few rows, which some training sets lack.
        codes[rng.integers(rows, size=pick(1, 2, 4))] = count
    if rng.random() < 0.2:
        order = np.argsort(codes, kind="stable")
        X, codes = X[order], codes[order]
    labels = np.array(pick([0, 1, 2, 3, 4], [-1, 1, 2, 5, 9], [1, 2, 3, 4, 5]))
    return X, np.where(codes == 0, -1, 1) if name == "OneClassSVM" else labels[codes]


def machine_of(rng, pick, name, targets):
    """An estimator, and the values of C and gamma that a search may vary."""
    of = Turned if name == "Turned" else getattr(maxmargin, name)
    given = {"tol": 1e-10}
    known = of().get_params()
    costs = sorted(float(np.round(10.0 ** rng.uniform(-2, 1.5), 3)) for _ in range(pick(1, 2, 3)))
    gammas = [pick("scale", "auto", 0.1, 0.5, 1.0) for _ in range(pick(1, 1, 2))]
    gammas = list(dict.fromkeys(gammas))
    if name == "NuSVR":
        # Single precision counts by C: see rounding_of.
        costs = [0.01 * cost for cost in costs]
    if "kernel" in known:
        given |= {"kernel": pick("rbf", "rbf", "rbf", "linear", "poly"), "gamma": pick("scale", "scale", "auto", 0.2, 1.0)}
        given |= {"degree": 2, "coef0": 1.0} if given["kernel"] == "poly" else {}
    if "C" in known:
        given["C"] = costs[0]
    if "nu" in known:
        given["nu"] = pick(0.1, 0.2, 0.3)
    if "epsilon" in known:
        given["epsilon"] = pick(0.05, 0.2)
    if "class_weight" in known:
        given["class_weight"] = pick(
            None, None, "balanced", {label: 1.0 + at for at, label in enumerate(np.unique(targets).tolist())}
        )
    if "break_ties" in known:
        given |= {"break_ties": pick(False, False, True), "decision_function_shape": pick("ovr", "ovr", "ovo")}
        given |= {"probability": rng.random() < 0.1, "random_state": 1}
    if "loss" in known:
        given |= {"max_iter": 100_000, "random_state": pick(0, 1)}
        given["fit_intercept"] = bool(rng.random() < 0.8)
        if name == "LinearSVC":
            given["loss"] = pick("hinge", "squared_hinge")
    elif rng.random() < 0.04:
        given["max_iter"] = 100_000
    return of(**given), costs, gammas


def scoring_of(rng, pick, name, classes, count):
    if not classes:
        return pick(None, "r2", "neg_mean_squared_error", "neg_median_absolute_error", ["r2", "max_error"])
    if name == "OneClassSVM":
        return "accuracy"
    several = ["accuracy", "balanced_accuracy"]
    known = [
        None,
        None,
        None,
        "accuracy",
        "f1_macro",
        "balanced_accuracy",
        several,
        {"a": "accuracy", "f": "f1_weighted"},
        weighted_mean,
    ]
    known += ["neg_log_loss"] if rng.random() < 0.3 else []
    return pick(*known, *(["roc_auc", "average_precision", ["roc_auc", "accuracy"], "f1"] if count == 2 else ["roc_auc_ovr"]))


def with_steps(rng, pick, case, classes):
    """Puts the estimator at the end of a pipeline, or not, and makes the grid."""
    known = case.estimator.get_params()
    grid = {}
    if "C" in known:
        grid["C"] = case.costs
    if "gamma" in known and rng.random() < 0.6:
        grid["gamma"] = case.gammas
    if "nu" in known and rng.random() < 0.5:
        grid["nu"] = [0.1, 0.25]
    if rng.random() < 0.06 and "C" in known:
        grid["C"] = [*case.costs, -1.0]
    if rng.random() < 0.06 and "class_weight" in known:
        grid["class_weight"] = [None, "balanced"]
    grid = grid or {"tol": [1e-10]}
    case.grid = grid
    if case.entry in {"cross_validate", "leave_one_out", "SVCCV"} or rng.random() < 0.5:
        return
    best = SelectKBest(f_classif if classes else f_regression, k=2)
    step, own = pick(
        (StandardScaler(), {}),
        (StandardScaler(), {}),
        (MinMaxScaler(), {}),
        ("passthrough", {}),
        (PCA(2, random_state=1), {"step__n_components": [1, 2]}),
        (best, {}),
        (Fails(), {"step__error": ["none", pick("runtime", "key", "value")], "step__above": [pick(-1.0, 0.5)]}),
        (Noise(), {}),
        (StandardScaler(), {"step": ["passthrough", MinMaxScaler()]}),
    )
    of = Pipeline
    if rng.random() < 0.08:
        try:
            from imblearn.pipeline import Pipeline as of  # noqa: PLC0415, N813 it need not be installed
        except ImportError:
            of = Pipeline
    case.estimator = of([("step", step), ("svm", case.estimator)])
    case.grid = {f"svm__{name}": values for name, values in grid.items()} | own
    case.weights_name = "svm__sample_weight"


def shaped(rng, pick, case):
    """Gives rows and targets one of the forms that people have them in."""
    X, y = case.X, case.targets
    stepped = isinstance(case.estimator, Pipeline)
    file = case.entry in CLUSTER
    rows_form = pick("array", "array", "float32", "frame", "csr", "list", "fortran")
    if (stepped and rows_form in {"csr", "list"}) or (file and rows_form in {"frame", "csr", "list"}):
        rows_form = "array"
    if rows_form == "float32":
        X = X.astype(np.float32)
    elif rows_form == "fortran":
        X = np.asfortranarray(X)
    elif rows_form == "list":
        X = X.tolist()
    elif rows_form == "csr":
        X = sp.csr_matrix(np.where(np.abs(X) < 0.2, 0.0, X))
    elif rows_form == "frame":
        X = frame_of(X, rng)
    words = y.dtype.kind == "i" and not file and rng.random() < 0.25 and case.name not in {"OneClassSVM"}
    if words:
        if isinstance(case.scoring, str) and case.scoring in {"f1", "average_precision"}:
            case.scoring = None
        machine = case.estimator.steps[-1][1] if stepped else case.estimator
        given = getattr(machine, "class_weight", None)
        y = np.array([f"class {label}" for label in y])
        if isinstance(given, dict):
            machine.set_params(class_weight={f"class {label}": weight for label, weight in given.items()})
    targets_form = pick("flat", "flat", "flat", "column", "series", "frame", "list")
    if file and targets_form != "column":
        targets_form = "flat"
    case.forms = f"X {rows_form} y {targets_form}"
    if targets_form == "column":
        y = y[:, None]
    elif targets_form == "list":
        y = y.tolist()
    elif targets_form in {"series", "frame"}:
        y = series_of(y, targets_form)
    case.X, case.y = X, y


def frame_of(X, rng):
    names = [f"f{at}" for at in range(X.shape[1])]
    package = "pandas" if rng.random() < 0.6 else "polars"
    try:
        module = __import__(package)
    except ImportError:
        return X
    return module.DataFrame(X, columns=names) if package == "pandas" else module.DataFrame(dict(zip(names, X.T, strict=True)))


def series_of(y, form):
    try:
        import pandas  # noqa: PLC0415 it need not be installed
    except ImportError:
        return y
    index = np.arange(len(y))[::-1] + 5
    return pandas.Series(y, index=index) if form == "series" else pandas.DataFrame({"target": y}, index=index)


def count_of_cases():
    """How many the tests try: ``MAXMARGIN_DIFFERENTIAL`` says it, 200 otherwise."""
    return int(os.environ.get("MAXMARGIN_DIFFERENTIAL", "200"))
