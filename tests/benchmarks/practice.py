"""An example, against a hand-written regression test: parse_args() and the config, every time.

What is measured is a drawn omission of a definition of the example project: this project's engine
with the recorded and with the live surface, against Megatron's own ``parse_args()`` with another
``sys.argv``, a ``validate_args`` that returns at once, and ``core_transformer_config_from_args``.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import random
import sys
from typing import TYPE_CHECKING
from unittest import mock

from benchmarks.measuring import EXAMPLE, Pair, in_turn, processor_time
from pytest_ropecontract.cli.project import load_project
from pytest_ropecontract.megatron.pipeline import Pipeline
from pytest_ropecontract.megatron.selection import choose
from pytest_ropecontract.omission.engine import OmissionEngine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MODELS = ("kimi-k2", "glm4.7-flash", "qwen3-4B", "llama3.2-3B-Instruct", "gpt-oss-20b")


def hand_written(argv: Sequence[str]) -> None:
    """Resolve a command line as a framework's own regression test does."""
    from megatron.training import arguments  # noqa: PLC0415
    from ropeframe.arguments import (  # noqa: PLC0415
        add_rope_arguments,
        set_default_megatron_args,
    )

    with (
        mock.patch.object(sys, "argv", ["train.py", *argv]),
        mock.patch.object(arguments, "validate_args", lambda args, *_: args),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.suppress(SystemExit, Exception),
    ):
        args = arguments.parse_args(extra_args_provider=add_rope_arguments)
        args = arguments.validate_args(set_default_megatron_args(args))
        arguments.core_transformer_config_from_args(args)


def lines(*, quick: bool) -> Iterator[str]:
    """Measure, and yield what is printed."""
    try:
        import megatron.training  # noqa: PLC0415
    except ImportError:
        yield "not measured: Megatron is not installed"
        return
    project = load_project([EXAMPLE])
    rounds, drawn = (2, 20) if quick else (7, 40)
    surfaces = {
        "recorded": choose("megatron-core-0.19.2", EXAMPLE),
        "live": choose("live", EXAMPLE),
    }
    for model in MODELS:
        for name, megatron in surfaces.items():
            line = Pipeline(megatron, project.settings.pipeline)
            pair = measure(line, project.expand(model), rounds, drawn)
            yield (
                f"{model:22}{name:10}{pair.one * 1e6:9.0f} us{pair.other * 1e6:11.0f} us"
                f"{1 / pair.ratio:9.0f} times faster"
            )


def measure(line: Pipeline, argv: Sequence[str], rounds: int, drawn: int) -> Pair:
    """Measure a drawn omission, with the engine and by hand."""
    with line.active():
        engine = OmissionEngine(line, argv, lambda _: False)
        draw = random.Random(0)
        units = range(len(engine.units.occurrences))
        omitted = [frozenset(draw.sample(units, draw.randint(1, 4))) for _ in range(drawn)]
        one, few = itertools.cycle(omitted), itertools.cycle(omitted)
        return in_turn(
            lambda: processor_time(lambda: engine.resolve(next(one)), drawn),
            lambda: processor_time(
                lambda: hand_written(engine.units.remaining(next(few))), drawn // 10
            ),
            rounds,
        )
