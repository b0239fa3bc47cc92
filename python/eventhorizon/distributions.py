"""Distributions of times, for networks and process models. All numbers are in units of time.

Each function returns what a description contains: ``exponential(2)`` is ``{"exponential": 2}``. Arguments
of process models may also be texts: expressions of parameters.
"""

from __future__ import annotations

Number = float | str

#: A distribution in a description.
Distribution = dict[str, Number | list[Number] | dict[str, Number]]

__all__ = [
    "Distribution",
    "constant",
    "erlang",
    "exponential",
    "hyperexponential",
    "lognormal",
    "normal",
    "triangular",
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
