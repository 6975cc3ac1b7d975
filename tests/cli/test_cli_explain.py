"""``ropecontract explain``."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_ropecontract.cli import main

SIZES = "--num-layers 2 --hidden-size 64 --num-attention-heads 4"
PLAIN = (
    f"{SIZES} --kv-channels 16 --position-embedding-type rope --rotary-base 10000 "
    "--rotary-percent 1.0"
)
MLA = (
    f"{SIZES} --multi-latent-attention --q-lora-rank 8 --kv-lora-rank 8 --qk-head-dim 16 "
    "--qk-pos-emb-head-dim 8 --v-head-dim 16 --position-embedding-type rope --rotary-base 10000 "
    "--no-rope-fusion"
)
YARN = f"{MLA} --rope-type yarn --rotary-scaling-factor 4 --mscale 1.0 --mscale-all-dim 1.0"
FILL = """
def fill(args):
    if args.multi_latent_attention and args.rope_type is None:
        args.rope_type = "yarn"
"""
CONTRACTS = """
from pytest_ropecontract import rope_expect

@rope_expect("rope", rotary_base=10000, models=["plain"])
def test_plain(): raise SystemExit("never run")

@rope_expect("yarn", rotary_scaling_factor=8, models=["stretched"])
def test_stretched(): raise SystemExit("never run")
"""
INI = """
[tool.pytest]
testpaths = ["tests"]
rope_contract_models = ["models/*"]
rope_contract_pythonpath = ["."]
rope_contract_defaults = ["explain_fill:fill"]
rope_contract_surface = "0.19.2"
rope_contract_allow = ["silent implicit-yarn the adapter unpacks two"]
"""
pytestmark = pytest.mark.usefixtures("project")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project of four models with contracts; the working directory."""
    for name, text in (
        ("pyproject.toml", INI),
        ("explain_fill.py", FILL),
        ("models/plain.txt", PLAIN),
        ("models/inert.txt", f"{PLAIN} --rotary-scaling-factor 4"),
        ("models/silent.txt", MLA),
        ("models/stretched.txt", YARN),
        ("tests/test_explained.py", CONTRACTS),
        ("tests/checkpoints/plain.json", json.dumps({"rope_theta": 20000, "head_dim": 16})),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("NO_COLOR", "FORCE_COLOR", "ROPE_CONTRACT_SURFACE", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    yield tmp_path
    for name in ("explain_fill", "test_explained", "conftest_explained"):
        sys.modules.pop(name, None)


def printed(capsys, *argv: str, status: int = 0) -> str:
    """Run the command; nothing may stand on standard error."""
    assert main(["explain", *argv]) == status
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def told(capsys, *argv: str, status: int = 0) -> list[dict]:
    return json.loads(printed(capsys, "--json", *argv, status=status))["models"]


def squeezed(text: str) -> str:
    return " ".join(text.split())


def test_way_of_every_value(capsys):
    (model,) = told(capsys, "silent")

    assert model["path"] == "models/silent.txt"
    assert model["values"]["kind"] == {
        "value": "yarn",
        "origin": "filled",
        "way": ["filled by explain_fill:fill", "args.rope_type", "config.rope_type"],
    }
    assert model["values"]["rotary_dim"] == {
        "value": 8,
        "origin": "declared",
        "way": [
            "--qk-pos-emb-head-dim 8",
            "args.qk_pos_emb_head_dim",
            "config.qk_pos_emb_head_dim",
            "YarnRotaryEmbedding(kv_channels)",
        ],
    }
    assert model["values"]["beta_fast"]["way"] == [
        "default of MLATransformerConfig.beta_fast",
        "YarnRotaryEmbedding(beta_fast)",
    ]
    assert model["values"]["round_to_int"]["way"] == [
        "default of YarnRotaryEmbedding.correction_range_round_to_int"
    ]


def test_text_has_a_line_for_every_value_and_its_way(capsys):
    lines = printed(capsys, "stretched").splitlines()

    (at,) = [index for index, line in enumerate(lines) if " rotary_scaling_factor 4 " in line]
    assert lines[at].endswith(" declared")
    assert squeezed("".join(lines[at + 1 : at + 3])) == (
        "--rotary-scaling-factor 4 -> args -> config -> YarnRotaryEmbedding(scaling_factor)"
    )


def test_what_is_read_inert_and_implicit(capsys):
    inert, silent = told(capsys, "inert", "silent")

    assert inert["inert"] == ["--rotary-scaling-factor 4"]
    assert "--rotary-base 10000" in inert["read"]
    assert "--num-layers 2" not in inert["read"]
    assert inert["implicit"] == []
    assert {"kind", "beta_fast", "rotary_scaling_factor"} <= set(silent["implicit"])
    assert "rotary_base" not in silent["implicit"]
    assert "--multi-latent-attention" in silent["read"]


def test_contracts_and_their_verdicts(capsys):
    plain, stretched = told(capsys, "plain", "stretched")

    assert [(one["contract"], one["where"], one["verdict"]) for one in plain["contracts"]] == [
        ('rope_expect("rope", rotary_base=10000)', "tests/test_explained.py::test_plain", "holds"),
        ("tests/checkpoints/plain.json", None, "fails"),
    ]
    (failed,) = plain["contracts"][1]["findings"]
    assert failed["field"] == "rotary_base"
    assert failed["effect"].startswith("7 of 8 frequencies differ")
    (marked,) = stretched["contracts"]
    assert marked["verdict"] == "fails"


def test_checkpoints_that_nobody_can_tell_cannot_be_checked(project, capsys):
    (project / "conftest.py").write_text("def pytest_ropecontract_checkpoints(model): return 5\n")

    try:
        (model,) = told(capsys, "stretched")
    finally:
        sys.modules.pop("conftest", None)

    marked, checkpoints = model["contracts"]
    assert marked["verdict"] == "fails"
    assert (checkpoints["contract"], checkpoints["verdict"]) == ("checkpoints", "cannot be checked")
    assert checkpoints["problem"].startswith("pytest_ropecontract_checkpoints returned 5")


def test_adapter_is_a_contract_where_it_is_in_the_project(project, capsys):
    argv = f"{MLA} --rope-type rope --spec explained_adapter get_spec"
    (project / "models/spec.txt").write_text(argv)
    assert told(capsys, "spec")[0]["contracts"] == []

    (project / "explained_adapter.py").write_text(
        "class Attention(Base):\n"
        "    def forward(self, length):\n"
        "        table, mscale = self.rotary_pos_emb(length)\n"
    )

    (contract,) = told(capsys, "spec")[0]["contracts"]
    assert (contract["contract"], contract["verdict"]) == ("the adapter of --spec", "fails")


def test_model_without_contract_is_told_what_would_be_one(capsys):
    out = squeezed(printed(capsys, "inert"))

    assert 'no contract: mark a test with @rope_expect(..., models=["inert"])' in out


def test_allowance_applies(capsys):
    (model,) = told(capsys, "silent")

    (allowed,) = [one for one in model["findings"] if one["rule"] == "implicit-yarn"]
    assert (allowed["status"], allowed["reason"]) == ("allowed", "the adapter unpacks two")


def test_globs_are_sorted_and_each_model_is_told_once(capsys):
    names = [model["name"] for model in told(capsys, "s*", "stretched", "plain")]

    assert names == ["plain", "silent", "stretched"]


def test_flags_after_two_dashes(capsys):
    (given,) = told(capsys, "--", *MLA.split())
    (model,) = told(capsys, "silent")

    assert given["values"] == model["values"]
    assert given["contracts"] is None
    assert given["argv"] == MLA.split()


def test_flags_in_a_file(capsys):
    (given,) = told(capsys, "--argv", "models/stretched.txt")
    (model,) = told(capsys, "stretched")

    assert given["values"] == model["values"]


def test_refused_flags_are_explained(capsys):
    (given,) = told(capsys, "--", *PLAIN.split(), "--beta-fst", "1")

    assert "rejected-flag" in [one["rule"] for one in given["findings"]]


def test_against_another_model(capsys):
    (model,) = told(capsys, "silent", "--against", "stretched")

    fields = {one["field"]: (one["before"], one["after"]) for one in model["against"]["fields"]}
    assert fields["rotary_scaling_factor"] == (1, 4)
    assert "kind" not in fields
    assert re.match(r"\d of 4 frequencies differ", model["against"]["size"])
    out = printed(capsys, "silent", "--against", "stretched")
    assert "\n  silent -> stretched\n    rotary_scaling_factor: 1 -> 4 (declared: " in out
    assert "\n    size: " in out


def test_against_itself(capsys):
    assert told(capsys, "plain", "--against", "plain")[0]["against"]["same"] is True
    assert "no difference in what is built" in printed(capsys, "plain", "--against", "plain")


@pytest.mark.parametrize("surface", ["0.18.2", "megatron-core-0.18.2", "own.json"])
def test_against_another_surface(project, capsys, surface):
    """Since 0.19 no interpolation factor is read; a file is told by its content."""
    shipped = Path(sys.modules["pytest_ropecontract"].__file__).parent / "megatron/surfaces"
    (project / "own.json").write_bytes((shipped / "megatron-core-0.18.2.json").read_bytes())
    argv = [*PLAIN.split(), "--rotary-seq-len-interpolation-factor", "4"]

    (model,) = told(capsys, "--against", surface, "--", *argv)

    assert model["against"]["with"] == "megatron-core-0.18.2"
    (field,) = model["against"]["fields"]
    assert (field["field"], field["before"], field["after"]) == (
        "seq_len_interpolation_factor",
        4,
        None,
    )
    out = printed(capsys, "--against", surface, "--", *argv)
    assert "\n  megatron-core-0.19.2 -> megatron-core-0.18.2\n" in out


def test_against_a_checkpoint(project, capsys):
    """Whoever's it is, and by file or by folder."""
    (project / "published").mkdir()
    (project / "published/config.json").write_text('{"rope_theta": 20000, "head_dim": 16}')

    for other in ("published", "published/config.json", "tests/checkpoints/plain.json"):
        (model,) = told(capsys, "inert", "--against", other)
        (finding,) = model["against"]["findings"]
        assert (finding["field"], finding["expected"]) == ("rotary_base", 20000)
    out = printed(capsys, "inert", "--against", "published")
    assert "\n  against published\n      FAILS checkpoint: rotary_base is 10000" in out


@pytest.mark.parametrize("surface", ["0.18.2", "0.19.2"])
def test_against_a_surface_that_refuses(capsys, surface):
    """One refuses, whichever it is: nothing that is built can be compared."""
    other = {"0.18.2": "0.19.2", "0.19.2": "0.18.2"}[surface]
    argv = ["--surface", surface, "--against", other, "--", *SIZES.split()]
    argv += ["--position-embedding-type", "rope", "--yarn-beta-fast", "32"]

    (model,) = told(capsys, *argv)

    refusal = "megatron-core-0.18.2 has no flag --yarn-beta-fast"
    found = {"0.18.2": [[refusal], []], "0.19.2": [[], [refusal]]}[surface]
    assert (model["against"]["same"], model["against"]["refused"]) == (False, found)
    out = squeezed(printed(capsys, *argv))
    assert f" megatron-core-0.18.2: refused: {refusal}" in out
    assert " megatron-core-0.19.2: accepted" in out
    assert " size: " not in out


def test_against_a_surface_that_drops_a_flag(project, capsys):
    """It is all that differs where the flag would not have been read anyway."""
    (project / "pyproject.toml").write_text(INI + 'rope_contract_unknown = "drop"\n')
    argv = ["--against", "0.18.2", "--", *PLAIN.split(), "--yarn-beta-fast", "32"]

    (model,) = told(capsys, *argv)

    assert model["against"]["fields"] == []
    assert model["against"]["dropped"] == [[], ["--yarn-beta-fast 32"]]
    out = printed(capsys, *argv)
    assert "    dropped by megatron-core-0.18.2: --yarn-beta-fast 32\n" in out


def test_against_a_checkpoint_without_a_difference(capsys):
    argv = [PLAIN.replace("10000", "20000").split()]

    (model,) = told(capsys, "--against", "tests/checkpoints/plain.json", "--", *argv[0])

    assert model["against"]["findings"] == []
    out = printed(capsys, "--against", "tests/checkpoints/plain.json", "--", *argv[0])
    assert out.endswith(
        "\n  against tests/checkpoints/plain.json\n"
        "    no difference from what the checkpoint says\n"
    )


def test_what_is_compared_with_can_be_used(project, capsys):
    """A model that cannot be expanded, and a file that is no JSON, are told before all else."""
    (project / "models/broken.py").write_text("def model_args():\n    return None\n")
    (project / "notes.txt").write_text("not JSON")

    assert main(["explain", "plain", "--against", "broken"]) == 2
    assert capsys.readouterr().err.startswith("broken: model_args() returned None")
    assert main(["explain", "plain", "--against", "notes.txt"]) == 2
    assert capsys.readouterr().err.startswith("notes.txt ")


def test_what_cannot_be_expanded_is_compared_with_nothing(project, capsys):
    (project / "models/broken.py").write_text("def model_args():\n    return None\n")

    broken, plain = told(capsys, "broken", "plain", "--against", "plain", status=2)

    assert "against" not in broken
    assert plain["against"]["same"] is True


def test_ini_file_is_chosen_as_in_pytest(project, capsys):
    """A relative one from the working directory."""
    (project / "other.toml").write_text(INI.replace("0.19.2", "0.17.1"), encoding="utf-8")

    out = printed(capsys, "plain", "-c", "other.toml")

    assert out.startswith("megatron-core-0.17.1 (recorded)\n")


def test_model_that_rotates_nothing(capsys):
    argv = [*SIZES.split(), "--position-embedding-type", "learned_absolute"]

    (model,) = told(capsys, "--", *argv)

    assert (model["rope"]["kind"], model["rope"]["rotary_class"]) == ("none", None)
    assert "\n  builds none: common attention\n" in printed(capsys, "--", *argv)


def test_only_the_first_of_many_layers_are_shown(capsys):
    argv = [*PLAIN.replace("--num-layers 2", "--num-layers 12").split(), "--no-rope-freq", "4"]

    (model,) = told(capsys, "--", *argv)

    assert model["rope"]["no_rope_layers"] == [0, 0, 0, 1] * 3
    out = printed(capsys, "--", *argv)
    assert " no_rope_layers 0 0 0 1 0 0 0 1 ... (12 values)" in out


def test_contract_that_cannot_be_checked(project, capsys):
    """Here a hook of the project gives no checkpoint."""
    (project / "conftest.py").write_text("def pytest_ropecontract_checkpoints(model): return 3\n")
    try:
        (model,) = told(capsys, "plain")
        (contract,) = [one for one in model["contracts"] if one["contract"] == "checkpoints"]
        out = printed(capsys, "plain")
    finally:
        sys.modules.pop("conftest", None)

    assert contract["verdict"] == "cannot be checked"
    assert contract["findings"] == []
    problem = "pytest_ropecontract_checkpoints returned 3 for 'plain', which is no path"
    assert contract["problem"].splitlines()[0] == problem
    assert f"\n    cannot be checked checkpoints\n      {problem}\n" in out


def test_surface_is_chosen_as_in_pytest(capsys, monkeypatch):
    def surface(*argv: str) -> str:
        return json.loads(printed(capsys, "plain", "--json", *argv))["surface"]["name"]

    assert surface() == "megatron-core-0.19.2"
    assert surface("--surface", "0.17.1") == "megatron-core-0.17.1"
    monkeypatch.setenv("ROPE_CONTRACT_SURFACE", "0.18.2")
    assert surface() == "megatron-core-0.18.2"


def test_unusable_model_leaves_the_others(project, capsys):
    (project / "models/broken.py").write_text("def model_args():\n    return None\n")

    broken, plain = told(capsys, "broken", "plain", status=2)

    assert broken["error"].startswith("broken: model_args() returned None")
    assert broken["rope"] is None
    assert plain["rope"]["kind"] == "rope"


def test_hooks_and_options_of_the_project_start_nothing(project, capsys):
    """Neither processes, nor a run of the definitions' items, nor a single test."""
    (project / "pyproject.toml").write_text(
        INI + 'addopts = ["-n2", "--rope-contract", "-q", "--snapshot-update"]\n'
    )
    (project / "conftest.py").write_text(
        "def pytest_ropecontract_models(registry):\n    registry.variant('other', 'plain')\n"
        "def pytest_configure_node(node): raise SystemExit('a process is started')\n"
    )

    kept = project / "tests/__snapshots__/test_gone.ambr"
    kept.parent.mkdir()
    kept.write_text("# serializer version: 1\n# name: test_gone\n  1\n# ---\n")

    try:
        assert told(capsys, "other")[0]["rope"]["kind"] == "rope"
    finally:
        sys.modules.pop("conftest", None)
    assert not (project / ".pytest_cache").exists()
    assert kept.exists()


def test_text_fits_a_terminal(capsys):
    out = printed(capsys, "*", "--against", "plain")

    too_long = [line for line in out.splitlines() if len(line) > 80]
    assert too_long == []
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, False),
    ],
)
def test_colours_are_for_terminals(capsys, monkeypatch, variables, coloured):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    plain = printed(capsys, "plain")

    assert ("\x1b[31m" in plain) is coloured
    if coloured:
        monkeypatch.delenv("FORCE_COLOR")
        assert re.sub(r"\x1b\[\d+m", "", plain) == printed(capsys, "plain")


def test_terminal_has_colours():
    """A real one, made by the system."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    environ = {**os.environ, "TERM": "xterm"}
    code = "from pytest_ropecontract.cli import main; raise SystemExit(main())"
    with os.fdopen(ours, "rb", buffering=0) as reading:
        process = subprocess.Popen(
            [sys.executable, "-c", code, "explain", "plain"], stdout=theirs, env=environ
        )
        os.close(theirs)
        out = b""
        try:
            while part := reading.read(4096):
                out += part
        except OSError:  # Linux ends a terminal that nobody writes to any more with an error
            pass
        assert process.wait() == 0
    assert b"\x1b[1mplain\x1b[0m" in out


def test_other_commands_take_no_flags_after_two_dashes(capsys):
    with pytest.raises(SystemExit) as exited:
        main(["surface", "list", "--", "--num-layers"])

    assert exited.value.code == 2
    assert capsys.readouterr().err.endswith("error: only explain takes flags after --\n")


def test_readme_shows_what_it_prints():
    """Up to where the README leaves the rest out; in a process of its own, like a user."""
    root = Path(__file__).parents[2]
    block = (root / "README.md").read_text().split("ropecontract explain glm5-744B-A40B\n")[1]
    script = Path(sys.executable).with_name("ropecontract")

    done = subprocess.run(
        [str(script), "explain", "glm5-744B-A40B", "--surface", "0.19.2"],
        check=False,
        capture_output=True,
        text=True,
        cwd=root / "example_project",
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(block.split("...\n")[0])


@pytest.mark.parametrize(
    "text",
    [
        "def model_args():\n    raise ValueError('\\x1b[31m')\n",
        f"def model_args():\n    return {PLAIN.split()!r} + ['--\\x1b[31m']\n",
        f"def model_args():\n    return {PLAIN.split()!r} + ['--rotary-percent', '\\x1b[31m']\n",
    ],
    ids=["error", "flag", "value"],
)
def test_a_terminal_is_told_nothing_by_a_definition(text, project, capsys):
    """What would change its colours, or more, is written out."""
    (project / "models/hostile.py").write_text(text, encoding="utf-8")

    for argv in (["hostile"], ["plain", "--against", "hostile"]):
        main(["explain", *argv])

        captured = capsys.readouterr()
        assert "\\x1b[31m" in captured.out + captured.err
        assert "\x1b" not in captured.out + captured.err
