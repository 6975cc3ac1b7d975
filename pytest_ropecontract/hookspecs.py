"""The hooks that a project or another plugin can implement.

Mark an implementation in a ``conftest.py`` as optional, so that the project also runs where
this plugin is not installed::

    @pytest.hookimpl(optionalhook=True)
    def pytest_ropecontract_models(registry):
        registry.add("tiny", ["--num-layers", "2", "--position-embedding-type", "rope"])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from pytest_ropecontract.definitions import Registry
    from pytest_ropecontract.megatron.pipeline import PipelineSettings


class RopeContractSpecs:
    """Hooks of the plugin; all arguments are given by keyword and may be left out."""

    @pytest.hookspec
    def pytest_ropecontract_models(self, registry: Registry, config: pytest.Config) -> None:
        """Add model definitions that are in no file of their own.

        Called once per run, after the files of ``rope_contract_models`` were registered.
        ``registry.add(name, source)`` takes a function that returns argv, a text or a list
        of tokens; ``registry.variant(name, of, **overrides)`` a definition with overrides.
        """

    @pytest.hookspec
    def pytest_ropecontract_pipeline(
        self, settings: PipelineSettings, config: pytest.Config
    ) -> Mapping[str, Any] | None:
        """Return settings of the pipeline that differ from the ini file's.

        The keys are those of ``PipelineSettings``: ``arguments``, ``defaults``, ``parser``,
        ``stubs``, ``base_args``, ``pins``, ``rotary``, ``unknown``, ``pythonpath``. The
        results of all implementations are merged, that of the first registered last.
        """

    @pytest.hookspec
    def pytest_ropecontract_checkpoints(
        self, model: str, config: pytest.Config
    ) -> str | PathLike[str] | Sequence[str | PathLike[str]] | None:
        """Return the path, or the paths, of further checkpoints of a model.

        A path, absolute or from rootdir, is that of a ``config.json``, whole or its RoPE
        part, or of the folder that it is in. They come in addition to the files of
        ``rope_contract_checkpoints``; a file that is not there is a failure. None, or an
        empty list, names none.
        """
