"""``ropecontract surface``: list, show, record."""

from __future__ import annotations

import argparse
import sys

import pytest

from pytest_ropecontract.cli import main
from pytest_ropecontract.megatron import live, recording
from pytest_ropecontract.megatron.surface import Source
from pytest_ropecontract.megatron.surface_files import (
    NEWEST,
    dump,
    load_file,
    load_shipped,
    shipped,
)


@pytest.fixture
def no_megatron(monkeypatch):
    """A Python without Megatron."""
    monkeypatch.setattr(live, "is_importable", lambda: False)


@pytest.fixture
def megatron(monkeypatch, tmp_path):
    """A Python with a Megatron whose recording is the newest shipped one.

    What the functions of ``--arguments`` add is kept in the list that this returns.
    """
    package = tmp_path / "installed" / "megatron"
    (package / "training").mkdir(parents=True)
    for folder in (package, package / "training"):
        (folder / "__init__.py").write_text("", encoding="utf-8")
    for name in [name for name in sys.modules if name.split(".")[0] == "megatron"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path / "installed")
    monkeypatch.setattr(live, "is_importable", lambda: True)
    added: list[str] = []

    def record(arguments, *, name=None):
        parser = argparse.ArgumentParser(add_help=False)
        for add in arguments.values():
            parser = add(parser)
        added.extend(flag for action in parser._actions for flag in action.option_strings)
        surface = load_shipped(NEWEST)
        return surface._replace(name=name or surface.name)

    monkeypatch.setattr(recording, "record", record)
    yield added
    sys.modules.pop("megatron.training", None)
    sys.modules.pop("megatron", None)


@pytest.fixture
def framework(tmp_path, request):
    """A folder with a module of this test's own; returns its path and the module's name."""
    folder = tmp_path / "framework"
    folder.mkdir()
    name = f"framework_{abs(hash(request.node.nodeid))}"
    (folder / f"{name}.py").write_text(
        "import argparse\n"
        "TEXT = 'no function'\n"
        "def add(parser):\n"
        "    print('noise')\n"
        "    parser.add_argument('--beta-fast')\n"
        "    return parser\n"
        "def add_silently(parser):\n"
        "    parser.add_argument('--beta-slow')\n"
        "def fail(parser):\n"
        "    raise ValueError('no GPU')\n"
        "def give_up(parser):\n"
        "    raise SystemExit(3)\n"
        "def mislead(parser):\n"
        "    return 'a text'\n",
        encoding="utf-8",
    )
    yield folder, name
    sys.modules.pop(name, None)


def first_error_line(capsys) -> str:
    """Return the headline; standard output must be empty."""
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()[0]


# --- list


@pytest.mark.usefixtures("no_megatron")
def test_list_names_every_shipped_surface(capsys):
    """Name, version, number of options, and which one is the default."""
    assert main(["surface", "list"]) == 0

    rows = [line.split(maxsplit=3) for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["NAME", "VERSION", "OPTIONS", "FROM"]
    assert [row[0] for row in rows[1:]] == [*shipped(), "live"]
    newest = load_shipped(NEWEST)
    assert [NEWEST, newest.version, str(len(newest.options)), "shipped, the default"] in rows
    assert rows[-1] == ["live", "-", "-", "megatron.training is not importable"]


@pytest.mark.usefixtures("megatron")
def test_list_says_where_a_live_megatron_is(capsys, tmp_path):
    """It is found and not imported."""
    assert main(["surface", "list"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert ["live", "-", "-", "importable, the default"] in [
        line.split(maxsplit=3) for line in lines
    ]
    assert lines[-1] == f"  {tmp_path / 'installed' / 'megatron' / 'training'}"
    assert "megatron.training" not in sys.modules


# --- show


def test_show_summarizes_a_surface(capsys):
    """Options, defaults of config classes, rotary paths and when each is taken."""
    assert main(["surface", "show", NEWEST]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == NEWEST
    cells = [line.split(maxsplit=1) for line in lines]
    assert ["version", "0.19.2"] in cells
    assert ["options", str(len(load_shipped(NEWEST).options))] in cells
    assert ["--rotary-base", "int; default 10000"] in cells
    assert ["--rope-type", "str; no default; one of rope, yarn"] in cells
    assert "MLATransformerConfig where multi_latent_attention is True" in lines
    assert ["rope_type", "default yarn; --rope-type"] in cells
    assert ["beta_fast", "default 32; no flag"] in cells
    assert "  mla-yarn: builds YarnRotaryEmbedding, returns 2" in lines
    assert "Which path is taken: the first whose condition holds" in lines


@pytest.mark.parametrize("name", shipped())
def test_show_fits_a_terminal(name, capsys):
    """No line is wider than 80 columns, and all of it is ASCII."""
    assert main(["surface", "show", name]) == 0

    out = capsys.readouterr().out
    assert out.isascii()
    assert max(map(len, out.splitlines())) <= 80


def test_show_says_what_a_fork_was_recorded_from(capsys, tmp_path):
    """A checkout has a commit, a framework functions, and sources alone have neither."""
    surface = load_shipped(NEWEST)
    path = tmp_path / "fork.json"
    shown = []
    for source in (
        Source(revision="18ddbce-dirty", arguments=("frame:add",)),
        Source("megatron-core", "0.19.2", "18ddbce"),
        Source(),
    ):
        path.write_text(dump(surface._replace(source=source)), encoding="utf-8")
        assert main(["surface", "show", str(path)]) == 0
        lines = capsys.readouterr().out.splitlines()
        shown += [line for line in lines if line.startswith("recorded from")]

    assert shown == [
        "recorded from  commit 18ddbce-dirty, with frame:add",
        "recorded from  megatron-core 0.19.2, commit 18ddbce",
        "recorded from  sources without a version",
    ]


def test_show_says_what_stands_behind_a_flag(capsys, tmp_path):
    """In whatever way argparse takes values, with defaults as a command line has them."""
    surface = load_shipped(NEWEST)
    changes = {
        "rotary_base": {"action": "store_const", "value_type": None, "const": 5000},
        "rope_type": {"nargs": "?", "default": {"of": "AttnBackend", "member": "flash"}},
        "mrope_section": {"nargs": 3, "default": {"tuple": [16, 24, 24]}},
    }
    options = tuple(one._replace(**changes.get(one.dest, {})) for one in surface.options)
    path = tmp_path / "fork.json"
    path.write_text(dump(surface._replace(options=options)), encoding="utf-8")

    assert main(["surface", "show", str(path)]) == 0
    rows = dict(
        line.split(maxsplit=1)
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("  --")
    )
    assert rows["--rotary-base"] == "sets 5000; default 10000"
    assert rows["--rope-type"].startswith("str, may be left out; default flash;")
    assert rows["--mrope-section"] == "int, 3 values; default 16 24 24"


def test_show_takes_a_version_and_a_path(capsys, tmp_path, monkeypatch):
    """All three ways to name a surface show the same."""
    (tmp_path / "mine").write_text(dump(load_shipped(NEWEST)), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    shown = []
    for name in (NEWEST, "0.19.2", "mine"):
        assert main(["surface", "show", name]) == 0
        shown.append(capsys.readouterr().out)

    assert shown[0] == shown[1] == shown[2]


@pytest.mark.parametrize(
    ("name", "headline"),
    [
        ("nothing", "no surface is named 'nothing'"),
        ("nothing.json", "surface nothing.json cannot be read: No such file or directory"),
        ("x" * 300, f"no surface is named '{'x' * 279}..."),
        ("other.json", "surface other.json has schema 99, this version reads 1"),
    ],
    ids=["name", "path", "too long", "other schema"],
)
def test_show_refuses_what_is_no_surface(name, headline, capsys, tmp_path, monkeypatch):
    """Its first line says what is wrong."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.json").write_text('{"schema": 99}', encoding="utf-8")

    assert main(["surface", "show", name]) == 2
    assert first_error_line(capsys) == headline


# --- record


@pytest.mark.usefixtures("megatron")
def test_record_writes_the_surface(capsys, tmp_path):
    """The file is the surface's own text, and nothing else is left."""
    folder = tmp_path / "out"
    folder.mkdir()
    target = folder / "fork.json"

    assert main(["surface", "record", "-o", str(target)]) == 0
    assert target.read_text(encoding="utf-8") == dump(load_shipped(NEWEST))
    assert [path.name for path in folder.iterdir()] == ["fork.json"]
    options = len(load_shipped(NEWEST).options)
    assert capsys.readouterr().out == f"recorded {NEWEST}, {options} options, in {target}\n"


def test_record_lets_functions_add_options(megatron, framework, tmp_path, capsys):
    """They are found in the folders of --pythonpath, which is then as it was."""
    folder, name = framework
    before = list(sys.path)
    target = tmp_path / "fork.json"

    argv = ["surface", "record", "-o", str(target), "--pythonpath", str(folder)]

    assert main([*argv, "--arguments", f"{name}:add", f"{name}:add_silently"]) == 0
    assert megatron == ["--beta-fast", "--beta-slow"]
    assert sys.path == before
    assert "noise" not in capsys.readouterr().out


@pytest.mark.usefixtures("megatron")
def test_record_gives_a_name(tmp_path, capsys):
    """It stands in the file."""
    target = tmp_path / "fork.json"

    assert main(["surface", "record", "-o", str(target), "--name", "our-fork_2.1+x"]) == 0
    assert load_file(target).name == "our-fork_2.1+x"
    assert capsys.readouterr().out.startswith("recorded our-fork_2.1+x, ")


@pytest.mark.usefixtures("megatron")
@pytest.mark.parametrize(
    ("name", "headline"),
    [
        (NEWEST, f"--name: {NEWEST} is the name of a shipped surface"),
        ("", "--name: '' cannot name a surface"),
        ("a b", "--name: 'a b' cannot name a surface"),
        ("../x", "--name: '../x' cannot name a surface"),
        ("x" * 101, f"--name: '{'x' * 101}' cannot name a surface"),
    ],
    ids=["shipped", "empty", "blank", "path", "long"],
)
def test_record_refuses_a_name(name, headline, capsys, tmp_path):
    """Before a recording, which takes a while."""
    target = tmp_path / "fork.json"

    assert main(["surface", "record", "-o", str(target), "--name", name]) == 2
    assert first_error_line(capsys) == headline
    assert not target.exists()


@pytest.mark.usefixtures("megatron")
def test_record_overwrites_only_when_forced(capsys, tmp_path):
    """What is there stays, unless --force is given."""
    target = tmp_path / "fork.json"
    target.write_text("mine", encoding="utf-8")

    assert main(["surface", "record", "-o", str(target)]) == 2
    assert first_error_line(capsys) == f"{target} exists already"
    assert target.read_text(encoding="utf-8") == "mine"

    assert main(["surface", "record", "-o", str(target), "--force"]) == 0
    assert target.read_text(encoding="utf-8") == dump(load_shipped(NEWEST))


@pytest.mark.usefixtures("megatron")
def test_record_replaces_the_file_that_a_link_names(tmp_path):
    """The link itself stays."""
    (tmp_path / "real").mkdir()
    real, link = tmp_path / "real" / "fork.json", tmp_path / "fork.json"
    real.write_text("old", encoding="utf-8")
    link.symlink_to(real)

    assert main(["surface", "record", "-o", str(link), "--force"]) == 0
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == dump(load_shipped(NEWEST))


@pytest.mark.usefixtures("megatron")
def test_record_that_fails_leaves_what_was_there(capsys, tmp_path, monkeypatch):
    """Neither half a file nor a temporary one."""
    target = tmp_path / "out" / "fork.json"
    target.parent.mkdir()
    target.write_text("mine", encoding="utf-8")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", refuse)

    assert main(["surface", "record", "-o", str(target), "--force"]) == 2
    assert (
        capsys.readouterr().err.splitlines()[-2]
        == f"{target} cannot be written: No space left on device"
    )
    assert [path.name for path in target.parent.iterdir()] == ["fork.json"]
    assert target.read_text(encoding="utf-8") == "mine"


@pytest.mark.usefixtures("no_megatron")
def test_record_needs_megatron(capsys, tmp_path):
    """The error says how to get one."""
    assert main(["surface", "record", "-o", str(tmp_path / "x.json")]) == 2

    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "megatron.training is not importable"
    assert lines[1].startswith("  remedy: pip install 'pytest-ropecontract[megatron]'")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("megatron")
@pytest.mark.parametrize(
    ("output", "headline"),
    [
        ("absent/x.json", "there is no folder 'absent'"),
        ("folder", "folder is a folder"),
        ("x" * 300, f"{'x' * 300} cannot be written: File name too long"),
    ],
    ids=["no folder", "a folder", "too long"],
)
def test_record_checks_the_file_first(output, headline, capsys, tmp_path, monkeypatch):
    """Before a recording, which takes a while."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()

    assert main(["surface", "record", "-o", output]) == 2
    assert first_error_line(capsys) == headline


@pytest.mark.usefixtures("megatron")
def test_record_refuses_an_absent_folder_to_import_from(capsys, tmp_path):
    """A typing error would else be found much later, as a missing module."""
    argv = ["surface", "record", "-o", str(tmp_path / "x.json"), "--pythonpath", "absent"]

    assert main(argv) == 2
    assert first_error_line(capsys) == "--pythonpath: there is no folder 'absent'"


@pytest.mark.usefixtures("megatron")
@pytest.mark.parametrize(
    ("function", "headline"),
    [
        ("absent_module:add", "--arguments: there is no module 'absent_module'"),
        ("NAME", "--arguments: 'NAME' is not of the form module:attribute"),
        ("NAME:absent", "--arguments: module 'NAME' has no attribute 'absent'"),
        ("NAME:TEXT", "--arguments: NAME:TEXT is of type str, not a function"),
        ("NAME:fail", "--arguments: NAME:fail raised ValueError: no GPU"),
        ("NAME:give_up", "--arguments: NAME:give_up raised SystemExit: 3"),
        ("NAME:mislead", "--arguments: NAME:mislead returned str, not a parser"),
    ],
    ids=["module", "form", "attribute", "text", "raises", "exits", "returns"],
)
def test_record_refuses_a_function(function, headline, framework, capsys, tmp_path):
    """Its first line names the option and the function; nothing is written."""
    folder, name = framework
    target = tmp_path / "x.json"
    argv = ["surface", "record", "-o", str(target), "--pythonpath", str(folder)]

    assert main([*argv, "--arguments", function.replace("NAME", name)]) == 2
    errors = [
        line for line in capsys.readouterr().err.splitlines() if not line.startswith("recording ")
    ]
    assert errors[0] == headline.replace("NAME", name)
    assert not target.exists()
