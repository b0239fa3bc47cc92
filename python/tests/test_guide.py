"""The programs of the guide and of the notebooks run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import ROOT

import eventhorizon as eh


pytestmark = pytest.mark.filterwarnings("ignore::eventhorizon.EventhorizonWarning")


def run(programs: list[str], folder: Path) -> dict[str, object]:
    """Run programs one after the other. Returns their names."""
    names: dict[str, object] = {}
    for number, program in enumerate(programs):
        # In a file, so that functions have a source.
        path = folder / f"program_{number}.py"
        path.write_text(program)
        exec(compile(program, str(path), "exec"), names)
    return names


def test_the_programs_of_the_guide_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    guide = (ROOT / "docs" / "guide-python.md").read_text()
    programs = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    assert len(programs) >= 7
    model = run(programs, tmp_path)["bank"]
    assert isinstance(model, eh.ProcessModel)
    assert model.run(replications=4).estimate("wait").mean > 0


@pytest.mark.parametrize("path", sorted((ROOT / "python" / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_the_programs_of_notebooks_run(tmp_path: Path, path: Path) -> None:
    cells = json.loads(path.read_text())["cells"]
    programs = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert programs
    run(programs, tmp_path)
