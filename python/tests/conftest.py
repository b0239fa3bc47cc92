"""What tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

#: Whether to run what takes long.
LONG = "EVENTHORIZON_LONG" in os.environ


@pytest.fixture(scope="session")
def program() -> str:
    """The program `eventhorizon`, which scripts/python builds."""
    path = os.environ.get("EVENTHORIZON_PROGRAM", str(ROOT / "target/debug/eventhorizon"))
    if not Path(path).exists():
        pytest.fail(f"{path} is missing: run scripts/python --test, which builds it")
    return path
