"""The importable Megatron: its real parser and its real config construction."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pytest_ropecontract.errors import described, further
from pytest_ropecontract.megatron import configuration, machine
from pytest_ropecontract.megatron.backend import Config, ConfigRefusedError, RefusingParser
from pytest_ropecontract.megatron.namespaces import copy_of
from pytest_ropecontract.megatron.surface import Surface, SurfaceError
from pytest_ropecontract.megatron.surface_files import load_shipped, shipped

if TYPE_CHECKING:
    import argparse
    import contextlib

FINGERPRINTED = (
    "training/arguments.py",
    "training/argument_utils.py",
    "training/models/gpt.py",
    "training/models/hybrid.py",
    "core/transformer/transformer_config.py",
    "core/transformer/attention.py",
    "core/transformer/multi_latent_attention.py",
    "core/models/gpt/gpt_model.py",
    "core/models/hybrid/hybrid_model.py",
    "core/models/common/embeddings/rotary_pos_embedding.py",
    "core/models/common/embeddings/yarn_rotary_pos_embedding.py",
)


def is_importable() -> bool:
    """Return whether ``megatron.training`` could be imported, without importing it."""
    try:
        return (
            importlib.util.find_spec("torch") is not None
            and importlib.util.find_spec("megatron") is not None
            and importlib.util.find_spec("megatron.training") is not None
        )
    except Exception:  # noqa: BLE001  # a package around it may raise anything
        return False


class LiveMegatron:
    """Resolves against the importable Megatron.

    Attributes:
        surface: Its edits, refusals and rotary rules apply: the shipped one that was recorded
            from the same sources, else one that is probed now.
        package: The folder of the package ``megatron.core``.

    Raises:
        SurfaceError: ``megatron.training`` cannot be imported.
    """

    @property
    def mode(self) -> Literal["live"]:
        """Always ``live``."""
        return "live"

    def __init__(self, surface: Surface | None = None) -> None:
        with machine.quiet() as output:
            try:
                self.arguments: Any = importlib.import_module("megatron.training.arguments")
                self.core: Any = importlib.import_module("megatron.core")
                self.torch: Any = importlib.import_module("torch")
            except Exception as error:
                raise SurfaceError(
                    f"megatron.training cannot be imported: {described(error)}",
                    details=[*further(error), *output.getvalue().splitlines()[-5:]],
                    remedy="pip install 'pytest-ropecontract[megatron]' on Python 3.12 or newer, "
                    "or choose a recorded surface",
                ) from error
        # In a git repository the package adds the commit, of whatever lies around it.
        self.version = str(self.core.__version__).partition("+")[0]
        self.package = Path(str(self.core.__file__)).parent
        self.fingerprint = fingerprint(self.package.parent)
        self.surface = surface or self._rules()

    def _rules(self) -> Surface:
        for name in shipped():
            surface = load_shipped(name)
            if surface.fingerprint == self.fingerprint:
                return surface
        recording = importlib.import_module("pytest_ropecontract.megatron.recording")
        probed: Surface = recording.record()
        return probed

    def new_parser(self) -> argparse.ArgumentParser:
        """Return a new parser with Megatron's options."""
        parser = RefusingParser(description="Megatron-LM Arguments", allow_abbrev=False)
        with machine.quiet():
            filled: argparse.ArgumentParser = self.arguments.add_megatron_arguments(parser)
        return filled

    def active(self) -> contextlib.AbstractContextManager[None]:
        """Let checks for kernels pass that a training machine has."""
        return machine.with_training_kernels()

    def configure(self, namespace: argparse.Namespace) -> Config:
        """Construct the real config, while this is active.

        Raises:
            ConfigRefusedError: The constructor raises.
        """
        # Megatron writes into what it is given.
        namespace = copy_of(vars(namespace))
        if getattr(namespace, "params_dtype", None) is None:
            namespace.params_dtype = self.torch.float32
        try:
            instance = self.arguments.core_transformer_config_from_args(namespace)
        except Exception as error:
            raise ConfigRefusedError("config", type(error).__name__, str(error)) from error
        names = configuration.attributes(self.surface, vars(namespace))
        return Config(
            type(instance).__name__,
            {name: getattr(instance, name) for name in names if hasattr(instance, name)},
            instance,
        )


def fingerprint(package: Path) -> str:
    """Return a SHA-256 over the sources that decide about RoPE.

    Args:
        package: The folder of the package ``megatron``.
    """
    digest = hashlib.sha256()
    for name in FINGERPRINTED:
        path = package / name
        digest.update(name.encode())
        digest.update(path.read_bytes() if path.is_file() else b"absent")
    return digest.hexdigest()
