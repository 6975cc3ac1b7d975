"""Prints the flags of a model by its name."""

import runpy
import sys
from pathlib import Path

models = Path(__file__).parent.parent / "scripts" / "models"
print(runpy.run_path(str(models / f"{sys.argv[1]}.py"))["model_args"]())  # noqa: T201
