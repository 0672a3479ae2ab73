"""LIBSVM's problems, parameters and models, as ``libsvm.svmutil`` has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from enum import IntEnum
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from . import _native
from ._data import Floats, is_sparse, packed

#: The range of LIBSVM's integer labels.
LABELS = (-(2.0**31), 2.0**31 - 1)

#: The words of model files for the numbers of ``-s`` and ``-t``.
SVM_TYPES = ("c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr")
KERNEL_TYPES = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")


class svm_forms(IntEnum):  # noqa: N801 LIBSVM's name
    """Numbers of ``-s``."""

    C_SVC = 0
    NU_SVC = 1
    ONE_CLASS = 2
    EPSILON_SVR = 3
    NU_SVR = 4


class kernel_names(IntEnum):  # noqa: N801 LIBSVM's name
    """Numbers of ``-t``."""

    LINEAR = 0
    POLY = 1
    RBF = 2
    SIGMOID = 3
    PRECOMPUTED = 4


class svm_problem:  # noqa: N801 LIBSVM's name
    """Labels ``y`` and rows ``x``: an array, one of scipy's matrices, or a list of lists or of dictionaries by index.

    Features are numbered from 1 but in dictionaries, which say for themselves; those of a precomputed kernel (``isKernel``) begin with the serial number,
    from 1, at index 0. ``l`` is the number of rows, ``n`` the greatest index.
    """

    def __init__(self, y: Any, x: Any, isKernel: bool = False) -> None:
        rows = sparse_rows(x, is_kernel=isKernel)
        self.y: Floats = np.asarray(y, dtype=np.float64)
        if self.y.ndim != 1 or len(self.y) != rows.shape[0]:
            raise ValueError(f"len(y) != len(x): {len(self.y)} labels and {rows.shape[0]} rows")
        self.x = x
        self.l = len(self.y)
        self.n = max(rows.shape[1] - 1, 0)
        #: 0 where there is a feature 0.
        self.index_base = 0 if isKernel or rows[:, :1].nnz > 0 else 1
        self._rows = rows

    def packed(self, *, classes: bool) -> _native.Data:
        """The rows and labels, checked to be LIBSVM's where they are ``classes``."""
        if classes:
            wrong = np.flatnonzero(~((self.y >= LABELS[0]) & (self.y <= LABELS[1])))
            if len(wrong):
                raise ValueError(
                    f"row {wrong[0]} (from 0) has the label {self.y[wrong[0]]:.17g}: labels are whole numbers of 32 bits to LIBSVM"
                )
        return packed(self._rows[:, self.index_base :], self.y)


def sparse_rows(x: Any, *, is_kernel: bool) -> sp.csr_matrix:
    """Finite rows as a matrix whose columns are LIBSVM's indices: column 0 is empty unless there is an index 0."""
    rows = _by_index(x, is_kernel=is_kernel)
    found = np.flatnonzero(~np.isfinite(rows.data))
    if len(found):
        row = int(np.searchsorted(rows.indptr, found[0], side="right")) - 1
        raise ValueError(f"row {row} (from 0), index {rows.indices[found[0]]}: value {rows.data[found[0]]} is not finite")
    return rows


def _by_index(x: Any, *, is_kernel: bool) -> sp.csr_matrix:
    if not is_sparse(x) and not isinstance(x, np.ndarray) and _needs_indices(x):
        # Lists are numbered from 1, or from 0 where the serial number of a kernel comes first.
        first = 0 if is_kernel else 1
        pairs = (row.items() if isinstance(row, dict) else enumerate(row, first) for row in x)
        entries = [sorted((int(j), float(v)) for j, v in row) for row in pairs]
        negative = next((j for row in entries for j, _ in row if j < 0), None)
        if negative is not None:
            raise ValueError(f"index {negative}: indices of features are 0 or more")
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in entries])])
        indices = np.array([j for row in entries for j, _ in row], dtype=np.int64)
        values = np.array([v for row in entries for _, v in row], dtype=np.float64)
        width = int(indices.max(initial=0)) + 1
        return sp.csr_matrix((values, indices, indptr), shape=(len(entries), width))
    rows = sp.csr_matrix(x if is_sparse(x) else np.asarray(x, dtype=np.float64), dtype=np.float64)
    return rows if is_kernel else sp.hstack([sp.csr_matrix((rows.shape[0], 1)), rows], format="csr")


def _needs_indices(x: Any) -> bool:
    """Return true if some rows are dictionaries, or rows have different lengths, which only indices tell apart."""
    return len(x) == 0 or any(isinstance(row, dict) for row in x) or len({len(row) for row in x}) > 1


class svm_parameter:  # noqa: N801 LIBSVM's name
    """LIBSVM's options, as a text or a list of words; see :func:`maxmargin.svmutil.svm_train`."""

    _numbers: dict[str, tuple[str, type[Any]]] = {  # noqa: RUF012 LIBSVM's options never change
        "-s": ("svm_type", svm_forms),
        "-t": ("kernel_type", kernel_names),
        "-d": ("degree", int),
        "-g": ("gamma", float),
        "-r": ("coef0", float),
        "-n": ("nu", float),
        "-m": ("cache_size", float),
        "-c": ("C", float),
        "-e": ("eps", float),
        "-p": ("p", float),
        "-h": ("shrinking", int),
        "-b": ("probability", int),
        "-v": ("nr_fold", int),
    }

    svm_type: int
    kernel_type: int
    cross_validation: bool
    nr_fold: int
    gamma: float
    cache_size: float

    def __init__(self, options: str | Sequence[str] | None = None) -> None:
        self.set_to_default_values()
        self.parse_options("" if options is None else options)

    def set_to_default_values(self) -> None:
        """LIBSVM's defaults; a ``gamma`` of 0 stands for 1 / greatest index."""
        self.svm_type = svm_forms.C_SVC
        self.kernel_type = kernel_names.RBF
        self.degree, self.gamma, self.coef0 = 3, 0.0, 0.0
        self.nu, self.cache_size, self.C, self.eps, self.p = 0.5, 100.0, 1.0, 1e-3, 0.1
        self.shrinking, self.probability = 1, 0
        self.nr_weight = 0
        self.weight_label: list[int] = []
        self.weight: list[float] = []
        self.cross_validation, self.nr_fold = False, 0
        self.quiet = False

    def parse_options(self, options: str | Sequence[str]) -> None:
        """Takes the options.

        Raises
        ------
        ValueError
            For an option that there is not, or whose value is none; it names both.
        """
        words = iter(options.split() if isinstance(options, str) else [str(word) for word in options])
        for word in words:
            if word == "-q":
                self.quiet = True
                continue
            known = self._numbers.get(word)
            if known is None and not word.startswith("-w"):
                raise ValueError(f"unknown option {word}: LIBSVM has {' '.join(self._numbers)} -wLABEL -q")
            value = next(words, None)
            if value is None:
                raise ValueError(f"option {word} has no value")
            try:
                if known is None:
                    self._weigh(word, int(word[2:]), float(value))
                    continue
                name, kind = known
                number = int(value) if issubclass(kind, IntEnum) else kind(value)
                setattr(self, name, kind(number))
            except OverflowError as error:
                raise ValueError(str(error)) from None
            except ValueError:
                numbers = f": a number from 0 to {len(known[1]) - 1}" if known and issubclass(known[1], IntEnum) else ""
                raise ValueError(f"option {word} has the value {value}, which it cannot have{numbers}") from None
            if word == "-v":
                self.cross_validation = True
                if self.nr_fold < 2:
                    raise ValueError("n-fold cross validation: n must >= 2")

    def _weigh(self, word: str, label: int, weight: float) -> None:
        if not LABELS[0] <= label <= LABELS[1]:
            raise OverflowError(f"option {word}: the class label does not fit 32 bits")
        self.weight_label.append(label)
        self.weight.append(weight)
        self.nr_weight += 1

    def __str__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in vars(self).items())

    def resolved(self, problem: svm_problem) -> svm_parameter:
        """A copy with the default gamma as a number."""
        found = copy(self)
        found.weight_label, found.weight = list(self.weight_label), list(self.weight)
        found.gamma = self.gamma if self.gamma != 0 else 1.0 / max(problem.n, 1)
        return found

    @classmethod
    def of_file(cls, head: dict[str, list[str]]) -> svm_parameter:
        """The parameters in the head of a model file; those that it does not have are ``None``."""
        found = cls()
        fields: dict[str, Any] = dict.fromkeys(
            ["C", "nu", "p", "eps", "cache_size", "shrinking", "nr_weight", "weight_label", "weight"]
        )
        fields["svm_type"] = SVM_TYPES.index(head["svm_type"][0])
        fields["kernel_type"] = KERNEL_TYPES.index(head["kernel_type"][0])
        for name, kind in (("degree", int), ("gamma", float), ("coef0", float)):
            fields[name] = kind(head[name][0]) if name in head else None
        fields["probability"] = int(has_probabilities(head))
        vars(found).update(fields)
        return found

    def given(self, problem: svm_problem) -> dict[str, Any]:
        """The options of the native half, with the default gamma as a number."""
        names = [name for name, _ in self._numbers.values() if name != "nr_fold"]
        resolved = self.resolved(problem)
        values = {name: getattr(resolved, name) for name in names}
        return {name: int(value) if isinstance(value, IntEnum) else value for name, value in values.items()} | {
            "weights": list(zip(self.weight_label, self.weight, strict=True))
        }


def has_probabilities(head: dict[str, list[str]]) -> bool:
    """Return true if the model with this head was trained with ``-b 1``."""
    return "probA" in head or "prob_density_marks" in head


class svm_model:  # noqa: N801 LIBSVM's name
    """A trained model, with the methods and fields of LIBSVM's: labels are in LIBSVM's order, coefficients and decision values have its signs.

    ``param`` has the parameters of the training. Of a model that was read they are those that the file has (``svm_type``, ``kernel_type``, ``degree``,
    ``gamma``, ``coef0``, ``probability``); the others are ``None``.
    """

    def __init__(self, native: _native.LibsvmModel, param: svm_parameter | None = None) -> None:
        self._native = native
        head, _, self._body = native.to_bytes().decode().partition("\nSV\n")
        self._head = {line.split()[0]: line.split()[1:] for line in head.splitlines()}
        self.label = [int(label) for label in self._head.get("label", [])]
        self.nr_class = int(self._head["nr_class"][0])
        self.l = int(self._head["total_sv"][0])
        self.rho = self._floats("rho")
        self.nSV = [int(count) for count in self._head.get("nr_sv", [])]
        self.probA = self._floats("probA")
        self.probB = self._floats("probB")
        self.sv_indices = [row + 1 for row in native.rows]
        self.param = svm_parameter.of_file(self._head) if param is None else param

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._native.to_bytes(), self.sv_indices, self.param)

    def _floats(self, name: str) -> list[float]:
        return [float(number) for number in self._head.get(name, [])]

    @property
    def model(self) -> _native.Model | None:
        """The model that :func:`maxmargin.save` writes and :func:`maxmargin.certificates` knows; none of data in one class."""
        return self._native.model

    def get_svm_type(self) -> int:
        """The number of ``-s``."""
        return SVM_TYPES.index(self._head["svm_type"][0])

    def get_nr_class(self) -> int:
        """Number of classes; 2 of regression and one class."""
        return self.nr_class

    def get_labels(self) -> list[int]:
        """Labels in the order in which the training data shows them (of -1 and +1 the latter first): that of decision values and probabilities."""
        return list(self.label)

    def get_nr_sv(self) -> int:
        """Number of support vectors."""
        return self.l

    def get_sv_indices(self) -> list[int]:
        """Rows of the training data that are support vectors, from 1; none of a model that was read."""
        return list(self.sv_indices)

    def is_probability_model(self) -> bool:
        """Whether it was trained with ``-b 1``."""
        return has_probabilities(self._head)

    def get_svr_probability(self) -> float:
        """The scale of the errors of a regression with ``-b 1``; otherwise 0."""
        return self._native.error_scale or 0.0

    def _lines(self) -> Iterable[list[str]]:
        return (line.split() for line in self._body.splitlines() if line.strip())

    def get_sv_coef(self) -> list[tuple[float, ...]]:
        """Coefficients of each support vector, one for each other class."""
        return [tuple(float(word) for word in line if ":" not in word) for line in self._lines()]

    def get_SV(self) -> list[dict[int, float]]:
        """The support vectors, by index."""
        vectors = [[word.split(":") for word in line if ":" in word] for line in self._lines()]
        return [{int(index): float(value) for index, value in row} for row in vectors]

    def data(self, x: Any) -> _native.Data:
        """Rows as the model takes them."""
        is_kernel = self._head["kernel_type"] == ["precomputed"]
        rows = sparse_rows(x, is_kernel=is_kernel)
        base = 0 if is_kernel else self._native.index_base
        if base == 1 and rows[:, :1].nnz > 0:
            raise ValueError("a row has a feature of index 0, and the features of the model are numbered from 1")
        features = rows.shape[1] - base if self.model is None else max(self.model.features, rows.shape[1] - base)
        rows = rows[:, base:]
        return packed(sp.csr_matrix((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], features)))

    def columns(self, probabilities: Floats) -> NDArray[Any]:
        """Probabilities with their columns in the order of :meth:`get_labels`, from that of the native model's outcomes."""
        assert self.model is not None
        outcomes = self.model.classes.tolist()
        return probabilities[:, [outcomes.index(float(label)) for label in self.label]] if self.label else probabilities


def _restored(text: bytes, indices: list[int], param: svm_parameter | None = None) -> svm_model:
    model = svm_model(_native.LibsvmModel.from_bytes(text), param)
    model.sv_indices = indices
    return model
