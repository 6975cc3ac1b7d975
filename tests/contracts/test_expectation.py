"""What a contract demands: reading it, and checking it against what is built."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import MEGATRON

from pytest_ropecontract.contracts.expectation import Expectation, ExpectationError, equal, read
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.rope.config import FIELDS
from pytest_ropecontract.rope.resolution import Resolution, resolve

if TYPE_CHECKING:
    from pytest_ropecontract.contracts.findings import Finding

WHERE = "test_x.py:5"
STOCK = Pipeline(MEGATRON, PipelineSettings())
SIZES = "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --swiglu"
GPT = f"{SIZES} --position-embedding-type rope"
YARN = f"{SIZES} --position-embedding-type yarn --rotary-base 150000 --yarn-beta-fast 32"


class TestReading:
    def test_four_values_by_position(self):
        assert read(("yarn", 4096, 32, 1), {}, WHERE).fields == {
            "kind": "yarn",
            "original_max_position_embeddings": 4096,
            "beta_fast": 32,
            "beta_slow": 1,
        }

    def test_other_fields_by_name(self):
        expectation = read(("rope",), {"rotary_base": 1e6, "rope_scaling": None}, WHERE)

        assert expectation.fields == {"kind": "rope", "rotary_base": 1e6, "rope_scaling": None}

    def test_a_contract_demands_declared_values_unless_it_says_otherwise(self):
        assert read(("rope",), {}, WHERE).declared is True
        assert read(("rope",), {"declared": False}, WHERE).declared is False

    @pytest.mark.parametrize(
        ("models", "expected"),
        [(None, ()), ("a-*", ("a-*",)), (["a", "b"], ("a", "b")), (("a",), ("a",))],
    )
    def test_models_are_names_and_globs(self, models: Any, expected: tuple[str, ...]):
        assert read(("rope",), {"models": models}, WHERE).models == expected

    @pytest.mark.parametrize("field", [n for n in FIELDS if n not in {"kind", "attention"}])
    def test_every_field_can_be_expected_to_be_unused(self, field: str):
        assert read((), {field: None}, WHERE).fields == {field: None}

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("rotary_base", 50000),
            ("rotary_base", 50000.0),
            ("rotary_dim", 64.0),
            ("mscale", 1),
            ("rope_scaling", True),
            ("mrope_section", [16, 24, 24]),
            ("mrope_section", (16, 24, 24)),
            ("no_rope_layers", [0, 1]),
            ("attention", "mla"),
            ("rotary_class", "YarnRotaryEmbedding"),
            ("returns", 2),
        ],
    )
    def test_values_of_the_fields_type_are_taken(self, field: str, value: Any):
        assert read((), {field: value}, WHERE).fields == {field: value}


ERRORS: dict[str, tuple[tuple[Any, ...], dict[str, Any], list[str]]] = {
    "unknown field": (
        ("yarn",),
        {"rotary_bas": 1},
        [
            "rope_expect has no field 'rotary_bas'",
            "  at: test_x.py:5",
            f"  fields: {', '.join(FIELDS)}",
            "  remedy: did you mean rotary_base?",
        ],
    ),
    "field like no other": (
        (),
        {"zzz": 1},
        [
            "rope_expect has no field 'zzz'",
            "  at: test_x.py:5",
            f"  fields: {', '.join(FIELDS)}",
            "  remedy: name one of the fields above",
        ],
    ),
    "misspelt switch": (
        ("yarn",),
        {"declare": False},
        [
            "rope_expect has no field 'declare'",
            "  at: test_x.py:5",
            f"  fields: {', '.join(FIELDS)}",
            "  remedy: did you mean declared?",
        ],
    ),
    "misspelt option": (
        ("yarn",),
        {"model": "a"},
        [
            "rope_expect has no field 'model'",
            "  at: test_x.py:5",
            f"  fields: {', '.join(FIELDS)}",
            "  remedy: did you mean models?",
        ],
    ),
    "unknown kind": (
        ("ntk",),
        {},
        [
            "rope_expect: kind is 'ntk', not one of rope, yarn, mrope, none",
            "  at: test_x.py:5",
            '  remedy: write one of them, for example rope_expect(kind="rope")',
        ],
    ),
    "kind of another type": (
        (["yarn"],),
        {},
        ["rope_expect: kind is ['yarn'], not one of rope, yarn, mrope, none", "  at: test_x.py:5"],
    ),
    "unknown attention": (
        (),
        {"attention": "gqa"},
        ["rope_expect: attention is 'gqa', not one of mla, gpt, hybrid", "  at: test_x.py:5"],
    ),
    "text for a whole number": (
        ("yarn", "4096"),
        {},
        [
            "rope_expect: original_max_position_embeddings is '4096', not a whole number",
            "  at: test_x.py:5",
        ],
    ),
    "fraction for a whole number": (
        ("yarn", 4096.5),
        {},
        [
            "rope_expect: original_max_position_embeddings is 4096.5, not a whole number",
            "  at: test_x.py:5",
        ],
    ),
    "text for a number": (
        ("yarn", 4096, "32"),
        {},
        ["rope_expect: beta_fast is '32', not a number", "  at: test_x.py:5"],
    ),
    "truth for a number": (
        ("yarn", 4096, True),
        {},
        ["rope_expect: beta_fast is True, not a number", "  at: test_x.py:5"],
    ),
    "nan": (
        (),
        {"rotary_base": float("nan")},
        ["rope_expect: rotary_base is nan, not a number", "  at: test_x.py:5"],
    ),
    "infinite": (
        (),
        {"rotary_dim": float("inf")},
        ["rope_expect: rotary_dim is inf, not a whole number", "  at: test_x.py:5"],
    ),
    "number beyond all floats": (
        (),
        {"rotary_base": 10**400},
        [f"rope_expect: rotary_base is 1{'0' * 400}, not a number", "  at: test_x.py:5"],
    ),
    "whole number beyond all floats": (
        (),
        {"rotary_dim": -(10**400)},
        [f"rope_expect: rotary_dim is -1{'0' * 400}, not a whole number", "  at: test_x.py:5"],
    ),
    "text for a list": (
        (),
        {"mrope_section": "16"},
        ["rope_expect: mrope_section is '16', not a list of whole numbers", "  at: test_x.py:5"],
    ),
    "list of truths": (
        (),
        {"mrope_section": [True]},
        ["rope_expect: mrope_section is [True], not a list of whole numbers", "  at: test_x.py:5"],
    ),
    "number for a truth": (
        (),
        {"rope_scaling": 1},
        ["rope_expect: rope_scaling is 1, not True or False", "  at: test_x.py:5"],
    ),
    "number for a text": (
        (),
        {"rotary_class": 1},
        ["rope_expect: rotary_class is 1, not a text", "  at: test_x.py:5"],
    ),
    "number for a list": (
        (),
        {"mrope_section": 16},
        ["rope_expect: mrope_section is 16, not a list of whole numbers", "  at: test_x.py:5"],
    ),
    "list of texts": (
        (),
        {"mrope_section": ["16"]},
        ["rope_expect: mrope_section is ['16'], not a list of whole numbers", "  at: test_x.py:5"],
    ),
    "too many by position": (
        ("yarn", 4096, 32, 1, 50000),
        {},
        [
            "rope_expect takes 4 values by position, 5 are given",
            "  at: test_x.py:5",
            "  by position: kind, original_max_position_embeddings, beta_fast, beta_slow",
            "  remedy: name the others, for example rotary_base=50000",
        ],
    ),
    "twice": (
        ("yarn",),
        {"kind": "yarn"},
        [
            "rope_expect gives 'kind' by position and by name",
            "  at: test_x.py:5",
            "  remedy: give it once",
        ],
    ),
    "declared as text": (
        ("yarn",),
        {"declared": "no"},
        [
            "rope_expect: declared is 'no', not True or False",
            "  at: test_x.py:5",
            "  remedy: write declared=False to accept a default, or leave it out",
        ],
    ),
    "declared as number": (
        ("yarn",),
        {"declared": 1},
        ["rope_expect: declared is 1, not True or False", "  at: test_x.py:5"],
    ),
    "no models": (
        ("yarn",),
        {"models": []},
        ["rope_expect: models is empty", "  at: test_x.py:5"],
    ),
    "models as number": (
        ("yarn",),
        {"models": 5},
        ["rope_expect: models is 5, not a list of names", "  at: test_x.py:5"],
    ),
    "models of numbers": (
        ("yarn",),
        {"models": ["a", 5]},
        ["rope_expect: models is ['a', 5], not a list of names", "  at: test_x.py:5"],
    ),
    "nothing": (
        (),
        {"models": ["a"], "declared": True},
        [
            "rope_expect expects nothing",
            "  at: test_x.py:5",
            '  remedy: name what is expected, for example rope_expect("yarn", 4096, 32, 1)',
        ],
    ),
}


@pytest.mark.parametrize(("args", "kwargs", "lines"), ERRORS.values(), ids=ERRORS)
def test_a_contract_that_cannot_be_read_says_why(
    args: tuple[Any, ...], kwargs: dict[str, Any], lines: list[str]
):
    with pytest.raises(ExpectationError) as caught:
        read(args, kwargs, WHERE)

    text = str(caught.value).splitlines()
    assert text[: len(lines)] == lines
    assert text[-1].startswith("  remedy: ")


def test_the_largest_number_of_all_can_be_expected():
    assert read((), {"rotary_base": sys.float_info.max}, WHERE).fields["rotary_base"] > 1e308


@pytest.mark.parametrize(
    ("args", "kwargs", "text"),
    [
        (("yarn", 4096, 32, 1), {}, 'rope_expect("yarn", 4096, 32, 1)'),
        (("rope",), {"rotary_base": 1e6}, 'rope_expect("rope", rotary_base=1000000.0)'),
        ((), {"mrope_section": [1, 2]}, "rope_expect(mrope_section=[1, 2])"),
        (("rope",), {"declared": False}, 'rope_expect("rope", declared=False)'),
        ((), {"beta_fast": 1}, "rope_expect(beta_fast=1)"),
        ((), {"beta_slow": 1, "kind": "yarn"}, 'rope_expect("yarn", beta_slow=1)'),
    ],
)
def test_a_contract_is_shown_as_it_is_written(
    args: tuple[Any, ...], kwargs: dict[str, Any], text: str
):
    assert read(args, kwargs, WHERE).text() == text


class TestComparing:
    @pytest.mark.parametrize(
        ("expected", "actual"),
        [
            (1000000, 1000000.0),
            (0.1 + 0.2, 0.3),
            ([1, 2], (1, 2)),
            ((1, 2.0), [1.0, 2]),
            (None, None),
            ("yarn", "yarn"),
            (True, True),
            (10**400, 10**400),
        ],
    )
    def test_the_same_meaning_is_equal(self, expected: Any, actual: Any):
        assert equal(expected, actual)

    @pytest.mark.parametrize(
        ("expected", "actual"),
        [
            (1, True),
            (0, False),
            (True, 1.0),
            (0, None),
            (1.0, 1.0001),
            (0.0, 1e-12),
            ([1, 2], [1, 2, 3]),
            ([1, 2], [2, 1]),
            ("rope", "yarn"),
            ("1", 1),
            (float("nan"), float("nan")),
            (10**400, 10**400 + 1),
            (10**400, 1.0),
            (10**400, float("inf")),
        ],
    )
    def test_another_meaning_differs(self, expected: Any, actual: Any):
        assert not equal(expected, actual)
        assert not equal(actual, expected)

    @given(st.integers(-(10**9), 10**9))
    def test_a_whole_number_equals_its_float(self, number: int):
        assert equal(number, float(number))


def check(argv: str, *args: Any, **kwargs: Any) -> tuple[Finding, ...]:
    return read(args, kwargs, WHERE).check("m", resolution(argv))


def resolution(argv: str) -> Resolution:
    return resolve(STOCK, argv.split())


class TestChecking:
    def test_declared_values_that_are_right_pass(self):
        argv = f"{YARN} --yarn-original-max-position-embeddings 4096 --yarn-beta-slow 1"

        assert check(argv, "yarn", 4096, 32, 1, rotary_base=150000.0) == ()

    def test_another_value_is_found_with_its_origin(self):
        (finding,) = check(f"{YARN} --yarn-beta-slow 1", "yarn", beta_fast=1, beta_slow=1)

        assert finding.text().splitlines() == [
            (
                "expectation: m: beta_fast is 32 (declared: --yarn-beta-fast 32), expected 1 "
                'by rope_expect("yarn", beta_fast=1, beta_slow=1)'
            ),
            "  expected: 1",
            "  actual:   32",
            "  origin:   declared (--yarn-beta-fast 32)",
            "  size:     numerically identical",
            (
                "  remedy:   declare --yarn-beta-fast 1 in the definition, or correct the "
                "expectation in test_x.py:5"
            ),
        ]
        assert finding.status == "fail"

    def test_size_of_a_difference(self):
        def size(argv, *args, **fields):
            return [finding.effect for finding in check(argv, *args, **fields)]

        factor = f"{YARN} --rotary-scaling-factor 32"
        assert size(factor, rotary_scaling_factor=16) == [
            (
                "5 of 8 frequencies differ, largest ratio 2; first phase off by 1 rad at "
                "position 8382; cosine and sine x1.054"
            )
        ]
        # The numbers of a kind come with it, and must be enough for it.
        assert size(GPT, "yarn", 4096, 32, 1)[0] is None
        assert size(factor, "rope")[0].endswith("cosine and sine x1.347")
        # What no number follows from, and what is not used.
        assert size(GPT, rotary_percent=0.5) == [None]
        assert size(GPT, returns=2) == [None]
        assert size(GPT, beta_fast=1) == [None]
        assert size(GPT, no_rope_layers=[0, 1])[0].endswith(
            "1 of 2 layers rotate in one and not in the other"
        )
        assert size(factor, magnitude=1.0)[0].endswith("cosine and sine x1.347")

    def test_size_of_a_kind_is_that_of_all_that_is_expected(self):
        yarn = {
            "kind": "yarn",
            "original_max_position_embeddings": 4096,
            "beta_fast": 32,
            "beta_slow": 1,
            "rotary_scaling_factor": 32,
            "round_to_int": True,
        }

        effects = {one.field: one.effect for one in check(GPT, **yarn)}

        assert effects["kind"] is not None
        # 0.1 ln 32 + 1 is 1.347, and what is built does not multiply.
        assert effects["kind"].endswith("; cosine and sine x0.7426")

    def test_size_of_another_field_is_that_of_it_alone(self):
        both = check(GPT, rotary_base=50000, rotary_interleaved=True)
        alone = [*check(GPT, rotary_base=50000), *check(GPT, rotary_interleaved=True)]

        assert [one.effect for one in both] == [one.effect for one in alone]

    @pytest.mark.parametrize(
        ("argv", "expected", "remedy"),
        [
            (GPT, {"rope_scaling": True}, "declare --use-rope-scaling, "),
            (f"{GPT} --use-rope-scaling", {"rope_scaling": False}, "remove --use-rope-scaling, "),
            (GPT, {"returns": 2}, "change the flags that decide what is built, "),
        ],
    )
    def test_what_to_declare_where_a_field_differs(
        self, argv: str, expected: dict[str, Any], remedy: str
    ):
        (finding,) = check(argv, **expected)

        assert str(finding.remedy).startswith(remedy)

    def test_every_field_that_differs_is_found(self):
        findings = check(YARN, "rope", beta_fast=1, rotary_base=150000)

        assert [finding.field for finding in findings] == ["kind", "beta_fast"]

    def test_a_field_that_is_not_used_differs_from_a_value(self):
        (finding,) = check(GPT, beta_fast=1)

        assert finding.message == "beta_fast is not used, expected 1 by rope_expect(beta_fast=1)"

    def test_a_field_that_is_used_differs_from_none(self):
        (finding,) = check(YARN, beta_fast=None)

        assert (finding.rule, finding.expected, finding.actual) == ("expectation", None, 32.0)

    def test_a_matching_default_is_not_declared(self):
        (finding,) = check(YARN, "yarn", beta_slow=1)

        assert finding.text().splitlines() == [
            (
                "implicit-field: m: beta_slow is 1 as expected, but no flag declares it "
                "(config-default: TransformerConfig.yarn_beta_slow)"
            ),
            "  expected: 1",
            "  actual:   1",
            "  origin:   config-default (TransformerConfig.yarn_beta_slow)",
            (
                "  remedy:   declare --yarn-beta-slow 1 in the definition, or accept the default "
                "with declared=False"
            ),
        ]
        assert (finding.field, finding.status) == ("beta_slow", "fail")

    def test_a_matching_default_passes_where_the_contract_accepts_it(self):
        assert check(YARN, "yarn", beta_slow=1, declared=False) == ()

    def test_a_wrong_default_never_passes(self):
        assert [one.rule for one in check(YARN, beta_slow=2, declared=False)] == ["expectation"]

    def test_a_default_that_is_off_needs_no_flag(self):
        assert check(GPT, "rope", rope_scaling=False, rotary_interleaved=False) == ()

    def test_a_field_that_must_not_be_used_needs_no_flag(self):
        assert check(GPT, "rope", beta_fast=None, rope_scaling_factor=None) == ()

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("attention", "gpt"),
            ("magnitude", 1.0),
            ("softmax_multiplier", 1.0),
            ("rotary_class", "RotaryEmbedding"),
            ("returns", 1),
        ],
    )
    def test_what_follows_from_other_fields_needs_no_flag(self, field: str, value: Any):
        assert check(GPT, **{field: value}) == ()

    def test_a_constructors_default_is_not_declared(self):
        (finding,) = check(f"{GPT} --use-rope-scaling", rope_scaling_factor=8.0)

        assert (finding.rule, finding.origin) == ("implicit-field", "constructor-default")
        assert finding.remedy == (
            "no flag of this Megatron sets it: add one with rope_contract_arguments, "
            "or accept the default with declared=False"
        )

    def test_a_switch_that_is_on_by_declaration_passes(self):
        assert check(f"{GPT} --use-rope-scaling", rope_scaling=True) == ()

    def test_a_pinned_value_is_not_declared(self):
        pinned = Pipeline(MEGATRON, PipelineSettings(pins={"rotary_base": 5}))
        expectation = read((), {"rotary_base": 5}, WHERE)

        (finding,) = expectation.check("m", resolve(pinned, GPT.split()))

        assert (finding.rule, finding.origin) == ("implicit-field", "pinned")

    def test_where_nothing_is_built_nothing_is_as_expected(self):
        (finding,) = check(f"{GPT} --rope-type yarn", "rope")

        assert finding.text().splitlines() == [
            (
                'expectation: m: expected rope_expect("rope"), but nothing is built: Common '
                'attention only support rope_type="rope", but got yarn.'
            ),
            "  remedy:   correct what is refused; the contract is checked after that",
        ]

    def test_without_a_place_the_test_is_named_in_general(self):
        (finding,) = Expectation({"kind": "yarn"}).check("m", resolution(GPT))

        assert finding.remedy == (
            "declare --position-embedding-type yarn in the definition, "
            "or correct the expectation in the test"
        )
