"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically: to a temporary name in the same folder, then rename it."""
    # The suffix is not `.tmp`, because the command line removes unlocked files with that suffix.
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".maxmargin-", suffix=".part", delete=False) as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
