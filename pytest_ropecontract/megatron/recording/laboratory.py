"""A tiny model on the CPU, to see what Megatron does with a namespace."""

from __future__ import annotations

import contextlib
import copy
import importlib
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from unittest import mock

from pytest_ropecontract.megatron import machine
from pytest_ropecontract.megatron.live import LiveMegatron
from pytest_ropecontract.megatron.namespaces import namespace_of
from pytest_ropecontract.megatron.surface import Surface

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping, Sequence

BASE = (
    *("--num-layers", "4", "--hidden-size", "64", "--num-attention-heads", "4"),
    *("--seq-length", "128", "--max-position-embeddings", "128", "--vocab-size", "128"),
    *("--micro-batch-size", "1", "--train-iters", "1", "--lr", "0.1"),
    *("--use-cpu-initialization", "--no-gradient-accumulation-fusion", "--no-persist-layer-norm"),
    *("--position-embedding-type", "rope"),
)
MLA = (
    *("--multi-latent-attention", "--q-lora-rank", "16", "--kv-lora-rank", "16"),
    *("--qk-head-dim", "8", "--qk-pos-emb-head-dim", "16", "--v-head-dim", "8"),
)
ROTARY_MODULES = ("rotary_pos_embedding", "yarn_rotary_pos_embedding")


@dataclass(frozen=True)
class Built:
    """What was constructed for a namespace.

    Attributes:
        rotary_class: Name of the rotary class, or None where none was constructed.
        explicit: The arguments that the model passed.
        defaults: The defaults of its arguments, passed or not.
        embedding: The rotary object.
        attention: The first attention module.
    """

    rotary_class: str | None
    explicit: Mapping[str, Any]
    defaults: Mapping[str, Any]
    embedding: Any
    attention: Any


class Laboratory:
    """The importable Megatron, with one process as a whole training cluster.

    Args:
        arguments: A framework's functions that add options to the parser.
    """

    def __init__(self, arguments: Sequence[Callable[..., Any]] = ()) -> None:
        blank = Surface("", "", "", (), {}, (), (), (), (), {}, ())
        self.live = LiveMegatron(blank)
        self.version = self.live.version
        self.fingerprint = self.live.fingerprint
        self.parser = self.live.new_parser()
        for add in arguments:
            self.parser = add(self.parser) or self.parser
        self._cleanup = contextlib.ExitStack()
        self._captured: list[Built] = []

    def __enter__(self) -> Self:
        """Start the one-process cluster."""
        distributed: Any = importlib.import_module("torch.distributed")
        parallel: Any = importlib.import_module("megatron.core.parallel_state")
        groups: Any = importlib.import_module("megatron.core.process_groups_config")
        self._cleanup.enter_context(machine.with_cpu_as_gpu())
        self._cleanup.enter_context(machine.with_training_kernels())
        with machine.quiet():
            if not distributed.is_initialized():
                store = distributed.HashStore()
                distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
                self._cleanup.callback(distributed.destroy_process_group)
            parallel.initialize_model_parallel()
            self._cleanup.callback(parallel.destroy_model_parallel)
            self.groups = groups.ProcessGroupCollection.use_mpu_process_groups()
        self._cleanup.enter_context(self._capturing())
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it, and put back what was replaced."""
        self._cleanup.close()

    def parse(self, argv: Sequence[str]) -> argparse.Namespace:
        """Parse an argv, as Megatron's ``parse_args`` does in a one-process run."""
        namespace = self.parser.parse_args(list(argv))
        namespace.rank, namespace.world_size = 0, 1
        namespace._is_global_batch_size_explicitly_specified = False  # noqa: SLF001  # as Megatron
        return namespace

    def validate(self, namespace: argparse.Namespace) -> argparse.Namespace:
        """Return what the real ``validate_args`` makes of a copy of a namespace."""
        copied = namespace_of({k: copy.copy(v) for k, v in vars(namespace).items()})
        self.live.arguments.validate_args(copied)
        return copied

    def configure(self, namespace: argparse.Namespace) -> Any:
        """Return the real config for a namespace."""
        return self.live.arguments.core_transformer_config_from_args(namespace)

    def build(
        self, namespace: argparse.Namespace, config: Any, changes: Mapping[str, Any]
    ) -> Built:
        """Build a whole tiny model and return what arrived at the rotary class.

        Args:
            namespace: The validated namespace.
            config: The config that was constructed from it.
            changes: Config attributes to set last, after everything that copies namespace
                values into a config.
        """
        self._captured.clear()
        if getattr(namespace, "hybrid_layer_pattern", None):
            model = self._build_hybrid(namespace, config, changes)
        else:
            model = self._build_gpt(namespace, config, changes)
        attention = next(
            (module for name, module in model.named_modules() if name.endswith("self_attention")),
            None,
        )
        if not self._captured:
            return Built(None, {}, {}, None, attention)
        first = self._captured[0]
        return Built(first.rotary_class, first.explicit, first.defaults, first.embedding, attention)

    def _build_gpt(
        self, namespace: argparse.Namespace, config: Any, changes: Mapping[str, Any]
    ) -> Any:
        specs: Any = importlib.import_module("megatron.core.models.gpt.gpt_layer_specs")
        spec = specs.get_gpt_layer_local_spec(
            multi_latent_attention=config.multi_latent_attention,
            normalization=config.normalization,
        )
        self._lighten(spec)
        try:
            models: Any = importlib.import_module("megatron.training.models.gpt")
            utilities: Any = importlib.import_module("megatron.training.argument_utils")
            from_args = utilities.gpt_config_from_args
        except (ImportError, AttributeError):
            vars(config).update(changes)
            return self._build_gpt_directly(namespace, config, spec)
        model_config = from_args(namespace, config=config)
        object.__setattr__(model_config, "transformer_layer_spec", spec)
        return self._build_model(models.GPTModelBuilder, model_config, changes)

    def _build_model(self, builder: Any, model_config: Any, changes: Mapping[str, Any]) -> Any:
        """Call the model as the pretraining scripts of versions with a builder do."""
        vars(model_config.transformer).update(changes)
        return builder(model_config).build_model(self.groups, pre_process=True, post_process=True)

    def _build_gpt_directly(self, namespace: argparse.Namespace, config: Any, spec: Any) -> Any:
        """Call the model as the pretraining scripts of versions without a builder do."""
        models: Any = importlib.import_module("megatron.core.models.gpt.gpt_model")
        return models.GPTModel(
            config=config,
            transformer_layer_spec=spec,
            vocab_size=namespace.vocab_size,
            max_sequence_length=namespace.max_position_embeddings,
            position_embedding_type=namespace.position_embedding_type,
            rotary_percent=namespace.rotary_percent,
            rotary_base=namespace.rotary_base,
            rope_scaling=namespace.use_rope_scaling,
        )

    def _build_hybrid(
        self, namespace: argparse.Namespace, config: Any, changes: Mapping[str, Any]
    ) -> Any:
        try:
            stack: Any = importlib.import_module("megatron.core.models.hybrid.hybrid_block")
            models: Any = importlib.import_module("megatron.training.models.hybrid")
        except ImportError:
            return self._build_mamba(namespace, config, changes)
        spec = self._stack_spec(config, stack.HybridStack, stack.HybridStackSubmodules)
        utilities: Any = importlib.import_module("megatron.training.argument_utils")
        model_config = utilities.hybrid_config_from_args(namespace, config=config)
        object.__setattr__(model_config, "hybrid_stack_spec", spec)
        with mock.patch.object(stack, "TENorm", self._identity):
            return self._build_model(models.HybridModelBuilder, model_config, changes)

    def _build_mamba(
        self, namespace: argparse.Namespace, config: Any, changes: Mapping[str, Any]
    ) -> Any:
        """Call the model as the pretraining script of versions before the hybrid model does."""
        stack: Any = importlib.import_module("megatron.core.ssm.mamba_block")
        models: Any = importlib.import_module("megatron.core.models.mamba.mamba_model")
        spec = self._stack_spec(config, stack.MambaStack, stack.MambaStackSubmodules)
        vars(config).update(changes)
        with mock.patch.object(stack, "TENorm", self._identity):
            return models.MambaModel(
                config=config,
                mamba_stack_spec=spec,
                vocab_size=namespace.vocab_size,
                max_sequence_length=namespace.max_position_embeddings,
                hybrid_layer_pattern=namespace.hybrid_layer_pattern,
                position_embedding_type=namespace.position_embedding_type,
                rotary_percent=namespace.rotary_percent,
                rotary_base=namespace.rotary_base,
                pg_collection=self.groups,
            )

    def _stack_spec(self, config: Any, stack: type, submodules: Any) -> Any:
        """Return a stack whose attention layers are local ones, and which has no others."""
        specs: Any = importlib.import_module("megatron.core.models.gpt.gpt_layer_specs")
        spec_utils: Any = importlib.import_module("megatron.core.transformer.spec_utils")
        known = inspect.signature(submodules).parameters
        layers = {}
        for name, latent in (("attention_layer", False), ("mla_layer", True), ("dsa_layer", True)):
            if name in known:
                layers[name] = specs.get_gpt_layer_local_spec(
                    multi_latent_attention=latent, normalization=config.normalization
                )
                self._lighten(layers[name])
        return spec_utils.ModuleSpec(module=stack, submodules=submodules(**layers))

    @property
    def _identity(self) -> Any:
        return importlib.import_module("megatron.core.transformer.identity_op").IdentityOp

    def _lighten(self, spec: Any) -> None:
        """Leave out of a layer what has no part in rotation and needs special kernels."""
        spec.submodules.self_attention.submodules.core_attention = self._identity
        spec.submodules.mlp = self._identity

    @contextlib.contextmanager
    def _capturing(self) -> Iterator[None]:
        """Record what arrives at the constructors of rotary classes."""
        depth = [0]

        def wrap(original: Callable[..., None]) -> Callable[..., None]:
            signature = inspect.signature(original)

            def init(self: Any, *args: Any, **kwargs: Any) -> None:
                if not depth[0]:
                    explicit = signature.bind(self, *args, **kwargs).arguments
                    explicit.pop("self")
                    defaults = {
                        name: parameter.default
                        for name, parameter in signature.parameters.items()
                        if name != "self" and parameter.default is not inspect.Parameter.empty
                    }
                    self_class = type(self).__name__
                    built = Built(self_class, dict(explicit), defaults, self, None)
                    captured.append(built)
                depth[0] += 1
                try:
                    original(self, *args, **kwargs)
                finally:
                    depth[0] -= 1

            return init

        captured = self._captured
        with contextlib.ExitStack() as stack:
            for name in ROTARY_MODULES:
                module: Any = importlib.import_module(
                    f"megatron.core.models.common.embeddings.{name}"
                )
                for found in list(vars(module).values()):
                    if (
                        inspect.isclass(found)
                        and found.__module__ == module.__name__
                        and "__init__" in vars(found)
                    ):
                        original = vars(found)["__init__"]
                        stack.callback(setattr, found, "__init__", original)
                        setattr(found, "__init__", wrap(original))  # noqa: B010  # mypy's view
            yield
