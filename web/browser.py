"""Chromium by chromedriver, for the tests of pages: Python's own library is enough.

chromedriver is that on the PATH, or CHROMEDRIVER; the browser's flags are those of webdriver.json.
"""

import base64
import contextlib
import functools
import http.server
import json
import os
import pathlib
import subprocess
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).parent


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(folder):
    """The address of a server of files, which ends with the program."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


@contextlib.contextmanager
def driver():
    """The address of a chromedriver."""
    command = [os.environ.get("CHROMEDRIVER", "chromedriver"), "--port=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            # "ChromeDriver was started successfully on port 1234."
            yield "http://127.0.0.1:" + next(line.split()[-1].rstrip(".") for line in process.stdout if "on port" in line and "started" in line)
        finally:
            process.terminate()


class Browser:
    """A window with one page."""

    def __init__(self, base, size, *flags):
        capabilities = json.loads((HERE / "webdriver.json").read_text())
        capabilities["goog:chromeOptions"]["args"] += [f"--window-size={size[0]},{size[1]}", *flags]
        capabilities["goog:loggingPrefs"] = {"browser": "ALL"}
        self.base = base
        self.session = "/session/" + self.ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}}, "")["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ask("DELETE", "")

    def ask(self, method, path, body=None, session=None):
        data = None if body is None else json.dumps(body).encode()
        address = self.base + (self.session if session is None else session) + path
        request = urllib.request.Request(address, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def open(self, page):
        self.ask("POST", "/url", {"url": page})

    def script(self, text, *arguments):
        return self.ask("POST", "/execute/sync", {"script": text, "args": list(arguments)})

    def wait(self, seconds, what, script):
        """Waits until a script returns something true, and returns that."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.script(script):
                return value
            time.sleep(0.1)
        raise SystemExit(f"{what}: nothing after {seconds} s")

    def picture(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.ask("GET", "/screenshot")))

    def errors(self):
        """Prints the console, and returns the number of errors in it."""
        entries = self.ask("POST", "/se/log", {"type": "browser"})
        for entry in entries:
            print(f"console: {entry['level']}: {entry['message']}")
        return sum(entry["level"] == "SEVERE" for entry in entries)
