"""The text of a failure of every rule, the reference page of each, and the README's table."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mistakes import write

from pytest_ropecontract.cli import main
from pytest_ropecontract.contracts import launched
from pytest_ropecontract.contracts.expectation import read
from pytest_ropecontract.contracts.findings import RULES, Finding
from pytest_ropecontract.contracts.launched import Named
from pytest_ropecontract.contracts.reference import PAGES
from pytest_ropecontract.definitions import Registry
from pytest_ropecontract.marks import ContractFailed
from pytest_ropecontract.megatron.pipeline import PipelineSettings
from pytest_ropecontract.project import Project, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from syrupy.assertion import SnapshotAssertion

README = Path(__file__).parents[2] / "README.md"
MODEL = "kimi-k2"
SIZES = "--num-layers 2 --hidden-size 64 --num-attention-heads 4"
GPT = (
    f"{SIZES} --kv-channels 64 --position-embedding-type rope --rotary-base 50000 "
    "--rotary-percent 1.0"
)
MLA = (
    f"{SIZES} --multi-latent-attention --q-lora-rank 8 --kv-lora-rank 8 --qk-head-dim 128 "
    "--qk-pos-emb-head-dim 64 --v-head-dim 128 --position-embedding-type rope "
    "--rotary-base 50000 --no-rope-fusion"
)
YARN = (
    f"{MLA} --rope-type yarn --rotary-scaling-factor 32 --original-max-position-embeddings 4096 "
    "--beta-fast 1 --beta-slow 1 --mscale 1.0 --mscale-all-dim 1.0"
)
FRAME = """
def add(parser):
    group = parser.add_argument_group("ropeframe")
    group.add_argument("--original-max-position-embeddings", type=int, default=4096)
    group.add_argument("--beta-fast", type=float, default=32)
    group.add_argument("--beta-slow", type=float, default=1)

def overwrite(args):
    args.rope_type = "yarn"
"""
ADAPTER = """
def get_spec(args, config):
    return Attention

class Attention(Base):
    def forward(self, length):
        embedding, mscale = self.rotary_pos_emb(length)
        return embedding, mscale
"""
PUBLISHED: dict[str, Any] = {
    "model_type": "deepseek_v3",
    "rope_theta": 50000.0,
    "qk_rope_head_dim": 64,
    "rope_scaling": {
        "type": "yarn",
        "factor": 32.0,
        "original_max_position_embeddings": 4096,
        "beta_fast": 1.0,
        "beta_slow": 1.0,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
    },
}
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "rope_theta": 50000.0,
    "head_dim": 64,
    "rope_scaling": {
        "rope_type": "llama3",
        "factor": 32.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
}


class Made:
    """A project of one model."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        monkeypatch.syspath_prepend(folder)
        write(folder, "rule_text_frame.py", FRAME)

    def project(self, argv: str | list[str], **pipeline: Any) -> Project:
        settings = PipelineSettings(
            arguments=("rule_text_frame:add",), pythonpath=(str(self.folder),), **pipeline
        )
        registry = Registry(self.folder)
        registry.add(MODEL, argv)
        return Project(Settings(self.folder, "0.19.2", settings), registry)

    def declared(self, argv: str | list[str], **pipeline: Any) -> Sequence[Finding]:
        return self.project(argv, **pipeline).examine(MODEL).findings

    def expected(self, argv: str, *args: Any, **kwargs: Any) -> Sequence[Finding]:
        expectation = read(args, kwargs, "tests/test_rope.py::test_kimi_k2")
        return self.project(argv).check_expectation(MODEL, expectation)

    def published(self, argv: str, config: dict[str, Any]) -> Sequence[Finding]:
        write(self.folder, f"tests/checkpoints/{MODEL}.json", json.dumps(config))
        return self.project(argv).check_checkpoints(MODEL)

    def adapted(self) -> Sequence[Finding]:
        write(self.folder, "frame/__init__.py", "")
        write(self.folder, "frame/adapter.py", ADAPTER)
        argv = f"{MLA} --rope-type rope --spec frame.adapter get_spec"
        return self.project(argv).check_arity(MODEL)

    def launched(self) -> Sequence[Finding]:
        project = self.project(YARN)
        named = Named(
            "scripts/run-kimi-k2.sh", MODEL, "which --hf-checkpoint Kimi-K2-Instruct names"
        )
        other = f"{YARN} --rotary-base 10000".split()
        return launched.check(named, project.resolve(other), project.resolve(MODEL))

    def omitted(self) -> Sequence[Finding]:
        found = self.project(YARN).search_omissions(MODEL, [], 0, None)
        return () if found is None else found.findings


LAST_BETA = YARN.replace("--beta-fast 1 ", "")
MISSPELLED = YARN.replace("--beta-fast", "--beta-fst")
BROKEN: dict[str, Callable[[Made], Sequence[Finding]]] = {
    "implicit-yarn": lambda made: made.declared(MLA),
    "implicit-field": lambda made: made.expected(LAST_BETA, "yarn", beta_fast=32),
    "inert-flag": lambda made: made.declared(
        f"{GPT} --use-rope-scaling --rotary-scaling-factor 32"
    ),
    "dropped-flag": lambda made: made.declared(MISSPELLED, unknown="drop"),
    "rejected-flag": lambda made: made.declared(MISSPELLED),
    "overwritten-flag": lambda made: made.declared(
        f"{MLA} --rope-type rope", defaults=("rule_text_frame:overwrite",)
    ),
    "repeated-flag": lambda made: made.declared(f"{GPT} --rotary-base 10000"),
    "spaced-token": lambda made: made.declared([*GPT.split(), "--rotary-base 50000"]),
    "config-refused": lambda made: made.declared(
        f"{MLA.replace(' --no-rope-fusion', '')} --rope-type rope"
    ),
    "expectation": lambda made: made.expected(LAST_BETA, "yarn", 4096, 1, 1),
    "unguarded-omission": lambda made: made.omitted(),
    "checkpoint": lambda made: made.published(LAST_BETA, PUBLISHED),
    "unreachable-field": lambda made: made.published(
        f"{GPT} --use-rope-scaling",
        {**LLAMA, "rope_scaling": {**LLAMA["rope_scaling"], "low_freq_factor": 2.0, "factor": 8.0}},
    ),
    "unknown-checkpoint-key": lambda made: made.published(
        YARN, {**PUBLISHED, "rope_scaling": {**PUBLISHED["rope_scaling"], "attn_factor": 1.0}}
    ),
    "return-arity": lambda made: made.adapted(),
    "launcher-override": lambda made: made.launched(),
}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    return Made(tmp_path, monkeypatch)


def failing(rule: str, made: Made) -> list[Finding]:
    found = [one for one in BROKEN[rule](made) if one.rule == rule and one.status == "fail"]
    assert found, [one.headline for one in BROKEN[rule](made)]
    return found[:1]


@pytest.mark.parametrize("rule", RULES)
def test_failure(rule: str, made: Made, golden: SnapshotAssertion) -> None:
    text = str(ContractFailed(failing(rule, made)))

    assert text == golden
    assert "\n  remedy:   " in text
    assert text.endswith(f"\n  more:     ropecontract rule {rule}")


@pytest.mark.parametrize("rule", RULES)
def test_example_of_a_page_is_a_real_failure(rule: str, made: Made) -> None:
    assert PAGES[rule].example == failing(rule, made)[0].headline


@pytest.mark.parametrize(
    ("argv", "check"),
    [
        (MLA, Made.declared),
        (LAST_BETA, lambda made, argv: made.expected(argv, "yarn", 4096, 1, 1)),
        (LAST_BETA, lambda made, argv: made.expected(argv, "yarn", beta_fast=32)),
        (LAST_BETA, lambda made, argv: made.published(argv, PUBLISHED)),
        (MISSPELLED, Made.declared),
        (f"{MLA.replace(' --no-rope-fusion', '')} --rope-type rope", Made.declared),
    ],
    ids=["implicit-yarn", "expectation", "implicit-field", "checkpoint", "rejected", "refused"],
)
def test_flags_of_a_remedy_mend_it(
    made: Made, argv: str, check: Callable[[Made, str], Sequence[Finding]]
) -> None:
    (broken,) = [one for one in check(made, argv) if one.status == "fail"]
    (flags,) = re.findall(r"(?:declare|write) (--[\w-]+(?: [\w.]+)?)", str(broken.remedy))[:1]
    kept = [token for token in argv.split() if token != broken.flag]

    mended = check(made, " ".join([*kept, flags]).replace(f"{broken.flag} ", ""))

    assert [one.headline for one in mended if one.status == "fail"] == []


def test_every_rule_has_a_page() -> None:
    assert set(PAGES) == set(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_page(rule: str, golden: SnapshotAssertion, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", rule]) == 0

    out = capsys.readouterr().out
    assert out == golden
    assert max(map(len, out.splitlines())) <= 80


def test_list_of_rules(golden: SnapshotAssertion, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule"]) == 0

    assert capsys.readouterr().out == golden


def test_several_pages(capsys: pytest.CaptureFixture[str]) -> None:
    """As the last line of a failure of several rules names them."""
    assert main(["rule", "inert-flag", "expectation", "inert-flag"]) == 0

    heads = [line for line in capsys.readouterr().out.splitlines() if line in RULES]
    assert heads == ["inert-flag", "expectation"]


def test_readme_lists_every_rule_as_its_page_does() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+) \| (.+) \|$", README.read_text(), re.MULTILINE)
    table = {name: (fires_when, by_default) for name, fires_when, by_default in rows}

    expected = {name: (page.fires_when, page.by_default) for name, page in PAGES.items()}
    assert {name: row for name, row in table.items() if name in expected} == expected
