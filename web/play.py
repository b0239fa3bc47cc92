"""Uses the playground in Chromium as a person does: a mistake, its error at its line, the mended model, a run, and the link in a second page.

play.py [FOLDER]. The runs are on the sequential engine. Prints when things were there, and what axe-core finds if AXE names its file axe.min.js.
Writes pictures to FOLDER: desktop and phone, light and dark. Exit code 0 if all is as expected, and the console has no errors.
"""

import json
import os
import pathlib
import sys

import browser

NETWORK = """name = "practice"
unit = "minute"
until = 2000
warm_up = 100

[source.patients]
interarrival = { exponential = 5 }
to = "doctor"

[station.doctors]
servers = 2
service = { exponential = 8 }
to = "home"

[sink.home]
"""
PROCESS = """name = "practice"
unit = "minute"
until = 2000
warm_up = 100

[resource]
doctor = 2

[entity.patient]
every = { exponential = 5 }
do = [
  { use = "nurse", for = { exponential = 8 }, tally = "wait" },
]
"""
SECONDS = 120
DESKTOP, PHONE = (1280, 1000), (390, 844)
DARK = "--force-dark-mode"  # the headless browser's preference


def done(replications):
    """A script: the status of a run that has ended."""
    return f"const it = document.querySelector('#status').textContent; return it.startsWith('{replications} replications') && it"


def type_text(window, text):
    """Replaces the editor's text as typing does."""
    window.script("const it = document.querySelector('#text'); it.focus(); it.select(); document.execCommand('insertText', false, arguments[0])", text)


def expect(what, is_right):
    if not is_right:
        raise SystemExit(f"the playground: {what}")


def times(window):
    """Prints when the page was painted and the first numbers were there."""
    found = window.script("""
        const paint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0;
        return { paint, numbers: performance.getEntriesByName('numbers')[0].startTime }""")
    print(f"first paint after {found['paint'] / 1000:.2f} s, first numbers after {found['numbers'] / 1000:.2f} s")


def accessible(window, what):
    """Lets axe-core check the page, if there is one. (It is not a part of this project.)"""
    if file := os.environ.get("AXE"):
        window.script(pathlib.Path(file).read_text())
        window.script("window.found = null; axe.run().then(it => { window.found = it.violations.map(it => [it.id, it.nodes.map(it => it.html)]); })")
        window.wait(SECONDS, "axe-core", "return window.found !== null")
        found = window.script("return window.found")
        expect(f"axe-core finds nothing in {what}, not {json.dumps(found)}", not found)
        print(f"axe-core: no violations in {what}")


def mistake(window, text, line, hint, wrong, right):
    """Types a model with a mistake, reads the error at its line, and mends it."""
    type_text(window, text)
    problem = window.wait(SECONDS, "the error", "return document.querySelector('#problem').textContent")
    expect(f"the error names line {line} and a remedy, not {problem!r}", problem.startswith(f"Line {line} ") and hint in problem)
    expect("the line is marked", window.script("return document.querySelector('#numbers .at')?.textContent") == str(line))
    type_text(window, text.replace(wrong, right))
    window.wait(SECONDS, "the mended model", "return document.querySelector('#problem').textContent === ''")
    expect("the mark is gone", not window.script("return document.querySelector('#numbers .at')"))


def run(window, replications):
    """Runs what is in the editor: its status and its table."""
    window.script("document.querySelector('#status').textContent = ''; document.querySelector('#run').click()")
    status = window.wait(SECONDS, "the run", done(replications))
    return status, window.script("return [...document.querySelectorAll('#rows tr')].map(it => it.innerText)")


def first_page(base, page, folder):
    with browser.Browser(base, DESKTOP) as window:
        window.open(page)
        window.wait(SECONDS, "the preset's run", done(64))
        times(window)
        window.wait(SECONDS, "dots", "return window.course && document.querySelector('#dots').width > 0")
        accessible(window, "the page of a network")
        window.script("document.querySelector('#where').value = 'cpu'; document.querySelector('#replications').value = 16")

        mistake(window, NETWORK, 8, "did you mean `doctors`", '"doctor"', '"doctors"')
        status, rows = run(window, 16)
        expect(f"the wait has a theory of 14.2, not {rows}", any("wait" in row and "14.2" in row for row in rows))
        window.wait(SECONDS, "dots", "return !document.querySelector('#dots').hidden")
        moved = window.script("const all = [...Array(200).keys()].map(it => window.course.at(it * 5)[1]); return [all[0][0], Math.max(...all.map(it => it[1]))]")
        expect(f"some patients are with the doctors at a time, not {moved}", moved[0] == "doctors" and moved[1] >= 2)
        if folder:
            window.picture(folder / "network.png")
        address = window.wait(SECONDS, "the link", "return location.hash.includes('model=') && location.href")

        mistake(window, PROCESS, 12, "doctor", '"nurse"', '"doctor"')
        process = run(window, 16)
        expect(f"a process model has its tally, not {process[1]}", any(row.split()[0] == "wait" for row in process[1]))
        window.wait(SECONDS, "the picture of a replication", "return !document.querySelector('#picture').hidden")
        accessible(window, "the page of a process model")
        if folder:
            window.picture(folder / "process.png")
        process_address = window.wait(SECONDS, "the link", f"return location.href !== {json.dumps(address)} && location.href")
        return [(status, rows, address), (*process, process_address)], window.errors()


def second_page(base, address, size, picture, *flags):
    with browser.Browser(base, size, *flags) as window:
        window.open(address)
        status = window.wait(SECONDS, "the link's run", done(16))
        rows = window.script("return [...document.querySelectorAll('#rows tr')].map(it => it.innerText)")
        wide = window.script("return document.documentElement.scrollWidth - innerWidth")
        expect(f"no sideways scrolling, not {wide} pixels", wide <= 0)
        accessible(window, f"the page of the link {' '.join(flags)}")
        if picture:
            window.picture(picture)
        return status, rows, window.errors()


def main():
    folder = pathlib.Path(sys.argv[1]) if sys.argv[1:] else None
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    page = browser.serve(browser.HERE / "dist") + "/play.html"
    with browser.driver() as base:
        first, errors = first_page(base, page, folder)
        for (status, rows, address), name, size, flags in zip(first, ("phone.png", "dark.png"), (PHONE, DESKTOP), ((), (DARK,))):
            again, rows_again, more = second_page(base, address, size, folder and folder / name, *flags)
            errors += more
            number = status.split("fingerprint ")[-1]
            expect(f"the link gives the same numbers: {status}, then {again}", again.endswith(number) and rows == rows_again)
            print(f"{page}: passed, fingerprint {number}")
    return int(errors > 0)


sys.exit(main())
