"""What is launched against what the definition builds that a launcher names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from strategies import MEGATRON

from pytest_ropecontract.contracts import launched
from pytest_ropecontract.contracts.launched import Named
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.rope.resolution import resolve

if TYPE_CHECKING:
    from pytest_ropecontract.contracts.findings import Finding
    from pytest_ropecontract.rope.resolution import Resolution

STOCK = Pipeline(MEGATRON, PipelineSettings())
DROPPING = Pipeline(MEGATRON, PipelineSettings(unknown="drop"))
BASED = Pipeline(MEGATRON, PipelineSettings(base_args=("--rotary-base", "3")))
SIZES = "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --swiglu"
GPT = f"{SIZES} --position-embedding-type rope"
MLA = f"{GPT} --multi-latent-attention --no-rope-fusion"
YARN = f"{MLA} --rope-type yarn --rotary-scaling-factor 40"
NAMED = Named("scripts/run.sh", "one", "which --load /x/one names")
REFUSED = f"{GPT} --rope-type yarn"
# It is built, but no frequencies follow from it.
NO_BASE = f"{GPT} --rotary-base 0"


def resolution(argv: str, pipeline: Pipeline = STOCK) -> Resolution:
    return resolve(pipeline, argv.split())


def check(argv: str, definition: str, pipeline: Pipeline = STOCK) -> tuple[Finding, ...]:
    return launched.check(NAMED, resolution(argv, pipeline), resolution(definition, pipeline))


def only(argv: str, definition: str, pipeline: Pipeline = STOCK) -> Finding:
    (finding,) = check(argv, definition, pipeline)
    return finding


def of_flags(finding: Finding) -> list[str]:
    return [line for line in finding.details if line.startswith(("flags: ", "and "))]


def of_fields(finding: Finding) -> list[str]:
    return [line for line in finding.details if line not in of_flags(finding)]


class TestOverride:
    def test_another_value_is_found_with_both_and_where_they_come_from(self):
        finding = only(f"{GPT} --rotary-base 10000", f"{GPT} --rotary-base 50000")

        assert finding.text().splitlines() == [
            (
                "launcher-override: scripts/run.sh: one: rotary_base is 10000, and one, "
                "which --load /x/one names, builds 50000"
            ),
            "  expected: 50000",
            "  actual:   10000",
            "  origin:   declared (--rotary-base 10000)",
            "  flags: --rotary-base 50000 -> --rotary-base 10000",
            "  rotary_base: 50000 (declared) -> 10000 (declared)",
            (
                "  size:     7 of 8 frequencies differ, largest ratio 4.089; "
                "first phase off by 1 rad at position 18"
            ),
            (
                "  remedy:   launch the flags of one without a change, or define what is launched "
                "under a name of its own and name that in rope_contract_launchers"
            ),
        ]

    def test_the_finding_fails_and_says_its_field(self):
        finding = only(f"{GPT} --rotary-base 10000", f"{GPT} --rotary-base 50000")

        assert (finding.field, finding.status) == ("rotary_base", "fail")

    def test_the_launched_command_line_is_the_one_that_shows_it(self):
        finding = only(f"{GPT} --rotary-base 10000", f"{GPT} --rotary-base 50000")

        assert finding.argv == (*GPT.split(), "--rotary-base", "10000")

    @pytest.mark.parametrize("more", ["", "--rotary-base 10000", "--lr 1 --seed 4"])
    def test_what_builds_the_same_is_silent(self, more: str):
        assert check(f"{GPT} {more}", GPT) == ()

    @pytest.mark.parametrize(("argv", "definition"), [(REFUSED, GPT), (GPT, REFUSED)])
    def test_what_is_not_built_is_another_rule(self, argv: str, definition: str):
        assert check(argv, definition) == ()

    def test_where_nothing_is_rotated_every_value_is_read_by_nothing(self):
        finding = only(f"{SIZES} --position-embedding-type none", GPT)

        assert finding.message == ("kind is none, and one, which --load /x/one names, builds rope")
        assert "rotary_base: 10000 (parser-default) -> read by nothing" in finding.details

    def test_the_size_reads_as_what_is_launched_over_what_should_be(self):
        """YaRN's magnitude for a factor of 40 is 0.1 ln 40 + 1."""
        finding = only(YARN, YARN.replace("yarn", "rope"))

        assert finding.effect is not None
        assert finding.effect.endswith("; cosine and sine x1.369")

    @pytest.mark.parametrize(("argv", "definition"), [(NO_BASE, GPT), (GPT, NO_BASE)])
    def test_where_no_frequencies_follow_there_is_no_size(self, argv: str, definition: str):
        finding = only(argv, definition)

        assert (finding.field, finding.effect) == ("rotary_base", None)

    def test_a_base_beyond_all_floats_differs(self):
        finding = only(f"{GPT} --rotary-base {'9' * 400}", GPT)

        assert (finding.actual, finding.effect) == (int("9" * 400), None)

    def test_what_follows_from_other_fields_is_named_only_where_nothing_else_differs(self):
        finding = only(GPT, f"{GPT} --hybrid-layer-pattern M*M*")

        assert finding.message == (
            "attention is gpt, and one, which --load /x/one names, builds hybrid"
        )
        assert (finding.origin, finding.source) == (None, None)
        assert of_fields(finding) == []


class TestExpanded:
    @pytest.mark.parametrize(
        ("expanded", "end"),
        [
            ((), "builds 50000"),
            (("two",), "builds 50000; the flags are those of two"),
            (("two", "three"), "builds 50000; the flags are those of two or three"),
        ],
    )
    def test_definitions_whose_flags_are_launched_are_named(
        self, expanded: tuple[str, ...], end: str
    ):
        found = launched.check(
            NAMED, resolution(GPT), resolution(f"{GPT} --rotary-base 50000"), expanded
        )

        assert [one.message.partition("names, ")[2] for one in found] == [end]


class TestDetails:
    def test_every_stated_field_that_differs_is_told_with_its_origins(self):
        finding = only(f"{YARN} --rotary-base 5 --mscale 0.5", YARN)

        assert of_fields(finding) == [
            "rotary_base: 10000 (parser-default) -> 5 (declared)",
            "mscale: 1 (parser-default) -> 0.5 (declared)",
        ]

    def test_a_field_of_one_of_two_kinds_is_read_by_nothing_in_the_other(self):
        fields = of_fields(only(YARN, YARN.replace("yarn", "rope")))

        assert fields[0] == "kind: rope (declared) -> yarn (declared)"
        assert "rotary_percent: 1 (parser-default) -> read by nothing" in fields
        assert "beta_fast: read by nothing -> 32 (config-default)" in fields

    @pytest.mark.parametrize(
        ("argv", "definition", "lines"),
        [
            ("--rotary-base 5", "", ["flags: nothing -> --rotary-base 5"]),
            ("", "--rotary-base 5", ["flags: --rotary-base 5 -> nothing"]),
            (
                "--rotary-base 5 --rotary-base 7",
                "--rotary-base 5",
                ["flags: --rotary-base 5 -> --rotary-base 5 --rotary-base 7"],
            ),
            (
                "--kv-channels 8 --rotary-base 7",
                "--rotary-base 5",
                [
                    "flags: --rotary-base 5 -> --rotary-base 7",
                    "flags: nothing -> --kv-channels 8",
                ],
            ),
            (
                "--rotary-base 5 --lr 1",
                "--lr 2",
                ["flags: nothing -> --rotary-base 5", "and 1 flag that rotates nothing"],
            ),
            (
                "--rotary-base 5 --lr 1 --seed 3",
                "--lr 2 --seed 4",
                ["flags: nothing -> --rotary-base 5", "and 2 flags that rotate nothing"],
            ),
            (
                "--seed 3 --lr 1 --rotary-base 5",
                "--lr 1",
                ["flags: nothing -> --rotary-base 5", "and 1 flag that rotates nothing"],
            ),
        ],
    )
    def test_flags_that_differ_are_told_and_those_that_rotate_nothing_counted(
        self, argv: str, definition: str, lines: list[str]
    ):
        assert of_flags(only(f"{GPT} {argv}", f"{GPT} {definition}")) == lines

    def test_the_first_flag_of_all_is_told_as_well(self):
        assert of_flags(only(f"--rotary-base 5 {GPT}", GPT)) == [
            "flags: nothing -> --rotary-base 5"
        ]

    def test_a_flag_that_a_parser_drops_rotates_nothing(self):
        finding = only(f"{GPT} --rotary-base 5 --rotary-bas 7 --zzz 1", GPT, DROPPING)

        assert of_flags(finding) == [
            "flags: nothing -> --rotary-base 5",
            "and 2 flags that rotate nothing",
        ]

    def test_base_args_are_no_flags_of_either(self):
        finding = only(f"{GPT} --rotary-base 5", GPT, BASED)

        assert of_flags(finding) == ["flags: nothing -> --rotary-base 5"]


class TestUnreached:
    def unreached(
        self, variables: dict[str, str], argv: str = GPT, meant: str = f"{GPT} --rotary-base 50000"
    ) -> Finding | None:
        return launched.unreached(
            NAMED, variables, "the environment", resolution(argv), resolution(meant)
        )

    def test_a_variable_that_reaches_no_flag_is_found_with_what_it_would_change(self):
        finding = self.unreached({"BASE": "50000"})

        assert finding is not None
        assert finding.text().splitlines() == [
            (
                "launcher-override: scripts/run.sh: one: BASE=50000 reaches the environment alone "
                "and no flag: rotary_base is 10000, not 50000"
            ),
            "  expected: 50000",
            "  actual:   10000",
            "  flags: --rotary-base 50000 -> nothing",
            (
                "  size:     7 of 8 frequencies differ, largest ratio 4.089; "
                "first phase off by 1 rad at position 18"
            ),
            "  remedy:   set it before the flags are expanded, or pass the flag itself",
        ]
        assert (finding.field, finding.argv) == ("rotary_base", tuple(GPT.split()))

    def test_several_variables_are_told_together(self):
        finding = self.unreached({"BASE": "50000", "NODES": "2"})

        assert finding is not None
        assert finding.message == (
            "BASE=50000, NODES=2 reach the environment alone and no flag: "
            "rotary_base is 10000, not 50000"
        )

    def test_what_would_build_the_same_is_silent(self):
        assert self.unreached({"BASE": "10000"}, meant=f"{GPT} --rotary-base 10000") is None

    def test_a_value_that_nothing_reads_has_no_value_to_name(self):
        """The length of the llama3 rule is its first field."""
        finding = self.unreached({"STRETCH": "1"}, meant=f"{GPT} --use-rope-scaling")

        assert finding is not None
        assert finding.message.endswith(
            ": original_max_position_embeddings is read by nothing, not 8192"
        )

    def test_where_no_frequencies_follow_there_is_no_size(self):
        finding = self.unreached({"BASE": "0"}, meant=NO_BASE)

        assert finding is not None
        assert (finding.field, finding.effect) == ("rotary_base", None)

    @pytest.mark.parametrize(("argv", "meant"), [(REFUSED, GPT), (GPT, REFUSED)])
    def test_what_is_not_built_cannot_be_compared(self, argv: str, meant: str):
        with pytest.raises(ValueError, match="nothing is built"):
            self.unreached({"BASE": "5"}, argv, meant)


class TestDiffering:
    def differing(self, one: str, other: str) -> tuple[str, ...]:
        return launched.differing(resolution(one).built, resolution(other).built)

    def test_the_same_differs_in_nothing(self):
        assert self.differing(GPT, f"{GPT} --rotary-base 10000 --lr 1") == ()

    def test_a_whole_number_is_its_float(self):
        assert self.differing(f"{YARN} --mscale 1", f"{YARN} --mscale 1.0") == ()

    def test_what_follows_from_others_comes_last(self):
        """Also the attention, which is the second of all fields."""
        assert self.differing(f"{GPT} --rotary-base 5", f"{MLA} --rope-type rope") == (
            "rotary_base",
            "rotary_dim",
            "attention",
        )
