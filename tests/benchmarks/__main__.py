"""Every benchmark, or those that are named: ``python -m benchmarks [NAME ...]`` in ``tests``.

What is printed are ratios of measurements that were taken in turn in one run, medians of several
rounds; single times are of the machine at hand and stand beside them only for orientation.
"""

from __future__ import annotations

import argparse
import importlib

NAMES = ("practice", "floor", "whole_run", "idle", "growth", "surface_loading")


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__, allow_abbrev=False)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(NAMES))
    if unknown:
        parser.error(f"no benchmark is named {unknown[0]}")
    for name in options.names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"\n{module.__doc__.splitlines()[0]}", flush=True)
        for line in module.lines(quick=options.quick):
            print(f"  {line}", flush=True)


if __name__ == "__main__":
    main()
