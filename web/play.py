"""Uses the playground in Chromium as a person does: a mistake, its error at its line, the mended network, a run, and the link in a second page.

play.py [PICTURE.png]. The runs are on the sequential engine. Exit code 0 if all is as expected, and the console has no errors.
"""

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
SECONDS = 120


def done(replications):
    """A script: the status of a run that has ended."""
    return f"const it = document.querySelector('#status').textContent; return it.startsWith('{replications} replications') && it"


def type_text(window, text):
    """Replaces the editor's text as typing does."""
    window.script("const it = document.querySelector('#text'); it.focus(); it.select(); document.execCommand('insertText', false, arguments[0])", text)


def expect(what, is_right):
    if not is_right:
        raise SystemExit(f"the playground: {what}")


def first_page(base, page, picture):
    with browser.Browser(base, (1280, 1000)) as window:
        window.open(page)
        window.wait(SECONDS, "the preset's run", done(64))
        window.script("document.querySelector('#where').value = 'cpu'; document.querySelector('#replications').value = 16")

        type_text(window, NETWORK)
        problem = window.wait(SECONDS, "the error", "return document.querySelector('#problem').textContent")
        expect(f"the error names line 8 and the node, not {problem!r}", problem.startswith("Line 8 ") and "did you mean `doctors`" in problem)
        expect("the line is marked", window.script("return document.querySelector('#numbers .at')?.textContent") == "8")

        type_text(window, NETWORK.replace('"doctor"', '"doctors"'))
        window.wait(SECONDS, "the mended network", "return document.querySelector('#problem').textContent === ''")
        expect("the mark is gone", not window.script("return document.querySelector('#numbers .at')"))
        window.script("document.querySelector('#run').click()")
        status = window.wait(SECONDS, "the run", done(16))
        rows = window.script("return [...document.querySelectorAll('#rows tr')].map(it => it.innerText)")
        expect(f"the wait has a theory of 14.2, not {rows}", any("wait" in row and "14.2" in row for row in rows))
        if picture:
            window.picture(picture)
        address = window.wait(SECONDS, "the link", "return location.hash.includes('model=') && location.href")
        return status, rows, address, window.errors()


def second_page(base, address):
    with browser.Browser(base, (390, 844)) as window:
        window.open(address)
        status = window.wait(SECONDS, "the link's run", done(16))
        rows = window.script("return [...document.querySelectorAll('#rows tr')].map(it => it.innerText)")
        wide = window.script("return document.documentElement.scrollWidth - innerWidth")
        expect(f"no sideways scrolling on a phone, not {wide} pixels", wide <= 0)
        return status, rows, window.errors()


def main():
    page = browser.serve(browser.HERE / "dist") + "/play.html"
    with browser.driver() as base:
        status, rows, address, errors = first_page(base, page, *sys.argv[1:2] or [None])
        again, rows_again, more = second_page(base, address)
    number = status.split("fingerprint ")[-1]
    expect(f"the link gives the same numbers: {status}, then {again}", again.endswith(number) and rows == rows_again)
    print(f"{page}: passed, fingerprint {number}")
    return int(errors + more > 0)


sys.exit(main())
