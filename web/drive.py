"""Lets the page try itself in Chromium: serves web/dist, opens it with `?drive`, then without WebGPU, and waits until its title says how that went.

drive.py [PICTURE.png]. Exit code 0 if the page passed, and its console has no errors.
"""

import sys

import browser

SECONDS = 300


def drive(base, page, picture):
    with browser.Browser(base, (1100, 2900)) as window:
        window.open(page)
        title = window.wait(SECONDS, page, "return /^(passed|failed)/.test(document.title) && document.title")
        if picture:
            window.picture(picture)
        print(f"{page}: {title}")
        return window.errors() or not title.startswith("passed")


def main():
    page = browser.serve(browser.HERE / "dist") + "/?drive"
    with browser.driver() as base:
        outcomes = [drive(base, page, *sys.argv[1:2] or [None]), drive(base, page + "&cpu", None)]
        return int(any(outcomes))


sys.exit(main())
