"""The importable Megatron on this machine: what it lacks is made good, what it has stays."""

from __future__ import annotations

import argparse
import importlib
from typing import Any

import pytest

pytest.importorskip("megatron.training", exc_type=ImportError)

from likeness import live_megatron, pipelines

from pytest_ropecontract.megatron import live as live_module
from pytest_ropecontract.megatron import machine, recording
from pytest_ropecontract.megatron.live import LiveMegatron
from pytest_ropecontract.megatron.recording.laboratory import Laboratory
from pytest_ropecontract.megatron.surface_files import NEWEST, load_shipped

pytestmark = pytest.mark.filterwarnings("ignore")

LATENT = (
    *("--num-layers", "4", "--hidden-size", "64", "--num-attention-heads", "4"),
    "--multi-latent-attention",
)


def kernels() -> dict[tuple[str, str], Any]:
    """Return what is replaced, as it is now."""
    names = [(module, name) for module, names in machine.KERNELS for name in names]
    names.extend((module, "is_te_min_version") for module in machine.TE_VERSION_CHECKS)
    return {
        (module, name): getattr(importlib.import_module(module), name, "absent")
        for module, name in names
    }


def test_kernels_are_there_until_the_last_who_needs_them_ends() -> None:
    before = kernels()

    with machine.with_training_kernels():
        inside = kernels()
        with machine.with_training_kernels():
            assert kernels() == inside
        assert kernels() == inside

    assert kernels() == before
    assert not {None, "absent"} & set(inside.values())


def test_kernel_that_the_machine_has_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    (name, (first, *_)), *_ = machine.KERNELS
    module = importlib.import_module(name)
    kernel = object()
    monkeypatch.setattr(module, first, kernel)

    with machine.with_training_kernels():
        assert getattr(module, first) is kernel


@pytest.mark.parametrize("name", machine.TE_VERSION_CHECKS)
def test_transformer_engine_is_new_enough(name: str) -> None:
    module = importlib.import_module(name)

    with machine.with_training_kernels():
        assert module.is_te_min_version("99.0", check_equality=False)


@pytest.mark.parametrize("given", ["bfloat16", None])
def test_data_type_is_the_one_that_a_framework_sets(given: str | None) -> None:
    """Megatron's ``validate_args`` sets it from ``--bf16``; a framework may before."""
    torch = pytest.importorskip("torch")
    live = live_megatron()
    values = {**pipelines()[1].parse(LATENT).namespace}
    values["params_dtype"] = given and getattr(torch, given)

    with live.active():
        config = live.configure(argparse.Namespace(**values)).instance

    assert config.params_dtype is getattr(torch, given or "float32")


def test_rules_are_recorded_where_no_shipped_recording_is_of_the_same_sources(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The recording itself takes minutes; other tests make one."""
    made = load_shipped(NEWEST)
    monkeypatch.setattr(live_module, "fingerprint", lambda _: "of a fork")
    monkeypatch.setattr(recording, "record", lambda: made)

    assert LiveMegatron().surface is made


def test_process_group_that_is_there_is_used_and_left() -> None:
    distributed = pytest.importorskip("torch.distributed")
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    group = distributed.group.WORLD
    try:
        with Laboratory():
            assert distributed.group.WORLD is group

        assert distributed.group.WORLD is group
    finally:
        distributed.destroy_process_group()
