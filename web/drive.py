"""Lets the page try itself in Chromium: serves web/dist, opens it with `?drive`, then without WebGPU, and waits until its title says how that went.

drive.py [PICTURE.png]: chromedriver is that on the PATH, or CHROMEDRIVER; the browser's flags are those of webdriver.json. Exit code 0 if the page passed,
and its console has no errors. Python's own library is enough.
"""

import base64
import functools
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).parent
SECONDS = 300


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def main():
    serves = functools.partial(Quiet, directory=HERE / "dist")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serves)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    capabilities = json.loads((HERE / "webdriver.json").read_text())
    capabilities["goog:chromeOptions"]["args"].append("--window-size=1100,2900")
    capabilities["goog:loggingPrefs"] = {"browser": "ALL"}
    command = [os.environ.get("CHROMEDRIVER", "chromedriver"), "--port=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as driver:
        try:
            # "ChromeDriver was started successfully on port 1234."
            port = next(line.split()[-1].rstrip(".") for line in driver.stdout if "on port" in line and "started" in line)
            page = f"http://127.0.0.1:{server.server_port}/?drive"
            pictures = sys.argv[1:]
            outcomes = [drive(f"http://127.0.0.1:{port}", capabilities, page + more, pictures) for more, pictures in (("", pictures), ("&cpu", []))]
            return max(outcomes)
        finally:
            driver.terminate()


def drive(base, capabilities, page, pictures):
    def ask(method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(base + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    session = "/session/" + ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})["sessionId"]
    try:
        ask("POST", session + "/url", {"url": page})
        end = time.monotonic() + SECONDS
        title = ""
        while not title.startswith(("passed", "failed")) and time.monotonic() < end:
            time.sleep(0.5)
            title = ask("GET", session + "/title")
        if pictures:
            pathlib.Path(pictures[0]).write_bytes(base64.b64decode(ask("GET", session + "/screenshot")))
        said = [entry for entry in ask("POST", session + "/se/log", {"type": "browser"})]
        for entry in said:
            print(f"console: {entry['level']}: {entry['message']}")
        print(f"{page}: {title}")
        errors = any(entry["level"] == "SEVERE" for entry in said)
        return 0 if title.startswith("passed") and not errors else 1
    finally:
        ask("DELETE", session)


sys.exit(main())
