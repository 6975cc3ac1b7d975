"""The syrupy extension: where snapshots lie, what they hold, and which of them nobody uses."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from syrupy.assertion import SnapshotAssertion
from syrupy.data import Snapshot, SnapshotCollection, SnapshotCollections
from syrupy.exceptions import TaintedSnapshotError
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.terminal import disable_color

from pytest_ropecontract import snapshots
from pytest_ropecontract.launchers.recording import Recording
from pytest_ropecontract.rope.config import RopeConfig
from pytest_ropecontract.rope.resolution import Resolution
from pytest_ropecontract.snapshots import changes, stored, texts
from pytest_ropecontract.snapshots.names import encoded, is_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from syrupy.types import SerializableData, SerializedData, SnapshotIndex


@dataclass(frozen=True)
class Site:
    """Where the snapshots of one test lie.

    Attributes:
        root: The project's folder.
        folder: That of all its snapshots.
        inner: That of the test's module, relative to it.
        model: The model that the test is about, where it is an item of the plugin, or None:
            it has one file of each kind.
        title: How a failure names the test.
        update: The command that accepts what changed.
        is_unused: Whether nobody is left who could use a file.
    """

    root: Path
    folder: Path
    inner: Path
    model: str | None
    title: str
    update: str
    is_unused: Callable[[Path], bool]


@dataclass(frozen=True)
class RopeLocation(PyTestLocation):
    """A test whose snapshots lie in the project's one folder."""

    site: Site = field(compare=False, repr=False)

    def matches_snapshot_location(self, snapshot_location: str) -> bool:
        """Return whether a file can be this test's."""
        path = Path(snapshot_location)
        if path.parent != self.site.folder / self.site.inner:
            return False
        if self.site.model is not None:
            return path.stem == encoded(self.site.model)
        return is_of(path.stem, self.snapshot_name)


class RopeExtension(SingleFileSnapshotExtension):
    """One file a snapshot; finds the files of all kinds in the project's folder.

    That a file is not used by a run says nothing: its test may be deselected, skipped, or fail
    before it gets that far. Only the files that nobody could use are handed to syrupy.
    """

    _write_mode = WriteMode.TEXT
    file_extension = ""

    def serialize(self, data: SerializableData, **_: Any) -> SerializedData:
        """Return the text of a snapshot.

        Raises:
            TypeError: It is none of the kinds.
        """
        return data if isinstance(data, str) else kind_of(data).text(data, None)

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        """Return how syrupy's summary names a snapshot."""
        if isinstance(test_location, RopeLocation) and test_location.site.model is not None:
            return test_location.snapshot_name
        suffix = f"[{index}]" if isinstance(index, str) else f".{index}" if index else ""
        return encoded(f"{test_location.snapshot_name}{suffix}")

    @classmethod
    def get_file_basename(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:
        """Return the name of a file without its ending."""
        if isinstance(test_location, RopeLocation) and test_location.site.model is not None:
            return encoded(test_location.site.model)
        return cls.get_snapshot_name(test_location=test_location, index=index)

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        """Return the folder of a test's files."""
        if isinstance(test_location, RopeLocation):
            return str(test_location.site.folder / test_location.site.inner)
        return super().dirname(test_location=test_location)

    @classmethod
    def discovery_dirname(cls, *, test_location: PyTestLocation) -> str:
        """Return the folder that is searched, which is the same for all tests."""
        if isinstance(test_location, RopeLocation):
            return str(test_location.site.folder)
        return ""  # syrupy asks for every collected file; those have no snapshots of this kind

    def discover_snapshots(
        self, *, test_location: PyTestLocation, ignore_extensions: list[str] | None = None
    ) -> SnapshotCollections:
        """Return the files that nobody could use."""
        del ignore_extensions  # they hold the kinds, so that no other extension takes them
        found = SnapshotCollections()
        if isinstance(test_location, RopeLocation):
            site = test_location.site
            for path in sorted(site.folder.rglob("*.*")):
                if (
                    path.suffix[1:] in snapshots.SUFFIXES
                    and not path.name.startswith(".")
                    and path.is_file()
                    and site.is_unused(path)
                ):
                    found.add(self.read_snapshot_collection(snapshot_location=str(path)))
        return found

    def read_snapshot_collection(self, *, snapshot_location: str) -> SnapshotCollection:
        """Return what a file holds: one snapshot, named as the file is."""
        collection = SnapshotCollection(location=snapshot_location)
        collection.add(Snapshot(name=Path(snapshot_location).stem))
        return collection

    def read_snapshot_data_from_location(
        self, *, snapshot_location: str, snapshot_name: str, session_id: str
    ) -> SerializableData | None:
        """Return the text of a file, or None where there is none.

        Raises:
            TaintedSnapshotError: It does not hold a snapshot, and can only be written anew.
        """
        del snapshot_name, session_id
        try:
            return stored.read(Path(snapshot_location))
        except stored.UnusableSnapshotError:
            raise TaintedSnapshotError(snapshot_data="") from None

    @classmethod
    def write_snapshot_collection(
        cls, *, snapshot_collection: SnapshotCollection, name_order: dict[str, int] | None = None
    ) -> None:
        """Write a file as a whole, or not at all.

        Raises:
            OSError: It cannot be written.
        """
        del name_order  # there is one snapshot
        text = next(iter(snapshot_collection)).data
        stored.write(Path(snapshot_collection.location), str(text))


class ArgsExtension(RopeExtension):
    """A command line: ``kimi-k2.ropeargs``."""

    file_extension = snapshots.ARGS

    @staticmethod
    def text(data: Any, root: Path | None) -> str:
        """Return a command line as text."""
        del root  # what the definition says is shown as it says it
        return texts.argv_text(data)


class ConfigExtension(RopeExtension):
    """What is built, with the origin of every value: ``kimi-k2.ropeconfig``."""

    file_extension = snapshots.CONFIG

    @staticmethod
    def text(data: Any, root: Path | None) -> str:
        """Return a resolution, or a config without origins, as text."""
        if isinstance(data, RopeConfig):
            return texts.config_text(data)
        return texts.resolution_text(data, root)


class LaunchExtension(RopeExtension):
    """What a launcher would have run: ``test_two_nodes.ropelaunch``."""

    file_extension = snapshots.LAUNCH

    @staticmethod
    def text(data: Any, root: Path | None) -> str:
        """Return a recording as text."""
        return texts.recording_text(data, root)


def kind_of(data: object) -> type[ArgsExtension | ConfigExtension | LaunchExtension]:
    """Return the extension that writes some data.

    Raises:
        TypeError: None does.
    """
    if isinstance(data, Resolution | RopeConfig):
        return ConfigExtension
    if isinstance(data, Recording):
        return LaunchExtension
    if isinstance(data, list | tuple) and all(isinstance(one, str) for one in data):
        return ArgsExtension
    raise TypeError(
        "a RoPE snapshot holds a command line (a list of strings), a Resolution, a RopeConfig or "
        f"a Recording, not {type(data).__name__}"
    )


@dataclass(frozen=True)
class Change:
    """Why a snapshot does not match.

    Attributes:
        headline: The whole story in one line.
        diff: The lines that differ, with some around them.
        remedy: What to do.
    """

    headline: str
    diff: tuple[str, ...]
    remedy: str

    @property
    def lines(self) -> list[str]:
        """All of it, a line each."""
        return [self.headline, *(f"  {line}" for line in self.diff), f"  remedy: {self.remedy}"]


@dataclass(eq=False, order=False, repr=False)
class RopeSnapshot(SnapshotAssertion):
    """What the fixture ``rope_snapshot`` gives: compares equal to what was written down.

    The kind of the data decides about the file. ``rope_snapshot(name="two_nodes")`` names it.
    """

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # as that of what it is made of

    @classmethod
    def of(cls, snapshot: SnapshotAssertion, site: Site) -> RopeSnapshot:
        """Return a snapshot that is kept at a site, instead of where syrupy would."""
        return cls(
            session=snapshot.session,
            extension_class=RopeExtension,
            test_location=RopeLocation(snapshot.test_location.item, site),
            update_snapshots=snapshot.update_snapshots,
            update_new_snapshots_only=snapshot.update_new_snapshots_only,
        )

    def __eq__(self, other: object) -> bool:
        """Return whether data is what was written down, and write it where that was asked for.

        Raises:
            TypeError: It is none of the kinds.
        """
        kind = kind_of(other)
        self(extension_class=kind)
        return super().__eq__(kind.text(other, self.site.root))

    @property
    def site(self) -> Site:
        """Where the files lie."""
        return cast("RopeLocation", self.test_location).site

    def change(self) -> Change:
        """Say why the last comparison failed."""
        last = self.executions[self.num_executions - 1]
        path = Path(last.snapshot_location)
        root = self.site.root
        shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
        start = f"snapshot: {self.site.title}"
        update = f"if that is right: {self.site.update}"
        if isinstance(last.exception, OSError):
            reason = last.exception.strerror
            return Change(
                f"{start}: {shown} cannot be written: {reason}", (), "make room for the file"
            )
        try:
            before = stored.read(path)
        except stored.UnusableSnapshotError as problem:
            remedy = f"restore it, or write it anew: {self.site.update}"
            return Change(f"{start}: {shown} {problem}", (), remedy)
        if before is None:
            remedy = f"write it down: {self.site.update}"
            return Change(f"{start}: there is no {shown}", (), remedy)
        told = changes.story(before, str(last.asserted_data))
        with disable_color():
            mode = self.session.pytest_session.config.option.diff_mode
            diff = tuple(self.get_assert_diff(diff_mode=mode))
        place = f"in {shown}:" if diff else f"in {shown}"
        return Change(f"{start}: {told}", (place, *diff), update)
