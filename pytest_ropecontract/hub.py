"""A published ``config.json`` from the Hugging Face hub, through ``huggingface_hub``.

The library decides how: endpoint, token, proxy and cache are those of its environment
variables. What it raises becomes one clear error.
"""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ropecontract.contracts.checkpoints.document import SIZE_LIMIT
from pytest_ropecontract.contracts.checkpoints.folders import CONFIG_FILE, DEFAULT_REVISION
from pytest_ropecontract.definitions.alarm import TimeUp, time_limit
from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    from collections.abc import Iterator

LIBRARY = "huggingface_hub"
DENIED = (401, 403)
LOG_IN = "log in: hf auth login, or HF_TOKEN"


class HubError(RopeContractError):
    """A file that the hub does not give."""


@dataclass(frozen=True)
class Published:
    """A file of a repository.

    Attributes:
        path: Where it lies now, in the library's cache.
        commit: The commit that it is of.
        unreached: Why the hub could not be asked, or None where it was.
    """

    path: Path
    commit: str
    unreached: str | None = None


def fetch(repo_id: str, revision: str | None, limit: float) -> Published:
    """Fetch the ``config.json`` of a model.

    Where the hub cannot be reached, the library's cache is asked for the revision.

    Args:
        repo_id: The repository, ``ORG/NAME``.
        revision: A commit, branch or tag; None: ``main``.
        limit: Seconds after which no answer is waited for.

    Raises:
        HubError: The library is not installed, the hub does not have the file or does not
            give it, or neither the hub nor the cache can be asked.
    """
    _check_installed()
    wanted = revision or DEFAULT_REVISION
    try:
        with time_limit(limit), _quiet():
            return _fetched(repo_id, wanted)
    except TimeUp:
        raise HubError(
            f"the hub does not give {CONFIG_FILE} of {repo_id} within {limit:g} seconds",
            remedy="try again, or wait longer with --time-limit",
        ) from None


def _check_installed() -> None:
    try:
        import huggingface_hub  # noqa: F401  # the extra may be left out
    except ImportError as error:
        missing = error.name == LIBRARY
        raise HubError(
            f"{LIBRARY} is not installed" if missing else f"{LIBRARY} cannot be imported: {error}",
            remedy="pip install 'pytest-ropecontract[hub]', or name a folder that holds the model",
        ) from None


def _fetched(repo_id: str, revision: str) -> Published:
    import huggingface_hub as library

    try:
        # Asked once: hf_hub_download would try again for minutes before it gives up.
        url = library.hf_hub_url(repo_id, CONFIG_FILE, revision=revision)
        published = library.get_hf_file_metadata(url)
        _check_usable(published.commit_hash, published.size, repo_id)
        path = library.hf_hub_download(repo_id, CONFIG_FILE, revision=revision)
    except HubError:
        raise
    except Exception as error:  # noqa: BLE001  # those of an HTTP library, which its versions change
        refusal = _refusal(error, repo_id, revision)
        if refusal is not None:
            raise refusal from None
        found = _cached(repo_id, revision, error)
        if found is None:
            raise _unreachable(error, repo_id, revision) from None
        return found
    return _in_cache(path)


def _check_usable(commit: str | None, size: int | None, repo_id: str) -> None:
    """Check, before a file is fetched, that it can be pinned and is not too large.

    Raises:
        HubError: It cannot, or it is.
    """
    from huggingface_hub import constants

    if commit is None:
        raise HubError(
            f"{constants.ENDPOINT} is no hub: it names no commit of {repo_id}",
            remedy="correct HF_ENDPOINT, or the proxy that answers in its place",
        )
    if size is not None and size > SIZE_LIMIT:
        raise HubError(
            f"{CONFIG_FILE} of {repo_id} is too large: {size / 1024**2:.0f} MB, "
            f"more than {SIZE_LIMIT // 1024**2} MB",
            remedy="name the repository of a model",
        )


def _refusal(error: Exception, repo_id: str, revision: str) -> HubError | None:
    """Return what the hub, or the library itself, refuses; None where it was not reached."""
    from huggingface_hub import errors

    if isinstance(error, errors.HfHubHTTPError):
        status = error.response.status_code
        headline = f"the hub answers {status} for {CONFIG_FILE} of {repo_id}"
        remedy = f"{LOG_IN}" if status in DENIED else "try again later"
    else:
        headline = remedy = ""
    told: tuple[tuple[type[Exception], str, str], ...] = (
        (
            errors.HFValidationError,
            f"{repo_id!r} is no repository, and no folder of a model",
            "name a repository as ORG/NAME, or a folder that is there",
        ),
        (
            errors.GatedRepoError,
            f"{repo_id} is gated, and this account may not read it",
            f"accept its conditions on its page, and {LOG_IN}",
        ),
        (
            errors.RepositoryNotFoundError,
            f"the hub has no repository {repo_id}, or it is private",
            f"correct the name; for a private one, {LOG_IN}",
        ),
        (
            errors.RevisionNotFoundError,
            f"{repo_id} has no revision {revision!r}",
            "name a commit, branch or tag of the repository",
        ),
        (
            errors.RemoteEntryNotFoundError,
            f"{repo_id} has no {CONFIG_FILE} at {revision}",
            "name the repository of a model in the layout of transformers",
        ),
        (errors.HfHubHTTPError, headline, remedy),
    )
    for kind, said, what in told:
        if isinstance(error, kind):
            return HubError(said, remedy=what)
    return None


def _unreachable(error: Exception, repo_id: str, revision: str) -> HubError:
    from huggingface_hub import constants, errors

    if isinstance(error, errors.OfflineModeIsEnabled):
        return HubError(
            f"HF_HUB_OFFLINE is set, and the cache has no {CONFIG_FILE} of {repo_id} at {revision}",
            origin=constants.HF_HUB_CACHE,
            remedy="unset it, or name a folder that holds the model",
        )
    return HubError(
        f"{CONFIG_FILE} of {repo_id} cannot be fetched: {_said(error)}",
        origin=constants.ENDPOINT,
        remedy="connect to the network, or name a folder that holds the model",
    )


def _cached(repo_id: str, revision: str, error: Exception) -> Published | None:
    """Return the file of a revision from the library's cache, or None where it is not there."""
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(repo_id, CONFIG_FILE, revision=revision)
    return _in_cache(found, _said(error)) if isinstance(found, str) else None


def _in_cache(path: str, unreached: str | None = None) -> Published:
    """Return a file of the cache with its commit, which is the name of its folder."""
    return Published(Path(path), Path(path).parent.name, unreached)


def _said(error: Exception) -> str:
    """Return what an error says, in one line; that a time limit is over often says nothing."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Let the library neither draw bars nor log what it tries."""
    from huggingface_hub.utils import logging as library_logging
    from huggingface_hub.utils.tqdm import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    level, drawn = library_logging.get_verbosity(), not are_progress_bars_disabled()
    library_logging.set_verbosity(logging.ERROR)
    if drawn:
        disable_progress_bars()
    try:
        yield
    finally:
        library_logging.set_verbosity(level)
        if drawn:
            enable_progress_bars()
