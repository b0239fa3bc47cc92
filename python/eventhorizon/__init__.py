"""Discrete-event simulation on any GPU, and on all cores of the CPU with the same results.

::

    import eventhorizon as eh

    results = eh.Network.from_toml("mm1.toml").run(replications=1000)
    print(results)                                     # each measure with its interval, beside theory
    results.values("wait", node="server")              # NumPy: the value of each replication
    results.to_pandas()                                # or polars.DataFrame(results)

=================  =====================================================================================
:class:`Network`   queueing networks: stations, routes, classes; with theory beside results
:class:`ProcessModel`  entities that hold things, wait and decide; built by :mod:`eventhorizon.process`
:class:`Model`     models in WGSL: replications of a function, or logical processes
:mod:`matching`    which boxes of two sets overlap
:mod:`search`      shortest paths on maps and graphs, in batches
:func:`phold`      the benchmark of parallel discrete-event simulation
:func:`doctor`     a test of the adapter
=================  =====================================================================================

Errors are subclasses of :class:`Error`. Doubts about results are :class:`EventhorizonWarning`.
"""

from . import distributions, matching, process, search
from ._errors import (
    DeviceError,
    Error,
    EventhorizonWarning,
    FaultError,
    FileError,
    ModelError,
    UsageError,
)
from ._machine import Check, Diagnosis, PholdRun, doctor, phold
from ._model import Model
from ._network import Network
from ._optimise import Optimum
from ._pictures import Drawn, Picture
from ._results import Estimate, NetworkResults, Results, RunResults, Selected
from ._table import Categories, Table
from .distributions import (
    beta,
    constant,
    coxian,
    discrete,
    empirical,
    erlang,
    exponential,
    gamma,
    hyperexponential,
    loglogistic,
    lognormal,
    mixture,
    normal,
    pareto,
    shifted,
    triangular,
    truncated,
    uniform,
    weibull,
)
from .process import ProcessModel

__all__ = [
    "Categories",
    "Check",
    "DeviceError",
    "Diagnosis",
    "Drawn",
    "Error",
    "Estimate",
    "EventhorizonWarning",
    "FaultError",
    "FileError",
    "Model",
    "ModelError",
    "Network",
    "NetworkResults",
    "Optimum",
    "PholdRun",
    "Picture",
    "ProcessModel",
    "Results",
    "RunResults",
    "Selected",
    "Table",
    "UsageError",
    "beta",
    "constant",
    "coxian",
    "discrete",
    "distributions",
    "doctor",
    "empirical",
    "erlang",
    "exponential",
    "gamma",
    "hyperexponential",
    "loglogistic",
    "lognormal",
    "matching",
    "mixture",
    "normal",
    "pareto",
    "phold",
    "process",
    "search",
    "shifted",
    "triangular",
    "truncated",
    "uniform",
    "weibull",
]
