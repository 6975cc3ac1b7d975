"""Print the flags of a definition, one token a line, for shell launchers.

Usage: python3 scripts/model_args.py NAME
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path


def main(name: str) -> None:
    folder = Path(__file__).resolve().parent
    sys.path.insert(0, str(folder.parent))
    expanded = runpy.run_path(str(folder / "models" / f"{name}.py"))["model_args"]()
    tokens = expanded.split() if isinstance(expanded, str) else expanded
    sys.stdout.writelines(f"{token}\n" for token in tokens)


if __name__ == "__main__":
    main(sys.argv[1])
