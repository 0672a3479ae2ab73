"""How estimators behave among others: files, threads, interruptions, memory, warnings, scikit-learn's machinery."""

import gc
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import maxmargin

ALL = [
    maxmargin.SVC(),
    maxmargin.SVC(kernel="linear"),
    maxmargin.NuSVC(nu=0.2),
    maxmargin.SVR(),
    maxmargin.NuSVR(),
    maxmargin.QuantileSVR(quantile=0.9),
    maxmargin.ExpectileSVR(expectile=0.9),
    maxmargin.OneClassSVM(),
    maxmargin.LinearSVC(),
    maxmargin.LinearSVR(max_iter=10_000),
]


def names_of(estimator):
    return [name for name in vars(estimator) if name.endswith("_")]


@pytest.mark.parametrize("estimator", ALL, ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_pickles_and_joblib_keep_everything(estimator, form, tmp_path):
    X, y = load_iris(return_X_y=True)
    X = form(X)
    fitted = clone(estimator).fit(X, y)
    joblib.dump(fitted, tmp_path / "model")
    for back in [pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "model")]:
        assert names_of(back) == names_of(fitted)
        assert_array_equal(back.predict(X), fitted.predict(X))
        assert back.certificate_ == fitted.certificate_
        assert back.verify(X, y)


def test_a_pickle_that_was_tampered_with_is_an_error():
    X, y = load_iris(return_X_y=True)
    data = bytearray(maxmargin.SVC().fit(X, y)._model.to_bytes())
    data[len(data) // 2] ^= 1
    with pytest.raises(ValueError, match=r"checksum|damaged|corrupt"):
        maxmargin.Model.from_bytes(bytes(data))


@pytest.mark.parametrize("estimator", [maxmargin.SVC(), maxmargin.LinearSVC()])
def test_words_lead_to_an_encoder(estimator):
    with pytest.raises(ValueError, match="could not convert string to float: 'red'") as caught:
        estimator.fit(np.array([["red", 1], ["blue", 2]], dtype=object), [0, 1])
    assert "OneHotEncoder" in caught.value.__notes__[0]


def test_same_bits_for_any_number_of_threads():
    X, y = make_classification(600, 12, n_classes=3, n_informative=6, random_state=1)
    threads = maxmargin.threads()
    try:
        found = []
        for count in [1, 3]:
            maxmargin.set_threads(count)
            assert maxmargin.threads() == count
            found.append(maxmargin.SVC(C=10).fit(X, y))
        assert_array_equal(found[0].dual_coef_, found[1].dual_coef_)
        assert_array_equal(found[0].decision_function(X), found[1].decision_function(X))
    finally:
        maxmargin.set_threads(threads)
    for count in [0, 513, 5000]:
        with pytest.raises(ValueError, match=f"{count} threads: use 1 to 512"):
            maxmargin.set_threads(count)


@pytest.mark.parametrize("count", ["5000", "abc", "-1", "0", "2.5"])
def test_a_number_of_threads_that_is_none_is_an_error(count):
    script = "from sklearn.datasets import load_iris; import maxmargin; maxmargin.SVC().fit(*load_iris(return_X_y=True))"
    ran = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"MAXMARGIN_NUM_THREADS": count},
    )
    assert f'ValueError: MAXMARGIN_NUM_THREADS is "{count}": it must be a whole number from 1 to 512, or unset' in ran.stderr


@pytest.mark.parametrize(
    ("name", "value", "threads"),
    [
        ("MAXMARGIN_NUM_THREADS", "3", 3),
        ("MAXMARGIN_NUM_THREADS", "", None),
        ("RAYON_NUM_THREADS", "5000", 512),
        # OpenMP's own forms, which are not ours to judge.
        ("OMP_NUM_THREADS", "4,2", None),
        ("OMP_NUM_THREADS", "3", 3),
    ],
)
def test_numbers_of_threads_of_the_environment(name, value, threads):
    clean = {of: v for of, v in os.environ.items() if not of.endswith("_NUM_THREADS")}
    ran = subprocess.run(
        [sys.executable, "-c", "import maxmargin; print(maxmargin.threads())"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=clean | {name: value},
    )
    assert int(ran.stdout) == (threads or len(os.sched_getaffinity(0)))


def test_notebooks_without_widgets_import_without_a_word():
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    # tqdm takes this for a notebook.
    script = """
        import sys, types
        sys.modules["ipykernel.zmqshell"] = types.ModuleType("ipykernel.zmqshell")
        shell = types.ModuleType("IPython")
        shell.get_ipython = lambda: object()
        sys.modules["IPython"] = shell
        import maxmargin
        assert "tqdm" not in sys.modules
        maxmargin._base.teller("search")("fold", 1, 2, 3, 0.5, 1e-3)
    """
    ran = subprocess.run(
        [sys.executable, "-W", "always", "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60, check=True
    )
    assert "Warning" not in ran.stderr
    assert "1/2" in ran.stderr


def test_eight_threads_fit_at_once():
    X, y = make_classification(400, 10, random_state=2)
    expected = maxmargin.SVC().fit(X, y).decision_function(X)
    found = [None] * 8

    def fit(at):
        found[at] = maxmargin.SVC().fit(X, y).decision_function(X)

    threads = [threading.Thread(target=fit, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in found:
        assert_array_equal(one, expected)


LONG = """
    import os, signal, threading, time
    import numpy as np
    import maxmargin
    from sklearn.base import clone
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(12_000, 60)), rng.integers(0, {classes}, 12_000)
    estimator = maxmargin.{estimator}.fit(X[:50], y[:50])
    before = dict(vars(estimator))
    sent = []
    def send():
        time.sleep({after})
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=send, daemon=True).start()
    try:
        {call}
    except KeyboardInterrupt:
        late = time.monotonic() - sent[0]
        assert vars(estimator).keys() == before.keys() and all(vars(estimator)[name] is before[name] for name in before)
        print(f"interrupted {{late:.3f}}")
    else:
        print("done before")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("estimator", "call", "classes"),
    [
        ("SVC(C=1e6, tol=1e-9)", "estimator.fit(X, y)", 2),
        ("SVC(C=1e6, tol=1e-9)", "estimator.fit(X, y)", 5),
        ("SVC(C=1e6, tol=1e-9)", "estimator.cross_validate(X, y)", 2),
        ("SVR(C=1e6, tol=1e-9)", "estimator.fit(X, rng.normal(size=len(X)))", 2),
        ("NuSVC(nu=0.5, tol=1e-9)", "[estimator.fit(X, y) for _ in range(100)]", 2),
        ("LinearSVC(C=1e6, tol=1e-12, max_iter=10**9)", "[estimator.fit(X, y) for _ in range(1000)]", 5),
    ],
)
@pytest.mark.parametrize("after", [0.3, 2.0])
def test_ctrl_c_comes_through_and_leaves_the_estimator_as_it_was(estimator, call, classes, after):
    if "for _" in call:
        call = call.replace("estimator.fit(X, y)", "clone(estimator).fit(X, y)")
    script = textwrap.dedent(LONG.format(estimator=estimator, call=call, classes=classes, after=after))
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert ran.stdout.startswith("interrupted"), ran.stdout + ran.stderr
    # 0.2 s is the promise; a busy machine gets room.
    assert float(ran.stdout.split()[1]) < 1.0, ran.stdout


def test_other_threads_run_while_one_trains():
    X, y = make_classification(3000, 20, flip_y=0.3, random_state=3)
    ticks, over = [], threading.Event()

    def tick():
        while not over.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    begun = time.monotonic()
    maxmargin.SVC(C=1000).fit(X, y)
    took = time.monotonic() - begun
    over.set()
    ticker.join()
    assert sum(begun <= at <= begun + took for at in ticks) > 0.2 * took / 0.005


def test_writes_to_the_array_after_packing_do_not_reach_the_training():
    X, y = make_classification(300, 5, random_state=4)
    expected = maxmargin.SVC(gamma=0.1).fit(X, y)
    mine = X.copy()
    fitted = maxmargin.SVC(gamma=0.1).fit(mine, y)
    mine[:] = 0
    assert_array_equal(fitted.decision_function(X), expected.decision_function(X))
    assert fitted.verify(X, y)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_does_not_grow_with_fits():
    X, y = make_classification(1000, 50, random_state=5)

    def resident():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    for _ in range(20):
        maxmargin.SVC().fit(X, y).predict(X)
    before = resident()
    for _ in range(100):
        maxmargin.SVC().fit(X, y).predict(X)
    # A leak of one copy of the data a fit would be 40 MB.
    assert resident() - before < 8 << 20


def test_a_nu_without_a_margin_is_warned_of():
    same, y = np.repeat(np.arange(4.0), 20)[:, None], np.tile([0, 1], 40)
    with pytest.warns(UserWarning, match="no margin is left, and decision values mean nothing.*raise nu"):
        fitted = maxmargin.NuSVC(nu=0.2).fit(same, y)
    assert fitted.certificate_.primal >= 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        maxmargin.NuSVC(nu=0.2).fit(same + 10 * y[:, None], y)
        maxmargin.SVC().fit(same, y)
        # A training that was cut before it converged says nothing about ν.
        warnings.filterwarnings("ignore", message="Solver terminated early")
        early = maxmargin.NuSVC(nu=0.1, max_iter=1).fit(*load_iris(return_X_y=True))
    assert max(certificate.primal for certificate in early.certificates_) >= 0


def test_early_ends_are_warned_of_with_the_certificate_and_what_to_do():
    X, y = make_classification(500, 10, flip_y=0.2, random_state=6)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=5 iterations \(KKT violation .*raise max_iter, scale"):
        fitted = maxmargin.SVC(max_iter=5).fit(X, y)
    assert fitted.fit_status_ == 1
    assert not fitted.certificate_.holds
    assert fitted.certificate_.primal >= fitted.certificate_.dual
    with pytest.warns(ConvergenceWarning, match="max_time=0.0001 seconds"):
        maxmargin.SVC(C=1e4, tol=1e-8, max_time=1e-4).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 iterations"):
        maxmargin.LinearSVC(loss="hinge", max_iter=1, tol=1e-12).fit(X, y)


def test_a_failed_fit_leaves_the_estimator_as_it_was():
    X, y = load_iris(return_X_y=True)
    fitted = maxmargin.SVC().fit(X, y)
    before = dict(vars(fitted))
    for bad in [(X[:, :2], np.zeros(150)), (X * np.nan, y), (X[:10], y)]:
        with pytest.raises(ValueError, match=r"."):
            fitted.fit(*bad)
        assert vars(fitted).keys() == before.keys()
        assert all(vars(fitted)[name] is value for name, value in before.items())


def test_searches_pipelines_and_routing():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(make_pipeline(StandardScaler(), maxmargin.SVC()), {"svc__C": [0.1, 1, 10]}, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.95
    assert cross_val_score(maxmargin.LinearSVC(), X, y).min() > 0.8
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = maxmargin.SVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        weights = np.random.default_rng(1).uniform(size=len(y))
        GridSearchCV(weighted, {"C": [1, 2]}).fit(X, y, sample_weight=weights)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            GridSearchCV(maxmargin.SVC(), {"C": [1, 2]}).fit(X, y, sample_weight=weights)


def test_frames_of_pandas():
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True, as_frame=True)
    fitted = maxmargin.SVC().fit(X, y)
    assert list(fitted.feature_names_in_) == list(X.columns)
    assert fitted.n_features_in_ == 4
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(X[X.columns[::-1]])
    assert isinstance(X, pandas.DataFrame)


def test_frames_of_polars():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    X, y = load_iris(return_X_y=True)
    labels = np.array(["a", "b", "c"])[y]
    frame, series = polars.DataFrame(X, schema=["one", "two", "three", "four"]), polars.Series("label", labels)
    for estimator in [maxmargin.SVC(calibration="platt"), maxmargin.LinearSVC()]:
        fitted, plain = clone(estimator).fit(frame, series), clone(estimator).fit(X, labels)
        assert list(fitted.feature_names_in_) == frame.columns
        assert fitted.predict(frame).tolist() == plain.predict(X).tolist()
        assert_array_equal(fitted.decision_function(frame), plain.decision_function(X))
        with pytest.raises(ValueError, match="feature names"):
            fitted.predict(frame.select(frame.columns[::-1]))
    weights = polars.Series("weight", np.linspace(0.5, 1.5, len(y)))
    values = maxmargin.SVR().fit(frame, polars.Series(y.astype(float)), sample_weight=weights)
    assert_array_equal(values.predict(frame), maxmargin.SVR().fit(X, y, sample_weight=weights.to_numpy()).predict(X))
    assert maxmargin.SVC(gamma=0.1).cross_validate(frame, series).shared
    search = maxmargin.GridSearchCV(maxmargin.SVC(), {"C": [1, 10]}).fit(frame, series)
    assert search.shared_
    assert search.best_score_ == maxmargin.GridSearchCV(maxmargin.SVC(), {"C": [1, 10]}).fit(X, labels).best_score_


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_many_rows_are_packed_a_block_at_a_time(form, monkeypatch):
    X, y = make_classification(500, 6, n_classes=3, n_informative=4, random_state=8)
    # A block of whole numbers is packed otherwise than others, and its sums are rounded otherwise.
    X[:100] = X[:100].round()
    fitted = maxmargin.SVC(calibration="platt").fit(form(X), y)
    values = maxmargin.SVR().fit(form(X), y)
    inside = maxmargin.OneClassSVM().fit(form(X))

    def told():
        calls = [fitted.predict, fitted.decision_function, fitted.predict_proba, values.predict, inside.predict]
        return [call(form(X)) for call in calls]

    whole = told()
    sizes = []
    pack = maxmargin._base.packed
    monkeypatch.setattr(maxmargin._base, "packed", lambda X, **how: sizes.append(X.shape[0]) or pack(X, **how))
    monkeypatch.setattr(maxmargin._base, "BLOCK", 64)
    for one, other in zip(told(), whole, strict=True):
        assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    assert max(sizes) == 64


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_million_predictions_take_no_memory_but_their_own():
    script = """
        import resource
        import numpy as np, maxmargin
        from sklearn.datasets import make_classification
        X, y = make_classification(300, 40, class_sep=3.0, random_state=1)
        fitted = maxmargin.SVC(gamma=0.001).fit(X, y)
        many = np.random.default_rng(1).normal(size=(1_000_000, 40)).astype(np.float32)
        fitted.predict(many[:100_000])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        labels = fitted.predict(many)
        print(len(labels), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=300, check=False
    )
    count, more = map(int, ran.stdout.split())
    assert count == 1_000_000
    # The answer has 8 MB, twice; the rows as they would be packed 320.
    assert more < 64 << 10, more


def test_before_fitting():
    with pytest.raises(NotFittedError):
        maxmargin.SVC().predict([[1.0]])
    assert not hasattr(maxmargin.SVC(), "n_support_")
    assert not hasattr(maxmargin.SVC(), "predict_proba")
    assert not hasattr(maxmargin.SVC(kernel="rbf"), "coef_")


def test_verbose_tells(capsys):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(4000, 40)), rng.integers(0, 2, 4000)
    with pytest.warns(ConvergenceWarning):
        maxmargin.SVC(C=1e6, gamma=0.001, tol=1e-9, verbose=True, max_time=3).fit(X, y)
    assert "[SVC] train: " in capsys.readouterr().out


def test_searches_move_a_bar_where_there_is_one(capsys, monkeypatch):
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    X, y = make_classification(200, 5, random_state=9)
    tell = maxmargin._base.teller("search")
    tell("fold", 3, 12, 100, 0.5, 1e-3)
    tell("fold", 12, 12, 200, 0.25, 1e-3)
    del tell
    said = capsys.readouterr()
    assert said.out == ""
    assert "3/12" in said.err
    assert "12/12" in said.err
    assert "violation 0.25" in said.err
    monkeypatch.setattr(maxmargin._progress, "bars", lambda: None)
    maxmargin._base.teller("search")("fold", 3, 12, 100, 0.5, 1e-3)
    assert capsys.readouterr().out == "[search] fold: 100 iterations, violation 0.5 (tol 0.001), 3 of 12\n"
    maxmargin._base.teller("SVC")("train", 0, 0, 100, 0.5, 1e-3, 0.25)
    assert capsys.readouterr().out == "[SVC] train: 100 iterations, violation 0.5 (tol 0.001), duality gap 0.25\n"
    maxmargin.GridSearchCV(maxmargin.SVC(), {"C": [1, 2]}, verbose=1).fit(X, y)


@pytest.mark.skipif(sys.platform == "win32", reason="no terminals of POSIX")
def test_ctrl_c_at_a_terminal_gives_the_prompt_back():
    import pty  # noqa: PLC0415

    child, terminal = pty.fork()
    if child == 0:
        os.execve(sys.executable, [sys.executable, "-q", "-W", "ignore"], os.environ | {"PYTHON_BASIC_REPL": "1", "TERM": "dumb"})
    heard = b""

    def until(text, limit=60.0):
        nonlocal heard
        begun = time.monotonic()
        while text not in heard:
            assert time.monotonic() - begun < limit, heard
            try:
                heard += os.read(terminal, 4096)
            except OSError:
                raise AssertionError(heard) from None
        heard = heard[heard.index(text) + len(text) :]

    try:
        for line in [
            "import numpy as np, maxmargin",
            "rng = np.random.default_rng(1)",
            "X, y = rng.normal(size=(12_000, 60)), rng.integers(0, 2, 12_000)",
            "svc = maxmargin.SVC(C=1e6, tol=1e-9)",
            "print('be' + 'gun', flush=True); svc.fit(X, y)",
        ]:
            until(b">>> ")
            os.write(terminal, line.encode() + b"\n")
        until(b"begun\r\n")
        time.sleep(1.0)
        os.write(terminal, b"\x03")
        sent = time.monotonic()
        until(b"KeyboardInterrupt")
        # 0.2 s is the promise; a busy machine gets room.
        assert time.monotonic() - sent < 2.0
        until(b">>> ")
        os.write(terminal, b"hasattr(svc, 'support_'), 6 * 7\n")
        until(b"(False, 42)")
        os.write(terminal, b"exit()\n")
    finally:
        os.close(terminal)
        os.waitpid(child, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_that_forked_can_train():
    script = """
        import os, signal
        from sklearn.datasets import load_iris
        import maxmargin
        X, y = load_iris(return_X_y=True)
        maxmargin.SVC().fit(X, y)
        child = os.fork()
        if child == 0:
            maxmargin.SVC().fit(X, y)
            os._exit(7)
        signal.alarm(60)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.stdout.strip() == "7", ran.stderr
