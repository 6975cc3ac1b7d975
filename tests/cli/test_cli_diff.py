"""``ropecontract surface diff``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_ropecontract.cli import main
from pytest_ropecontract.megatron.comparison import compare
from pytest_ropecontract.megatron.surface_files import NEWEST, dump, load_shipped, shipped

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "example_project"
ROPE = "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --position-embedding-type rope"
INTERPOLATED = f"{ROPE} --rotary-seq-len-interpolation-factor 4"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with two definitions, one of which 0.19 changes; the working directory."""
    models = tmp_path / "models"
    models.mkdir()
    (models / "plain.txt").write_text(ROPE, encoding="utf-8")
    (models / "stretched.txt").write_text(INTERPOLATED, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    known = sys.modules.copy()
    yield tmp_path
    # The project's own conftest.py and modules are those of this test only.
    for name in [name for name in sys.modules if name not in known]:
        if name in ("conftest", "fill_frame"):
            del sys.modules[name]
    sys.modules.update({name: known[name] for name in ("conftest",) if name in known})


def printed(capsys, *argv: str, status: int = 0) -> str:
    """Run the command; nothing may stand on standard error."""
    assert main(["surface", "diff", *argv]) == status
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def headline(capsys, *argv: str) -> str:
    """Run the command, which refuses, and return the first line of why."""
    assert main(["surface", "diff", *argv]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()[0]


def test_a_surface_and_itself(capsys):
    assert printed(capsys, "0.19.2", NEWEST) == f"{NEWEST} -> {NEWEST}\n\nno differences\n"


@pytest.mark.parametrize("first", shipped())
@pytest.mark.parametrize("second", shipped())
def test_it_fits_a_terminal(first, second, capsys):
    """No line is wider than 80 columns, and all of it is ASCII."""
    out = printed(capsys, first, second)

    assert out.isascii()
    assert max(map(len, out.splitlines())) <= 80


def test_what_0_19_changes_about_rope(capsys):
    """Options that concern rotation stand first."""
    lines = printed(capsys, "0.18.2", "0.19.2").splitlines()

    assert lines[:9] == [
        "megatron-core-0.18.2 -> megatron-core-0.19.2",
        "",
        "RoPE options: 5 added",
        "  + --yarn-original-max-position-embeddings: int; no default",
        "  + --yarn-beta-fast: float; no default",
        "  + --yarn-beta-slow: float; no default",
        "  + --yarn-correction-range-round-to-int: store true; no default",
        "  + --no-yarn-correction-range-round-to-int: store false; default True",
        "",
    ]
    assert "  + gpt-yarn: builds YarnRotaryEmbedding" in lines
    assert "  - --rl-generation-batch-size: int; no default" in lines
    assert "  ~ --moe-deepep-num-sms: default 20 -> None" in lines


def test_what_0_18_changes_about_rope(capsys):
    """Of choices, only what is new or gone is shown."""
    lines = printed(capsys, "0.17.1", "0.18.2").splitlines()

    assert lines[2:5] == [
        "RoPE options: 1 changed",
        "  ~ --position-embedding-type: choices +yarn",
        "",
    ]


def test_json(capsys):
    """It holds every difference, as the comparison has it."""
    document = json.loads(printed(capsys, "0.18.2", "0.19.2", "--json"))

    first, second = (load_shipped(f"megatron-core-{v}") for v in ("0.18.2", "0.19.2"))
    assert list(document) == ["first", "second", "differences"]
    assert document["first"] == {
        "name": first.name,
        "version": "0.18.2",
        "fingerprint": first.fingerprint,
        "source": {
            "distribution": "megatron-core",
            "version": "0.18.2",
            "revision": None,
            "arguments": [],
        },
    }
    found = compare(first, second)
    assert len(document["differences"]) == len(found)
    assert [list(one) for one in document["differences"]] == [
        ["part", "subject", "change", "aspect", "before", "after"]
    ] * len(found)
    assert {
        "part": "options",
        "subject": "--yarn-beta-fast",
        "change": "added",
        "aspect": None,
        "before": None,
        "after": {
            "flags": ["--yarn-beta-fast"],
            "dest": "yarn_beta_fast",
            "action": "store",
            "value_type": "float",
            "default": None,
        },
    } in document["differences"]


def test_a_file(capsys, tmp_path):
    """A fork's recording is compared like a shipped one."""
    surface = load_shipped(NEWEST)
    options = tuple(
        one._replace(default=5000) if one.dest == "rotary_base" else one for one in surface.options
    )
    path = tmp_path / "fork.json"
    path.write_text(dump(surface._replace(name="our-fork", options=options)), encoding="utf-8")

    assert printed(capsys, NEWEST, str(path)) == (
        f"{NEWEST} -> our-fork\n\nRoPE options: 1 changed\n"
        "  ~ --rotary-base: default 10000 -> 5000\n"
    )


def forked(tmp_path, **changes: dict[str, object]) -> str:
    """Write the newest surface with other fields of some options, by flag; return the file."""
    surface = load_shipped(NEWEST)
    options = tuple(one._replace(**changes.get(one.dest, {})) for one in surface.options)
    path = tmp_path / "fork.json"
    path.write_text(dump(surface._replace(name="our-fork", options=options)), encoding="utf-8")
    return str(path)


def test_the_order_of_choices(capsys, tmp_path):
    """None of them is new or gone, so all are shown."""
    fork = forked(tmp_path, rope_type={"choices": ("yarn", "rope")})

    lines = printed(capsys, NEWEST, fork).splitlines()

    assert lines[2:] == [
        "RoPE options: 1 changed",
        "  ~ --rope-type: choices rope yarn -> yarn rope",
    ]


def test_the_order_of_options_that_decides_about_a_default(capsys, tmp_path):
    """Of two options of one dest it is the first one's."""
    surface = load_shipped(NEWEST)
    name = "yarn_correction_range_round_to_int"
    both = [one for one in surface.options if one.dest == name]
    turned = dict(zip((one.flags for one in both), reversed(both), strict=True))
    options = tuple(turned.get(one.flags, one) for one in surface.options)
    path = tmp_path / "fork.json"
    path.write_text(dump(surface._replace(options=options)), encoding="utf-8")

    lines = printed(capsys, NEWEST, str(path)).splitlines()

    assert lines[2] == "RoPE options: 1 moved"
    assert " ".join(" ".join(lines[3:]).split()) == (
        f"~ {name}: now in the order --no-yarn-correction-range-round-to-int, "
        "--yarn-correction-range-round-to-int: the first one gives the default"
    )


def test_values_of_every_kind_are_written_as_a_command_line_has_them(capsys, tmp_path):
    """A tuple and a member of an enumeration are objects in the file."""
    fork = forked(
        tmp_path,
        mrope_section={"default": {"tuple": [16, 24, 24]}},
        rope_type={"default": {"of": "AttnBackend", "member": "flash"}},
        rotary_base={"default": ""},
    )

    lines = printed(capsys, NEWEST, fork).splitlines()

    assert lines[2:] == [
        "RoPE options: 3 changed",
        "  ~ --mrope-section: default None -> 16 24 24",
        "  ~ --rotary-base: default 10000 -> ''",
        "  ~ --rope-type: default None -> flash",
    ]


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["0.19.2", "0.1"], "no surface is named '0.1'"),
        (["gone.json", "0.19.2"], "surface gone.json cannot be read: No such file or directory"),
    ],
)
def test_what_is_no_surface(argv, expected, capsys):
    assert headline(capsys, *argv) == expected


# --- models


@pytest.mark.usefixtures("project")
def test_only_what_changes_is_named(capsys):
    """With the fields that change, where the new values come from, and the size of it."""
    out = printed(capsys, "0.18.2", "0.19.2", "--models", "models/*")

    assert out[out.index("Models:") :].splitlines() == [
        "Models: 1 of 2 changes",
        "",
        "  stretched",
        "    seq_len_interpolation_factor  None -> 4 (declared:",
        "                                  --rotary-seq-len-interpolation-factor 4)",
        "    size: 8 of 8 frequencies differ, largest ratio 4; first phase off by 1 rad",
        "      at position 2",
    ]


def test_the_example_project(capsys, monkeypatch):
    """Its ini file is found from the definitions, not from the working directory."""
    monkeypatch.chdir(ROOT)

    for first, second, names in (
        ("0.17.1", "0.18.2", []),
        ("0.18.2", "0.19.2", ["gpt-oss-20b"]),
        ("0.17.1", "0.19.2", ["gpt-oss-20b"]),
    ):
        argv = ["--models", "example_project/scripts/models/*", "--json"]
        models = json.loads(printed(capsys, first, second, *argv))["models"]

        assert [one["model"] for one in models["changes"]] == names
        assert models["errors"] == []
        assert len(models["compared"]) == len(list((EXAMPLE / "scripts" / "models").glob("*.*")))

    (change,) = models["changes"]
    assert (change["before"]["accepted"], change["before"]["rope"]) == (False, None)
    assert change["after"]["accepted"]
    assert change["after"]["rope"]["kind"] == "yarn"
    assert change["after"]["rope"]["beta_fast"] == 32.0


@pytest.mark.usefixtures("project")
def test_nothing_changes(capsys):
    """A single definition, named by its file."""
    out = printed(capsys, "0.18.2", "0.19.2", "--models", "models/plain.txt")

    assert out.endswith("\n\nModels: 0 of 1 change\n")


def test_what_both_refuse_is_said(project, capsys):
    """Nothing is known of it, and silence would look like a pass."""
    (project / "models" / "odd.txt").write_text(f"{ROPE} --odd --even", encoding="utf-8")

    out = printed(capsys, "0.18.2", "0.19.2", "--models", "models/[op]*")

    assert out.endswith(
        "\n\nModels: 0 of 2 change\n\n  refused by both:\n"
        "    odd: megatron-core-0.19.2 has no flag --odd (and 1 more)\n"
    )


@pytest.mark.parametrize("versions", [("0.18.2", "0.19.2"), ("0.19.2", "0.18.2")])
def test_what_only_one_refuses_is_said(versions, project, capsys):
    """With why, beside what the other one builds."""
    (project / "models" / "plain.txt").write_text(
        f"{ROPE} --yarn-beta-fast 32 --rotary-base 10000", encoding="utf-8"
    )

    out = printed(capsys, *versions, "--models", "models/plain.txt")

    told = [" ".join(one.split()) for one in out.split("\n    megatron-core-")[1:]]
    by_version = {one[:6]: one[8:] for one in told}
    assert [*by_version] == [*versions]
    assert by_version["0.18.2"] == "refused: megatron-core-0.18.2 has no flag --yarn-beta-fast"
    assert by_version["0.19.2"].startswith("builds rope: rotary_base 10000, rotary_dim 16")


def test_a_flag_that_is_newly_dropped_is_said(project, capsys):
    """Beside what is built, of which a flag that nothing reads changes nothing."""
    (project / "pytest.ini").write_text("[pytest]\nrope_contract_unknown = drop\n", "utf-8")
    (project / "models" / "plain.txt").write_text(f"{ROPE} --yarn-beta-fast 32", "utf-8")

    out = printed(capsys, "0.19.2", "0.18.2", "--models", "models/plain.txt")

    assert out.splitlines()[-1] == "    dropped by megatron-core-0.18.2: --yarn-beta-fast 32"


def test_a_definition_that_cannot_be_expanded(project, capsys):
    """The others are compared; the exit status says that one was not."""
    (project / "models" / "bad.py").write_text("def model_args():\n    1 / 0\n", encoding="utf-8")

    out = printed(capsys, "0.18.2", "0.19.2", "--models", "models/*", status=2)

    assert "  stretched\n" in out
    assert "  bad\n    cannot be compared:\n      bad: " in out


def test_a_terminal_is_told_nothing_by_a_definition(project, capsys):
    """What would change its colours, or more, is written out."""
    (project / "models/odd.py").write_text(
        f"def model_args():\n    return {ROPE.split()!r} + ['--\\x1b[31m']\n", encoding="utf-8"
    )

    out = printed(capsys, "0.18.2", "0.19.2", "--models", "models/*.py")

    assert out.count("\\x1b[31m") == 1
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pytest.ini", "[pytest]\nrope_contract_defaults =\n    fill_frame:fill\n"),
        ("pyproject.toml", "[tool.pytest]\nrope_contract_defaults = ['fill_frame:fill']\n"),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\nrope_contract_defaults = 'fill_frame:fill'\n",
        ),
        ("tox.ini", "[pytest]\nrope_contract_defaults = fill_frame:fill\n"),
        ("setup.cfg", "[tool:pytest]\nrope_contract_defaults = fill_frame:fill\n"),
        ("named.ini", "[pytest]\nrope_contract_defaults = fill_frame:fill\n"),
    ],
    ids=["pytest.ini", "toml", "toml-ini", "tox.ini", "setup.cfg", "named"],
)
def test_the_ini_file_applies(file, text, project, capsys, monkeypatch):
    """In every way that pytest reads one; here it makes the other definition change too."""
    (project / "pytest.ini").unlink()
    (project / file).write_text(text, encoding="utf-8")
    (project / "fill_frame.py").write_text(
        "def fill(args):\n    args.rotary_seq_len_interpolation_factor = 2\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(project)
    argv = ["0.18.2", "0.19.2", "--models", "models/*", "--json"]
    argv += ["-c", file] if file == "named.ini" else []

    document = json.loads(printed(capsys, *argv))

    assert [one["model"] for one in document["models"]["changes"]] == ["plain", "stretched"]
    assert document["models"]["changes"][0]["fields"] == [
        {
            "field": "seq_len_interpolation_factor",
            "before": None,
            "after": 2,
            "origin": "filled: fill_frame:fill",
        }
    ]


@pytest.mark.parametrize("key", ["pythonpath", "rope_contract_pythonpath"])
def test_modules_are_found_in_the_folders_of_the_ini_file(key, project, capsys):
    """In pytest's own as well, which it takes from ``sys.path`` when it ends."""
    (project / "src").mkdir()
    (project / "src/fill_frame.py").write_text("def fill(args): pass\n", encoding="utf-8")
    (project / "pytest.ini").write_text(
        f"[pytest]\nrope_contract_defaults = fill_frame:fill\n{key} = src\n", encoding="utf-8"
    )

    out = printed(capsys, "0.18.2", "0.19.2", "--models", "models/*")

    assert "Models: 1 of 2 changes\n\n  stretched\n" in out
    assert str(project / "src") not in sys.path


def test_hooks_apply_and_names_select(project, capsys):
    """What a conftest.py registers has no file; it is selected by its name."""
    (project / "conftest.py").write_text(
        "def pytest_ropecontract_models(registry):\n"
        f"    registry.add('hooked-a', {INTERPOLATED!r})\n"
        f"    registry.add('hooked-b', {ROPE!r})\n",
        encoding="utf-8",
    )

    out = printed(capsys, "0.18.2", "0.19.2", "--models", "hooked-*", "models/plain.txt")

    assert "Models: 1 of 3 changes\n\n  hooked-a\n" in out


def test_names_alone_select(project, capsys):
    """And a definition that is selected by its name and by its file is compared once."""
    (project / "pytest.ini").write_text("[pytest]\nrope_contract_models = models/*\n", "utf-8")

    for patterns in (["plain", "stretched"], ["plain", "stretched", "models/plain.txt"]):
        out = printed(capsys, "0.18.2", "0.19.2", "--models", *patterns)

        assert "Models: 1 of 2 changes\n\n  stretched\n" in out


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["nothing*"], "--models: no file and no definition matches 'nothing*'"),
        (["models/*", "absent/*"], "--models: no file and no definition matches 'absent/*'"),
    ],
)
@pytest.mark.usefixtures("project")
def test_a_glob_that_matches_nothing(argv, expected, capsys):
    """A typing error must not look like "nothing changes"."""
    assert headline(capsys, "0.18.2", "0.19.2", "--models", *argv) == expected


def test_a_setting_that_cannot_be_used(project, capsys):
    """The error is the one that a run of pytest would show."""
    (project / "pytest.ini").write_text("[pytest]\nrope_contract_unknown = maybe\n", "utf-8")

    assert main(["surface", "diff", "0.18.2", "0.19.2", "--models", "models/*"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "rope_contract_unknown: 'maybe' is neither reject nor drop"


def test_nothing_is_run_or_left(project, capsys):
    """No test module is imported, and no file is written."""
    (project / "test_fails.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    before = sorted(project.rglob("*"))

    printed(capsys, "0.18.2", "0.19.2", "--models", "models/*")

    assert [one for one in sorted(project.rglob("*")) if one not in before] == []


def test_it_runs_as_a_command_beside_strict_warnings(project):
    """A project that makes errors of warnings gets none from having its plugin imported."""
    (project / "pytest.ini").write_text(
        "[pytest]\nfilterwarnings = error\naddopts = --strict-markers -ra\n", encoding="utf-8"
    )
    script = "import sys; from pytest_ropecontract.cli import main; sys.exit(main())"
    argv = ["surface", "diff", "0.18.2", "0.19.2", "--models", "models/*"]

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, *argv],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "Models: 1 of 2 changes" in done.stdout


def test_without_models_pytest_is_not_loaded():
    """Surfaces alone are compared without it."""
    code = (
        "import sys; from pytest_ropecontract.cli import main; "
        "main(['surface', 'diff', '0.18.2', '0.19.2']); print(*sys.modules)"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    ).stdout

    roots = {name.split(".")[0] for name in out.splitlines()[-1].split()}
    assert not roots & {"pytest", "_pytest", "hypothesis", "syrupy", "numpy", "torch"}
