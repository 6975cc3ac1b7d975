"""``ropecontract checkpoint pull``, with a hub on this machine and without any."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import local_hub
import pytest
from local_hub import COMMIT, Answer, file, moved, refusal

from pytest_ropecontract import hub as hub_module
from pytest_ropecontract.cli import main
from pytest_ropecontract.contracts.checkpoints import reader

REPO = "moonshotai/Kimi-K2-Instruct"
ROPE = {
    "max_position_embeddings": 131072,
    "qk_rope_head_dim": 64,
    "rope_scaling": {
        "beta_fast": 1.0,
        "beta_slow": 1.0,
        "factor": 32.0,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
        "original_max_position_embeddings": 4096,
        "type": "yarn",
    },
    "rope_theta": 50000.0,
}
CONFIG = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "attention_dropout": 0.0,
    "auto_map": {"AutoConfig": "configuration_deepseek.DeepseekV3Config"},
    "model_type": "kimi_k2",
    **ROPE,
    "quantization_config": {"fmt": "e4m3"},
    "vocab_size": 163840,
}
WHOLE = json.dumps(CONFIG).encode()


@pytest.fixture
def hub():
    """A hub that publishes one model."""
    with local_hub.running() as found:
        found.publish(REPO, file(WHOLE))
        yield found


class Pulling:
    """Runs the command in a process of its own, whose only hub is a local one."""

    def __init__(self, folder: Path, endpoint: str) -> None:
        self.folder = folder / "checkpoints"
        self.folder.mkdir()
        self.target = self.folder / "kimi-k2.json"
        self.home = folder / "home"
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "HF_ENDPOINT": endpoint,
            "NO_PROXY": "*",
            # Where this process is measured for coverage, so is that one.
            **{name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")},
        }

    def __call__(self, *argv: str, limit: str = "50", **environ: str):
        """Pull into the target."""
        script = Path(sys.executable).with_name("ropecontract")
        return subprocess.run(
            [
                *(str(script), "checkpoint", "pull", *argv),
                *("-o", str(self.target), "--time-limit", limit),
            ],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
            env={**self.environ, **environ},
            cwd=self.folder.parent,
        )

    def fails(self, *argv: str, **more: str) -> tuple[str, str]:
        """Pull, which must fail and leave nothing; returns headline and remedy."""
        done = self(*argv, **more)
        assert (done.returncode, done.stdout) == (2, "")
        assert list(self.folder.iterdir()) == []
        lines = done.stderr.splitlines()
        assert "Traceback" not in done.stderr
        assert lines[-1].startswith("  remedy: ")
        return lines[0], lines[-1].removeprefix("  remedy: ")

    @property
    def written(self):
        return json.loads(self.target.read_text(encoding="utf-8"))


@pytest.fixture
def pull(tmp_path, hub):
    return Pulling(tmp_path, hub.url)


def test_the_rope_part_and_where_it_is_from(pull):
    """The file has the commit, and nothing that is not about RoPE."""
    done = pull(REPO)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"wrote {pull.target}: yarn at 50000, {REPO} at {COMMIT}\n"
    assert pull.written == {
        "ropecontract": {
            "repo_id": REPO,
            "revision": COMMIT,
            "part": "the RoPE part of the published config.json",
        },
        "architectures": ["DeepseekV3ForCausalLM"],
        "model_type": "kimi_k2",
        **ROPE,
    }
    assert [path.name for path in pull.folder.iterdir()] == ["kimi-k2.json"]
    assert reader.load(pull.target, "m") == reader.read(CONFIG, "m")


def test_a_revision_is_pinned_as_the_commit_that_it_is_at(pull, hub):
    """A branch moves on, the file does not."""
    hub.publish(REPO, file(WHOLE.replace(b"32.0", b"64.0")), revision="0905")

    assert pull(REPO, "--revision", "0905").returncode == 0
    assert pull.written["rope_scaling"]["factor"] == 64.0
    assert pull.written["ropecontract"]["revision"] == COMMIT


def test_the_token_of_the_environment_is_used(pull, hub):
    """A private repository is read with the account's token."""
    hub.token = "hf_secret"

    refused, remedy = pull.fails(REPO)
    assert refused == f"the hub answers 401 for config.json of {REPO}"
    assert "HF_TOKEN" in remedy
    done = pull(REPO, HF_TOKEN="hf_secret")
    assert (done.returncode, done.stderr) == (0, "")
    assert "hf_secret" not in done.stdout + pull.target.read_text(encoding="utf-8")


def test_a_repository_that_was_renamed(pull, hub):
    """The hub names the new place, on its own host."""
    hub.answers["/old/name/resolve/main/config.json"] = moved(f"/{REPO}/resolve/main/config.json")
    hub.answers[f"/old/name/resolve/{COMMIT}/config.json"] = moved(
        f"/{REPO}/resolve/{COMMIT}/config.json"
    )

    assert pull("old/name").returncode == 0
    assert pull.written["rope_theta"] == 50000.0


def test_a_file_that_another_host_stores_is_fetched_without_the_token(pull, hub):
    """As the hub does with large files."""
    with local_hub.running() as storage:
        storage.answers["/blob"] = Answer(WHOLE)
        stored = {
            "X-Repo-Commit": COMMIT,
            "X-Linked-Etag": '"blob"',
            "X-Linked-Size": str(len(WHOLE)),
        }
        hub.publish(REPO, moved(f"{storage.url}/blob".replace("127.0.0.1", "localhost"), **stored))

        assert pull(REPO, HF_TOKEN="hf_secret").returncode == 0
        assert storage.asked == [("GET", "/blob", None)]
    assert {token for *_, token in hub.asked} == {"Bearer hf_secret"}


NOT_GIVEN = {
    "missing": (
        refusal(404, "RepoNotFound"),
        f"the hub has no repository {REPO}, or it is private",
    ),
    "hidden": (
        refusal(401, "RepoNotFound"),
        f"the hub has no repository {REPO}, or it is private",
    ),
    "gated": (refusal(403, "GatedRepo"), f"{REPO} is gated, and this account may not read it"),
    "revision": (refusal(404, "RevisionNotFound"), f"{REPO} has no revision 'main'"),
    "file": (refusal(404, "EntryNotFound"), f"{REPO} has no config.json at main"),
    "unauthorized": (refusal(401), f"the hub answers 401 for config.json of {REPO}"),
    "forbidden": (refusal(403), f"the hub answers 403 for config.json of {REPO}"),
    "broken": (refusal(503), f"the hub answers 503 for config.json of {REPO}"),
    "large": (
        file(b"", length=100 * 1024**2),
        f"config.json of {REPO} is too large: 100 MB, more than 8 MB",
    ),
    "not JSON": (
        file(b"<html>"),
        f"config.json of {REPO} is not JSON at line 1: Expecting value",
    ),
    "cut off": (
        file(WHOLE[:-5]),
        f"config.json of {REPO} is cut off at line 1: Expecting ',' delimiter",
    ),
    "no object": (file(b"[1]"), f"config.json of {REPO} is a list, not an object"),
    "not about RoPE": (
        file(b'{"model_type": "bert"}'),
        (
            f"config.json of {REPO}: nothing is stated about RoPE: there is none of "
            f"rope_parameters, rope_scaling, rope_theta"
        ),
    ),
}


@pytest.mark.parametrize("name", NOT_GIVEN)
def test_what_the_hub_does_not_give(name, pull, hub):
    """One clear error, and no file."""
    answer, headline = NOT_GIVEN[name]
    hub.publish(REPO, answer)

    said, remedy = pull.fails(REPO)

    assert said == headline
    assert remedy
    assert "here" not in remedy.split(), "no file of the project is wrong"
    if name == "large":
        assert [method for method, *_ in hub.asked] == ["HEAD"]


def test_a_server_that_is_no_hub(pull, hub):
    """Without a commit, nothing could be pinned."""
    hub.publish(REPO, file(WHOLE, commit=None))

    said, remedy = pull.fails(REPO)

    assert said == f"{hub.url} is no hub: it names no commit of {REPO}"
    assert remedy.startswith("correct HF_ENDPOINT")


def test_redirects_in_a_circle(pull, hub):
    """They come to an end: the library's own, or that of the time limit."""
    hub.publish(REPO, moved(f"/{REPO}/resolve/main/config.json"))

    said, _ = pull.fails(REPO, limit="5")

    assert said.startswith(
        (
            f"config.json of {REPO} cannot be fetched: Exceeded 20 redirects",
            f"the hub does not give config.json of {REPO} within 5 seconds",
        )
    )


@pytest.mark.parametrize(
    "answer",
    [
        file(WHOLE, stalls="headers"),
        file(WHOLE[:50], length=len(WHOLE), stalls="body"),
    ],
    ids=["before the answer", "within the file"],
)
def test_an_answer_that_does_not_come(answer, pull, hub):
    """The time limit is that of the whole command, with all that is tried again."""
    hub.publish(REPO, answer)

    said, remedy = pull.fails(REPO, limit="2")

    assert said == f"the hub does not give config.json of {REPO} within 2 seconds"
    assert "--time-limit" in remedy


def test_a_server_that_hangs_up_within_the_file(pull, hub):
    """What has arrived is no file, whether or not the library tries again until the time is up."""
    hub.publish(REPO, file(WHOLE[:50], length=len(WHOLE), hangs_up=True))

    said, _ = pull.fails(REPO, limit="2")

    assert said.startswith(
        (
            f"config.json of {REPO} cannot be fetched: peer closed connection",
            f"the hub does not give config.json of {REPO} within 2 seconds",
        )
    )


def test_no_network(tmp_path):
    """Nothing listens at the port: the error says where the hub was looked for."""
    with local_hub.running() as found:
        endpoint = found.url
    pull = Pulling(tmp_path, endpoint)

    done = pull(REPO)

    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"config.json of {REPO} cannot be fetched: [Errno 111] Connection refused",
        f"  at: {endpoint}",
        "  remedy: connect to the network, or name a folder that holds the model",
    ]


def test_what_was_fetched_once_is_there_without_network(pull, hub):
    """It is said that it may be old."""
    assert pull(REPO).returncode == 0
    hub.answers.clear()
    pull.target.unlink()

    offline = pull(REPO, HF_HUB_OFFLINE="1")
    assert (offline.returncode, offline.stderr) == (0, "")
    said, wrote = offline.stdout.splitlines()
    assert said.startswith("from the local cache, because the hub is not reached: ")
    assert wrote.endswith(f"{REPO} at {COMMIT}")
    pull.target.unlink()
    assert pull.fails("other/model", HF_HUB_OFFLINE="1")[0] == (
        "HF_HUB_OFFLINE is set, and the cache has no config.json of other/model at main"
    )


def test_an_existing_file_is_kept(pull, hub):
    """It is refused before the hub is asked; with --force it is replaced."""
    pull.target.write_text("mine", encoding="utf-8")

    done = pull(REPO)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"{pull.target} exists already",
        "  remedy: name another file, or overwrite it with --force",
    ]
    assert (pull.target.read_text(encoding="utf-8"), hub.asked) == ("mine", [])

    assert pull(REPO, "--force").returncode == 0
    assert pull.written["rope_theta"] == 50000.0


def test_a_file_that_is_to_be_replaced_stays_where_nothing_is_fetched(pull):
    """What is not there cannot replace what is."""
    pull.target.write_text("mine", encoding="utf-8")

    assert pull("other/model", "--force").returncode == 2
    assert pull.target.read_text(encoding="utf-8") == "mine"
    assert [path.name for path in pull.folder.iterdir()] == ["kimi-k2.json"]


def test_a_file_that_cannot_be_written_whole_is_not_written(pull, tmp_path):
    """As on a full disk: neither a part of it is left, nor is the old one gone."""
    (tmp_path / "config.json").write_bytes(WHOLE)
    pull.target.write_text("mine", encoding="utf-8")
    script = Path(sys.executable).with_name("ropecontract")

    done = subprocess.run(
        [str(script), "checkpoint", "pull", "config.json", "-o", str(pull.target), "--force"],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)),
    )

    assert done.returncode == 2
    assert done.stderr.startswith(f"{pull.target} cannot be written: File too large")
    assert [path.name for path in pull.folder.iterdir()] == ["kimi-k2.json"]
    assert pull.target.read_text(encoding="utf-8") == "mine"


# Without a hub: huggingface_hub cannot even be imported


@pytest.fixture
def without_hub(monkeypatch, tmp_path):
    """A Python without huggingface_hub, in a folder of its own."""
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pull_here(*argv: str) -> int:
    return main(["checkpoint", "pull", *argv, "-o", "out.json"])


def written(folder: Path):
    return json.loads((folder / "out.json").read_text(encoding="utf-8"))


def test_without_the_library_the_extra_is_named(without_hub, capsys):
    """One clear error with the line to type."""
    assert pull_here(REPO) == 2
    assert capsys.readouterr().err.splitlines() == [
        "huggingface_hub is not installed",
        ("  remedy: pip install 'pytest-ropecontract[hub]', or name a folder that holds the model"),
    ]
    assert list(without_hub.iterdir()) == []


@pytest.mark.parametrize("source", ["model", "model/config.json", "./model/"])
def test_the_folder_of_a_model(source, without_hub, capsys):
    """Of which repository it is, nobody knows."""
    (without_hub / "model").mkdir()
    (without_hub / "model" / "config.json").write_bytes(WHOLE)

    assert pull_here(source) == 0
    assert written(without_hub)["ropecontract"] == {
        "part": "the RoPE part of the published config.json"
    }
    assert capsys.readouterr().out == "wrote out.json: yarn at 50000\n"


@pytest.fixture
def cache(without_hub):
    """A repository in a hub cache, with two commits."""
    repository = without_hub / "models--moonshotai--Kimi-K2-Instruct"
    for commit, factor in ((COMMIT, "32.0"), (COMMIT[::-1], "64.0")):
        blob = repository / "blobs" / commit[:8]
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(WHOLE.replace(b"32.0", factor.encode()))
        snapshot = repository / "snapshots" / commit
        snapshot.mkdir(parents=True)
        (snapshot / "config.json").symlink_to(f"../../blobs/{commit[:8]}")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT, encoding="utf-8")
    (repository / "refs" / "0905").write_text(COMMIT[::-1], encoding="utf-8")
    return repository


@pytest.mark.parametrize(
    ("inside", "argv", "commit", "factor"),
    [
        ("", (), COMMIT, 32.0),
        ("", ("--revision", "0905"), COMMIT[::-1], 64.0),
        ("", ("--revision", COMMIT[::-1]), COMMIT[::-1], 64.0),
        (f"snapshots/{COMMIT[::-1]}", (), COMMIT[::-1], 64.0),
        (f"snapshots/{COMMIT}/config.json", ("--revision", COMMIT), COMMIT, 32.0),
    ],
)
def test_a_local_hub_cache(inside, argv, commit, factor, cache):
    """The repository and the commit are those of its path."""
    assert pull_here(str(cache / inside), *argv) == 0
    file = written(cache.parent)
    assert file["ropecontract"]["repo_id"] == REPO
    assert file["ropecontract"]["revision"] == commit
    assert file["rope_scaling"]["factor"] == factor


def test_a_revision_of_what_has_only_one(cache, capsys):
    """It is not passed over."""
    assert pull_here(str(cache / "snapshots" / COMMIT), "--revision", "0905") == 2
    assert "is of one revision" in capsys.readouterr().err.splitlines()[0]


def test_what_was_pulled_can_be_pulled_again(without_hub):
    """It is of the same repository and commit."""
    note = {"repo_id": REPO, "revision": COMMIT, "part": "a fragment"}
    (without_hub / "old.json").write_text(json.dumps({"ropecontract": note, **ROPE}))

    assert pull_here("old.json") == 0
    assert written(without_hub) == {"ropecontract": note, **ROPE}


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "inf", "soon"])
def test_a_time_limit_that_is_none(limit, capsys):
    """It is a usage error."""
    with pytest.raises(SystemExit) as exited:
        main(["checkpoint", "pull", REPO, "-o", "out.json", f"--time-limit={limit}"])

    assert exited.value.code == 2
    assert f"'{limit}' is no number of seconds above 0" in capsys.readouterr().err


@pytest.mark.parametrize("disabled", [False, True], ids=["drawn", "disabled"])
def test_progress_bars_of_the_library_are_afterwards_as_before(disabled):
    bars = pytest.importorskip("huggingface_hub.utils.tqdm")
    before = bars.are_progress_bars_disabled()
    set_bars = {True: bars.disable_progress_bars, False: bars.enable_progress_bars}
    set_bars[disabled]()
    try:
        with hub_module._quiet():
            assert bars.are_progress_bars_disabled()
        assert bars.are_progress_bars_disabled() is disabled
    finally:
        set_bars[before]()
