"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def errors_of(path: Path) -> Iterator[None]:
    """Errors of temporary files in the same folder name this path, which is the one that the caller knows."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically: to a temporary name in the same folder, then rename it."""
    # The suffix is not `.tmp`, because the command line removes unlocked files with that suffix.
    with (
        errors_of(path),
        tempfile.NamedTemporaryFile(dir=path.parent, prefix=".maxmargin-", suffix=".part", delete=False) as file,
    ):
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
