"""What of its arguments torchrun takes for itself."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_ropecontract.launchers.wrappers import MODULE, TORCHRUN

run = pytest.importorskip("torch.distributed.run")

PARSER = run.get_args_parser()
OF_OLDER_ONES = {"--use-env", "--use_env"}


def test_every_option_is_known_with_whether_it_takes_a_value() -> None:
    actions = PARSER._actions
    flags = {name for one in actions if one.nargs == 0 for name in one.option_strings}
    values = {name for one in actions if one.nargs is None for name in one.option_strings}

    assert values == TORCHRUN.values
    assert flags == TORCHRUN.flags - OF_OLDER_ONES


options = st.one_of(
    st.sampled_from(sorted(TORCHRUN.values)).flatmap(
        lambda one: st.integers(min(len(one), 8), len(one)).map(lambda count: one[:count])
    ),
    st.sampled_from(sorted(TORCHRUN.flags - OF_OLDER_ONES - {"-h", "--help"})),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(options, st.booleans()), max_size=4))
def test_the_script_begins_where_torchrun_says(drawn: list[tuple[str, bool]]) -> None:
    arguments: list[str] = []
    for name, joined in drawn:
        own = TORCHRUN.own([name, "3"])
        takes = own is not None and own.end == 2
        if takes and joined and name.startswith("--"):
            arguments.append(f"{name}=3")
        else:
            arguments.extend([name, "3"] if takes else [name])
    arguments += ["train.py", "--lr", "1"]
    try:
        parsed = PARSER.parse_args(arguments)
    except SystemExit:  # an abbreviation of several options, a value that is not allowed
        return
    own = TORCHRUN.own(arguments)

    assert own is not None
    assert arguments[own.end :] == [parsed.training_script, *parsed.training_script_args]
    assert own.has(MODULE) == parsed.module
