"""Distributions of times, for networks and process models. All numbers are in units of time.

Each function returns what a description contains: ``exponential(2)`` is ``{"exponential": 2}``. In process
models, a number may also be a text: an expression of parameters. Arguments of :func:`coxian`,
:func:`discrete`, :func:`empirical`, :func:`mixture`, :func:`shifted` and :func:`truncated` are numbers only.
"""

from __future__ import annotations

from collections.abc import Iterable

from ._description import Value

Number = float | str

#: A distribution in a description.
Distribution = dict[str, Value]

__all__ = [
    "Distribution",
    "beta",
    "constant",
    "coxian",
    "discrete",
    "empirical",
    "erlang",
    "exponential",
    "gamma",
    "hyperexponential",
    "loglogistic",
    "lognormal",
    "mixture",
    "normal",
    "pareto",
    "shifted",
    "triangular",
    "truncated",
    "uniform",
    "weibull",
]


def constant(value: Number) -> Distribution:
    """Always the same time."""
    return {"constant": value}


def exponential(mean: Number) -> Distribution:
    """Exponential, with this mean."""
    return {"exponential": mean}


def uniform(low: Number, high: Number) -> Distribution:
    """Uniform between two times."""
    return {"uniform": [low, high]}


def triangular(low: Number, mode: Number, high: Number) -> Distribution:
    """Triangular between two times, with this mode."""
    return {"triangular": [low, mode, high]}


def erlang(stages: Number, mean: Number) -> Distribution:
    """The sum of a number of exponential stages, with this mean in all."""
    return {"erlang": {"stages": stages, "mean": mean}}


def hyperexponential(probability: Number, first: Number, second: Number) -> Distribution:
    """Exponential with the mean ``first`` with a probability, else with the mean ``second``."""
    return {"hyperexponential": {"probability": probability, "first": first, "second": second}}


def normal(mean: Number, deviation: Number) -> Distribution:
    """Normal, with negative times cut off."""
    return {"normal": {"mean": mean, "deviation": deviation}}


def lognormal(mean: Number, deviation: Number) -> Distribution:
    """Log-normal, with the mean and standard deviation of the times."""
    return {"lognormal": {"mean": mean, "deviation": deviation}}


def weibull(scale: Number, shape: Number) -> Distribution:
    """Weibull, with a scale in units of time, and a shape."""
    return {"weibull": {"scale": scale, "shape": shape}}


def gamma(shape: Number, scale: Number) -> Distribution:
    """Gamma: the mean is shape × scale."""
    return {"gamma": {"shape": shape, "scale": scale}}


def beta(alpha: Number, beta: Number, low: Number | None = None, high: Number | None = None) -> Distribution:
    """Beta, between the times ``low`` (0 by default) and ``high`` (1 by default)."""
    return {"beta": _given(alpha=alpha, beta=beta, low=low, high=high)}


def pareto(shape: Number, scale: Number) -> Distribution:
    """Pareto: times of at least ``scale``. The shape is above 1, so that there is a mean."""
    return {"pareto": {"shape": shape, "scale": scale}}


def loglogistic(shape: Number, scale: Number) -> Distribution:
    """Log-logistic: ``scale`` is the median. The shape is above 1, so that there is a mean."""
    return {"loglogistic": {"shape": shape, "scale": scale}}


def coxian(means: Iterable[float], continues: Iterable[float]) -> Distribution:
    """Exponential phases with these means, 1 to 16. ``continues`` has, for all but the last, the probability
    that the next one follows."""
    return {"coxian": {"means": list(means), "continues": list(continues)}}


def discrete(values: Iterable[float], weights: Iterable[float]) -> Distribution:
    """One of several times, with probabilities in proportion to weights."""
    return {"discrete": {"values": list(values), "weights": list(weights)}}


def empirical(times: Iterable[float] | str, *, column: str | None = None, interpolated: bool = False) -> Distribution:
    """One of the measured times, each with the same probability.

    :param times: numbers, or the name of a CSV file, relative to the folder of the description. A network
        built by calls has a folder by ``Network(..., folder=...)``.
    :param column: the column of the file; a file with one column needs no name.
    :param interpolated: draw uniformly between two neighbours in the sorted times.
    """
    values: Value = times if isinstance(times, str) else list(times)
    if column is None and not interpolated:
        return {"empirical": values}
    source = "file" if isinstance(times, str) else "values"
    return {"empirical": _given(**{source: values}, column=column, interpolated=interpolated or None)}


def mixture(parts: Iterable[tuple[float, Distribution]]) -> Distribution:
    """One of several distributions, given as pairs of a weight and a distribution."""
    written: list[Value] = [_given(weight=weight, law=law) for weight, law in parts]
    return {"mixture": written}


def shifted(by: float, law: Distribution) -> Distribution:
    """A constant time plus one of the distribution ``law``."""
    return {"shifted": _given(by=by, law=law)}


def truncated(law: Distribution, low: float | None = None, high: float | None = None) -> Distribution:
    """The distribution ``law`` under the condition that the time is between ``low`` (0 by default) and
    ``high`` (no bound by default)."""
    return {"truncated": _given(low=low, high=high, law=law)}


def _given(**keys: Value | None) -> dict[str, Value]:
    """The keys that have a value."""
    return {key: value for key, value in keys.items() if value is not None}
