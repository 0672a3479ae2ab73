"""Measurements beside other packages: that they run, judge and say what they found."""

import subprocess
import sys

import page
import peers
import pytest
import sets


@pytest.fixture
def measured(tmp_path):
    """Measures the works of this name, small, beside scikit-learn: their lines and the page."""
    if sets.place("a9a") is None:
        pytest.skip("no data a9a")

    def run(only, *more, name="python"):
        command = [
            sys.executable,
            peers.__file__,
            "--quick",
            "--out",
            tmp_path,
            "--only",
            only,
            "--programs",
            "scikit-learn",
            *more,
        ]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert ran.returncode == 0, ran.stderr
        return page.read(tmp_path / f"{name}.jsonl"), (tmp_path / f"{name}.md").read_text()

    return run


@pytest.mark.parametrize(
    "only", ["SVC.fit a9a C=1 ", "GridSearchCV.fit a9a of 36", "LinearSVC.fit a9a C=100 loss", "probabilities a9a"]
)
def test_a_work_is_measured_and_judged(measured, only):
    lines, text = measured(only)
    assert [line["program"] for line in lines] == ["maxmargin", "scikit-learn"] * (len(lines) // 2)
    assert all(line["seconds"] > 0 and line["peak_rss_bytes"] > 0 and len(line["data_sha256"]) == 64 for line in lines)
    assert text.count("| yes |") == len(lines) // 2
    # Another answer is another verdict.
    for line in lines[1::2]:
        answer = line["answer"]
        for name, by in {"dual": 5.0, "primal": -5.0, "log_loss": 1.0}.items():
            answer.update({name: answer[name] + by} if name in answer else {})
        answer.update({"scores": [0.0] * len(answer["scores"])} if "scores" in answer else {})
    assert page.rendered(lines).count("| NO |") == len(lines) // 2


def test_a_call_beyond_the_limit_is_said(measured):
    lines, text = measured("SVC.fit a9a C=1 ", "--limit", "0.05")
    assert [line["cut"] for line in lines] == [0.05, 0.05]
    assert "| > 0.05 | – |" in text


@pytest.mark.parametrize("only", ["NuSVC.fit sklearn", "SVR.fit sklearn", "OneClassSVM"])
def test_works_of_the_suite_are_judged_beside_the_best_peer(measured, only):
    lines, text = measured(only, "--suite", name="suite")
    assert len(lines) > 1
    assert text.count("| yes |") == len(lines) // 2
    assert f"{len(lines) // 2} works. Geometric mean" in text
    # The worst comes first, and a peer that takes longer changes the page.
    ratios = [
        float(row.split("|")[6]) for row in text.splitlines() if row.startswith("| ") and "scikit-learn |" in row and " × " in row
    ]
    assert ratios == sorted(ratios)
    assert len(ratios) == len(lines) // 2
    assert page.suite_picture(lines).count("<circle") == len(ratios)
    lines[1]["seconds"] *= 1000
    assert page.suite(lines) != text


@pytest.mark.parametrize(
    ("name", "render"), [("python.md", page.rendered), ("suite.md", page.suite), ("suite.svg", page.suite_picture)]
)
def test_the_page_says_what_its_lines_say(name, render):
    report = peers.FOLDER / name
    raw = report.with_suffix(".jsonl")
    if not raw.exists():
        pytest.skip("nothing was measured")
    assert report.read_text() == render(page.read(raw))
