"""A data set as a file with a path and a checksum."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from . import _native

#: The suffixes of compressed files, and the functions that open them.
PACKED: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}

#: The data set that this process read last: units of a search come one after the other.
_LAST: dict[tuple[str, str], tuple[Any, NDArray[Any]]] = {}


@dataclass(frozen=True)
class Source:
    """A file of a data set: a LIBSVM text, packed or not, or a ``.npz`` with arrays ``X`` and ``y``."""

    path: str
    #: The SHA-256 of the file's bytes, in hexadecimal.
    sha256: str

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Source:
        """The file as it is now."""
        place = Path(path).absolute()
        with place.open("rb") as file:
            return cls(str(place), hashlib.file_digest(file, "sha256").hexdigest())

    def load(self) -> tuple[Any, NDArray[Any]]:
        """Rows and labels. This process caches them for the next call.

        Raises
        ------
        ValueError
            When the file is another one, or no data set.
        OSError
            When it cannot be read.
        """
        place = (self.path, self.sha256)
        known = _LAST.get(place)
        if known is None:
            content = Path(self.path).read_bytes()
            found = hashlib.sha256(content).hexdigest()
            if found != self.sha256:
                raise ValueError(
                    f"{self.path} on {socket.gethostname()} is another file (SHA-256 {found[:12]}…) than the search is of "
                    f"({self.sha256[:12]}…): copy that one there"
                )
            known = parsed(self.path, content)
            _LAST.clear()
            _LAST[place] = known
        return known


def parsed(name: str, content: bytes) -> tuple[Any, NDArray[Any]]:
    """The rows and labels of a file of this name with this content."""
    path = Path(name)
    if path.suffix in PACKED:
        try:
            content = PACKED[path.suffix](content)
        except (OSError, EOFError, lzma.LZMAError) as error:
            raise ValueError(f"{name} cannot be unpacked: {error}") from error
        path = path.with_suffix("")
    if path.suffix == ".npz":
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            missing = {"X", "y"} - set(arrays)
            if missing:
                raise ValueError(f"{name} has no array {sorted(missing)[0]}: numpy.savez(path, X=rows, y=labels) writes both")
            try:
                return arrays["X"], arrays["y"]
            except ValueError as error:
                raise ValueError(
                    f"{name} holds objects of Python, which are not read: save words as numpy.asarray(y, dtype=str)"
                ) from error
    try:
        (values, indices, indptr, features), labels, _ = _native.read_libsvm(content)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return sp.csr_matrix((values, indices, indptr), shape=(len(labels), features)), labels
