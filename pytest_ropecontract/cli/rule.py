"""The command ``ropecontract rule``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pytest_ropecontract.cli.comparing import Commands
    from pytest_ropecontract.contracts.reference import RulePage


def add_command(commands: Commands) -> None:
    """Add the command to those of the parser."""
    parser = commands.add_parser(
        "rule",
        help="explain a rule: what it means, why it matters, what to do",
        description="Explain rules: what each one means, why it matters, an example, what to do, "
        "and how to allow what it finds. Without a name, list them all.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "rules", metavar="NAME", nargs="*", help="names of rules, as a failure begins with them"
    )
    parser.set_defaults(run=explain_rules)


def explain_rules(options: argparse.Namespace) -> None:
    """Print the pages of some rules, or the list of all.

    Raises:
        RopeContractError: There is no such rule.
    """
    from pytest_ropecontract.cli.tables import columns
    from pytest_ropecontract.contracts.findings import RULES
    from pytest_ropecontract.contracts.reference import PAGES
    from pytest_ropecontract.definitions.wording import nearest

    if not options.rules:
        print("\n".join(columns([(name, _text(PAGES[name].fires_when)) for name in RULES])))
        print("\nropecontract rule NAME says more about one.")
        return
    for name in options.rules:
        if name not in PAGES:
            raise RopeContractError(
                f"there is no rule {name!r}", remedy=nearest(name, RULES, "rules")
            )
    pages = ["\n".join(_page(name, PAGES[name])) for name in dict.fromkeys(options.rules)]
    print("\n\n\n".join(pages))


def _page(name: str, page: RulePage) -> Iterator[str]:
    from pytest_ropecontract.cli.tables import wrapped

    yield name
    yield ""
    yield from wrapped("  ", f"Fires when {_text(page.fires_when)}.")
    yield from wrapped("  ", f"By default: {_text(page.by_default)}.")
    yield ""
    yield from wrapped("  ", page.why)
    for title, text in (("Example:", page.example), ("What to do:", page.remedy)):
        yield ""
        yield f"  {title}"
        yield from wrapped("    ", text)
    yield ""
    yield "  To allow it for some models, with the reason, in pyproject.toml:"
    yield "    [tool.pytest]"
    yield f'    rope_contract_allow = ["MODEL_GLOB {name} the reason"]'


def _text(markdown: str) -> str:
    return markdown.replace("`", "")
