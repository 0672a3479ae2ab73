"""LIBSVM's names in Python: what they take and give is what LIBSVM's own package, and its programs, take and give."""

import io
import pickle
import re
import shutil
import subprocess

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file, load_iris

import maxmargin
from maxmargin import _data, svmutil

X, FLOWERS = load_iris(return_X_y=True)
# No row twice, whose coefficients would be free, and the second class first, the first last.
_, FIRST = np.unique(X, axis=0, return_index=True)
KEEP = np.random.default_rng(0).permutation(np.sort(FIRST))
X, FLOWERS = X[KEEP], FLOWERS[KEEP]
ROWS = [{j + 1: float(value) for j, value in enumerate(row)} for row in X]
GRAM = X @ X.T
SERIAL = [{0: i + 1} | {j + 1: float(value) for j, value in enumerate(row)} for i, row in enumerate(GRAM)]
TIGHT = "-q -e 1e-8 "
CASES = {
    "three classes": (FLOWERS, ROWS, "-c 10 -g 0.1"),
    "an array": (FLOWERS, X, "-c 10 -g 0.1"),
    "sparse": (FLOWERS, sp.csr_matrix(X), "-c 10 -g 0.1"),
    "default width": (FLOWERS, ROWS, ""),
    "two classes": (np.where(FLOWERS == 1, 5, 3), ROWS, "-c 10 -g 0.1"),
    "minus one first": (np.where(FLOWERS[0] == FLOWERS, -1, 1), ROWS, "-c 10 -g 0.1"),
    "weights": (FLOWERS, ROWS, "-w1 5 -w2 2 -w2 3 -c 0.1 -g 0.1"),
    # Of more classes LIBSVM's package writes beyond its buffer.
    "nu": (np.where(FLOWERS == 1, 5, 3), ROWS, "-s 1 -n 0.2 -g 0.1"),
    "one class": (FLOWERS, ROWS, "-s 2 -n 0.2 -g 0.1"),
    "values": (X[:, 0], ROWS, "-s 3 -g 0.1"),
    "nu values": (X[:, 0], ROWS, "-s 4 -g 0.1"),
    "polynomial": (FLOWERS, ROWS, "-t 1 -d 2 -r 1 -g 0.1"),
    "precomputed": (FLOWERS, SERIAL, "-t 4"),
    "precomputed array": (FLOWERS, np.hstack([np.arange(1, len(X) + 1)[:, None], GRAM]), "-t 4"),
    "index 0": (FLOWERS, [{j - 1: value for j, value in row.items()} for row in ROWS], "-c 10 -g 0.1"),
}


@pytest.mark.parametrize("name", CASES)
def test_models_and_predictions_are_those_of_libsvms_package(name):
    theirs = pytest.importorskip("libsvm.svmutil")
    y, x, options = CASES[name]
    (a, said_a), (b, said_b) = [
        (model := module.svm_train(y, x, TIGHT + options), module.svm_predict(y, x, model, "-q")) for module in (theirs, svmutil)
    ]
    assert np.shape(said_a[2]) == np.shape(said_b[2])
    assert_allclose(said_b[2], said_a[2], atol=2e-3)
    far = np.abs(np.array(said_a[2])).min(axis=1) > 1e-3
    assert_allclose(np.array(said_b[0])[far], np.array(said_a[0])[far], atol=1e-3)
    assert_allclose(said_b[1], said_a[1], rtol=1e-3) if far.all() else None
    assert (a.get_svm_type(), a.get_nr_class()) == (b.get_svm_type(), b.get_nr_class())
    if name not in ("one class", "values", "nu values"):
        assert a.get_labels() == b.get_labels()
    assert abs(a.get_nr_sv() - b.get_nr_sv()) <= 2
    if a.get_sv_indices() == b.get_sv_indices():
        assert_allclose(np.array(b.get_sv_coef()), np.array(a.get_sv_coef()), atol=2e-3)
        serials = "precomputed" in name
        assert [row[0] if serials else row for row in b.get_SV()] == [row[0] if serials else row for row in a.get_SV()]


def test_columns_are_in_the_order_in_which_labels_appear():
    labels = np.array([7, -2, 3])[FLOWERS]
    order = list(dict.fromkeys(labels.tolist()))
    assert order == [-2, 3, 7]
    labels = np.array([3, 7, -2])[FLOWERS]
    order = list(dict.fromkeys(labels.tolist()))
    assert order == [7, -2, 3], "neither ascending nor descending"
    model = svmutil.svm_train(labels, ROWS, TIGHT + "-c 10 -g 0.1 -b 1")
    assert model.get_labels() == order
    said, _, decisions = svmutil.svm_predict(labels, ROWS, model, "-q")
    votes = np.zeros((len(labels), 3))
    for column, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        votes[:, a] += np.array(decisions)[:, column] > 0
        votes[:, b] += np.array(decisions)[:, column] <= 0
    assert_array_equal(np.array(order)[votes.argmax(axis=1)], said)
    said, _, probabilities = svmutil.svm_predict(labels, ROWS, model, "-b 1 -q")
    assert_array_equal(np.array(order)[np.argmax(probabilities, axis=1)], said)
    assert_allclose(np.sum(probabilities, axis=1), 1)
    assert np.mean(said == labels) > 0.9


@pytest.mark.parametrize("name", ["three classes", "two classes", "values", "precomputed", "index 0"])
def test_files_are_those_of_libsvms_programs(name, tmp_path):
    program = shutil.which("svm-predict")
    if program is None:
        pytest.skip("no svm-predict")
    y, x, options = CASES[name]
    model = svmutil.svm_train(y, x, TIGHT + options)
    svmutil.svm_save_model(str(tmp_path / "model"), model)
    lines = [" ".join([f"{label:.17g}"] + [f"{j}:{v:.17g}" for j, v in row.items()]) for label, row in zip(y, x, strict=True)]
    (tmp_path / "data").write_text("\n".join(lines) + "\n")
    subprocess.run([program, tmp_path / "data", tmp_path / "model", tmp_path / "out"], check=True, capture_output=True)
    said = svmutil.svm_predict(y, x, model, "-q")
    assert_allclose(np.loadtxt(tmp_path / "out"), said[0], atol=1e-4)
    back = svmutil.svm_load_model(str(tmp_path / "model"))
    assert back.get_labels() == model.get_labels()
    assert_allclose(svmutil.svm_predict(y, x, back, "-q")[2], said[2], atol=1e-9)
    assert pickle.loads(pickle.dumps(model)).get_sv_indices() == model.get_sv_indices()


@pytest.mark.parametrize("options", ["-c 10 -g 0.1", "-s 3 -g 0.1 -e 1e-8"])
def test_folds_are_those_of_svm_train(options, tmp_path, capsys):
    program = shutil.which("svm-train")
    if program is None:
        pytest.skip("no svm-train")
    y = X[:, 0] if "-s 3" in options else FLOWERS
    dump_svmlight_file(X, y, str(tmp_path / "data"), zero_based=False)
    ran = subprocess.run(
        [program, "-v", "5", "-q", *options.split(), tmp_path / "data"], check=True, capture_output=True, text=True
    )
    found = svmutil.svm_train(*svmutil.svm_read_problem(str(tmp_path / "data")), f"-v 5 -q {options}")
    assert found == pytest.approx(float(re.search(r"= ([\d.]+)", ran.stdout)[1]), rel=1e-3)
    assert capsys.readouterr().out.splitlines()[0].split("=")[0] == ran.stdout.splitlines()[0].split("=")[0]


def test_problems_and_parameters():
    problem, parameter = svmutil.svm_problem(FLOWERS.tolist(), ROWS), svmutil.svm_parameter("-c 4 -g 0.1 -q")
    assert (problem.l, problem.n) == (len(X), 4)
    assert (parameter.C, parameter.gamma, parameter.svm_type) == (4.0, 0.1, svmutil.svm_forms.C_SVC)
    expected = svmutil.svm_predict([], ROWS, svmutil.svm_train(FLOWERS, ROWS, ["-c", "4", "-g", "0.1", "-q"]), "-q")
    for given in [parameter, "-c 4 -g 0.1 -q"]:
        assert svmutil.svm_predict([], ROWS, svmutil.svm_train(problem, given), "-q")[2] == expected[2]
    precomputed = svmutil.svm_problem(FLOWERS, SERIAL, isKernel=True)
    assert svmutil.svm_train(precomputed, "-t 4 -q").get_nr_sv() == svmutil.svm_train(FLOWERS, SERIAL, "-t 4 -q").get_nr_sv()
    text = io.StringIO("1 1:2 3:4\n-1 2:1\n")
    assert svmutil.svm_read_problem(text) == ([1.0, -1.0], [{1: 2.0, 3: 4.0}, {2: 1.0}])


@pytest.mark.parametrize("base", [0, 1])
def test_texts_are_parsed_once_for_both_forms(base, tmp_path):
    first = f"# what it is\n1 qid:1 {base}:2 {base + 2}:4.5\n-1 qid:1 # nothing\n"
    (tmp_path / "text").write_text(first + f"-1 qid:2 {base + 1}:1 {base + 5}:0\n")
    y, x = svmutil.svm_read_problem(str(tmp_path / "text"))
    labels, matrix = svmutil.svm_read_problem(str(tmp_path / "text"), return_scipy=True)
    assert y == labels.tolist() == [1, -1, -1]
    # The greatest index counts, although its value is 0.
    assert x == [{base: 2.0, base + 2: 4.5}, {}, {base + 1: 1.0, base + 5: 0.0}]
    assert svmutil.svm_problem(y, x).n == base + 5
    assert_array_equal(matrix.toarray(), [[2, 0, 4.5, 0, 0, 0], [0] * 6, [0, 1, 0, 0, 0, 0]])
    with pytest.raises(ValueError, match="line 1, column 3: `2` has no value"):
        svmutil.svm_read_problem(io.StringIO("1 2\n"))


def test_models_have_the_parameters_of_their_training(tmp_path):
    options = "-s 1 -t 1 -d 2 -r 0.5 -n 0.2 -e 0.01 -p 0.3 -c 7 -b 1 -h 0 -m 50 -q"
    model = svmutil.svm_train(np.where(FLOWERS == 1, 5, 3), ROWS, options)
    found = model.param
    names = ["svm_type", "kernel_type", "degree", "coef0", "nu", "eps", "p", "C", "probability", "shrinking", "cache_size"]
    assert [getattr(found, name) for name in names] == [1, 1, 2, 0.5, 0.2, 0.01, 0.3, 7, 1, 0, 50]
    assert found.gamma == 0.25, "the default is a number"
    assert pickle.loads(pickle.dumps(model)).param.C == 7
    given = svmutil.svm_parameter("-w1 5 -q")
    weighted = svmutil.svm_train(svmutil.svm_problem(FLOWERS, ROWS), given).param
    assert (weighted.nr_weight, weighted.weight_label, weighted.weight) == (1, [1], [5.0])
    assert given.gamma == 0, "the caller's parameters stay as they were"
    svmutil.svm_save_model(str(tmp_path / "model"), model)
    read = svmutil.svm_load_model(str(tmp_path / "model")).param
    assert [getattr(read, name) for name in ["svm_type", "kernel_type", "degree", "gamma", "coef0", "probability"]] == [
        1,
        1,
        2,
        0.25,
        0.5,
        1,
    ]
    assert {getattr(read, name) for name in ["C", "nu", "eps", "p", "cache_size", "weight"]} == {None}
    linear = svmutil.svm_train(FLOWERS, ROWS, "-t 0 -q")
    svmutil.svm_save_model(str(tmp_path / "model"), linear)
    assert svmutil.svm_load_model(str(tmp_path / "model")).param.gamma is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-b 1 -q", "a class with at least two samples"),
        ("-s 1 -n 0.5 -b 1 -q", "a class with at least two samples"),
        ("-s 3 -b 1 -q", "at least two rows"),
    ],
)
def test_probabilities_of_too_few_samples_are_refused(options, message):
    y, x = ([1, -1], [[1.0], [-1.0]]) if "class" in message else ([1], [[1.0]])
    with pytest.raises(ValueError, match=f"probabilities need {message}, .*train without probabilities"):
        svmutil.svm_train(y, x, options)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ("-s 9", "option -s has the value 9.*from 0 to 4"),
        ("-t 7", "option -t has the value 7.*from 0 to 4"),
        ("-c x", "option -c has the value x"),
        ("-c", "option -c has no value"),
        ("-x 1", "unknown option -x"),
        ("-v 1", "n must >= 2"),
        ("-w3000000000 2", "option -w3000000000: the class label does not fit 32 bits"),
        ("-c -1", "C <= 0"),
        ("-c nan", "C is not a number"),
        ("-c inf", "C is infinite"),
        ("-g inf", "gamma is infinite"),
        ("-g -1", "gamma < 0"),
        ("-b 2", "probability != 0 and probability != 1"),
        ("-t 4", "first column must be 0:sample_serial_number"),
    ],
)
def test_wrong_options_are_said(options, what):
    with pytest.raises(ValueError, match=what):
        svmutil.svm_train(FLOWERS, ROWS, options)


def test_what_cannot_be_is_said():
    with pytest.raises(ValueError, match=r"row 1 \(from 0\) has the label 3000000000"):
        svmutil.svm_train([1, 3e9], ROWS[:2], "-q")
    with pytest.raises(ValueError, match="2 labels and 3 rows"):
        svmutil.svm_train([1, 2], ROWS[:3], "-q")
    model = svmutil.svm_train(FLOWERS, ROWS, "-q")
    with pytest.raises(ValueError, match="-b 1"):
        svmutil.svm_predict(FLOWERS, ROWS, model, "-b 1")
    with pytest.raises(ValueError, match="Wrong options"):
        svmutil.svm_predict(FLOWERS, ROWS, model, "-z")
    with pytest.raises(ValueError, match="2 labels and 3 rows"):
        svmutil.svm_predict([1, 2], ROWS[:3], model)
    with pytest.raises(ValueError, match="feature of index 0"):
        svmutil.svm_predict([1], [{0: 1.0}], model)


def test_one_class_and_what_is_printed(capsys):
    model = svmutil.svm_train([1.0] * 5, ROWS[:5])
    assert "WARNING: training data in only one class" in capsys.readouterr().out
    assert svmutil.svm_predict([], ROWS[:2], model, "-q") == (
        [1.0, 1.0],
        pytest.approx((0.0, 1.0, np.nan), nan_ok=True),
        [[1.0], [1.0]],
    )
    svmutil.svm_predict([1.0, 2.0], ROWS[:2], model)
    assert capsys.readouterr().out == "Accuracy = 50% (1/2) (classification)\n"
    svmutil.svm_train(FLOWERS, ROWS, "-w9 2 -q")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "WARNING: class label 9 specified in weight is not found\n")


def test_a_nu_without_a_margin_is_warned_of(capsys):
    same, y = np.repeat(np.arange(4.0), 20)[:, None], np.tile([0, 1], 40)
    svmutil.svm_train(y, same, "-s 1 -n 0.2 -q")
    assert capsys.readouterr().err == "WARNING: no margin is left at this nu, and decision values mean nothing; use a larger -n\n"
    svmutil.svm_train(y, same + 10 * y[:, None], "-s 1 -n 0.2 -q")
    assert capsys.readouterr().err == ""


def test_one_class_with_probabilities():
    model = svmutil.svm_train([7] * 5, ROWS[:5], "-b 1 -q")
    assert model.is_probability_model()
    assert svmutil.svm_predict([], ROWS[:2], model, "-b 1 -q")[::2] == ([7.0, 7.0], [[1.0], [1.0]])


#: Rows that the models of ties see: the first has none of their features.
TIES = [{9: 1.0}, {1: 1.0}, {2: 3.0}]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [("1 -1", [-1, 1, -1]), ("-1 1", [1, -1, 1]), ("1 2", [2, 1, 2]), ("2 1", [1, 2, 1])],
)
def test_a_decision_value_of_0_is_for_the_second_label(labels, expected, tmp_path):
    text = f"svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0\nlabel {labels}\nnr_sv 1 1\nSV\n1 1:1 \n-1 2:1 \n"
    path = tmp_path / "model"
    path.write_text(text)
    model = svmutil.svm_load_model(str(path))
    said, _, decisions = svmutil.svm_predict([], TIES, model, "-q")
    # A positive value is for the first label of the file, whichever that is.
    assert (said, decisions, model.get_labels()) == (expected, [[0.0], [1.0], [-3.0]], [int(label) for label in labels.split()])
    svmutil.svm_save_model(str(tmp_path / "again"), model)
    assert (tmp_path / "again").read_text() == text
    rows = np.zeros((3, 9))
    for i, row in enumerate(TIES):
        for j, value in row.items():
            rows[i, j - 1] = value
    # Our own names of loading keep the rule of the file, and so does the native format.
    loaded = maxmargin.load(path)
    maxmargin.save(loaded, tmp_path / "native")
    for ours in [loaded, maxmargin.load(tmp_path / "native")]:
        assert_array_equal(ours.predict(_data.packed(rows)), expected)


@pytest.mark.parametrize(("labels", "expected"), [("3 1 2", [2, 3, 1]), ("1 2 3", [3, 1, 2]), ("2 3 1", [1, 2, 3])])
def test_of_equal_votes_the_first_label_wins(labels, expected, tmp_path):
    body = "nr_sv 1 1 1\nSV\n1 1 1:1 \n-1 1 2:1 \n-1 -1 3:1 \n"
    head = f"svm_type c_svc\nkernel_type linear\nnr_class 3\ntotal_sv 3\nrho %s\nlabel {labels}\n"
    (tmp_path / "model").write_text(head % "0 0 0" + body)
    model = svmutil.svm_load_model(str(tmp_path / "model"))
    said, _, decisions = svmutil.svm_predict([], TIES, model, "-q")
    assert (said, decisions) == (expected, [[0, 0, 0], [1, 1, 0], [-3, 0, 3]])
    # Each class wins one pair of the first row.
    (tmp_path / "model").write_text(head % "-1 1 -1" + body)
    model = svmutil.svm_load_model(str(tmp_path / "model"))
    assert svmutil.svm_predict([], TIES[:1], model, "-q")[0] == [int(labels[0])]


def test_models_of_these_names_are_models_of_the_package(tmp_path):
    model = svmutil.svm_train(FLOWERS, ROWS, "-q")
    maxmargin.save(model, tmp_path / "model")
    back = svmutil.svm_load_model(str(tmp_path / "model"))
    assert_allclose(svmutil.svm_predict([], ROWS, back, "-q")[2], svmutil.svm_predict([], ROWS, model, "-q")[2])
    assert all(certificate.holds for certificate in maxmargin.certificates(model.model))


def test_values_with_probabilities_have_a_scale_of_errors():
    model = svmutil.svm_train(X[:, 0], ROWS, "-s 3 -b 1 -q")
    assert model.is_probability_model()
    assert 0.05 < model.get_svr_probability() < 1
    said, _, nothing = svmutil.svm_predict(X[:, 0], ROWS, model, "-b 1 -q")
    assert nothing == [[]] * len(X)
    assert said == svmutil.svm_predict(X[:, 0], ROWS, model, "-q")[0]


def test_a_great_index_takes_no_memory():
    rows = [{1: 1.0}, {1: 2.0, 2_000_000_000: 1.0}, {1: -1.0}, {1: -2.0}]
    for options in ["-t 0 -q", "-t 1 -g 1 -q", "-s 3 -t 0 -q"]:
        model = svmutil.svm_train([1, 1, -1, -1], rows, options)
        assert_array_equal(np.sign(svmutil.svm_predict([], rows, model, "-q")[0]), [1, 1, -1, -1])
    assert svmutil.svm_train([1, 1, -1, -1], rows, "-t 0 -q -v 2") >= 0


def test_rows_of_any_length_and_kind_are_one_matrix():
    rows = [[1, 2], {1: 3}, [0, 0, 7]]
    found = svmutil.svm_problem([1, -1, 1], rows)
    assert found.n == 3
    assert_array_equal(found._rows.toarray()[:, 1:], [[1, 2, 0], [3, 0, 0], [0, 0, 7]])
    model = svmutil.svm_train([1, -1, 1], rows, "-q -t 0")
    assert (
        svmutil.svm_predict([], rows, model, "-q")[0] == svmutil.svm_predict([], [{1: 1, 2: 2}, {1: 3}, {3: 7}], model, "-q")[0]
    )
    with pytest.raises(ValueError, match=re.escape("row 1 (from 0), index 2: value nan is not finite")):
        svmutil.svm_train([1, -1], [{1: 1}, {2: float("nan")}], "-q")
    with pytest.raises(ValueError, match=re.escape("row 0 (from 0), index 3: value inf is not finite")):
        svmutil.svm_predict([], [{3: float("inf")}], model, "-q")


def test_predictions_check_their_options():
    model = svmutil.svm_train([1, -1, 1, -1], [[1], [-1], [2], [-2]], "-q -t 0 -b 1")
    for options, message in [
        ("-b no", "option -b: 'no' is neither 0 nor 1"),
        ("-b -q", "'-q' is neither"),
        ("-q -b", "-b has no value"),
    ]:
        with pytest.raises(ValueError, match=message):
            svmutil.svm_predict([1], [[1]], model, options)
    with pytest.raises(TypeError, match=r"for an estimator use sklearn\.model_selection\.cross_validate"):
        maxmargin.cross_validate(maxmargin.SVC(), X, FLOWERS)
