"""The programs of the guide run, and the notebooks, in Jupyter kernels."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT
from nbclient import NotebookClient

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
def test_notebooks_run_and_show_what_they_find(tmp_path: Path, path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    # In a kernel of its own; an error of a cell is raised.
    NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    # Cells that only define something show nothing.
    shown = [output for cell in cells for output in cell.outputs]
    assert len(shown) >= len(cells) - 1
    assert not [output for output in shown if output.get("name") == "stderr"]
    rich = [output["data"] for output in shown if "data" in output]
    assert any({"text/html", "image/svg+xml"} & data.keys() for data in rich)
