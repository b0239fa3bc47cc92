"""Runs the code blocks of pages, so that what a reader copies works.

* A block with `title="NAME"` is written to the file NAME.
* In a block `sh`, lines that begin with `eventhorizon` or `sed -i` are run in the folder of these files; other lines are for the reader.
  One that ends in `# fails` has to fail.
* A block `text` after it is (part of) what was printed: each of its lines, except `…`, is one of the output, whatever the spaces.
* A Python file is run, and a Rust file, with the dependencies of site/nexosim. Their lines `MEASURE MEAN ± HALF` have to agree with the JSON file
  that a command of the page wrote.

A page whose head has `not-run:` names the languages of programs that we have not run: their blocks are only shown.
"""

import json
import math
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.M | re.S)
# Two means agree if they lie no further from each other than 1.5 times the half width of the interval of their difference, at 95 %.
MARGIN = 1.5


def words(line):
    return " ".join(line.split())


def compare(page, printed, folder):
    """What another program printed, with the results that ours wrote."""
    results = [result for path in sorted(folder.glob("*.json")) for result in json.loads(path.read_text())["results"]]
    count = 0
    for measure, mean, half in re.findall(r"^(\S+) +([\d.]+) ± ([\d.]+)", printed, re.M):
        ours = next((it for it in results if measure in (it["measure"], f"{it.get('node')}.{it['measure']}")), None)
        if ours is None:
            raise SystemExit(f"{page}: no result of ours is called {measure}")
        apart = abs(ours["mean"] - float(mean))
        if apart > MARGIN * math.hypot(ours["half_width"], float(half)):
            raise SystemExit(f"{page}: {measure} is {mean} ± {half} there, {ours['mean']} ± {ours['half_width']} here")
        count += 1
    if not count:
        raise SystemExit(f"{page}: the other program prints no `MEASURE MEAN ± HALF`")
    return count


def run_rust(file, page):
    """What a program prints that is built with the dependencies of site/nexosim."""
    crate = ROOT / "target" / "site" / "nexosim"
    shutil.copytree(ROOT / "site" / "nexosim", crate, dirs_exist_ok=True)
    (crate / "src").mkdir(exist_ok=True)
    shutil.copy(file, crate / "src" / "main.rs")
    ended = subprocess.run(["cargo", "run", "--quiet", "--locked", "--target-dir", crate / "target"], cwd=crate, capture_output=True, text=True)
    if ended.returncode:
        raise SystemExit(f"{page}: {file.name} failed:\n{ended.stderr}")
    return ended.stdout


def run_page(program, page, name, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    text = page.read_text()
    shown_only = set(match[1].split()) if (match := re.search(r"^not-run: (.*)$", text, re.M)) else set()
    printed, others, done = "", "", {"runs": 0, "outputs": 0, "compared": 0}
    for language, head, body in BLOCK.findall(text):
        title = re.search(r'title="([^"]+)"', head)
        if language in shown_only:
            continue
        if title:
            (folder / title[1]).write_text(body)
        if language == "sh":
            for line in body.splitlines():
                if not line.startswith(("eventhorizon ", "sed -i ")):
                    continue
                arguments = shlex.split(line, comments=True)
                if arguments[0] == "eventhorizon":
                    arguments[0] = str(program)
                ended = subprocess.run(arguments, cwd=folder, capture_output=True, text=True)
                if bool(ended.returncode) != line.endswith("# fails"):
                    raise SystemExit(f"{name}: `{line}` ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
                printed = ended.stdout + ended.stderr
                done["runs"] += 1
        elif language == "text" and printed:
            lines = {words(line) for line in printed.splitlines()}
            for line in map(words, body.splitlines()):
                if line not in lines and line not in ("", "…"):
                    raise SystemExit(f"{name}: `{line}` is not in the output:\n{printed}")
            done["outputs"] += 1
        elif language == "python" and title:
            ended = subprocess.run([sys.executable, title[1]], cwd=folder, capture_output=True, text=True)
            if ended.returncode:
                raise SystemExit(f"{name}: {title[1]} failed:\n{ended.stderr}")
            others += ended.stdout
        elif language == "rust" and title:
            others += run_rust(folder / title[1], name)
    if others:
        done["compared"] = compare(name, others, folder)
    return done


def run(program, pages, scratch):
    total = {"runs": 0, "outputs": 0, "compared": 0}
    for page in sorted(pages.rglob("*.md")):
        name = str(page.relative_to(pages))
        done = run_page(program, page, name, scratch / pathlib.Path(name).with_suffix(""))
        total = {key: total[key] + done[key] for key in total}
    print(f"pages: {total['runs']} commands ran, {total['outputs']} outputs and {total['compared']} results of other programs agree")
