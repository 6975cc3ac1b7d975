from __future__ import annotations

import argparse
from pathlib import Path

from .trying import PARTS, run


def main() -> None:
    """Change the code of parts, and tell which changes their tests do not notice."""
    parser = argparse.ArgumentParser(prog="mutation")
    parser.add_argument("folder", type=Path, help="where the copies are; kept for a later run")
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--only", action="append", default=[], help="pattern of mutants' names")
    arguments = parser.parse_args()
    for name in arguments.parts:
        run(name, arguments.folder.resolve() / name, arguments.only)


main()
