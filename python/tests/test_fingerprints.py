"""The package gives the results of the program, to the bit."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from conftest import EXAMPLES

import eventhorizon as eh

NETWORKS = ["mm1", "clinic", "emergency", "jackson"]
PROCESSES = ["bank", "emergency", "gas_station", "port"]
MODELS = ["counter", "epidemic"]

pytestmark = pytest.mark.filterwarnings("ignore::eventhorizon.EventhorizonWarning")


def reported(program: str, *arguments: str) -> dict[str, Any]:
    """What the program writes as JSON."""
    ran = subprocess.run([program, *arguments, "--backend", "cpu", "--json"], capture_output=True, check=True)
    report: dict[str, Any] = json.loads(ran.stdout)
    return report


@pytest.mark.parametrize("name", NETWORKS)
def test_networks(program: str, name: str) -> None:
    file = str(EXAMPLES / "networks" / f"{name}.toml")
    report = reported(program, "network", file, "--replications", "4", "--until", "2000", "--seed", "7")
    results = eh.Network.from_toml(file).run(replications=4, until=2000, seed=7, backend="cpu")
    assert results.fingerprint == report["fingerprint"]
    assert json.loads(results.to_json())["results"] == report["results"]


@pytest.mark.parametrize("name", PROCESSES)
def test_process_models(program: str, name: str) -> None:
    file = str(EXAMPLES / "processes" / f"{name}.toml")
    report = reported(program, "process", file, "--replications", "4", "--until", "2000", "--seed", "7")
    results = eh.ProcessModel.from_toml(file).run(replications=4, until=2000, seed=7, backend="cpu")
    assert results.fingerprint == report["fingerprint"]
    assert json.loads(results.to_json())["results"] == report["results"]


@pytest.mark.parametrize("name", MODELS)
def test_models_in_wgsl(program: str, name: str) -> None:
    file = str(EXAMPLES / "models" / f"{name}.toml")
    report = reported(program, "run", file, "--replications", "4", "--seed", "7")
    results = eh.Model.from_toml(file).run(replications=4, seed=7, backend="cpu")
    assert results.fingerprint == report["fingerprint"]
    assert json.loads(results.to_json())["results"] == report["results"]
