"""What is published: built twice from different copies, it is the same to the byte."""

from __future__ import annotations

import email
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

pytest.importorskip("hatchling", reason="needs the build backend: tox -e package")

CHECKOUT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(
    not (CHECKOUT / ".git").exists(), reason="no checkout: what belongs in an sdist, git tells"
)
TOP = ("pytest_ropecontract", "example_project", "tests", "pyproject.toml", "tox.ini")
PROSE = ("README.md", "CHANGELOG.md", "LICENSE")
BACKEND = """
import sys
from hatchling.build import build_sdist, build_wheel
print(build_sdist(sys.argv[1]))
print(build_wheel(sys.argv[1]))
"""


def tracked() -> list[str]:
    """Return the files of the checkout that are not left out by its .gitignore."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=CHECKOUT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return sorted(name for name in listing.split("\0") if name and (CHECKOUT / name).is_file())


def build(folder: Path, *, umask: int, stamp: int, variables: Mapping[str, str]) -> Path:
    """Build from a copy of the checkout, and return where the distributions are."""
    source, built = folder / "source", folder / "built"
    for name in tracked():
        copy = source / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / name, copy)
        os.utime(copy, (stamp, stamp))
    subprocess.run(
        [sys.executable, "-c", BACKEND, str(built)],
        cwd=source,
        check=True,
        capture_output=True,
        umask=umask,
        env={**os.environ, **variables},
    )
    return built


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("one"), umask=0o022, stamp=1_600_000_000, variables={})


@pytest.fixture
def wheel(built: Path) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as opened:
        yield opened


@pytest.fixture(scope="module")
def sdist(built: Path) -> list[str]:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        return sorted(name.partition("/")[2] for name in archive.getnames())


def test_another_copy_at_another_time_gives_the_same_bytes(built: Path, tmp_path: Path):
    elsewhere = {"LC_ALL": "C", "TZ": "Pacific/Apia", "PYTHONHASHSEED": "7"}

    again = build(tmp_path, umask=0o077, stamp=1_700_000_000, variables=elsewhere)

    names = sorted(path.name for path in built.iterdir())
    assert names == sorted(path.name for path in again.iterdir())
    assert len(names) == 2
    assert [
        name for name in names if (built / name).read_bytes() != (again / name).read_bytes()
    ] == []


def test_the_wheel_holds_the_package_and_nothing_else(wheel: zipfile.ZipFile):
    package = [name for name in tracked() if name.startswith("pytest_ropecontract/")]
    inside = [name for name in wheel.namelist() if ".dist-info/" not in name]

    assert sorted(inside) == package
    assert "pytest_ropecontract/py.typed" in inside
    assert any(name.endswith(".json") for name in inside)


def test_the_sdist_holds_what_its_tests_need(sdist: list[str]):
    wanted = [name for name in tracked() if name.partition("/")[0] in (*TOP, *PROSE)]

    assert [name for name in wanted if name not in sdist] == []
    assert sorted(set(sdist) - set(wanted)) == [".gitignore", "PKG-INFO"]


def test_its_own_tests_of_packaging_pass_in_an_unpacked_sdist(built: Path, tmp_path: Path):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()

    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/packaging"],
        cwd=unpacked,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert " skipped" in run.stdout


def test_the_metadata_is_what_users_install_by(wheel: zipfile.ZipFile):
    name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = email.message_from_bytes(wheel.read(name))

    assert metadata["Name"] == "pytest-ropecontract"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["License-File"] == "LICENSE"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload() == (CHECKOUT / "README.md").read_text(encoding="utf-8")
    unconditional = [one for one in metadata.get_all("Requires-Dist", []) if "extra ==" not in one]
    assert unconditional == ["hypothesis>=6.140", "pluggy>=1.6", "pytest>=9.0", "syrupy>=7.0"]


def test_the_wheel_is_a_plugin_and_a_command(wheel: zipfile.ZipFile):
    name = next(name for name in wheel.namelist() if name.endswith("/entry_points.txt"))

    assert wheel.read(name).decode().split() == [
        *("[console_scripts]", "ropecontract", "=", "pytest_ropecontract.cli:main"),
        *("[pytest11]", "ropecontract", "=", "pytest_ropecontract.plugin"),
    ]


def test_a_package_index_takes_the_metadata(built: Path):
    pytest.importorskip("twine", reason="needs twine: tox -e package")

    checked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *map(str, built.iterdir())],
        capture_output=True,
        text=True,
        check=False,
    )

    assert checked.returncode == 0, checked.stdout + checked.stderr
