"""The gallery runs, and says what its page says that it says."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
PICTURES = sorted(re.findall(r"!\[[^]]*\]\((\w+)\.svg\)", PAGE))

#: What makes an example small enough for a test.
SMALL = {"a_million_predictions": ["100000"]}


def run(name, folder, *arguments):
    script = [sys.executable, "-W", "error::sklearn.exceptions.ConvergenceWarning", str(FOLDER / f"{name}.py"), *arguments]
    environment = os.environ | {"MPLBACKEND": "Agg"}
    return subprocess.run(script, capture_output=True, text=True, timeout=300, check=False, cwd=folder, env=environment)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_says_what_the_page_says(name, tmp_path):
    ended = run(name, tmp_path, *SMALL.get(name, []))
    assert ended.returncode == 0, ended.stderr
    section = PAGE.split(f"[{name}.py]({name}.py)", 1)
    assert len(section) == 2, f"examples/README.md does not tell of {name}.py"
    shown = re.search(r"```\n(.*?)```", section[1], re.DOTALL).group(1)
    # The page tells of a million.
    said = ended.stdout.replace("100,000 predictions", "1,000,000 predictions")
    assert said == shown


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed")
@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_drawn(name, tmp_path):
    ended = run(name, tmp_path, str(tmp_path))
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / f"{name}.svg").read_text().startswith("<?xml")


def test_pictures_of_the_page_are_small():
    assert PICTURES
    for name in PICTURES:
        assert (FOLDER / f"{name}.svg").stat().st_size < 60_000
