"""This package beside scikit-learn and scikit-learn-intelex: whole calls, each in a process of its own. `cargo xtask peers` builds all and runs it."""

import argparse
import json
import os
import platform
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import page
import scipy.sparse as sp
import sets
import works

#: Where the page and its raw lines are committed.
FOLDER = sets.ROOT / "docs/reproduction"


def arguments():
    told = argparse.ArgumentParser(prog="cargo xtask peers --", description=__doc__)
    told.add_argument("--quick", action="store_true", help="small works, once: a minute, to see that all runs (to --out)")
    told.add_argument("--suite", action="store_true", help="the works of suite.py, and the page of the best peer of each")
    told.add_argument("--only", metavar="TEXT", help="the works whose name has this in it")
    told.add_argument("--programs", nargs="+", choices=works.PROGRAMS, default=works.PROGRAMS, help="ours and these peers")
    told.add_argument("--repeats", type=int, default=3)
    told.add_argument("--limit", type=float, default=1800, help="seconds after which a process is ended, and said to have been")
    told.add_argument("--once", type=float, default=60, help="a peer that took more seconds is not asked again")
    told.add_argument(
        "--out",
        type=Path,
        help="a folder for the page and its raw lines [default: docs/reproduction, where lines are added to others]",
    )
    told.add_argument("--machine", type=json.loads, default={}, help=argparse.SUPPRESS)
    told.add_argument("--render", action="store_true", help="measure nothing: write the page from its raw lines")
    return told.parse_args()


def installed(package):
    try:
        return version(package) is not None
    except PackageNotFoundError:
        return False


def one(program, at, told, data, folder):
    """A line of one call in a new process, and what it left to be compared."""
    compared, said = Path(folder, "compared.npz"), Path(folder, "said")
    size = "quick" if told.quick else "full"
    which = "suite" if told.suite else "python"
    command = [sys.executable, works.__file__, program, which, str(at), size, str(data), str(compared)]
    environment = os.environ | {"OMP_WAIT_POLICY": "PASSIVE"}
    with said.open("w+b") as out, Path(folder, "errors").open("w+b") as errors:
        # A session of its own, so that the limit ends what it started, too.
        child = subprocess.Popen(command, stdout=out, stderr=errors, env=environment, start_new_session=True)
        try:
            child.wait(told.limit)
        except subprocess.TimeoutExpired:
            return {"cut": told.limit}, {}
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        errors.seek(0)
        if child.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {child.returncode}: {errors.read().decode(errors='replace').strip()}")
    with np.load(compared) as arrays:
        return json.loads(said.read_text().splitlines()[-1]), dict(arrays)


def beside(compared, ours):
    """How far answers are from ours: the share of equal predictions, the size of the difference of values."""
    told = {}
    for name in compared.keys() & ours.keys():
        if name == "values":
            spread = np.linalg.norm(ours[name] - ours[name].mean())
            told["apart_values"] = float(np.linalg.norm(compared[name] - ours[name]) / max(spread, 1e-300))
        else:
            told[f"equal_{name}"] = float(np.mean(compared[name] == ours[name]))
    return told


def rounds(work, at, told, data, folder):
    """The lines of one work: programs take turns, so that what the machine does meanwhile meets all of them."""
    programs = [program for program in work.programs if program in told.programs or program == works.OURS]
    programs = [program for program in programs if installed(program)]
    slow, ours = set(), {}
    for repeat in range(1 if told.quick else told.repeats):
        for program in programs if repeat % 2 == 0 else reversed(programs):
            if program in slow:
                continue
            line, compared = one(program, at, told, data, folder)
            if program == works.OURS:
                ours = compared
            if program != works.OURS and line.get("seconds", told.limit) > told.once:
                slow.add(program)
            line["answer"] = line.get("answer", {}) | beside(compared, ours)
            yield {"program": program, "repeat": repeat} | line


def prepared(work, folder):
    """The arrays of a work in a file, and what is to be said of them."""
    X, y, sha256 = sets.named(work.data)
    X, y = works.arrays(work, X, y)
    data = Path(folder, "data.npz")
    if sp.issparse(X):
        np.savez(data, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    else:
        np.savez(data, X=X, y=y)
    return data, {"data": work.data, "data_sha256": sha256, "rows": X.shape[0], "features": X.shape[1]}


def command():
    """What was asked for, without what only `cargo xtask` says."""
    options = sys.argv[1:]
    if "--machine" in options:
        at = options.index("--machine")
        options[at : at + 2] = []
    return " ".join(["cargo xtask peers", *(["--", shlex.join(options)] if options else [])])


def main():
    told = arguments()
    if told.quick and not told.out:
        sys.exit("--quick --out FOLDER: what it measures is no result, and is not to lie among those")
    folder = told.out or FOLDER
    name = "suite" if told.suite else "python"
    raw, report = folder / f"{name}.jsonl", folder / f"{name}.md"
    raw.parent.mkdir(parents=True, exist_ok=True)
    circumstances = {
        "run": int(time.time()),
        "command": command(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "machine": told.machine,
    }
    if not told.render:
        for at, work in enumerate(works.listed(name)):
            if told.only and told.only not in work.name:
                continue
            asked = works.smaller(work) if told.quick else work
            with tempfile.TemporaryDirectory(prefix="maxmargin-") as passing:
                data, of_data = prepared(asked, passing)
                for line in rounds(asked, at, told, data, passing):
                    seconds = f"{line['seconds']:.3g} s" if "seconds" in line else f"cut after {line['cut']:g} s"
                    print(f"{work.name}: {line['program']} {seconds} {line['answer']}", flush=True)
                    with raw.open("a") as file:
                        file.write(json.dumps({"work": work.name, **of_data, **line, **circumstances}) + "\n")
    lines = page.read(raw)
    report.write_text(page.suite(lines) if told.suite else page.rendered(lines))
    if told.suite:
        report.with_suffix(".svg").write_text(page.suite_picture(lines))
    print(f"page: {report}\nraw:  {raw}")


if __name__ == "__main__":
    main()
