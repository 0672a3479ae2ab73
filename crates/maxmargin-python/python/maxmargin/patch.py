"""``python -m maxmargin.patch script.py [arguments]``: runs a script (or, with ``-m``, a module) with :func:`maxmargin.patch_sklearn`."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

from ._patching import patch_sklearn


def main() -> None:
    """Patch scikit-learn, then run the script or module as ``__main__``."""
    parser = argparse.ArgumentParser(prog="python -m maxmargin.patch", description=__doc__)
    parser.add_argument("-m", dest="module", action="store_true", help="SCRIPT is the name of a module, as with python -m")
    parser.add_argument("-v", dest="verbose", action="store_true", help="say what stands in for what")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    patch_sklearn(verbose=asked.verbose)
    sys.argv = [asked.script, *asked.arguments]
    if asked.module:
        sys.path.insert(0, "")
        runpy.run_module(asked.script, run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, str(Path(asked.script).resolve().parent))
        runpy.run_path(asked.script, run_name="__main__")


if __name__ == "__main__":
    main()
