#!/usr/bin/env python3
"""Times the same department in SimPy, Ciw, Cimba and this package: how long until the mean wait is known to 1 %.

    pip install simpy==4.1.2 ciw==3.2.7 cimba==0.9.6 eventhorizon-sim
    python python/bench/compare.py [--gpu] [NAME ...]

Each makes replications for about as long as --seconds says, after a first call that compiles. The CPU time of all
threads counts, so a busy machine changes little; with --gpu, wall-clock time, of this package only. An answer of
1 % takes the replications after which half the 95 % interval is 1 % of the mean. Ends with 1 if two means differ.
"""

import argparse
import ast
import importlib
import math
import pathlib
import statistics
import sys
import time

NAMES = {
    "simpy": "SimPy",
    "ciw": "Ciw",
    "cimba": "Cimba",
    "here": "eventhorizon, generator function",
    "network": "eventhorizon, network",
}


def lines_of_code(path):
    """Lines without blank ones, comments and docstrings."""
    tree = ast.parse(path.read_text())
    texts = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            texts.update(range(node.lineno, node.end_lineno + 1))
    lines = enumerate(path.read_text().splitlines(), 1)
    return sum(1 for number, line in lines if line.strip() and not line.strip().startswith("#") and number not in texts)


def timed(run, clock, seconds):
    """Seconds of a replication, and the means of replications."""
    run(2, 1)  # it compiles
    count = 4
    while True:
        begun = clock()
        means = [float(mean) for mean in run(count, 2)]
        took = clock() - begun
        if took >= seconds / 4:
            return took / count, means
        count = math.ceil(count * min(16, max(2, seconds / 2 / max(took, 1e-3))))


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--gpu", action="store_true", help="this package on a GPU")
    options.add_argument("--seconds", type=float, default=20, help="the time for each")
    options.add_argument("names", nargs="*", help=f"default: {' '.join(NAMES)}")
    args = options.parse_args()
    names = args.names or [name for name in NAMES if not args.gpu or name in ("here", "network")]
    clock = time.perf_counter if args.gpu else time.process_time
    found = {}
    print("| model | lines | ms a replication | replications for 1 % | seconds for 1 % | mean wait |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in names:
        module = importlib.import_module(f"department_{name}")

        def run(replications, seed, module=module):
            return module.run(replications, seed, *(["gpu"] if args.gpu else []))

        each, means = timed(run, clock, args.seconds)
        mean, deviation = statistics.fmean(means), statistics.stdev(means)
        found[name] = (mean, 1.96 * deviation / math.sqrt(len(means)))
        needed = math.ceil((1.96 * deviation / (0.01 * mean)) ** 2)
        if args.gpu:  # how long one answer takes, with what it costs to begin
            begun = clock()
            run(needed, 3)
            whole = clock() - begun
        else:
            whole = needed * each
        lines = lines_of_code(pathlib.Path(module.__file__))
        interval = f"{mean:.3f} ± {found[name][1]:.2g}"
        print(f"| {NAMES[name]} | {lines} | {each * 1e3:.3g} | {needed} | {whole:.3g} | {interval} |", flush=True)
    middle, half = min(found.values(), key=lambda of: of[1])
    differs = [name for name, (mean, own) in found.items() if abs(mean - middle) > 1.5 * math.hypot(own, half)]
    if differs:
        print(f"means differ: {', '.join(differs)}")
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
