"""Each rule fires on what it is about, and is silent on its right neighbour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from strategies import MEGATRON, SURFACE

from pytest_ropecontract.contracts import rules
from pytest_ropecontract.contracts.findings import RULES, Finding
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.megatron.recorded import RecordedMegatron
from pytest_ropecontract.megatron.surface_files import load_shipped
from pytest_ropecontract.rope.resolution import resolve

if TYPE_CHECKING:
    from pathlib import Path

STOCK = Pipeline(MEGATRON, PipelineSettings())
DROPPING = Pipeline(MEGATRON, PipelineSettings(unknown="drop"))
SIZES = "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --swiglu"
GPT = f"{SIZES} --position-embedding-type rope"
MLA = f"{GPT} --multi-latent-attention --no-rope-fusion"
FRAME = """
def options(parser):
    parser.add_argument("--beta-fast", type=float, default=32)

def fill(args):
    if args.rope_type is None and args.multi_latent_attention:
        args.rope_type = "yarn"

def stretch(args):
    args.position_embedding_type = "yarn"

def divide(args):
    args.rotary_base = args.rotary_base / 1

def narrow(args):
    args.kv_channels = 8

def widen(args):
    args.kv_channels = 16
    args.rotary_base = 10000

def overwrite(args):
    args.rotary_base = 10000
    args.seed = 7
"""


def check(argv: str | list[str], pipeline: Pipeline = STOCK) -> tuple[Finding, ...]:
    tokens = argv.split() if isinstance(argv, str) else argv
    return rules.check("m", resolve(pipeline, tokens), pipeline)


def of(rule: str, argv: str | list[str], pipeline: Pipeline = STOCK) -> list[Finding]:
    return [finding for finding in check(argv, pipeline) if finding.rule == rule]


def failing(argv: str, pipeline: Pipeline = STOCK) -> list[str]:
    return [finding.rule for finding in check(argv, pipeline) if finding.status == "fail"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("frame")
    (path / "rule_frame.py").write_text(FRAME)
    return path


def framework(folder: Path, **settings: Any) -> Pipeline:
    return Pipeline(MEGATRON, PipelineSettings(pythonpath=(str(folder),), **settings))


@pytest.mark.parametrize(
    "argv",
    [
        GPT,
        f"{MLA} --rope-type rope",
        f"{MLA} --rope-type yarn --rotary-scaling-factor 40 --mscale-all-dim 1",
        f"{SIZES} --position-embedding-type yarn --yarn-beta-fast 1",
        f"{SIZES} --position-embedding-type none",
    ],
)
def test_a_sound_definition_has_nothing_that_fails(argv: str):
    assert failing(argv) == []


@pytest.mark.parametrize(
    ("argv", "pipeline"),
    [
        (f"{MLA} --rotary-bas 5 stray --mscale 1 --mscale 2 --use-rope-scaling", STOCK),
        (f"{MLA} --rotary-bas 5 --rope-type yarn 6", DROPPING),
        (f"{GPT} --rotary-base 1e6", STOCK),
        (f"{GPT} --rope-type yarn", STOCK),
        (f"{SIZES} --position-embedding-type yarn --use-rotary-position-embeddings", STOCK),
    ],
)
def test_every_finding_is_of_its_model(argv: str, pipeline: Pipeline):
    assert {finding.model for finding in check([*argv.split(), ""], pipeline)} == {"m"}


class TestImplicitYarn:
    def test_a_config_class_fills_it_in(self):
        (finding,) = of("implicit-yarn", f"{MLA} --rotary-scaling-factor 40")

        assert finding.text().splitlines() == [
            (
                "implicit-yarn: m: becomes yarn (factor 40.0, beta_fast 32, beta_slow 1) and no "
                "flag says so (config-default: MLATransformerConfig.rope_type)"
            ),
            "  actual:   yarn",
            "  origin:   config-default (MLATransformerConfig.rope_type)",
            (
                "  remedy:   declare --rope-type yarn, or --rope-type rope where the checkpoint "
                "uses plain RoPE (plain RoPE under MLA also needs --no-rope-fusion)"
            ),
        ]
        assert finding.status == "fail"

    def test_a_framework_fills_it_in(self, folder: Path):
        pipeline = framework(folder, defaults=("rule_frame:fill",))

        (finding,) = of("implicit-yarn", MLA, pipeline)

        assert (finding.origin, finding.source) == ("filled", "rule_frame:fill")

    def test_a_framework_makes_it_of_common_attention(self, folder: Path):
        """There, plain RoPE needs no other flag."""
        pipeline = framework(folder, defaults=("rule_frame:stretch",))

        (finding,) = of("implicit-yarn", GPT, pipeline)

        assert finding.remedy == (
            "declare --position-embedding-type yarn, or --position-embedding-type rope where the "
            "checkpoint uses plain RoPE"
        )

    def test_where_the_parser_has_no_flag_for_it_one_is_to_be_added(self):
        options = tuple(one for one in SURFACE.options if one.dest != "rope_type")
        megatron = RecordedMegatron(SURFACE._replace(options=options))

        (finding,) = of("implicit-yarn", MLA, Pipeline(megatron, PipelineSettings()))

        assert finding.remedy == (
            "no flag of this Megatron sets it: add one with rope_contract_arguments "
            "(plain RoPE under MLA also needs --no-rope-fusion)"
        )

    @pytest.mark.parametrize("kind", ["rope", "yarn"])
    def test_a_declared_type_is_silent(self, kind: str):
        assert of("implicit-yarn", f"{MLA} --rope-type {kind}") == []

    def test_yarn_of_common_attention_is_always_declared(self):
        assert of("implicit-yarn", f"{SIZES} --position-embedding-type yarn") == []


class TestImplicitField:
    def fields(self, argv: str) -> dict[str | None, str | None]:
        return {finding.field: finding.remedy for finding in of("implicit-field", argv)}

    def test_what_was_not_declared_is_noted_with_the_flag_that_would(self):
        assert self.fields(GPT) == {
            "rotary_base": "declare it: --rotary-base 10000",
            "rotary_dim": "declare it: --kv-channels 16",
            "rotary_percent": "declare it: --rotary-percent 1",
        }

    def test_the_flag_states_what_the_parser_has_and_not_what_follows_from_it(self):
        """Half of a head of 16 elements is rotated."""
        (finding,) = [
            one
            for one in of("implicit-field", f"{GPT} --rotary-percent 0.5")
            if one.field == "rotary_dim"
        ]

        assert (finding.actual, finding.remedy) == (8, "declare it: --kv-channels 16")

    def test_another_kind_than_yarn_is_noted(self):
        fields = self.fields(SIZES)

        assert fields == {"kind": "declare it: --position-embedding-type learned_absolute"}

    def test_it_is_a_note(self):
        assert {finding.status for finding in of("implicit-field", GPT)} == {"note"}

    def test_a_declared_field_is_silent(self):
        assert self.fields(f"{GPT} --rotary-base 10000 --kv-channels 16 --rotary-percent 1.0") == {}

    def test_it_says_where_the_value_comes_from(self):
        finding = of("implicit-field", GPT)[0]

        assert finding.text().splitlines() == [
            (
                "implicit-field: m: rotary_base is 10000 and not declared "
                "(parser-default: default of --rotary-base)"
            ),
            "  actual:   10000",
            "  origin:   parser-default (default of --rotary-base)",
            "  remedy:   declare it: --rotary-base 10000",
        ]

    def test_what_no_flag_can_state_is_silent(self):
        """Stock Megatron has no flag for YaRN's betas under MLA."""
        assert "beta_fast" not in self.fields(f"{MLA} --rope-type yarn")

    def test_an_added_flag_can_state_it(self, folder: Path):
        pipeline = framework(folder, arguments=("rule_frame:options",))
        findings = of("implicit-field", f"{MLA} --rope-type yarn", pipeline)

        assert "declare it: --beta-fast 32" in [finding.remedy for finding in findings]

    def test_a_flag_without_a_value_can_state_it(self):
        fields = self.fields(f"{SIZES} --position-embedding-type yarn")

        assert fields["round_to_int"] == "declare it: --yarn-correction-range-round-to-int"
        assert fields["beta_fast"] == "declare it: --yarn-beta-fast 32"

    def test_the_kind_of_an_implicit_yarn_is_said_once(self):
        assert "kind" not in self.fields(MLA)

    def test_a_pin_is_silent(self):
        pinned = Pipeline(MEGATRON, PipelineSettings(pins={"rotary_base": 5}))

        assert "rotary_base" not in [one.field for one in of("implicit-field", GPT, pinned)]


class TestInertFlag:
    def test_the_wrong_factor_of_a_llama_fails(self):
        (finding,) = of("inert-flag", f"{GPT} --use-rope-scaling --rotary-scaling-factor 32")

        assert finding.text().splitlines() == [
            (
                "inert-flag: m: --rotary-scaling-factor 32 is read by nothing that is built "
                "(RotaryEmbedding); rope_scaling_factor is 8 "
                "(constructor-default: RotaryEmbedding.rope_scaling_factor)"
            ),
            "  expected: 32",
            "  actual:   8",
            "  origin:   constructor-default (RotaryEmbedding.rope_scaling_factor)",
            "  remedy:   remove the flag, or use the one that this attention reads",
        ]
        assert (finding.flag, finding.status) == ("--rotary-scaling-factor 32", "fail")

    @pytest.mark.parametrize("flag", ["--rotary-scaling-factor", "--rope-scaling-factor"])
    def test_the_value_that_is_used_anyway_is_a_note(self, flag: str):
        (finding,) = of("inert-flag", f"{GPT} --use-rope-scaling {flag} 8")

        assert (finding.status, finding.remedy) == ("note", "remove the flag, it changes nothing")

    @pytest.mark.parametrize(
        "argv",
        [
            f"{GPT} --rotary-scaling-factor 40",
            f"{GPT} --mscale 0.5",
            f"{GPT} --yarn-beta-fast 1",
            f"{GPT} --yarn-original-max-position-embeddings 4096",
            f"{GPT} --no-yarn-correction-range-round-to-int",
            f"{MLA} --rope-type rope --use-rope-scaling",
            f"{MLA} --rope-type rope --rotary-seq-len-interpolation-factor 2",
            f"{MLA} --rope-type rope --mscale 0.5",
            f"{MLA} --rope-type yarn --rotary-percent 0.5",
            f"{MLA} --rope-type yarn --yarn-beta-fast 1",
            f"{MLA} --rope-type yarn --no-rope-freq 2",
            f"{SIZES} --position-embedding-type none --rotary-base 5",
            f"{SIZES} --position-embedding-type mrope --mrope-section 2 3 3 --use-rope-scaling",
            f"{GPT} --mrope-section 2 3 3",
            f"{GPT} --hybrid-layer-pattern M*M* --rotary-interleaved",
        ],
    )
    def test_a_value_that_nothing_reads_fails(self, argv: str):
        assert [finding.status for finding in of("inert-flag", argv)] == ["fail"]

    @pytest.mark.parametrize(
        "argv",
        [
            f"{GPT} --rotary-scaling-factor 1.0",
            f"{GPT} --mscale 1.0 ",
            f"{GPT} --mscale-all-dim 0",
            f"{GPT} --rope-type rope",
            f"{MLA} --rope-type yarn --rotary-percent 1.0",
            f"{MLA} --rope-type yarn --yarn-beta-fast 32",
            f"{MLA} --rope-type rope --mscale 1",
        ],
    )
    def test_a_value_that_would_change_nothing_is_a_note(self, argv: str):
        assert [finding.status for finding in of("inert-flag", argv)] == ["note"]

    @pytest.mark.parametrize(
        "argv",
        [
            f"{GPT} --rotary-base 5 --rotary-percent 0.5 --use-rope-scaling --rotary-interleaved",
            f"{GPT} --rotary-seq-len-interpolation-factor 2 --no-rope-freq 2",
            f"{MLA} --rope-type yarn --rotary-scaling-factor 40 --mscale 0.5 --mscale-all-dim 1",
            f"{MLA} --rope-type rope --rotary-scaling-factor 40 --mscale-all-dim 1",
            f"{SIZES} --position-embedding-type yarn --rotary-scaling-factor 32 --yarn-beta-slow 2",
            f"{SIZES} --position-embedding-type mrope --mrope-section 2 3 3",
            f"{GPT} --kv-channels 128",
            f"{SIZES} --use-rotary-position-embeddings",
        ],
    )
    def test_a_value_that_is_read_is_silent(self, argv: str):
        assert of("inert-flag", argv) == []

    def test_the_first_flag_of_all_is_the_definitions(self):
        assert len(of("inert-flag", f"--rotary-scaling-factor 40 {GPT}")) == 1

    def test_base_args_are_not_the_definitions_fault(self):
        pipeline = Pipeline(MEGATRON, PipelineSettings(base_args=("--rotary-scaling-factor", "4")))

        assert of("inert-flag", GPT, pipeline) == []

    def test_where_nothing_rotates_that_is_what_to_change(self):
        (finding,) = of("inert-flag", f"{SIZES} --rotary-base 500000")

        assert finding.message == (
            "--rotary-base 500000 is read by nothing that is built (no rotary embedding)"
        )
        assert finding.remedy == "add --position-embedding-type rope, or remove the flag"


class TestUnknownFlags:
    def test_a_flag_that_the_version_lacks_is_rejected(self):
        (finding,) = of("rejected-flag", f"{MLA} --rope-type yarn --beta-fast 1")

        assert finding.headline == (
            "rejected-flag: m: megatron-core-0.19.2 has no flag --beta-fast, "
            "did you mean --yarn-beta-fast?"
        )
        assert (finding.flag, finding.status) == ("--beta-fast 1", "fail")

    @pytest.mark.parametrize("flag", ["--beta-fast", "--original-max-position-embeddings"])
    @pytest.mark.parametrize("pipeline", [STOCK, DROPPING], ids=["rejected", "dropped"])
    def test_a_flag_that_the_attention_does_not_read_is_not_to_be_written(
        self, pipeline: Pipeline, flag: str
    ):
        found = check(f"{MLA} --rope-type yarn {flag} 1", pipeline)
        (remedy,) = (one.remedy for one in found if "did you mean" in one.message)

        assert remedy is not None
        assert remedy.partition(": as it is")[0] == (
            "name the function that adds it to the parser in rope_contract_arguments, or remove "
            f"it: multi-latent attention does not read --yarn{flag[1:]}"
        )

    @pytest.mark.parametrize(
        ("argv", "written"),
        [
            (f"{SIZES} --position-embedding-type yarn --beta-fast 1", "--yarn-beta-fast 1"),
            (f"{MLA} --rotary-bas 5", "--rotary-base 5"),
            (f"{MLA} --tokenizer-modle a", "--tokenizer-model a"),
        ],
    )
    def test_the_nearest_flag_is_to_be_written_where_it_is_read(self, argv: str, written: str):
        (finding,) = of("rejected-flag", argv)

        assert finding.remedy == (
            f"write {written}, remove the flag, or add it to the parser (rope_contract_arguments)"
        )

    def test_an_attached_value_does_not_hide_the_nearest_flag(self):
        (finding,) = of("rejected-flag", f"{GPT} --rotary-bas=5")

        assert finding.message == (
            "megatron-core-0.19.2 has no flag --rotary-bas, did you mean --rotary-base?"
        )

    @pytest.mark.parametrize("name", ["megatron-core-0.17.1", "megatron-core-0.18.2"])
    def test_an_older_version_has_no_near_flag(self, name: str):
        megatron = RecordedMegatron(load_shipped(name))
        pipeline = Pipeline(megatron, PipelineSettings())

        (finding,) = of("rejected-flag", f"{MLA} --rope-type yarn --yarn-beta-fast 1", pipeline)

        assert finding.message == f"{name} has no flag --yarn-beta-fast"

    def test_without_a_near_flag_none_is_named(self):
        (finding,) = of("rejected-flag", f"{GPT} --zzz")

        assert finding.message == "megatron-core-0.19.2 has no flag --zzz"
        assert finding.remedy == (
            "remove the flag, or add it to the parser (rope_contract_arguments)"
        )

    def test_where_unknown_flags_are_dropped_it_says_so(self):
        (finding,) = of("dropped-flag", f"{MLA} --rope-type yarn --beta-fast 1", DROPPING)

        assert finding.headline == (
            "dropped-flag: m: --beta-fast 1 is dropped: megatron-core-0.19.2 has no flag "
            "--beta-fast, did you mean --yarn-beta-fast?"
        )
        assert (finding.flag, finding.status) == ("--beta-fast 1", "fail")

    def test_a_dropped_flag_is_to_be_written_as_the_nearest(self):
        (finding,) = of("dropped-flag", f"{MLA} --rotary-bas 5", DROPPING)

        assert finding.remedy == (
            "write --rotary-base 5, remove the flag, or add it to the parser "
            "(rope_contract_arguments): as it is, the value never reaches the model"
        )

    @pytest.mark.parametrize(
        ("pipeline", "rule"), [(STOCK, "rejected-flag"), (DROPPING, "dropped-flag")]
    )
    def test_a_stray_token_belongs_to_no_flag(self, pipeline: Pipeline, rule: str):
        (finding,) = of(rule, f"{GPT} --rotary-base 5 6", pipeline)

        assert finding.message == "the token '6' belongs to no flag"
        assert finding.flag == "6"
        assert finding.remedy == "remove it, or quote the value that it was part of"

    def test_an_added_flag_is_known(self, folder: Path):
        pipeline = framework(folder, arguments=("rule_frame:options",))

        assert failing(f"{MLA} --rope-type yarn --beta-fast 1", pipeline) == []

    def test_a_value_of_the_wrong_type_is_rejected_with_its_flag(self):
        (finding,) = of("rejected-flag", f"{GPT} --rotary-base 1e6")

        assert finding.message == (
            "megatron-core-0.19.2 refuses the command line: "
            "argument --rotary-base: invalid int value: '1e6'"
        )
        assert finding.flag == "--rotary-base 1e6"
        assert finding.remedy == (
            "correct the value; run with this version to see Megatron's own usage text"
        )

    def test_a_flag_without_its_value_is_rejected(self):
        (finding,) = of("rejected-flag", f"{GPT} --rotary-base --rotary-percent 1.0")

        assert finding.message == (
            "megatron-core-0.19.2 refuses the command line: "
            "argument --rotary-base: expected one argument"
        )
        assert finding.flag == "--rotary-base"

    @pytest.mark.parametrize("flag", ["--save-interval", "--persistent-save-interval"])
    def test_a_flag_of_two_spellings_is_named_as_it_is_written(self, flag: str):
        """The parser's message has both, with a slash between them."""
        (finding,) = of("rejected-flag", f"{GPT} {flag} often")

        assert finding.message.endswith(
            "argument --save-interval/--persistent-save-interval: invalid int value: 'often'"
        )
        assert finding.flag == f"{flag} often"

    def test_a_refused_line_has_its_unknown_flags_named_too(self):
        findings = of("rejected-flag", f"{GPT} --beta-fast 1 --rotary-base 1e6")

        assert [finding.flag for finding in findings] == ["--beta-fast 1", "--rotary-base 1e6"]


class TestConfigRefused:
    @pytest.mark.parametrize(
        ("argv", "message"),
        [
            (
                f"{GPT} --multi-latent-attention --rope-type rope",
                (
                    "the config constructor raises ValueError: "
                    "apply_rope_fusion for MLA only works with YARN RoPE."
                ),
            ),
            (
                f"{MLA} --rope-type rope --group-query-attention",
                (
                    "validate_args raises AssertionError: Group query attention is mutually "
                    "exclusive with multi latent attention."
                ),
            ),
            (
                f"{MLA} --rope-type yarn --position-embedding-type yarn",
                (
                    "building the model raises AttributeError: 'MLATransformerConfig' object has "
                    "no attribute 'yarn_rotary_scaling_factor'"
                ),
            ),
        ],
    )
    def test_megatrons_own_message_is_shown(self, argv: str, message: str):
        (finding,) = of("config-refused", argv)

        assert (finding.message, finding.status) == (message, "fail")

    @pytest.mark.parametrize(
        ("argv", "fix"),
        [
            (f"{GPT} --multi-latent-attention --rope-type rope", "declare --no-rope-fusion"),
            (f"{MLA} --rope-type rope --group-query-attention", "correct the flags that it names"),
        ],
    )
    def test_what_to_do_about_it(self, argv: str, fix: str):
        (finding,) = of("config-refused", argv)

        assert finding.remedy == f"{fix}: no training run can start from these flags"

    def test_what_is_built_is_silent(self):
        assert of("config-refused", f"{MLA} --rope-type rope") == []

    def test_a_refusal_of_the_parser_is_another_rule(self):
        assert of("config-refused", f"{GPT} --rotary-base 1e6") == []


class TestOverwrittenFlag:
    def test_a_framework_that_changes_a_declared_value_fails(self, folder: Path):
        pipeline = framework(folder, defaults=("rule_frame:overwrite",))

        (finding,) = of("overwritten-flag", f"{GPT} --rotary-base 50000 --seed 5", pipeline)

        assert finding.text().splitlines() == [
            (
                "overwritten-flag: m: --rotary-base 50000 is declared, "
                "and rule_frame:overwrite makes it 10000"
            ),
            "  expected: 50000",
            "  actual:   10000",
            "  origin:   filled (rule_frame:overwrite)",
            (
                "  remedy:   let rule_frame:overwrite keep a declared value, "
                "or declare the value that is used"
            ),
        ]
        assert (finding.field, finding.flag, finding.status) == (
            "rotary_base",
            "--rotary-base 50000",
            "fail",
        )

    def test_what_is_put_back_hides_nothing_that_is_not(self, folder: Path):
        pipeline = framework(folder, defaults=("rule_frame:narrow", "rule_frame:widen"))

        found = of("overwritten-flag", f"{GPT} --kv-channels 16 --rotary-base 5", pipeline)

        assert [one.flag for one in found] == ["--rotary-base 5"]

    @pytest.mark.parametrize("argv", [GPT, f"{GPT} --rotary-base 10000"])
    def test_filling_in_or_writing_the_same_is_silent(self, folder: Path, argv: str):
        pipeline = framework(folder, defaults=("rule_frame:overwrite",))

        assert of("overwritten-flag", argv, pipeline) == []

    def test_writing_the_same_as_another_type_is_silent(self, folder: Path):
        pipeline = framework(folder, defaults=("rule_frame:divide",))

        assert of("overwritten-flag", f"{GPT} --rotary-base 50000", pipeline) == []

    def test_megatron_overwrites_a_type_beside_the_old_flag(self):
        argv = f"{SIZES} --position-embedding-type yarn --use-rotary-position-embeddings"

        (finding,) = of("overwritten-flag", argv)

        assert finding.message == (
            "--position-embedding-type yarn is declared, and Megatron's validate_args makes it rope"
        )

    def test_the_old_flag_with_the_same_type_is_silent(self):
        assert of("overwritten-flag", f"{GPT} --use-rotary-position-embeddings") == []


class TestRepeatedFlag:
    def test_two_values_fail(self):
        (finding,) = of("repeated-flag", f"{GPT} --rotary-base 5 --rotary-base 7")

        assert finding.text().splitlines() == [
            (
                "repeated-flag: m: --rotary-base 5 is given first, then --rotary-base 7; "
                "the last one is used"
            ),
            "  expected: 5",
            "  actual:   7",
            "  origin:   declared (--rotary-base 7)",
            "  remedy:   remove --rotary-base 5, which is not used, or --rotary-base 7",
        ]
        assert (finding.flag, finding.status) == ("--rotary-base 7", "fail")

    def test_of_several_values_all_are_told(self):
        (finding,) = of("repeated-flag", f"{GPT} --mrope-section 1 2 --mrope-section 3 4")

        assert (finding.expected, finding.actual) == ("1 2", "3 4")

    def test_a_flag_without_its_value_beside_one_with_it_fails(self):
        (finding,) = of("repeated-flag", f"{GPT} --rotary-base --rotary-base 5")

        assert (finding.expected, finding.actual) == ("--rotary-base", "5")

    def test_two_flags_of_one_dest_fail(self):
        yarn = f"{SIZES} --position-embedding-type yarn --yarn-correction-range-round-to-int"

        assert len(of("repeated-flag", f"{yarn} --no-yarn-correction-range-round-to-int")) == 1

    @pytest.mark.parametrize(
        "more",
        [
            "--rotary-base 5 --rotary-base=5",
            "--mscale 1 --mscale 1.0",
            "--rotary-interleaved --rotary-interleaved",
            "--mrope-section 1 2 --mrope-section 1 2",
        ],
    )
    def test_the_same_value_twice_is_silent(self, more: str):
        assert of("repeated-flag", f"{GPT} {more}") == []

    def test_a_definition_may_replace_a_base_arg(self):
        pipeline = Pipeline(MEGATRON, PipelineSettings(base_args=("--rotary-base", "5")))

        assert of("repeated-flag", f"{GPT} --rotary-base 7", pipeline) == []


class TestRotates:
    """Whether the flag of a finding has to do with RoPE."""

    @pytest.mark.parametrize(
        ("more", "rotates"),
        [
            ("--rotary-base 5 --rotary-base 7", True),
            ("--kv-channels 16 --kv-channels 8", True),
            ("--lr 1 --lr 2", False),
            ("--lr 1 --lr 2 --rotary-base 5", False),
        ],
    )
    def test_it_does_where_its_dest_decides_what_is_rotated(self, more: str, *, rotates: bool):
        resolution = resolve(STOCK, f"{GPT} {more}".split())
        (finding,) = of("repeated-flag", f"{GPT} {more}")

        assert rules.rotates(finding, resolution) is rotates


class TestSpacedToken:
    def test_white_space_in_a_token_becomes_more_tokens(self):
        (finding,) = of("spaced-token", [*GPT.split(), "--spec", "a module"])

        assert finding.message == (
            "token 11, 'a module', has white space inside: on a command line it becomes 2 tokens"
        )
        assert finding.remedy == "write it as 2 tokens: ['a', 'module']"
        assert (finding.flag, finding.status) == ("a module", "fail")

    def test_an_empty_token_vanishes(self):
        (finding,) = of("spaced-token", [*GPT.split(), "--spec", ""])

        assert finding.message == "token 11, '', is empty: on a command line it becomes 0 tokens"
        assert finding.remedy == "remove it"

    def test_plain_tokens_are_silent(self):
        assert of("spaced-token", [*GPT.split(), "--spec", "a", "module"]) == []


def test_the_most_important_comes_first():
    findings = check([*f"{MLA} --beta-fast 1 --mscale 1 --mscale 2 --use-rope-scaling".split(), ""])
    order = list(dict.fromkeys(finding.rule for finding in findings))

    assert order == [
        "rejected-flag",
        "spaced-token",
        "repeated-flag",
        "implicit-yarn",
        "inert-flag",
        "implicit-field",
    ]
    assert set(order) <= set(RULES)
