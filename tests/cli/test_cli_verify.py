"""``ropecontract surface verify``, with a recording in place of a live Megatron."""

from __future__ import annotations

import json

import pytest

from pytest_ropecontract.cli import main
from pytest_ropecontract.megatron import live, recording
from pytest_ropecontract.megatron.recorded import RecordedMegatron
from pytest_ropecontract.megatron.surface import Source
from pytest_ropecontract.megatron.surface_files import NEWEST, dump, load_shipped, shipped


@pytest.fixture
def megatron(monkeypatch):
    """A Python with a Megatron; what it is recorded as is kept under ``surface``."""
    kept = {"surface": load_shipped(NEWEST), "arguments": []}

    def record(arguments, *, name=None):
        kept["arguments"] = list(arguments)
        surface = kept["surface"]
        return surface._replace(name=name or surface.name)

    monkeypatch.setattr(live, "is_importable", lambda: True)
    monkeypatch.setattr("pytest_ropecontract.cli.importing.live_folder", lambda: "somewhere")
    monkeypatch.setattr(recording, "record", record)
    return kept


def drifted(surface, **changes):
    """Return a surface whose rotary base has another default."""
    options = tuple(
        one._replace(default=500000) if one.dest == "rotary_base" else one
        for one in surface.options
    )
    return surface._replace(options=options, **changes)


@pytest.mark.parametrize("name", shipped())
@pytest.mark.parametrize("argument", [[], ["name"]], ids=["default", "named"])
def test_no_drift(name, argument, megatron, capsys):
    """Without a name, the shipped surface of the same version is taken."""
    megatron["surface"] = load_shipped(name)

    assert main(["surface", "verify", *[name for _ in argument]]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{name} does what the importable {name} does\n"
    assert captured.err == "recording somewhere, about a minute\n"


def test_a_checkout_is_held_against_the_release(megatron, capsys):
    """Megatron adds the commit of a checkout to its version."""
    megatron["surface"] = load_shipped(NEWEST)._replace(version="0.19.2+18ddbce", name="checkout")

    assert main(["surface", "verify"]) == 0
    assert capsys.readouterr().out == f"{NEWEST} does what the importable checkout does\n"


def test_drift(megatron, capsys):
    """The exit status is 1, and every difference is a line."""
    megatron["surface"] = drifted(load_shipped(NEWEST), fingerprint="another")

    assert main(["surface", "verify"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{NEWEST} differs from the importable {NEWEST}",
        "",
        "RoPE options: 1 changed",
        "  ~ --rotary-base: default 10000 -> 500000",
        "",
        "1 difference; - is recorded, + is live",
    ]


def test_sources_may_differ_in_what_does_not_matter(megatron, capsys):
    """A comment in the sources is no drift."""
    megatron["surface"] = load_shipped(NEWEST)._replace(fingerprint="another")

    assert main(["surface", "verify"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "the sources differ, and nothing that a surface holds"
    ]


def test_json(megatron, capsys):
    """Standard output is one document; progress stands on standard error."""
    megatron["surface"] = drifted(load_shipped(NEWEST), source=Source(revision="2e64d78"))

    assert main(["surface", "verify", NEWEST, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert list(document) == ["recorded", "live", "drift", "differences"]
    assert document["drift"] is True
    assert document["recorded"]["source"]["distribution"] == "megatron-core"
    assert document["live"]["source"]["revision"] == "2e64d78"
    assert document["differences"] == [
        {
            "part": "options",
            "subject": "--rotary-base",
            "change": "changed",
            "aspect": "default",
            "before": 10000,
            "after": 500000,
        }
    ]

    megatron["surface"] = load_shipped(NEWEST)
    assert main(["surface", "verify", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["drift"], document["differences"]) == (False, [])


@pytest.mark.usefixtures("megatron")
def test_a_file(capsys, tmp_path):
    """A fork's own recording is held against the fork."""
    path = tmp_path / "fork.json"
    path.write_text(dump(drifted(load_shipped(NEWEST), name="our-fork")), encoding="utf-8")

    assert main(["surface", "verify", str(path)]) == 1
    assert "our-fork differs from the importable" in capsys.readouterr().out


def test_the_functions_of_a_framework_are_not_taken_from_the_file(megatron, capsys, tmp_path):
    """What a file names is not imported: whoever verifies it says the same on the command line."""
    (tmp_path / "verify_frame.py").write_text(
        "def add(parser):\n    return parser\n", encoding="utf-8"
    )
    surface = load_shipped(NEWEST)
    fork = surface._replace(name="fork", source=Source(arguments=("verify_frame:add",)))
    path = tmp_path / "fork.json"
    path.write_text(dump(fork), encoding="utf-8")

    assert main(["surface", "verify", str(path)]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "fork was recorded with other --arguments",
        "  remedy: give the same: --arguments verify_frame:add",
    ]

    argv = ["--arguments", "verify_frame:add", "--pythonpath", str(tmp_path)]
    assert main(["surface", "verify", str(path), *argv]) == 0
    assert megatron["arguments"] == ["verify_frame:add"]
    capsys.readouterr()

    assert main(["surface", "verify", NEWEST, *argv]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"{NEWEST} was recorded without --arguments",
        "  remedy: leave --arguments out",
    ]


def test_a_version_that_is_not_shipped(megatron, capsys):
    """The error says what there is, and how to get one."""
    megatron["surface"] = load_shipped(NEWEST)._replace(version="0.20.0")

    assert main(["surface", "verify"]) == 2
    assert capsys.readouterr().err.splitlines()[1:] == [
        "no surface of megatron-core 0.20.0 is shipped",
        f"  shipped: {', '.join(shipped())}",
        "  remedy: name a surface, or record this one: ropecontract surface record -o FILE",
    ]


def test_without_megatron(monkeypatch, capsys):
    """The error says how to get one."""
    monkeypatch.setattr(live, "is_importable", lambda: False)

    assert main(["surface", "verify"]) == 2
    assert capsys.readouterr().err.splitlines()[0] == "megatron.training is not importable"


@pytest.mark.usefixtures("megatron")
def test_a_live_megatron_is_not_held_against_itself(monkeypatch, capsys):
    surface = RecordedMegatron(load_shipped(NEWEST))
    monkeypatch.setattr(RecordedMegatron, "mode", "live")
    monkeypatch.setattr("pytest_ropecontract.cli.importing.choose", {"live": surface}.get)

    assert main(["surface", "verify", "live"]) == 2
    assert capsys.readouterr().err == "a live Megatron is compared with a recorded surface\n"


@pytest.mark.parametrize("name", ["nothing", "gone.json"])
@pytest.mark.usefixtures("megatron")
def test_what_is_no_surface(name, capsys):
    """It is found out before anything is recorded."""
    assert main(["surface", "verify", name]) == 2
    assert "recording" not in capsys.readouterr().err
