"""What is known of lists, dicts and attributes in which results are kept."""

from __future__ import annotations

import ast

import pytest

from pytest_ropecontract.contracts.arity.containers import (
    ANY,
    Containers,
    Content,
    key_of,
    place_of,
)


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


A_PAIR = Content({"a": 2})
LIST = Content({0: 1, 1: 1}, ordered=True)
DICT = Content({"a": 1, "b": 2})


@pytest.mark.parametrize(
    ("counts", "key", "count"),
    [
        ({"a": 1, "b": 2}, "a", 1),
        ({"a": 1, "b": 2}, "c", None),
        ({"a": 1, "b": 2}, ANY, None),
        ({"a": 1, "b": 1}, ANY, 1),
        ({"a": 1, "b": None}, ANY, None),
        ({"a": 1, ANY: 2}, "a", 1),
        ({"a": None, ANY: 2}, "a", None),
        ({"a": 1, ANY: 2}, "b", 2),
        ({"a": 1, ANY: 2}, ANY, None),
        ({ANY: 2}, ANY, 2),
        ({}, "a", None),
        ({}, ANY, None),
    ],
)
def test_element_is_read_where_all_that_it_may_be_agree(
    counts: dict[object, int | None], key: object, count: int | None
) -> None:
    assert Content(counts).read(key) == count
    # In the same way it is told how many results an element gives that is called.
    assert Content(calls=counts).read(key, called=True) == count


def test_element_that_is_called_is_not_what_it_gives() -> None:
    content = Content({"a": 1}, {"a": 2})

    assert (content.read("a"), content.read("a", called=True)) == (1, 2)


@pytest.mark.parametrize(
    ("content", "key", "is_open"),
    [
        (DICT, "a", False),
        (DICT, "c", False),
        (DICT, ANY, True),
        (A_PAIR, ANY, False),
        (Content({"a": None}), ANY, False),
        (Content({"a": 1, ANY: None}), "b", True),
        (Content({"a": 1, ANY: None}), "a", False),
        (Content({"a": None, "b": 1, ANY: None}), "a", False),
        (Content({"a": None}, blurred=True), "a", True),
        (Content({"a": None}, blurred=True), "b", True),
        (Content({"a": None}, blurred=True), ANY, True),
        (Content({"a": 1}, blurred=True), "a", False),
        (Content(), ANY, False),
    ],
)
def test_element_is_open_where_it_may_be_a_result(
    content: Content, key: object, is_open: bool
) -> None:
    assert content.is_open(key) is is_open


@pytest.mark.parametrize(
    ("one", "two", "both", "blurred"),
    [
        ({"a": 1}, {"a": 1}, {"a": 1}, False),
        ({"a": 1}, {"a": 2}, {"a": None}, True),
        ({"a": 1}, {"a": None}, {"a": None}, True),
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}, False),
        ({"a": 1, "b": 1}, {"a": 2, "b": 1, "c": 1}, {"a": None, "b": 1, "c": 1}, True),
    ],
)
def test_either_of_two(
    one: dict[object, int | None],
    two: dict[object, int | None],
    both: dict[object, int | None],
    blurred: bool,
) -> None:
    for first, second in ((one, two), (two, one)):
        assert Content(first).either(Content(second)) == Content(both, blurred=blurred)
        # What is called is a result after that, and never unpacked itself.
        assert Content(calls=first).either(Content(calls=second)) == Content(calls=both)


@pytest.mark.parametrize("field", ["ordered", "blurred"])
@pytest.mark.parametrize(("one", "two"), [(False, False), (False, True), (True, False)])
def test_either_is_what_one_of_them_is(field: str, one: bool, two: bool) -> None:
    both = Content(**{field: one}).either(Content(**{field: two}))

    assert both == Content(**{field: one or two})


@pytest.mark.parametrize(
    ("elements", "content"),
    [
        ([("a", 1, None), ("b", None, 2)], Content({"a": 1, "b": None}, {"b": 2})),
        ([(ANY, 1, None), (ANY, 1, None)], Content({ANY: 1})),
        ([(ANY, 1, None), (ANY, None, None)], Content({ANY: None}, blurred=True)),
        (
            [(ANY, 1, None), (ANY, 2, None), ("a", 1, None)],
            Content({ANY: None, "a": 1}, {}, False, True),
        ),
        ([(ANY, None, 1), (ANY, None, None)], Content({ANY: None}, {ANY: 1})),
    ],
)
def test_elements_of_one_key(
    elements: list[tuple[object, int | None, int | None]], content: Content
) -> None:
    assert Content.of(elements, ordered=False) == content


@pytest.mark.parametrize("ordered", [True, False])
def test_elements_are_gone_over_in_a_list(ordered: bool) -> None:
    assert Content.of([], ordered=ordered) == Content(ordered=ordered)


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ("pairs['a']", 2),
        ("pairs[hidden]", 2),
        ("pairs['b']", None),
        ("pairs.get('a')", 2),
        ("pairs.get('b')", None),
        ("pairs.pop('a', None)", 2),
        ("pairs.setdefault('a', hidden)", 2),
        ("pairs.__getitem__('a')", 2),
        ("pairs.index('a')", None),
        ("pairs.get()", None),
        ("get('a')", None),
        ("hidden['a']", None),
        ("find(pairs)['a']", None),
        ("self.table", 1),
        ("self.pairs['a']", 2),
        ("self.pairs", None),
        ("self.any", None),
        ("self.any[0]", 2),
        ("self.other", None),
        ("pairs", None),
    ],
)
def test_element_that_an_expression_gives(value: str, count: int | None) -> None:
    known = Containers({"pairs": A_PAIR, "self.pairs": A_PAIR, "self.any": Content({ANY: 2})})
    known.bind(expression("self.table"), 1, None)

    assert known.read(expression(value)) == count


def test_element_that_is_called_is_read_by_its_key() -> None:
    known = Containers({"ways": Content({"a": 1}, {"a": 2})})
    value = expression("ways['a']")

    assert (known.read(value), known.read(value, called=True)) == (1, 2)


@pytest.mark.parametrize(
    ("value", "is_open"),
    [
        ("mixed[hidden]", True),
        ("mixed.get(hidden)", True),
        ("mixed['a']", False),
        ("sizes[hidden]", False),
        ("hidden['a']", False),
        ("mixed", False),
    ],
)
def test_element_that_may_be_a_result(value: str, is_open: bool) -> None:
    known = Containers({"mixed": Content({"a": 1, "b": None}), "sizes": Content({"a": None})})

    assert known.is_open(expression(value)) is is_open


@pytest.mark.parametrize(
    ("iterable", "count"),
    [
        ("rows", 1),
        ("self.rows", 1),
        ("rows.values()", 1),
        ("pairs", None),
        ("pairs.values()", 2),
        ("pairs.keys()", None),
        ("pairs.values", None),
        ("values()", None),
        ("find(rows)", None),
        ("hidden", None),
    ],
)
def test_elements_that_are_gone_over(iterable: str, count: int | None) -> None:
    known = Containers({"rows": LIST, "self.rows": LIST, "pairs": A_PAIR})

    assert known.each(expression(iterable)) == count


def test_elements_that_are_gone_over_may_be_results() -> None:
    known = Containers({"rows": Content({0: 1, 1: None}, ordered=True), "dict": DICT})

    texts = ("rows", "dict", "dict.values()", "hidden")
    opened = [text for text in texts if known.is_open_each(expression(text))]
    assert opened == ["rows", "dict.values()"]


@pytest.mark.parametrize("name", ["rows", "self.rows"])
def test_what_is_bound_anew_holds_nothing_of_before(name: str) -> None:
    known = Containers({name: LIST})

    assert known.bind(expression(name), None, None) is None
    assert known.each(expression(name)) is None


def test_name_is_told_where_a_result_is_in_what_is_bound() -> None:
    known = Containers()
    nothing, callable_ = Content({"a": None}), Content({"a": None}, {"a": 1})

    assert known.bind(expression("rows"), None, LIST) == "rows"
    assert known.bind(expression("self.rows"), None, LIST) == "self.rows"
    assert known.bind(expression("self.table"), 2, None) == "self.table"
    assert known.bind(expression("ways"), None, callable_) == "ways"
    assert known.bind(expression("sizes"), None, nothing) is None
    assert known.bind(expression("find().rows"), None, LIST) is None
    # What a name itself is, is not kept here.
    assert known.bind(expression("table"), 2, None) is None
    assert known.names == {"rows", "self.rows", "self.table", "ways"}


def test_elements_that_are_stored_one_by_one() -> None:
    known = Containers({"rows": Content({}, ordered=True)})

    assert known.store("rows", ANY, 1, None) == "rows"
    assert known.of(expression("rows")) == Content({ANY: 1}, ordered=True)
    assert known.store("rows", ANY, 1, None) == "rows"
    assert known.of(expression("rows")) == Content({ANY: 1}, ordered=True)
    assert known.store("rows", ANY, None, None) is None
    assert known.of(expression("rows")) == Content({ANY: None}, ordered=True, blurred=True)
    assert known.store("rows", "a", 2, None) == "rows"
    # It stays unclear which of the others is a result.
    expected = Content({ANY: None, "a": 2}, ordered=True, blurred=True)
    assert known.of(expression("rows")) == expected


def test_elements_of_several_counts_are_stored() -> None:
    known = Containers()
    known.store("rows", ANY, 1, None)
    known.store("rows", ANY, 2, None)

    assert known.of(expression("rows")) == Content({ANY: None}, blurred=True)


def test_element_is_stored_in_place_of_another() -> None:
    known = Containers({"pairs": A_PAIR})

    assert known.store("pairs", "a", None, None) is None
    assert known.of(expression("pairs")) == Content({"a": None})


def test_something_to_call_is_stored() -> None:
    known = Containers()

    assert known.store("ways", "a", None, 2) == "ways"
    assert known.store("ways", "b", None, None) is None
    assert known.of(expression("ways")) == Content({"a": None, "b": None}, {"a": 2})


def test_nothing_is_stored_in_a_place_without_a_name() -> None:
    known = Containers()

    assert known.store(None, "a", 1, 1) is None
    assert known.names == frozenset()


@pytest.mark.parametrize("ordered", [True, False])
def test_container_that_nobody_bound_is_what_it_is_used_as(ordered: bool) -> None:
    known = Containers()
    known.store("rows", ANY, 1, None, ordered=ordered)

    assert known.each(expression("rows")) == (1 if ordered else None)


@pytest.mark.parametrize("target", ["self.pairs", "self.pairs['b']", "self.pairs[hidden]"])
def test_what_something_else_is_assigned_to_is_blurred(target: str) -> None:
    known = Containers({"self.pairs": Content({"a": 2}, {"a": 1}, ordered=True)})
    known.blur(expression(target))

    expected = Content({"a": None, ANY: None}, ordered=True, blurred=True)
    assert known.of(expression("self.pairs")) == expected


@pytest.mark.parametrize("target", ["self.sizes", "self.other", "find().pairs", "find()[0]"])
def test_what_holds_no_result_is_not_blurred(target: str) -> None:
    known = Containers({"self.sizes": Content({"a": None})})
    known.blur(expression(target))

    assert known.names == frozenset()


@pytest.mark.parametrize(
    ("value", "held"),
    [
        ("rows", True),
        ("self.pairs", True),
        ("blurred", True),
        ("sizes", False),
        ("rows[0]", False),
        ("hidden", False),
        ("find()", False),
    ],
)
def test_container_in_which_a_result_is(value: str, held: bool) -> None:
    known = Containers(
        {
            "rows": LIST,
            "self.pairs": A_PAIR,
            "sizes": Content({"a": None}),
            "blurred": Content({"a": None}, blurred=True),
        }
    )

    assert known.holds(expression(value)) is held


def test_what_is_forgotten_with_a_name() -> None:
    known = Containers(dict.fromkeys(("rows", "layer.rows", "other.layer", "self.rows"), LIST))
    known.forget(frozenset({"rows", "layer"}))

    assert known.names == {"other.layer", "self.rows"}


def test_attributes_alone() -> None:
    known = Containers(dict.fromkeys(("rows", "self.rows", "self.layer.rows"), LIST))

    assert known.of_self().names == {"self.rows", "self.layer.rows"}


def test_copy_goes_on_alone() -> None:
    known = Containers({"rows": LIST})
    copy = known.copy()
    assert copy.names == {"rows"}

    copy.store("rows", 0, None, None)
    copy.store("more", 0, 1, None)

    assert known.names == {"rows"}
    assert known.of(expression("rows")) == LIST


def test_either_of_two_sets_of_containers() -> None:
    one = Containers({"rows": LIST, "pairs": A_PAIR})
    two = Containers({"rows": LIST, "pairs": Content({"a": 1}), "more": LIST})

    both = one.either(two)

    assert both.names == {"rows", "pairs", "more"}
    assert both.of(expression("rows")) == LIST
    assert both.of(expression("pairs")) == Content({"a": None}, blurred=True)


def test_what_was_asked_about_or_changed_is_left_out() -> None:
    names = ("rows", "self.rows", "layer.self.pairs", "self.pairs", "changed", "gone", "same")
    before = Containers(dict.fromkeys(names, LIST))
    after = Containers({**dict.fromkeys(names, LIST), "changed": A_PAIR})
    after.forget(frozenset({"gone"}))

    left = before.without(frozenset({"rows", "self"}), after)

    assert left.names == {"layer.self.pairs", "self.pairs", "same"}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("rows", "rows"),
        ("self.layer.rows", "self.layer.rows"),
        ("find().rows", None),
        ("rows[0].table", None),
        ("find()", None),
    ],
)
def test_place(text: str, place: str | None) -> None:
    assert place_of(expression(text)) == place


@pytest.mark.parametrize(
    ("text", "key"),
    [("'a'", "a"), ("0", 0), ("0.5", ANY), ("None", ANY), ("-1", ANY), ("hidden", ANY)],
)
def test_key(text: str, key: object) -> None:
    assert key_of(expression(text)) == key


def test_what_is_merged_has_the_key_of_everything() -> None:
    assert key_of(None) is ANY
