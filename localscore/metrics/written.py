"""The written form of a metric, and back: `context_relevance(unused_high_relevance_context=0.2)@100`.

A name, what differs from the metric's defaults, and the scale where it is not 1. A metric of your own is named by its
module and class: `mypkg.tone:Tone(least=2)`.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import isabstract
from typing import Any

from localscore.errors import OptionError
from localscore.metrics import METRICS, Metric

_FORM = re.compile(r"\s*([\w.:]+)\s*(?:\(([^()]*)\))?\s*(?:@\s*(\S+))?\s*")


def named(metric: Metric) -> str:
    """Return the name under which `metric_class` finds a metric."""
    kind = type(metric)
    return metric.name if METRICS.get(metric.name) is kind else f"{kind.__module__}:{kind.__qualname__}"


def written(metric: Metric) -> str:
    """Return the written form of a metric.

    >>> from localscore.metrics import ContextRelevance
    >>> from localscore.scoring import Penalties
    >>> written(ContextRelevance(scale=100, penalties=Penalties(unused_high_relevance_context=0.2)))
    'context_relevance(unused_high_relevance_context=0.2)@100'
    """
    default = type(metric)()
    told = [
        f"{name}={_value(value)}"
        for name, value in _flat(metric).items()
        if name != "scale" and value != _flat(default)[name]
    ]
    options = f"({','.join(told)})" if told else ""
    return named(metric) + options + (f"@{_value(metric.scale)}" if metric.scale != default.scale else "")


def metrics_of(text: str, **defaults: Any) -> list[Metric]:
    """Return the metrics of a list of written forms, parted by commas; see `metric_of`.

    >>> [written(metric) for metric in metrics_of("context_recall@10, context_relevance(missing_context_per_item=0.1)")]
    ['context_recall@10', 'context_relevance(missing_context_per_item=0.1)']
    """
    parts = re.split(r",(?![^(]*\))", text)
    return [metric_of(part, **defaults) for part in parts if part.strip()]


def metric_of(text: str, **defaults: Any) -> Metric:
    """Return the metric of a written form.

    Args:
        text: the form.
        defaults: options that count where the form does not say otherwise and the metric has them.

    Raises:
        OptionError: there is no such metric or option, or its module cannot be imported.

    >>> metric_of("context_recall", scale=10).scale, metric_of("context_recall@100", scale=10).scale
    (10.0, 100.0)
    """
    form = _FORM.fullmatch(text)
    if form is None:
        raise OptionError(
            f"{text!r} is no metric.",
            hint="Expected a form like context_relevance(missing_context_per_item=0.1)@10.",
        )
    name, inside, scale = form.groups()
    kind = metric_class(name)
    given = dict(pair.partition("=")[::2] for pair in (inside or "").split(",") if pair.strip())
    options = {key.strip(): _parsed(value.strip()) for key, value in given.items()}
    if scale is not None:
        options["scale"] = _parsed(scale)
    return _made(kind, options, defaults, text)


def metric_class(name: str) -> type[Metric]:
    """Return a metric's class by its name, or by `module:Class`; the working folder is looked in too.

    Raises:
        OptionError: there is none.
    """
    if name in METRICS:
        return METRICS[name]
    module, colon, attribute = name.partition(":")
    if not colon:
        hint = f"Metrics are {', '.join(METRICS)}; one of your own is named by module:Class."
        raise OptionError(f"There is no metric {name!r}.", hint=hint)
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)
    try:
        found = getattr(import_module(module), attribute)
    except Exception as error:  # the module may raise anything
        raise OptionError(f"The metric {name} cannot be imported: {type(error).__name__}: {error}") from error
    is_metric = isinstance(found, type) and issubclass(found, Metric) and not isabstract(found)
    if not (is_metric and isinstance(getattr(found, "name", None), str)):
        hint = "Expected a frozen dataclass that inherits localscore.Metric, with a name and a plan."
        raise OptionError(f"{name} is no metric.", hint=hint)
    kind: type[Metric] = found
    return kind


def _made(kind: type[Metric], options: dict[str, Any], defaults: dict[str, Any], text: str) -> Metric:
    """Make a metric from flat options; those of a part, such as penalties, are found by their names."""
    own = {field.name for field in fields(kind)}
    try:
        metric = kind(**{key: value for key, value in defaults.items() if key in own})
    except TypeError as error:
        raise OptionError(f"{text.strip()}: every option of a metric needs a default: {error}") from None
    values = {field.name: getattr(metric, field.name) for field in fields(kind)}
    for key, value in options.items():
        owner = next((n for n, part in values.items() if is_dataclass(part) and hasattr(part, key)), None)
        if key in values:
            values[key] = value
        elif owner is not None:
            part = values[owner]
            values[owner] = type(part)(**{**_flat(part), key: value})
        else:
            raise OptionError(
                f"{text.strip()}: there is no option {key!r}.",
                hint=f"Options are {', '.join(_flat(metric))}.",
            )
    try:
        return kind(**values)
    except TypeError as error:
        raise OptionError(f"{text.strip()} is no metric: {error}") from None


def _flat(value: Any) -> dict[str, Any]:
    """Return the options of a metric by name, those of its parts among them."""
    found: dict[str, Any] = {}
    for field in fields(value):
        one = getattr(value, field.name)
        found |= _flat(one) if is_dataclass(one) else {field.name: one}
    return found


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).removesuffix(".0")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
