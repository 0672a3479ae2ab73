"""scikit-learn's own checks of estimators."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import maxmargin

ASKS = "gamma='scale' and the default tolerance: repeated rows have another variance, and 1e-3 is no 1e-9; passed with gamma and tol below"
TOO_MUCH = "nu=0.5 is not possible where the check removes so many samples of one class: scikit-learn's class fails it, too"
FAILS = {
    "SVC": dict.fromkeys(
        ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"], ASKS
    ),
    "NuSVC": dict.fromkeys(
        [
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
            "check_class_weight_classifiers",
        ],
        TOO_MUCH,
    ),
}
for name in ["SVR", "NuSVR", "QuantileSVR", "ExpectileSVR", "OneClassSVM", "LinearSVR"]:
    FAILS[name] = FAILS["SVC"]

AT_ZERO = dict.fromkeys(FAILS["SVC"], "predict of free support vectors, whose decision value is 0: either side is right")

# Whoever asks for more gets it: these pass everything, weights of samples as repetitions included.
EXACT = {"gamma": 0.1, "tol": 1e-10}
LINEAR = {"tol": 1e-10, "max_iter": 100_000}
ALL = [
    maxmargin.SVC(),
    maxmargin.NuSVC(),
    maxmargin.SVR(),
    maxmargin.NuSVR(),
    maxmargin.QuantileSVR(quantile=0.8),
    maxmargin.ExpectileSVR(expectile=0.8),
    maxmargin.OneClassSVM(),
    maxmargin.LinearSVC(),
    maxmargin.LinearSVR(),
]


def expected(estimator):
    if estimator.get_params()["tol"] == 1e-10:
        return AT_ZERO if isinstance(estimator, maxmargin.OneClassSVM) else {}
    return FAILS.get(type(estimator).__name__, {})


@parametrize_with_checks(ALL, expected_failed_checks=expected)
def test_estimator(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        maxmargin.SVC(**EXACT),
        maxmargin.SVR(**EXACT),
        maxmargin.NuSVR(**EXACT),
        maxmargin.QuantileSVR(quantile=0.8, **EXACT),
        maxmargin.ExpectileSVR(expectile=0.8, **EXACT),
        maxmargin.OneClassSVM(**EXACT),
        maxmargin.LinearSVR(epsilon=0.1, **LINEAR),
    ],
    expected_failed_checks=expected,
)
def test_exact_estimator(estimator, check):
    check(estimator)
