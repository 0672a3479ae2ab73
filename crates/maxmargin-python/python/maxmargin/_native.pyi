"""The native half: arrays in, trained models and certificates out. Private."""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

__version__: str

Floats = NDArray[np.float64]
Vectors = tuple[Floats, NDArray[np.int64], NDArray[np.int64], int]
Report = Callable[[str, int, int, int, float, float, float | None], object]

class CertificateFields(TypedDict):
    primal: float
    dual: float
    relative_gap: float
    kkt: float
    infeasible: float
    holds: bool

class MachineFields(TypedDict, total=False):
    rows: NDArray[np.int64]
    coef: Floats
    bias: float
    status: str
    iterations: int
    certificate: CertificateFields
    lacks_margin: bool

class FoldFields(TypedDict):
    round: int
    certificate: CertificateFields
    status: str
    iterations: int
    support_vectors: int
    missing_classes: list[float]

class ValidationFields(TypedDict):
    rounds: int
    C: float | None
    folds: list[FoldFields]
    iterations: int
    seconds: float
    decisions: Floats
    leverage: Floats
    predicted: Floats

class CellFields(ValidationFields):
    gamma: float | None

class VerdictFields(TypedDict):
    matches: bool
    met: bool
    checks: list[tuple[str, bool | None, str]]
    certificates: list[CertificateFields]

class CalibrationFields(TypedDict):
    method: str
    missing: str | None
    folds: int
    log_loss: float | None
    brier: float | None
    expected_calibration_error: float | None

class ConformalFields(TypedDict):
    missing: str | None
    folds: int
    method: str | None
    level: float | None
    coverage: float | None
    width: float | None
    size: float | None
    groups: dict[str, float]
    small_groups: list[str]

class Data:
    @staticmethod
    def dense(x: NDArray[Any], y: Floats | None = None) -> Data: ...
    @staticmethod
    def precomputed(k: NDArray[Any], y: Floats | None = None) -> Data: ...
    @staticmethod
    def csr(
        values: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], features: int, y: Floats | None = None
    ) -> Data: ...
    @property
    def shape(self) -> tuple[int, int]: ...

class LinearClassifier:
    def __init__(
        self,
        all_classes: bool,
        *,
        c: float,
        bias: float,
        class_weight: Sequence[tuple[float, float]],
        tol: float,
        max_iter: int | None = None,
        max_time: float | None = None,
        seed: int = 1,
    ) -> None: ...
    def fit(self, data: Data, sample_weight: Floats | None = None, report: Report | None = None) -> Model: ...

class Model:
    @staticmethod
    def from_bytes(data: bytes) -> Model: ...
    def to_bytes(self) -> bytes: ...
    def to_libsvm(self) -> bytes: ...
    @property
    def classes(self) -> Floats: ...
    @property
    def features(self) -> int: ...
    @property
    def formulation(self) -> str | None: ...
    @property
    def kernel(self) -> str: ...
    @property
    def gamma(self) -> float | None: ...
    def machines(self) -> list[MachineFields]: ...
    def weights(self, machine: int) -> Floats: ...
    def vectors(self) -> Vectors: ...
    def kept(self) -> tuple[Vectors, Floats] | None: ...
    @property
    def sample_weights(self) -> Floats | None: ...
    def decisions(self, data: Any, report: Report | None = None) -> Floats: ...
    def predict(self, data: Any) -> Floats: ...
    def probabilities(self, data: Any) -> Floats: ...
    def explain(
        self, data: Any, background: Any = None, interactions: bool = False
    ) -> tuple[Floats, Floats, Floats, Floats | None]: ...
    def calibrations(self) -> list[tuple[str, tuple[float, float] | None]]: ...
    @property
    def calibration(self) -> CalibrationFields | None: ...
    def intervals(self, data: Any, alpha: float | None = None, groups: Sequence[str] | None = None) -> Floats: ...
    def sets(
        self, data: Any, alpha: float | None = None, per_class: bool = False, groups: Sequence[str] | None = None
    ) -> NDArray[np.bool_]: ...
    def full_p_values(self, data: Any, per_class: bool = False, memory: int = ...) -> Floats: ...
    @property
    def is_conformal(self) -> bool: ...
    @property
    def has_groups(self) -> bool: ...
    def check_groups(self, groups: Sequence[str] | None, rows: int) -> None: ...
    @property
    def conformal(self) -> ConformalFields | None: ...
    def verify(self, data: Any, y: Any = None) -> VerdictFields: ...
    def updated(self, add: Any = None, remove: Sequence[int] = ..., memory: int = ..., *, y: Any = None) -> Model: ...

class LibsvmModel:
    @staticmethod
    def from_bytes(data: bytes) -> LibsvmModel: ...
    def to_bytes(self) -> bytes: ...
    @property
    def model(self) -> Model | None: ...
    @property
    def rows(self) -> list[int]: ...
    @property
    def story(self) -> str: ...
    @property
    def warning(self) -> str | None: ...
    @property
    def index_base(self) -> int: ...
    @property
    def error_scale(self) -> float | None: ...
    def predict(self, data: Data, probability: bool) -> Floats: ...
    def decisions(self, data: Data) -> Floats | None: ...

def first_at_zero(model: Model) -> Model: ...
def libsvm_train(data: Data, index_base: int, given: dict[str, Any]) -> tuple[LibsvmModel, list[int]]: ...
def libsvm_cross_validate(data: Data, index_base: int, given: dict[str, Any], folds: int) -> Floats: ...

class Svm:
    def __init__(
        self,
        formulation: str,
        *,
        kernel: str = "linear",
        gamma: float = 1.0,
        coef0: float = 0.0,
        degree: int = 3,
        c: float = 1.0,
        nu: float = 0.5,
        epsilon: float = 0.1,
        tau: float | Sequence[float] = 0.5,
        squared: bool = False,
        bias: float | None = None,
        class_weight: Sequence[tuple[float, float]] = ...,
        one_vs_rest: bool = False,
        tol: float = 1e-3,
        max_iter: int | None = None,
        max_time: float | None = None,
        memory: int = ...,
        shrinking: bool = True,
        keep_data: bool = False,
        keep_vectors: bool = False,
        solver: str = "auto",
        seed: int = 1,
        probability: str | None = None,
        conformal: float | None = None,
        conformal_score: str = "plain",
        seeding: str = "full",
    ) -> None: ...
    def fit(
        self,
        data: Data,
        sample_weight: Floats | None = None,
        report: Report | None = None,
        *,
        folds: Sequence[tuple[Sequence[int], Sequence[int]]] | None = None,
        groups: Sequence[str] | None = None,
    ) -> Model: ...
    def importance(
        self,
        data: Data,
        folds: Sequence[tuple[Sequence[int], Sequence[int]]],
        metric: str,
        repeats: int = 5,
        seed: int = 1,
        sample_weight: Floats | None = None,
    ) -> tuple[float, Floats, Floats] | None: ...
    def cross_validate(
        self,
        data: Data,
        folds: Sequence[tuple[Sequence[int], Sequence[int]]],
        sample_weight: Floats | None = None,
        report: Report | None = None,
    ) -> ValidationFields: ...
    def grid(
        self,
        data: Data,
        folds: Sequence[tuple[Sequence[int], Sequence[int]]],
        costs: Sequence[float],
        gammas: Sequence[float],
        sample_weight: Floats | None = None,
        report: Report | None = None,
        *,
        decisions: bool = True,
    ) -> tuple[list[CellFields], list[str]]: ...
    def keys(
        self,
        data: Data,
        folds: Sequence[tuple[Sequence[int], Sequence[int]]],
        costs: Sequence[float],
        gammas: Sequence[float],
        sample_weight: Floats | None = None,
    ) -> list[list[str]]: ...
    def column(
        self,
        data: Data,
        folds: Sequence[tuple[Sequence[int], Sequence[int]]],
        costs: Sequence[float],
        gamma: float | None,
        known: Sequence[bytes],
        keep: Callable[[str, bytes], object],
        sample_weight: Floats | None = None,
    ) -> None: ...

def export_bound(model: Model, data: Data) -> tuple[int, float]: ...
def export_onnx(
    model: Model, labels: list[Any] | None = None, single: bool = False, alpha: float | None = None, checked: str = "on no rows"
) -> bytes: ...
def export_c(
    model: Model, labels: list[Any] | None = None, single: bool = False, alpha: float | None = None, prefix: str = "svm"
) -> str: ...
def export_json(model: Model, labels: list[Any] | None = None, alpha: float | None = None) -> str: ...
def cell(data: bytes, key: str) -> ValidationFields: ...
def penguins(rows: int, seed: int) -> str: ...
def read_libsvm(data: bytes) -> tuple[Vectors, Floats, int]: ...
def suspects(data: Data, decisions: Floats, one_vs_rest: bool) -> tuple[NDArray[np.int64], Floats, list[list[int]]]: ...
def spread(folds: Sequence[tuple[float, int, int]], least: float, greatest: float) -> tuple[float, float, float, float]: ...
def threads() -> int: ...
def set_threads(count: int) -> None: ...
