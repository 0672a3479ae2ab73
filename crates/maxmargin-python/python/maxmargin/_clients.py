"""Programs that dispatch on the class of an estimator and have a register for others: ours are entered where they, or this package, are imported.

Nothing is imported for it. What each of them does with an estimator of scikit-learn's it then does with ours.
"""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import importlib.util
import inspect
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any

from . import _onnx as _onnx_of_ours
from . import _search, _svccv
from ._counterpart import to_sklearn
from ._patching import OTHERS, OURS

#: What finds an estimator and has it inside.
SEARCHES: list[type[Any]] = [
    _search.GridSearchCV,
    _search.RandomizedSearchCV,
    _search.HalvingGridSearchCV,
    _svccv.SVCCV,
    _svccv.SVRCV,
]


def skops_types() -> list[str]:
    """Return the names of this package's classes as skops has them.

    A process that has not imported maxmargin passes them to ``skops.io.load(…, trusted=…)``.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import maxmargin
    >>> "maxmargin._classes.SVC" in maxmargin.skops_types()
    True
    """
    return [f"{of.__module__}.{of.__name__}" for of in [*OURS.values(), *OTHERS, *SEARCHES]]


def _onnx() -> None:
    """skl2onnx has a converter of ours."""
    _onnx_of_ours.register([*OURS.values(), *OTHERS], SEARCHES, to_sklearn)


def _hummingbird() -> None:
    """hummingbird reads attributes, which ours have under the same names, and knows operators by class."""
    from hummingbird.ml.supported import sklearn_api_operator_name_map  # noqa: PLC0415
    from sklearn.svm import _classes as theirs  # noqa: PLC0415

    for name, ours in OURS.items():
        operator = sklearn_api_operator_name_map.get(getattr(theirs, name))
        if operator is not None:
            sklearn_api_operator_name_map[ours] = operator


def _eli5() -> None:
    """eli5 explains scikit-learn's estimator with the same numbers."""
    from eli5.explain import explain_prediction, explain_weights  # noqa: PLC0415

    def registered(generic: Any) -> Callable[..., Any]:
        def explained(estimator: Any, *arguments: Any, **options: Any) -> Any:
            found = generic(to_sklearn(estimator), *arguments, **options)
            found.estimator = repr(estimator)
            return found

        return explained

    for generic in (explain_weights, explain_prediction):
        explained = registered(generic)
        for ours in [*OURS.values(), *OTHERS]:
            generic.register(ours)(explained)


def _skops() -> None:
    """skops loads what it knows to be safe: our estimators hold numbers, and a model file that is checked when it is read."""
    from skops.io import _trusted_types  # noqa: PLC0415

    known = _trusted_types.SKLEARN_ESTIMATOR_TYPE_NAMES
    known.extend(name for name in skops_types() if name not in known)


def _mlflow() -> None:
    """MLflow keeps with a model in its default format which classes may be read: processes that have not imported this package go by that."""
    # By its name: the attribute of mlflow is a stand-in until the import has ended.
    flavor: Any = sys.modules["mlflow.sklearn"]
    save = flavor.save_model
    signature = inspect.signature(save)
    if "skops_trusted_types" not in signature.parameters:
        return

    @functools.wraps(save)
    def save_model(*arguments: Any, **options: Any) -> Any:
        bound = signature.bind(*arguments, **options)
        given = bound.arguments
        ours = _skops_types_in(given["sk_model"])
        if ours and given.get("serialization_format") in (None, "skops"):
            given["skops_trusted_types"] = list(dict.fromkeys([*(given.get("skops_trusted_types") or []), *ours]))
        return save(*bound.args, **bound.kwargs)

    flavor.save_model = save_model


def _skops_types_in(estimator: Any) -> list[str]:
    """The entries of :func:`skops_types` for the class of an estimator and the classes of its parts."""
    parts = [estimator, *(estimator.get_params().values() if hasattr(estimator, "get_params") else ())]
    if isinstance(estimator, _svccv.Searching):
        parts.append(getattr(estimator, "best_estimator_", None))
    present = {f"{type(part).__module__}.{type(part).__name__}" for part in parts}
    return [name for name in skops_types() if name in present]


#: By the module whose import they follow.
CLIENTS: dict[str, Callable[[], None]] = {
    "eli5": _eli5,
    "hummingbird.ml": _hummingbird,
    "mlflow.sklearn": _mlflow,
    "skl2onnx": _onnx,
    "skops.io": _skops,
}


def _enter(name: str) -> None:
    """Enters our classes; a version that knows no such register goes on without."""
    try:
        CLIENTS[name]()
    except (ImportError, AttributeError, TypeError) as error:
        warnings.warn(f"maxmargin's estimators could not be entered into {name}: {error}", RuntimeWarning, stacklevel=2)


class Listener(MetaPathFinder):
    """Finds nothing; it hears when a client is imported and enters our classes there."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in CLIENTS:
            return None
        others = (finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec"))
        spec = next(filter(None, (finder.find_spec(fullname, path, target) for finder in others)), None)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            _enter(fullname)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def listen() -> None:
    """Enters our classes into the clients that are imported already, and into others when they are."""
    for name in CLIENTS:
        if name in sys.modules:
            _enter(name)
    if not any(isinstance(finder, Listener) for finder in sys.meta_path):
        sys.meta_path.insert(0, Listener())
