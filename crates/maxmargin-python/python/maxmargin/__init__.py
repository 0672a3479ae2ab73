"""Exact support vector machines: scikit-learn's estimators, each solution with a certificate."""

from . import _clients
from ._certificate import Calibration, Certificate, Check, Conformal, Verdict
from ._classes import SVC, SVR, ExpectileSVR, NuSVC, NuSVR, OneClassSVM, QuantileSVR
from ._clients import skops_types
from ._counterpart import to_sklearn
from ._datasets import load_penguins
from ._explain import Explanation
from ._files import Model, certificates, cross_validate, load, read_libsvm, save, train
from ._folds import CrossValidation
from ._linear import LinearSVC, LinearSVR
from ._native import __version__, set_threads, threads
from ._patching import is_patched, patch_sklearn, unpatch_sklearn
from ._search import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from ._suspects import Suspects
from ._svccv import SVCCV, SVRCV

__all__ = [
    "SVC",
    "SVCCV",
    "SVR",
    "SVRCV",
    "Calibration",
    "Certificate",
    "Check",
    "Conformal",
    "CrossValidation",
    "ExpectileSVR",
    "Explanation",
    "GridSearchCV",
    "HalvingGridSearchCV",
    "LinearSVC",
    "LinearSVR",
    "Model",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "QuantileSVR",
    "RandomizedSearchCV",
    "Suspects",
    "Verdict",
    "__version__",
    "certificates",
    "cross_validate",
    "is_patched",
    "load",
    "load_penguins",
    "patch_sklearn",
    "read_libsvm",
    "save",
    "set_threads",
    "skops_types",
    "threads",
    "to_sklearn",
    "train",
    "unpatch_sklearn",
]

_clients.listen()
