"""Data that come with the package, for first steps without a download."""

import csv
import io
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from . import _native


def load_penguins(
    n_samples: int = 300, *, random_state: int = 1, return_X_y: bool = False, as_frame: bool = False
) -> Bunch | tuple[Any, Any]:
    """A small generated table with words, numbers and gaps: which species is a penguin?

    It is the table that the command line calls ``penguins``. The values are generated, and resemble the measurements of
    penguins that many textbooks use; no row is a measurement.

    Parameters
    ----------
    n_samples : int, default=300
        The number of rows.
    random_state : int, default=1
        The seed. The same seed gives the same table on every platform.
    return_X_y : bool, default=False
        Return ``(data, target)`` alone.
    as_frame : bool, default=False
        Return frames of pandas.

    Returns
    -------
    Bunch with the attributes

    data : array of objects or DataFrame of shape (n_samples, 6)
        Island, four measurements and sex. Gaps are NaN.
    target : array of str or Series of shape (n_samples,)
        The species.
    feature_names : list of str
        The names of the columns.
    target_names : list of str
        The species in alphabetical order.
    frame : DataFrame or None
        All columns, with ``as_frame``.

    Examples
    --------
    >>> from maxmargin import load_penguins
    >>> penguins = load_penguins()
    >>> penguins.data.shape, penguins.target_names
    ((300, 6), ['Adelie', 'Chinstrap', 'Gentoo'])
    """
    header, *rows = csv.reader(io.StringIO(_native.penguins(n_samples, random_state)))
    names = header[:-1]
    columns: list[list[Any]] = [[row[at] for row in rows] for at in range(len(header))]
    for at, name in enumerate(names):
        if name.rsplit("_", 1)[-1] in ("mm", "g"):
            columns[at] = [float("nan") if cell == "NA" else float(cell) for cell in columns[at]]
        else:
            columns[at] = [cell or float("nan") for cell in columns[at]]
    data: Any = np.empty((len(rows), len(names)), dtype=object)
    for at in range(len(names)):
        data[:, at] = columns[at]
    target: Any = np.array(columns[-1], dtype=str)
    frame = None
    if as_frame:
        import pandas as pd  # type: ignore[import-untyped]  # noqa: PLC0415 it need not be installed

        frame = pd.DataFrame(dict(zip(header, columns, strict=True)))
        data, target = frame[names], frame[header[-1]]
    if return_X_y:
        return data, target
    return Bunch(
        data=data, target=target, feature_names=names, target_names=sorted({str(name) for name in columns[-1]}), frame=frame
    )
