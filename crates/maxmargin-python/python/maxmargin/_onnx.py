"""Models for other runtimes: ONNX graphs, C and JSON, and converters for skl2onnx."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._data import packed
from ._write import write_whole

#: The name of our operator in skl2onnx.
ALIAS = "MaxmarginMachine"


def labels_of(estimator: Any) -> list[Any] | None:
    """The classes of an estimator as whole numbers, numbers or texts; None without classes."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return None
    if classes.dtype.kind in "biuf":
        return list(classes.astype(np.int64 if classes.dtype.kind != "f" else np.float64).tolist())
    return [str(label) for label in classes.tolist()]


class Exporting:
    """The part of an estimator that writes itself for other runtimes."""

    def _model_of(self) -> _native.Model:
        raise NotImplementedError

    def _exported(self) -> tuple[_native.Model, list[Any] | None]:
        """The model and its labels."""
        check_is_fitted(self)
        kernel = getattr(self, "kernel", "linear")
        if callable(kernel) or kernel == "precomputed":
            name = "callable" if callable(kernel) else kernel
            raise ValueError(
                f"this {type(self).__name__} has a {name} kernel, whose values are not computed from features; export needs the kernel "
                "linear, poly, rbf or sigmoid"
            )
        if getattr(self, "break_ties", False) and len(getattr(self, "classes_", [])) > 2:
            raise ValueError("export counts votes, as break_ties=False does; set break_ties=False before")
        return self._model_of(), labels_of(self)

    def _asked(self, X: Any) -> Any:
        """Validate rows for prediction."""
        raise NotImplementedError

    def to_onnx(
        self, path: str | os.PathLike[str] | None = None, *, float32: bool = False, alpha: float | None = None, check: Any = None
    ) -> bytes:
        """Return the fitted estimator as an ONNX graph, and write it to ``path`` if one is given.

        The graph takes ``X`` (rows × features, double precision). A classifier has the outputs ``label``, ``decision`` (the values of its machines, of
        pairs above 0 for the later class) and, with probabilities, ``probabilities``; a regression has ``value``, and with ``conformal`` also
        ``lower`` and ``upper``; :class:`OneClassSVM` has ``label`` and ``decision``. Of several levels ``value`` has a column for each, in ascending order.

        Parameters
        ----------
        path : path, optional
            A file, written whole or not at all.
        float32 : bool, default=False
            Take, compute and return single precision, by operators of ai.onnx.ml. Labels near a border can then be others: see ``check``.
        alpha : float in (0, 1), optional
            The share of intervals that may miss the truth, instead of ``conformal``.
        check : array of shape (n_rows, n_features), optional
            Rows for which the error of single precision is bounded. If it could turn the label of one of them, the graph is in double precision and a
            warning says so. The file keeps what was found as ``maxmargin.checked``.

        Raises
        ------
        ValueError
            For kernels that are no formula of features: precomputed and callable ones.
        """
        model, labels = self._exported()
        checked = "on no rows"
        if float32 and check is not None:
            rows = self._asked(check)
            turning, bound = _native.export_bound(model, packed(rows))
            checked = f"{rows.shape[0]} rows: no label can turn, decision values within {bound:.1e}"
            if turning:
                checked = f"f64 because f32 could turn {turning} of {rows.shape[0]} labels"
                warnings.warn(f"{checked}: the graph is in double precision", UserWarning, stacklevel=2)
                float32 = False
        content = _native.export_onnx(model, labels, float32, alpha, checked)
        if path is not None:
            write_whole(Path(path), content)
        return content

    def to_c(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        float32: bool = False,
        alpha: float | None = None,
        prefix: str = "svm",
    ) -> str:
        """Return the fitted estimator as one C99 file that needs no library but math, and write it to ``path`` if one is given.

        Parameters are those of :meth:`to_onnx`; ``prefix`` begins all names.
        """
        model, labels = self._exported()
        content = _native.export_c(model, labels, float32, alpha, prefix)
        if path is not None:
            write_whole(Path(path), content.encode())
        return content

    def to_json(self, path: str | os.PathLike[str] | None = None, *, alpha: float | None = None) -> str:
        """Return the fitted estimator as JSON (the guide's page on export has its keys), and write it to ``path`` if one is given."""
        model, labels = self._exported()
        content = _native.export_json(model, labels, alpha)
        if path is not None:
            write_whole(Path(path), content.encode())
        return content


def register(estimators: list[type[Any]], searches: list[type[Any]], to_sklearn: Callable[[Any], Any]) -> None:
    """Register our estimators with skl2onnx. A search is the estimator that it found."""
    from skl2onnx import _parse, update_registered_converter, update_registered_parser  # noqa: PLC0415 it need not be installed

    def parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
        inner = getattr(model, "best_estimator_", model) if type(model) in searches else model
        options = getattr(scope, "options", None)
        if inner is not model and options is not None:
            options.update({id(inner): options[id(model)]} if id(model) in options else {})
            options.update({type(inner): options[type(model)]} if type(model) in options else {})
        if type(inner) in estimators and not hasattr(inner, "_model"):
            # Trained by scikit-learn itself (penalty="l1", crammer_singer), by an earlier version.
            inner = to_sklearn(inner)
        if type(inner) not in estimators:
            # A search over a pipeline, or over an estimator of others.
            return _parse._parse_sklearn(scope, inner, inputs, custom_parsers=custom_parsers)
        has_probabilities = hasattr(inner, "classes_") and bool(inner._model_of().calibrations())
        of = _parse._parse_sklearn_classifier if has_probabilities else _parse._parse_sklearn_simple_model
        return of(scope, inner, inputs, custom_parsers=custom_parsers)

    options = {
        "zipmap": [True, False, "columns"],
        "output_class_labels": [False, True],
        "raw_scores": [True, False],
        "nocl": [True, False],
    }
    for kind in estimators:
        update_registered_converter(kind, ALIAS, _shapes, _convert, parser=parse, options=options)
    for kind in searches:
        update_registered_parser(kind, parse)


def _shapes(operator: Any) -> None:
    """Set the types of the outputs of an operator of skl2onnx."""
    from skl2onnx.common import data_types as types  # noqa: PLC0415

    real = type(types.guess_tensor_type(operator.inputs[0].type))
    model = operator.raw_operator
    rows = operator.inputs[0].type.shape[0] if operator.inputs[0].type.shape else None
    first, *others = operator.outputs
    if not hasattr(model, "classes_"):
        inlier = bool(others)
        first.type = types.Int64TensorType([rows]) if inlier else real([rows, len(model._model_of().machines())])
        for other in others:
            other.type = real([rows, 1])
        return
    labels = labels_of(model) or []
    kinds = {int: types.Int64TensorType, float: types.DoubleTensorType, str: types.StringTensorType}
    first.type = kinds[type(labels[0])]([rows])
    by_pairs = (
        _are_pairs(model) and len(labels) > 2 and model.decision_function_shape == "ovo" and _scores(operator) == "decision"
    )
    columns = len(model._model_of().machines()) if by_pairs else len(labels)
    for other in others:
        other.type = real([rows, columns])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add our graph to that of skl2onnx."""
    import onnx  # noqa: PLC0415 skl2onnx needs it

    model = operator.raw_operator
    graph = onnx.load_from_string(model.to_onnx()).graph
    names: dict[str, str] = {}

    def renamed(name: str) -> str:
        return names.setdefault(name, scope.get_unique_variable_name(f"maxmargin_{name}"))

    inputs = [variable.full_name for variable in operator.inputs]
    if len(inputs) > 1:
        inputs = [_added(scope, container, "Concat", inputs, axis=1)]
    names["X"] = _added(scope, container, "Cast", inputs, to=onnx.TensorProto.DOUBLE)
    for tensor in graph.initializer:
        if tensor.data_type == onnx.TensorProto.STRING:
            container.add_initializer(renamed(tensor.name), tensor.data_type, list(tensor.dims), list(tensor.string_data))
        else:
            container.add_initializer(renamed(tensor.name), None, None, tensor)
    for node in graph.node:
        attributes = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
        container.add_node(
            node.op_type,
            [renamed(name) for name in node.input],
            [renamed(name) for name in node.output],
            op_domain=node.domain,
            name=scope.get_unique_operator_name(f"maxmargin_{node.op_type}"),
            **attributes,
        )
    own = {output.name for output in graph.output}
    wanted = [("label" if "label" in own else "value"), _scores(operator)]
    for variable, name in zip(operator.outputs, wanted, strict=False):
        value = renamed(name)
        if name == "decision" and hasattr(model, "classes_"):
            value = _as_decision_function(scope, container, model, value)
        if name == "label":
            container.add_node("Identity", [value], [variable.full_name], name=scope.get_unique_operator_name("maxmargin_label"))
        else:
            single = "Float" in type(variable.type).__name__
            to = onnx.TensorProto.FLOAT if single else onnx.TensorProto.DOUBLE
            container.add_node(
                "Cast", [value], [variable.full_name], name=scope.get_unique_operator_name("maxmargin_cast"), to=to
            )


def _scores(operator: Any) -> str:
    """The output of the graph that skl2onnx has after labels: probabilities, unless there are none or ``raw_scores`` asks for decision values."""
    model = operator.raw_operator
    raw = operator.scope_inst.get_options(model, {"raw_scores": False}, fail=False)["raw_scores"]
    return "probabilities" if hasattr(model, "classes_") and model._model_of().calibrations() and not raw else "decision"


def _as_decision_function(scope: Any, container: Any, model: Any, value: str) -> str:
    """Add the steps from the values of machines to those of ``decision_function``; of two classes a column for each, as skl2onnx has them."""
    count = len(model.classes_)
    if count == 2:
        return _added(scope, container, "Concat", [_added(scope, container, "Neg", [value]), value], axis=1)
    if not _are_pairs(model):
        return value
    if model.decision_function_shape == "ovo":
        # The earlier class of a pair is above 0 in scikit-learn.
        return _added(scope, container, "Neg", [value])
    # As `by_class`.
    sides, before = np.zeros((count * (count - 1) // 2, count)), np.zeros((1, count))
    for pair, (a, b) in enumerate(combinations(range(count), 2)):
        sides[pair, [a, b]] = -1.0, 1.0
        before[0, a] += 1.0
    of_sides, zero, three = (_constant(scope, container, values) for values in (sides, np.zeros((1, 1)), np.full((1, 1), 3.0)))
    later = _added(scope, container, "Cast", [_added(scope, container, "Greater", [value, zero])], to=_DOUBLE)
    votes = _added(scope, container, "MatMul", [later, of_sides])
    votes = _added(scope, container, "Add", [votes, _constant(scope, container, before)])
    sums = _added(scope, container, "MatMul", [value, of_sides])
    size = _added(scope, container, "Mul", [_added(scope, container, "Abs", [sums]), three])
    less = _added(scope, container, "Div", [sums, _added(scope, container, "Add", [size, three])])
    return _added(scope, container, "Add", [votes, less])


#: `onnx.TensorProto.DOUBLE`.
_DOUBLE = 11


def _constant(scope: Any, container: Any, values: NDArray[np.float64]) -> str:
    """Add a constant, and return its name."""
    name = str(scope.get_unique_variable_name("maxmargin_constant"))
    container.add_initializer(name, _DOUBLE, list(values.shape), values.ravel().tolist())
    return name


def _are_pairs(model: Any) -> bool:
    """Return true if the machines of an estimator are for pairs of classes."""
    return hasattr(model, "decision_function_shape")


def _added(scope: Any, container: Any, operator: str, inputs: list[str], **attributes: Any) -> str:
    """Add an operator, and return the name of its result."""
    name = str(scope.get_unique_variable_name(f"maxmargin_{operator.lower()}"))
    container.add_node(operator, inputs, [name], name=scope.get_unique_operator_name(f"maxmargin_{operator}"), **attributes)
    return name
