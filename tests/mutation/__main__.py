"""Change the code of parts, and tell which changes their own tests do not notice.

``python -m mutation FOLDER PART ...`` in ``tests``; ``tox -e mutation -- PART ...`` does the same.
It takes hours. What was found is kept in the folder: a run that was interrupted goes on.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .score import HERE, read, report
from .trying import PARTS, TREE, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="mutation", description=__doc__, allow_abbrev=False)
    parser.add_argument("folder", type=Path, help="where the copies of the project are")
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="of mutants")
    parser.add_argument(
        "--again",
        action="store_true",
        help="try again what was not noticed, and what took too long",
    )
    parser.add_argument("--report", action="store_true", help="try nothing, write the reports")
    options = parser.parse_args()
    left = 0
    for name in options.parts:
        folder = options.folder.resolve() / name
        only = options.only
        if options.again:
            score = read(folder)
            reasons = score.reasons(name)
            only = [*score.hung, *(one.name for one in score.unnoticed if one not in reasons)]
        if not options.report and (only or not options.again):
            run(name, folder, only)
        score = read(folder)
        tree = (folder / TREE).read_text("utf-8")
        page = report(name, PARTS[name].code, score, tree)
        (HERE / f"{name}.md").write_text(page, encoding="utf-8")
        without = [one for one in score.unnoticed if one not in score.reasons(name)]
        outdated = score.outdated(name)
        left += len(without) + len(outdated)
        for one in without:
            print(f"{one.status}: {one.text}")
        for because in outdated:
            print(f"no change is left that needs this reason: {because}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
