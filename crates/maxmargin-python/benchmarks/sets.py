"""Real data of `MAXMARGIN_DATA`, or of `datasets/files`, which `cargo xtask datasets` fills."""

import os
from pathlib import Path

from maxmargin._source import Source

#: The checkout.
ROOT = Path(__file__).resolve().parents[3]


def place(name):
    """The file of a set, plain or packed; none where there is none, which is then on record for `cargo xtask ci`."""
    folders = [Path(folder) for folder in [os.environ.get("MAXMARGIN_DATA"), ROOT / "datasets/files"] if folder]
    for folder in folders:
        for path in [folder / name, folder / f"{name}.xz"]:
            if path.is_file():
                return path
    record = os.environ.get("MAXMARGIN_SKIPS")
    if record:
        with open(record, "a") as file:
            file.write(f"data {name}: tests of crates/maxmargin-python\n")
    return None


def real(name):
    """Rows in CSR, labels, and the SHA-256 of the file."""
    path = place(name)
    if path is None:
        raise FileNotFoundError(f"{name}: set MAXMARGIN_DATA to the folder that has it, or run `cargo xtask datasets {name}`")
    source = Source.at(path)
    X, y = source.load()
    return X, y, source.sha256
