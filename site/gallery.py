"""The gallery: a page for each description of examples/networks and examples/processes, with what the program computes from it."""

import json
import math
import pathlib
import re
import shutil
import subprocess
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMANDS = {"networks": "network", "processes": "process"}
REPLICATIONS = 64
MOST_ROWS = 40


def names(kind):
    return sorted(path.stem for path in (ROOT / "examples" / kind).glob("*.toml"))


def about(text):
    """The comment at the head of a description, as one paragraph."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# ").rstrip())
    return " ".join(lines)


def rounded(value, half_width):
    """A number with the digits that its half width leaves."""
    if value is None:
        return "–"
    digits = 4 if not half_width else max(0, 1 - math.floor(math.log10(abs(half_width))))
    return f"{value:.{min(digits, 6)}f}"


def row(result):
    half = result["half_width"]
    where = result.get("node")
    if where is None:
        where = ", ".join(f"{name} = {value:g}" for name, value in result["factors"].items())
    kind = result.get("class")
    if kind and kind not in ("all", "customer"):
        where += f", {kind}"
    error = "–" if half is None else rounded(half, half)
    mean = rounded(result["mean"], half)
    return [where, result["measure"], mean, error, rounded(result["theory"], half)]


def table(results):
    """Rows with a theory first, as far as the table is short."""
    shown = [it for it in results if it["mean"] is not None and "deviation" not in it["measure"]]
    shown = [it for it in shown if not re.match(r"smallest|largest|count\(", it["measure"])]
    if len(shown) > MOST_ROWS:
        shown = [it for it in shown if it["theory"] is not None] or shown
    rows = [["where", "measure", "mean", "±", "theory"], ["---", "---", "---:", "---:", "---:"]]
    rows += [row(it) for it in shown[:MOST_ROWS]]
    # Columns without a value are left out.
    filled = [i for i in range(5) if any(cells[i] not in ("", "–") for cells in rows[2:])]
    lines = ["| " + " | ".join(cells[i] for i in filled) + " |" for cells in rows]
    left = len(shown) - len(rows) + 2
    return "\n".join(lines) + (f"\n\n{left} more rows are in the program's output." if left else "")


def headline(results):
    """How far the measures with a theory lie from it, in a sentence."""
    known = [it for it in results if it["theory"] is not None and it["half_width"]]
    if not known:
        return ""
    within = sum(abs(it["mean"] - it["theory"]) <= it["half_width"] for it in known)
    return f"Theory is known for {len(known)} measures; {within} of their 95 % intervals contain it. "


def picture(kind, drawn, target):
    # A process model with one point has no number in the names of its pictures.
    known = ["network.svg"] if kind == "networks" else ["course_0.svg", "course.svg"]
    found = next((drawn / name for name in known if (drawn / name).exists()), None)
    if found:
        target.write_text(found.read_text())
    return found and target.name


def run(program, kind, name):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        command = [program, COMMANDS[kind], ROOT / "examples" / kind / f"{name}.toml", "--backend", "cpu", "--replications", str(REPLICATIONS)]
        command += ["--json", scratch / "out.json"]
        plots = ["--plot", scratch / "plots"]
        ended = subprocess.run(command + plots, capture_output=True, text=True)
        if "--plot is not there" in ended.stderr:
            # A network that runs as a process model.
            (scratch / "plots").mkdir()
            ended = subprocess.run(command, capture_output=True, text=True)
        if ended.returncode:
            raise SystemExit(f"gallery: {kind}/{name}: {ended.stderr}")
        shutil.copytree(scratch / "plots", ROOT / "target" / "site" / "plots" / kind / name, dirs_exist_ok=True)
        return json.loads((scratch / "out.json").read_text())


def page(program, kind, name, folder):
    text = (ROOT / "examples" / kind / f"{name}.toml").read_text()
    result = run(program, kind, name)
    title = tomllib.loads(text).get("name", name)
    drawn = picture(kind, ROOT / "target" / "site" / "plots" / kind / name, folder / f"{name}.svg")
    caption = "The network; a darker station is busier." if kind == "networks" else "The first replication over time."
    parts = [
        f"# {title[0].upper()}{title[1:]}",
        about(text),
        f'<figure markdown class="drawing">\n![{caption}]({drawn})\n<figcaption>{caption}</figcaption>\n</figure>' if drawn else "",
        "## Result",
        headline(result["results"]) + f"{result['replications']} replications, seed {result['seed']}, fingerprint `{result['fingerprint']}`.",
        table(result["results"]),
        "```sh\n" + f"eventhorizon {COMMANDS[kind]} examples/{kind}/{name}.toml" + "\n```",
        f"[Run it in the playground](../../playground/play.html#preset={kind}/{name})",
        "## Description",
        f'```toml title="{name}.toml"\n{text.rstrip()}\n```',
    ]
    (folder / f"{name}.md").write_text("\n\n".join(part for part in parts if part) + "\n")
    sentence = re.split(r"(?<=\.)\s", about(text) or title)[0].rstrip(".")
    image = f"![]({kind}/{drawn})\n\n    " if drawn else ""
    return f"-   {image}**[{title[0].upper()}{title[1:]}]({kind}/{name}.md)**\n\n    {sentence}.\n"


def write(program, folder):
    parts = [
        "# Gallery",
        "Every network and process model that ships, with its picture, its results and theory where a formula is known. "
        "This page was computed by the program when the site was built, on a CPU; a GPU gives the same bits.",
    ]
    for kind, title in (("networks", "Queueing networks"), ("processes", "Process models")):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        cards = [page(program, kind, name, folder / kind) for name in names(kind)]
        parts += [f"## {title}", '<div class="grid cards" markdown>\n\n' + "\n".join(cards) + "\n</div>"]
    (folder / "index.md").write_text("\n\n".join(parts) + "\n")
