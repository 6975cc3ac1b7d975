"""A framework around Megatron, as its functions are found: awkward in every allowed way."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable


def add_options(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add what MLA lacks, and options that do not simply store a value."""
    parser.add_argument("--original-max-position-embeddings", type=int, default=4096)
    parser.add_argument("--beta-fast", type=float, default=32)
    parser.add_argument("--beta-slow", type=float, default=1)
    parser.add_argument("--layer-names", nargs="*", default=["first"])
    return parser


def add_renamed_options(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add a flag that is not named like what it sets."""
    parser.add_argument("--fast", type=float, default=32, dest="beta_fast")
    return parser


def add_counting_options(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    add_options(parser)
    parser.add_argument("--tag", action="append", default=["always"])
    parser.add_argument("--tags", action="extend", nargs="+", default=[])
    parser.add_argument("--loud", action="count", default=0)
    return parser


def take_first_tag(args: argparse.Namespace) -> None:
    args.rotary_base = int(args.tag[1])


def add_demanding_options(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add options without which the parser refuses a command line."""
    add_options(parser)
    parser.add_argument("--checkpoint", required=True)
    one_of = parser.add_mutually_exclusive_group(required=True)
    one_of.add_argument("--short", action="store_true")
    one_of.add_argument("--long", type=int)
    return parser


def add_configured_parser(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Read a flag that is demanded from somewhere else, as from a file of settings."""
    add_demanding_options(parser)
    return _with_class(parser, lambda args: [*args, "--checkpoint", "configured", "--short"], None)


def add_parser_that_wants_more(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Demand a flag without saying so to argparse."""
    add_options(parser)
    return _with_class(parser, list, lambda found: found.rope_type is not None)


def add_parser_that_checks(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Refuse a value that argparse itself takes."""
    add_options(parser)
    return _with_class(parser, list, lambda found: found.rotary_base >= 10000)


def _with_class(
    parser: argparse.ArgumentParser,
    given: Callable[[list[str]], list[str]],
    accepts: Callable[[argparse.Namespace], bool] | None,
) -> argparse.ArgumentParser:
    class Own(type(parser)):
        def parse_known_args(self, args, namespace=None):
            found, unknown = super().parse_known_args(given(args), namespace)
            if accepts is not None and not accepts(found):
                self.error("this does not go together")
            return found, unknown

    parser.__class__ = Own
    return parser


def fill(args: argparse.Namespace) -> argparse.Namespace:
    """Fill the rope type as the frameworks do that this is about."""
    if args.rope_type is None:
        args.rope_type = "yarn" if args.multi_latent_attention else "rope"
    return args


def mutate(args: argparse.Namespace) -> None:
    """Change lists in place, those of defaults among them, and depend on how long they are."""
    for name in ("layer_names", "tag", "tags", "data_path", "mrope_section"):
        values = getattr(args, name, None)
        if isinstance(values, list):
            values.append(values[-1] if values else 1)
    if len(args.layer_names) > 2:
        args.rotary_base = 1000 * len(args.layer_names)
    if len(getattr(args, "tag", [])) > 3 or getattr(args, "loud", 0) > 1:
        args.rotary_percent = 0.5


def insist(args: argparse.Namespace) -> argparse.Namespace:
    """Fail for some command lines, as an assertion of a framework does."""
    if args.beta_fast < args.beta_slow:
        raise ValueError("beta_fast is below beta_slow")
    return args


def loose(args: argparse.Namespace) -> argparse.Namespace:
    """Fall back to YaRN only where three flags are gone at once."""
    if args.rope_type is None and args.rotary_base == 10000 and args.rotary_percent == 1.0:
        args.rope_type = "yarn"
    elif args.rope_type is None:
        args.rope_type = "rope"
    return args


def vary(args: argparse.Namespace) -> None:
    """Fill in something else in every call."""
    args.rotary_base = next(BASES)


BASES = itertools.count(10000)


def ignore(args: argparse.Namespace) -> argparse.Namespace:
    """Replace the namespace by another one."""
    import argparse  # noqa: PLC0415

    return fill(argparse.Namespace(**vars(args)))
