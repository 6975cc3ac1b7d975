"""What contracts demand, as the rotation that would satisfy them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from strategies import MEGATRON

from pytest_ropecontract.contracts.checkpoints.published import Checkpoint, PublishedRope
from pytest_ropecontract.contracts.demands import of_checkpoint, of_expectation
from pytest_ropecontract.contracts.expectation import Expectation
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.rope import effect
from pytest_ropecontract.rope.resolution import resolve

if TYPE_CHECKING:
    from pytest_ropecontract.rope.config import RopeConfig

STOCK = Pipeline(MEGATRON, PipelineSettings())
GPT = (
    "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --swiglu "
    "--position-embedding-type rope"
)
BASE = PublishedRope("default", "rope", {"rotary_base": 50000.0})


def built(more: str = "") -> RopeConfig:
    return resolve(STOCK, f"{GPT} {more}".split()).built


def wanted(fields: dict[str, Any]) -> effect.Rotation:
    rotation = of_expectation(Expectation(fields), built()).rotation
    assert rotation is not None
    return rotation


class TestOfAnExpectation:
    def test_it_is_named_as_it_is_written(self):
        demand = of_expectation(Expectation({"kind": "rope", "rotary_base": 5}), built())

        assert (demand.of, demand.name) == ("expected", 'rope_expect("rope", rotary_base=5)')

    def test_what_it_names_takes_the_place_of_what_is_built(self):
        assert wanted({"rotary_base": 5}) == effect.rotation(built("--rotary-base 5"))

    def test_a_list_of_sections_is_what_megatron_makes_of_it(self):
        rotation = wanted({"kind": "mrope", "mrope_section": [2, 3, 3]})

        assert rotation.sections == (2, 3, 3)

    def test_a_magnitude_follows_from_what_it_names(self):
        """YaRN's for a factor of 40 is 0.1 ln 40 + 1."""
        yarn = {
            "kind": "yarn",
            "rotary_scaling_factor": 40,
            "original_max_position_embeddings": 4096,
            "beta_fast": 32,
            "beta_slow": 1,
            "round_to_int": True,
        }

        assert wanted(yarn).magnitude == pytest.approx(1.36888794)

    @pytest.mark.parametrize("factor", ["magnitude", "softmax_multiplier"])
    def test_a_factor_that_it_names_stands(self, factor: str):
        assert getattr(wanted({factor: 2.5}), factor) == 2.5

    @pytest.mark.parametrize(
        "demanded", [{"kind": "yarn"}, {"rotary_base": None}], ids=["no factor", "no base"]
    )
    def test_from_what_has_no_frequencies_no_rotation_follows(self, demanded: dict[str, Any]):
        assert of_expectation(Expectation(demanded), built()).rotation is None


class TestOfACheckpoint:
    def test_it_is_named_by_its_file(self):
        (demand,) = of_checkpoint(Checkpoint("one.json", (BASE,)), built())

        assert (demand.of, demand.name) == ("checkpoint", "one.json")

    def test_what_it_publishes_takes_the_place_of_what_is_built(self):
        (demand,) = of_checkpoint(Checkpoint("one.json", (BASE,)), built("--kv-channels 8"))

        assert demand.rotation == effect.rotation(built("--kv-channels 8 --rotary-base 50000"))

    def test_embeddings_of_some_layers_are_demands_of_their_own(self):
        ropes = (BASE, PublishedRope("default", "rope", {"rotary_base": 5.0}, layers="sliding"))

        first, second = of_checkpoint(Checkpoint("one.json", ropes), built())

        assert [first.name, second.name] == ["one.json", "one.json (sliding)"]
        assert second.rotation == effect.rotation(built("--rotary-base 5"))

    def test_what_says_nothing_demands_nothing(self):
        assert of_checkpoint(Checkpoint("one.json"), built()) == []
