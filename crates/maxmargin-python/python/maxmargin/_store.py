"""The folder with the cells of a search over several machines."""

from __future__ import annotations

import json
import os
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import _native
from ._write import errors_of, write_whole

#: The file with the description of all cells of a folder.
COMMON = "search.json"

#: The number of digits of a key in file names; the file itself has the whole key.
SHORT = 24

#: The age in seconds at which temporary files of killed workers are removed.
STALE = 3600


def place_of(folder: Path, key: str) -> Path:
    """The file of a cell."""
    return folder / f"{key[:SHORT]}.cell"


def write_cell(folder: Path, key: str, content: bytes) -> None:
    """Store a cell."""
    write_whole(place_of(folder, key), content)


class Store:
    """A folder with the cells of a search: one file each, as ``maxmargin grid --log`` writes them, and one for what all have in common."""

    def __init__(self, path: str | os.PathLike[str], common: dict[str, Any], *, passing: bool = False) -> None:
        #: True if the folder is removed with the search.
        self.passing = passing
        self.path = Path(path).absolute()
        self.path.mkdir(parents=True, exist_ok=True)
        for left in self.path.glob(".maxmargin-*.part"):
            if left.stat().st_mtime < time.time() - STALE:
                left.unlink(missing_ok=True)
        file = self.path / COMMON
        text = json.dumps(common, indent=2, sort_keys=True) + "\n"
        if file.exists():
            self._compare(file, json.loads(text))
        else:
            other = [entry.name for entry in self.path.iterdir() if not entry.name.startswith(".maxmargin-")]
            if other:
                raise ValueError(f"{self.path}: the folder has other things in it ({sorted(other)[0]}); name a new one")
            write_whole(file, text.encode())
        # A process that can read this file has access to this folder.
        with errors_of(self.path):
            handle, name = tempfile.mkstemp(prefix=".maxmargin-", suffix=".run", dir=self.path)
        os.close(handle)
        self.token = Path(name).name

    def _compare(self, file: Path, ours: dict[str, Any]) -> None:
        try:
            theirs = json.loads(file.read_text())
        except ValueError as error:
            raise ValueError(f"{file}: this does not say what the folder holds ({error}); name another folder") from error
        for key in sorted({*ours, *theirs}):
            if ours.get(key) != theirs.get(key):
                raise ValueError(
                    f"{self.path}: this folder holds a search with another {key}: {theirs.get(key)}, and here it is {ours.get(key)}; "
                    "name another folder"
                )

    def close(self) -> None:
        """Remove the token file, because this process does not write here any more."""
        (self.path / self.token).unlink(missing_ok=True)

    def cell(self, key: str) -> bytes | None:
        """Return the bytes of a cell, None if it does not exist."""
        try:
            return place_of(self.path, key).read_bytes()
        except FileNotFoundError:
            return None

    def fields(self, key: str) -> _native.ValidationFields | None:
        """Return the cross-validation of a cell, None if it does not exist or is damaged."""
        content = self.cell(key)
        return None if content is None else self._opened(key, content)

    def _opened(self, key: str, content: bytes) -> _native.ValidationFields | None:
        try:
            return _native.cell(content, key)
        except ValueError as error:
            warnings.warn(f"{place_of(self.path, key)}: {error}; it is computed anew", RuntimeWarning, stacklevel=2)
            return None

    def known(self, keys: Sequence[str]) -> list[bytes]:
        """Return the leading cells that exist."""
        cells: list[bytes] = []
        for key in keys:
            content = self.cell(key)
            if content is None or self._opened(key, content) is None:
                break
            cells.append(content)
        return cells

    def keep(self, key: str, content: bytes) -> None:
        """Store a cell."""
        write_cell(self.path, key, content)
