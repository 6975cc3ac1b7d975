"""Values of a command line: read as Megatron reads them, and nothing is evaluated."""

from __future__ import annotations

import enum
import re
import warnings
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_ropecontract.megatron.values import (
    INTEGER_BITS,
    LIST_LENGTH,
    PATTERN_LENGTH,
    PatternTooLargeError,
    enum_reader,
    make_enum,
    read_int_tuple,
    read_list_pattern,
)

small = st.integers(0, 4).map(str)


def combined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Everything that Megatron's character set allows to be written, from smaller parts."""
    return st.one_of(
        st.lists(parts, max_size=3).map(lambda items: f"[{','.join(items)}]"),
        st.lists(parts, min_size=1, max_size=3).map(lambda items: f"({','.join(items)},)"),
        st.lists(parts, max_size=2).map(lambda items: f"[*{'+'.join(items) or '[]'}]"),
        st.tuples(parts, parts).map("+".join),
        st.tuples(parts, parts).map(lambda pair: f"({pair[0]})*({pair[1]})"),
        st.tuples(small, small).map("**".join),
        st.tuples(parts, small).map(lambda pair: f"{pair[0]}[{pair[1]}]"),
        parts.map(lambda part: f"+{part}"),
        parts.map(lambda part: f"({part})"),
    )


expressions = st.recursive(small, combined, max_leaves=8).map(lambda text: f"[{text}]")
# Python itself is asked what they are, so numbers stay short and are not raised to powers.
anything = (
    st.lists(st.sampled_from([*"0123,[]()+*", "[0]", "]*2", ")+["]), max_size=12)
    .map(lambda parts: "".join(parts) + "[1]")
    .filter(lambda text: not re.search(r"\d\d|\*\*", text))
)


def by_eval(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return eval(text, {"__builtins__": {}})


@given(expressions | anything)
@example("[0]*3+[1]*58")
@example("([0]+[1])*2")
@example("[0]*1+[1]*46")
@example("[[0]*2]*2")
@example("[[0,1],[2]][0]")
def test_a_pattern_is_what_python_says_it_is(text: str):
    try:
        expected = by_eval(text)
    except Exception as error:  # noqa: BLE001  # whatever Python raises is expected
        with pytest.raises(type(error)):
            read_list_pattern(text)
        return

    result = read_list_pattern(text)

    assert (type(result), result) == (type(expected), expected)


@given(st.integers())
def test_without_a_bracket_it_is_an_integer(number: int):
    assert read_list_pattern(str(number)) == number


@pytest.mark.parametrize("text", ["", "abc", "1.5", "1e3", "(1)", "1+1", "2**9"])
def test_without_a_bracket_an_expression_is_refused(text: str):
    with pytest.raises(ValueError, match="invalid literal for int"):
        read_list_pattern(text)


@pytest.mark.parametrize(
    "text",
    [
        "[x]",
        "[0]-[1]",
        "[0] * 3",
        "[print(1)]",
        "[__import__('os').system('true')]",
        "[0]*3;[1]",
        "[0 for _ in (1,)]",
        "[0]*0x10",
        "[]\n",
        "[٣]",  # a digit of another script, which int() would take
    ],
)
def test_a_character_outside_the_grammar_is_refused(text: str):
    with pytest.raises(ValueError, match="Invalid pattern"):
        read_list_pattern(text)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[0", SyntaxError),
        ("[0]]", SyntaxError),
        ("[07]", SyntaxError),
        ("[0]+1", TypeError),
        ("[0]*[1]", TypeError),
        ("[0]**2", TypeError),
        ("+[0]", TypeError),
        ("[0](1)", TypeError),
        ("1[0]", TypeError),
        ("[*1]", TypeError),
        ("[0][1]", IndexError),
    ],
)
def test_what_lists_cannot_do_raises_what_python_raises(text: str, error: type[Exception]):
    with pytest.raises(error):
        by_eval(text)
    with pytest.raises(error):
        read_list_pattern(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[]", []),
        ("[1,2]", [1, 2]),
        ("[(1,2),(3,)]", [(1, 2), (3,)]),
        ("[+1,++2]", [1, 2]),
        ("[1+2,3*4,2**5]", [3, 12, 32]),
        ("[1]+[2]*2", [1, 2, 2]),
        ("2*[1]", [1, 1]),
        ("(1,)+(2,)*2+([3],)", (1, 2, 2, [3])),
        ("[*[1,2],*(3,),4]", [1, 2, 3, 4]),
        ("[[1,2],[3]][1][0]", 3),
        ("[[1,2],[3]][0]", [1, 2]),
        ("[(0,1)[1]]", [1]),
        (" 7", 7),
    ],
)
def test_patterns_of_every_kind(text: str, value: Any):
    assert read_list_pattern(text) == value


LONGEST = "[0]*100000"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (f"[{'1' * 20000}]", PatternTooLargeError, "^pattern of 20002 characters$"),
        ("[0]" + "+[0]" * 4900, PatternTooLargeError, "^pattern nested too deeply$"),
        ("[0]*100001", PatternTooLargeError, "^pattern of 100001 elements$"),
        ("100001*[0]", PatternTooLargeError, "^pattern of 100001 elements$"),
        ("[*[0]*60000,*[0]*60000]", PatternTooLargeError, "^pattern of 120000 elements$"),
        ("[[0]*60000,1,[0]*60000]", PatternTooLargeError, "^pattern of 120001 elements$"),
        ("[[0]*60000,[]][0]*2", PatternTooLargeError, "^pattern of 120000 elements$"),
        ("[2**255*2]", PatternTooLargeError, "^pattern with a number over 256 bits$"),
        ("[3**129]", PatternTooLargeError, "^pattern with a number over 256 bits$"),
        # Of what Python cannot do, its own error is told, however long it would be.
        (f"{LONGEST}+1", TypeError, "can only concatenate list .* to list"),
        (f"1+{LONGEST}", TypeError, "unsupported operand type"),
        (f"{LONGEST}*{LONGEST}", TypeError, "can't multiply sequence"),
        ("2**[1]", TypeError, "unsupported operand type"),
        ("([0]*2)(1)", TypeError, "^'list' object is not callable$"),
        ("(+1)([0])", TypeError, "^'int' object is not callable$"),
    ],
)
def test_what_is_wrong_with_a_pattern(text: str, error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        read_list_pattern(text)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        (LONGEST, 100_000),
        ("[+1]*100000", 100_000),
        ("[1+1]*100000", 100_000),
        ("[2**2]*100000", 100_000),
        ("[2*2]*100000", 100_000),
        ("[[0][0]]*100000", 100_000),
        ("[[]]*100000", 100_000),
        ("[[0]*50001][0]+[0]*49999", 100_000),
        ("[[[]]*50000][0]*2", 100_000),
        ("[[0]*99999,1]", 2),
        ("([0]*50000,)*2", 2),
        ("[*[0]*50000,*[0]*50000]", 100_000),
        ("[[0]*100000][0]", 100_000),
        ("[2**127*2]", 1),
        ("[2**85]", 1),
        ("[1**256]", 1),
    ],
)
def test_pattern_at_the_limit_is_read(text: str, length: int):
    assert len(read_list_pattern(text)) == length


def test_longest_text_is_read():
    text = "[" + "10," * 6666 + "]"

    assert len(text) == PATTERN_LENGTH
    assert read_list_pattern(text) == [10] * 6666


def test_the_longest_list_is_read():
    assert read_list_pattern(f"[0]*{LIST_LENGTH}") == [0] * LIST_LENGTH


@pytest.mark.parametrize(
    "text",
    [
        f"[0]*{LIST_LENGTH + 1}",
        f"{LIST_LENGTH + 1}*[0]",
        f"[0]*{LIST_LENGTH}+[1]",
        f"[*[0]*{LIST_LENGTH},1]",
        "[0]*10**9",
        "[0]*1000000000",
        "[0]*1000*1000*1000*1000",
        "(0,)*10**9+([0],)",
    ],
)
def test_a_list_that_is_too_long_is_refused(text: str):
    with pytest.raises(PatternTooLargeError):
        read_list_pattern(text)


@pytest.mark.parametrize(
    "text",
    [
        "[[0]*1000]*1000",
        "[[[0]*100]*100]*100",
        "[[0]*60000,[0]*60000]",
        "[[0]*60000]+[[0]*60000]",
        "[*[[0]*60000]*2]",
        "[[0]*60000][0]*2",
        "[[[0]*60000]][0]*2",
    ],
)
def test_the_limit_counts_the_elements_of_inner_lists(text: str):
    with pytest.raises(PatternTooLargeError):
        read_list_pattern(text)


@pytest.mark.parametrize(
    "text",
    [
        "[9**9**9**9]",
        "[2**100000000]",
        f"[2**{INTEGER_BITS}]",
        "[(2**200)*(2**200)]",
        "[10**60*10**60]",
    ],
)
def test_a_number_that_is_too_large_is_refused(text: str):
    with pytest.raises(PatternTooLargeError):
        read_list_pattern(text)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5000 + "]" * 5000,
        "[" * 100 + "]" * 100 + "[0]" * 5000,
        "+" * 15000 + "[0]",
        "[0]" + "+[0]" * 4900,
        "(" * 9000 + "[0]" + ")" * 9000,
        "[0]*" + "2**" * 6000 + "2",
    ],
)
def test_deep_nesting_ends_in_an_error(text: str):
    with pytest.raises((PatternTooLargeError, SyntaxError, TypeError)):
        read_list_pattern(text)


def test_a_long_text_is_refused_before_it_is_parsed():
    text = "[" + "0," * (PATTERN_LENGTH // 2) + "]"

    with pytest.raises(PatternTooLargeError, match=f"pattern of {len(text)} characters"):
        read_list_pattern(text)


def test_a_too_large_pattern_is_a_value_error_so_that_argparse_names_the_flag():
    assert issubclass(PatternTooLargeError, ValueError)


@given(st.lists(st.integers(), min_size=1, max_size=4), st.booleans())
def test_an_int_tuple_is_read_with_and_without_parentheses(numbers: list[int], bare: bool):
    text = ",".join(map(str, numbers))

    assert read_int_tuple(text if bare else f"({text})") == tuple(numbers)


@pytest.mark.parametrize("text", ["", "1,", "1,x", "1.5,0", "[1,2]", "1;2", "X1,2X"])
def test_an_element_of_an_int_tuple_must_be_an_integer(text: str):
    with pytest.raises(ValueError, match="invalid literal for int"):
        read_int_tuple(text)


Backend = make_enum("Backend", {"flash": 1, "fused": 2})


def test_an_enum_is_read_by_the_name_of_its_member():
    assert enum_reader(Backend, frozenset())("fused") is Backend["fused"]


def test_a_literal_of_an_enum_option_stays_text():
    assert enum_reader(Backend, frozenset({"full"}))("full") == "full"


@pytest.mark.parametrize("text", ["Flash", "1", "", "Backend.flash"])
def test_another_name_of_an_enum_is_a_key_error_as_in_megatron(text: str):
    with pytest.raises(KeyError):
        enum_reader(Backend, frozenset())(text)


def test_a_made_enum_has_the_recorded_names_and_values():
    assert {member.name: member.value for member in Backend} == {"flash": 1, "fused": 2}
    assert issubclass(Backend, enum.Enum)
