"""Samples that come and go: the estimator is then what a training on the changed rows gives, with all that a training derives from them."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification

import maxmargin

TOL = 1e-8
X, y = make_classification(240, 5, n_informative=4, n_redundant=0, weights=[0.7], flip_y=0.1, random_state=4)
# The rows to come are wider than those there are, and of other shares.
X[160:] *= 3
LABELS = np.array(["no", "yes"])[y]

DERIVED = [
    {"gamma": "scale"},
    {"gamma": "scale", "probability": True},
    {"gamma": 0.3, "class_weight": "balanced"},
    {"gamma": 0.3, "calibration": "isotonic"},
    {"gamma": "scale", "class_weight": "balanced", "calibration": "platt"},
    {"gamma": "auto"},
    {"gamma": 0.3, "class_weight": {"yes": 3.0}},
    {"kernel": "linear", "gamma": "scale"},
    {"kernel": "linear", "class_weight": "balanced"},
    {"kernel": "poly", "gamma": "scale", "coef0": 1.0, "degree": 2},
]


@pytest.mark.parametrize("parameters", DERIVED, ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_updates_are_trainings_on_the_changed_rows(parameters, form):
    fitted = maxmargin.SVC(keep_data=True, tol=TOL, **parameters).fit(form(X[:160]), LABELS[:160])

    def equal_to_training_on(rows):
        again = clone(fitted).set_params(keep_data=False).fit(form(X[rows]), LABELS[rows])
        assert_allclose(fitted.decision_function(form(X)), again.decision_function(form(X)), atol=2e-5)
        assert_allclose(fitted.class_weight_, again.class_weight_)
        assert fitted._model.gamma == pytest.approx(again._model.gamma, rel=1e-12) if fitted.kernel != "linear" else True
        if again._method() is not None:
            assert_allclose(fitted.predict_proba(form(X)), again.predict_proba(form(X)), atol=1e-4)
            assert fitted.calibration_ is not None
        assert fitted.certificate_.holds
        assert fitted.verify(form(X[rows]), LABELS[rows])
        assert fitted.shape_fit_ == again.shape_fit_

    equal_to_training_on(np.arange(160))
    fitted.add(form(X[160:]), LABELS[160:])
    equal_to_training_on(np.arange(240))
    gone = [0, 3, 100, 239]
    fitted.remove(gone)
    equal_to_training_on(np.delete(np.arange(240), gone))


def test_a_failed_update_changes_nothing():
    fitted = maxmargin.SVC(keep_data=True, probability=True).fit(X[:160], LABELS[:160])
    before = dict(vars(fitted))
    for call, what in [
        (lambda: fitted.remove([3, 3]), "row 3 is named twice"),
        (lambda: fitted.remove([5, 160]), "row 160 is to be removed, but there are the rows 0 to 159"),
        (lambda: fitted.remove([-1]), "row -1 is to be removed"),
        (lambda: fitted.remove([0.5]), "whole numbers from 0"),
        (lambda: fitted.remove(np.zeros(160, dtype=bool)), "numpy.flatnonzero"),
        (lambda: fitted.remove(np.flatnonzero(LABELS[:160] == "yes")), "no sample of class 'yes' would be left"),
        (lambda: fitted.add(X[:2], ["no", "maybe"]), r"row 1 \(from 0\) has the label 'maybe'.* \['no', 'yes'\]"),
        (lambda: fitted.add(X[:2], ["no"]), "X has 2 samples, but y has 1"),
        (lambda: fitted.add(X[:2, :3], ["no", "yes"]), "features"),
    ]:
        with pytest.raises(ValueError, match=what):
            call()
        assert vars(fitted).keys() == before.keys()
        assert all(vars(fitted)[name] is value for name, value in before.items())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"gamma": 0.3}, {"C": 20.0}),
        ({"gamma": 0.3}, {"gamma": 2.0}),
        ({"gamma": 0.3}, {"kernel": "linear"}),
        ({"gamma": "scale"}, {"gamma": 2.0}),
        ({"gamma": 0.3, "class_weight": "balanced"}, {"class_weight": None}),
        ({"gamma": 0.3}, {"class_weight": {"yes": 4.0}}),
    ],
    ids=str,
)
def test_parameters_that_were_changed_count_for_updates(before, after):
    fitted = maxmargin.SVC(keep_data=True, tol=TOL, **before).fit(X[:160], LABELS[:160]).set_params(**after)
    again = maxmargin.SVC(tol=TOL, **(before | after))
    for changed, rows in [
        (lambda: fitted.add(X[160:200], LABELS[160:200]), slice(0, 200)),
        (lambda: fitted.remove([0, 1]), slice(2, 200)),
    ]:
        changed()
        again.fit(X[rows], LABELS[rows])
        assert_allclose(fitted.decision_function(X), again.decision_function(X), atol=2e-5)
        assert_allclose(fitted.class_weight_, again.class_weight_)


def test_parameters_that_are_none_are_refused_by_updates():
    fitted = maxmargin.SVC(keep_data=True, gamma=0.3).fit(X[:160], LABELS[:160])
    before = fitted.decision_function(X)
    for parameters, kind, message in [
        ({"C": -1.0}, ValueError, "'C' parameter"),
        ({"kernel": "precomputed"}, ValueError, "computed from features"),
    ]:
        changed = clone(fitted).fit(X[:160], LABELS[:160]).set_params(**parameters)
        with pytest.raises(kind, match=message):
            changed.add(X[160:170], LABELS[160:170])
        assert_array_equal(changed.decision_function(X) if "kernel" not in parameters else before, before)
    matrix = (
        maxmargin.SVC(kernel="precomputed", keep_data=True).fit(X[:160] @ X[:160].T, LABELS[:160]).set_params(kernel="linear")
    )
    with pytest.raises(ValueError, match="computed from features"):
        matrix.remove([0])


def test_nothing_to_remove_is_nothing_to_do():
    fitted = maxmargin.SVC(keep_data=True).fit(X, y)
    before = fitted.decision_function(X)
    for nothing in [[], (), np.array([], dtype=int), np.array([])]:
        assert_array_equal(fitted.remove(nothing).decision_function(X), before)
    assert fitted.shape_fit_ == X.shape


def test_what_cannot_be_updated_says_so_in_names_of_the_package():
    weights = np.ones(len(y))
    weights[0] = 2.0
    cases = [
        (maxmargin.SVC().fit(X, y), "fit with keep_data=True"),
        (maxmargin.SVC(keep_data=True).fit(X, y, sample_weight=weights), "trained with sample_weight"),
        (maxmargin.SVC(kernel="precomputed", keep_data=True).fit(X @ X.T, y), "kernels that are computed from features"),
        (maxmargin.SVC(kernel=lambda a, b: a @ b.T, keep_data=True).fit(X, y), "kernels that are computed from features"),
    ]
    for fitted, what in cases:
        with pytest.raises(ValueError, match=what) as error:
            fitted.remove([3])
        assert "--" not in str(error.value)


def test_models_beneath_the_estimators_count_from_0_as_well():
    model = maxmargin.train(X, y.astype(float), kernel="rbf", keep_data=True)
    for remove, what in [([3, 3], r"row 3 \(from 0\) is named twice"), ([240], r"row 240 \(from 0\) is to be removed")]:
        with pytest.raises(ValueError, match=what):
            model.updated(remove=remove)
    with pytest.raises(ValueError, match="the model has probabilities"):
        maxmargin.train(X, y.astype(float), kernel="rbf", keep_data=True, probability="platt").updated(remove=[3])


@pytest.mark.parametrize("count", [0, -1, 513, 5000])
def test_numbers_of_threads_that_cannot_be(count):
    with pytest.raises(ValueError, match=f"{count} threads: use 1 to 512"):
        maxmargin.set_threads(count)


def test_p_values_of_every_row_need_the_training_data_and_two_classes():
    rows, species = load_iris(return_X_y=True)
    two = species < 2
    kept = maxmargin.SVC(gamma=0.25, keep_data=True).fit(rows[two], species[two])
    found = kept.p_values(rows[:3])
    assert found.shape == (3, 2)
    assert ((found > 0) & (found <= 1)).all()
    with pytest.raises(ValueError, match="fit with keep_data=True"):
        maxmargin.SVC(gamma=0.25).fit(rows[two], species[two]).p_values(rows)
    with pytest.raises(ValueError, match=r"are for two classes, and the estimator has 3: use conformal=0\.1"):
        maxmargin.SVC(gamma=0.25, keep_data=True).fit(rows, species).p_values(rows)
