#!/usr/bin/env python3
"""Compares where commands run by default with every other way to run them.

    scripts/compare_where.py PROGRAM [--before PROGRAM] [--seconds 280] [--sizes 64,1000,10000] [--out FILE]

Each case is a command and a size. The default runs first, then each other way, which is stopped
once it is slower than the default by more than a fifth. Seconds are those of the whole program. A
case is right if the default is within 20 % of the best way, or within 0.05 s. An earlier version of
the program can run by default beside it.

The program keeps no compiled kernels, and NVIDIA's driver none either, unless --warm is given.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

NETWORKS = ["mm1", "jackson", "call_centre", "shop", "courier", "clinic", "workshop", "two_classes", "polling", "bank", "emergency"]
PROCESSES = ["mm3", "emergency", "bank", "port", "car_wash"]
WAYS = {"cpu": ["--backend", "cpu"], "gpu": ["--backend", "gpu"]}
# Seconds by which programs differ that do the same.
NOISE = 0.05


def cases(sizes):
    for size in sizes:
        count = ["--replications", str(size)]
        for name in NETWORKS:
            yield f"network {name}", size, ["network", f"examples/networks/{name}.toml", *count]
        for name in PROCESSES:
            yield f"process {name}", size, ["process", f"examples/processes/{name}.toml", *count]
        yield "run counter", size, ["run", "examples/models/counter.toml", *count]
        yield "run epidemic", size, ["run", "examples/models/epidemic.toml", *count]
        yield "experiment", size, ["experiment", *count]
        yield "mrip-mm1", size, ["mrip-mm1", *count]
        yield "mrip-pi", size, ["mrip-pi", *count]
        yield "mrip-walk", size, ["mrip-walk", *count]
        yield "search", size, ["search", "--searches", str(size)]
        for rate in ["0.1", "0.001"]:
            yield f"phold rate {rate}", size, ["phold", "--lps", str(size), "--population", "4", "--rate", rate, "--events", "1000000"]
        yield "phold replicas", size, ["phold", "--lps", "64", "--population", "4", "--until", "200", "--replicas", str(size)]
        for dimensions in ["1", "3"]:
            yield f"match {dimensions}-d", 100 * size, ["match", "--dims", dimensions, "--regions", str(100 * size)]
        yield "moving-crowd", size, ["moving-crowd", "--agents", str(size), "--output", os.path.join(tempfile.gettempdir(), "crowd.png")]
        yield "network --interval", size, ["network", "examples/networks/torus.toml", "--interval", "1", "--replications", "2", "--until", str(size)]


def run(program, args, limit, environment):
    """Seconds, and what it printed; no seconds if it was stopped or failed."""
    begun = time.monotonic()
    # These print text only.
    has_json = args[0] != "moving-crowd" and "--interval" not in args
    try:
        command = [program, *args, *(["--json"] if has_json else [])]
        ended = subprocess.run(command, capture_output=True, timeout=limit, env=environment)
    except subprocess.TimeoutExpired:
        return None, {}
    seconds = time.monotonic() - begun
    if ended.returncode != 0:
        print(f"failed: {args}: {ended.stderr.decode()[:300]}", file=sys.stderr)
        return None, {}
    if not has_json:
        return seconds, {}
    printed = json.loads(ended.stdout)
    return seconds, printed[0] if isinstance(printed, list) else printed


def ran_on(printed):
    """The engine, if it was printed, or the adapter."""
    return printed.get("engine") or printed.get("adapter") or ""


def main():
    arguments = argparse.ArgumentParser(description="Compare where commands run with every other way.")
    arguments.add_argument("program")
    arguments.add_argument("--seconds", type=float, default=280)
    arguments.add_argument("--sizes", default="64,1000,10000")
    arguments.add_argument("--longest", type=float, default=20)
    arguments.add_argument("--ways", default="cpu,gpu")
    arguments.add_argument("--warm", action="store_true")
    arguments.add_argument("--before")
    arguments.add_argument("--out")
    given = arguments.parse_args()
    environment = dict(os.environ)
    if not given.warm:
        environment |= {"EVENTHORIZON_NO_CACHE": "1", "__GL_SHADER_DISK_CACHE": "0"}
    out = open(given.out, "w") if given.out else sys.stdout
    begun, right, judged, differ = time.monotonic(), 0, 0, 0
    head = ["case", "size", "auto", "ran on", *WAYS, "auto / best", *(["before"] if given.before else [])]
    print(f"| {' | '.join(head)} |\n| {' | '.join('---' for _ in head)} |", file=out)
    for name, size, args in cases([int(size) for size in given.sizes.split(",")]):
        if time.monotonic() - begun > given.seconds:
            break
        auto, printed = run(given.program, args, given.longest, environment)
        if auto is None:
            print(f"| {name} | {size} | > {given.longest} | | | | |", file=out, flush=True)
            continue
        found = {}
        for way in given.ways.split(","):
            # Later than that, it is no better.
            seconds, other = run(given.program, [*args, *WAYS[way]], 1.25 * auto + 2 * NOISE, environment)
            found[way] = seconds
            if seconds is not None and other.get("fingerprint") != printed.get("fingerprint"):
                differ += 1
                print(f"{name} {size}: {way} has another fingerprint", file=sys.stderr)
        best = min([auto, *(seconds for seconds in found.values() if seconds is not None)])
        is_right = auto <= max(1.2 * best, best + NOISE)
        judged, right = judged + 1, right + is_right
        columns = [f"{found[way]:.2f}" if found.get(way) else "slower" for way in WAYS]
        mark = "" if is_right else " **"
        row = [name, str(size), f"{auto:.2f}", ran_on(printed), *columns, f"{auto / best:.2f}{mark}"]
        if given.before:
            seconds, _ = run(given.before, args, 2 * auto + 2 * NOISE, environment)
            row.append(f"{seconds:.2f}" if seconds else f"> {2 * auto:.2f}")
        print(f"| {' | '.join(row)} |", file=out, flush=True)
    print(f"\n{right} of {judged} cases within 20 % of the best way; {differ} other fingerprints; {time.monotonic() - begun:.0f} s", file=out, flush=True)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
