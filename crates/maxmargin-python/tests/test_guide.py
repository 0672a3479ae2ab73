"""Every block of Python in the guide and in the READMEs is run, the blocks of a page one after another in one namespace."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sklearn.datasets import dump_svmlight_file, load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import MinMaxScaler

import maxmargin

ROOT = Path(__file__).resolve().parents[3]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# The page of the package speaks of data that the reader has.
OWN = ROOT / "crates/maxmargin-python/README.md"


def pages():
    every = [ROOT / "README.md", OWN, *sorted((ROOT / "docs/guide/src").glob("*.md"))]
    return [page for page in every if BLOCK.search(page.read_text(encoding="utf-8"))]


def names(page):
    """What the blocks of a page may use besides what they make."""
    if page != OWN:
        return {}
    X, y = load_breast_cancer(return_X_y=True)
    X = MinMaxScaler((-1, 1)).fit_transform(X)
    dump_svmlight_file(X[:300], y[:300], "data.txt", zero_based=False)
    return {
        "executor": ThreadPoolExecutor(2),
        "X": X[:300],
        "y": y[:300],
        "X_new": X[300:310],
        "y_new": y[300:310],
        "StratifiedKFold": StratifiedKFold,
    }


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    namespace = {"__name__": "page", **names(page)}
    try:
        for block in BLOCK.finditer(text):
            # Faults name the line of the page.
            before = text.count("\n", 0, block.start(1))
            exec(compile("\n" * before + block.group(1), str(page), "exec"), namespace)
    finally:
        maxmargin.unpatch_sklearn()


def test_there_are_pages():
    found = {page.name for page in pages()}
    assert {"README.md", "first-steps.md", "from-scikit-learn.md", "forget.md"} <= found
