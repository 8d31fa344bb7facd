#!/usr/bin/env python3
"""Counts, aloud and slowly: something to watch while a sweep runs. Plain Python 3.

Prints a line "NAME 1/5" per step and, for the sweep to pick up, the metric count as a JSON line.
"""

import argparse
import json
import sys
import time


def main(arguments):
    parser = argparse.ArgumentParser(description="Counts, aloud and slowly.")
    parser.add_argument("--to", type=int, default=5, help="the last number (5)")
    parser.add_argument("--name", default="echo", help="stands before every number (echo)")
    parser.add_argument("--pause", type=float, default=0.2, help="seconds before every number (0.2)")
    options = parser.parse_args(arguments)
    if options.to < 0 or not 0 <= options.pause <= 3600:
        parser.error("--to must be 0 or more, --pause 0 to 3600 seconds")
    for step in range(1, options.to + 1):
        time.sleep(options.pause)
        print("%s %d/%d" % (options.name, step, options.to))
        print(json.dumps({"metrics": {"count": step}, "step": step}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
