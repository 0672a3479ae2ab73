"""The session of Python in docs/first-hour.md prints what stands there.

Lines after ``>>>`` are run one after another in a fresh folder. Both streams stand below them, of a traceback the last
line alone, and the time that it took. ``MAXMARGIN_RECORD=1`` writes what is printed today.
"""

import contextlib
import doctest
import io
import os
import re
import time
import warnings
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs/first-hour.md"
SESSION = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TIME = re.compile(r"^\[[0-9.]+ s\]\n", re.MULTILINE)
LIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def printed(source, names):
    """Run an example: return its output and errors in the order of printing, and its seconds."""
    text = io.StringIO()
    begun = time.perf_counter()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text), warnings.catch_warnings():
        warnings.simplefilter("default")
        try:
            exec(compile(source, "session", "single"), names)
        except Exception as error:
            print(f"{type(error).__name__}: {error}", *getattr(error, "__notes__", []), sep="\n")
    return text.getvalue(), time.perf_counter() - begun


def entered(source):
    """The lines of an example as they stand in a session."""
    return "".join(f"{'...' if at else '>>>'} {line}\n" for at, line in enumerate(source.splitlines()))


def test_the_session_prints_what_it_says(tmp_path, monkeypatch):
    text = PAGE.read_text(encoding="utf-8")
    found = SESSION.search(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", lambda message, kind, *_: print(f"{kind.__name__}: {message}"))
    names, written, wrong = {"__name__": "session"}, "", []
    for example in doctest.DocTestParser().get_examples(found.group(1)):
        output, seconds = printed(example.source, names)
        said = TIME.sub("", example.want)
        if not doctest.OutputChecker().check_output(said, output, LIKE):
            wrong.append(f"{example.source}prints\n{output}and not\n{said}")
            said = output
        written += f"{entered(example.source)}{said}[{seconds:.2f} s]\n"
    if os.environ.get("MAXMARGIN_RECORD"):
        PAGE.write_text(text[: found.start(1)] + written + text[found.end(1) :], encoding="utf-8")
    else:
        assert not wrong, "\n".join(wrong)
