"""A checkpoint against what is built: by meaning, field by field.

Numbers are compared as numbers, the rotated width in place of the spelling of a fraction,
and YaRN's magnitude and softmax multiplier in place of the two mscales. The kind is compared
even where another kind would compute the same numbers.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.contracts.checkpoints import expected as expecting
from pytest_ropecontract.contracts.expectation import equal
from pytest_ropecontract.contracts.findings import Finding, plain
from pytest_ropecontract.rope import effect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_ropecontract.contracts.checkpoints.published import Checkpoint, PublishedRope
    from pytest_ropecontract.contracts.checkpoints.reach import Finder
    from pytest_ropecontract.rope.config import Kind, RopeConfig
    from pytest_ropecontract.rope.resolution import Resolution

# What is compared where both are of one kind, beside base and width.
YARN_FIELDS = (
    "rotary_scaling_factor",
    "original_max_position_embeddings",
    "beta_fast",
    "beta_slow",
    "round_to_int",
)
LLAMA3_FIELDS = (
    "rope_scaling_factor",
    "original_max_position_embeddings",
    "low_freq_factor",
    "high_freq_factor",
)
# Megatron's llama3 rule has no arguments for these.
LLAMA3_CONSTANTS = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
# What a finding names of another kind; of plain RoPE that is the llama3 rule.
OF_A_KIND: dict[Kind | None, tuple[str, ...]] = {
    "yarn": YARN_FIELDS[:-1],
    "mrope": ("mrope_section",),
}
ITS_OWN = "put there what the checkpoint's own config.json states"
# How many layers without RoPE are named before the rest is only counted.
_LISTED = 4


@dataclass(frozen=True)
class Difference:
    """A field in which a checkpoint and what is built differ.

    Attributes:
        field: Its name.
        expected: The checkpoint's value.
        actual: The value that is built.
        where: Where the checkpoint states its value.
    """

    field: str
    expected: Any
    actual: Any
    where: str


def check(
    model: str, checkpoint: Checkpoint, resolution: Resolution, reach: Finder
) -> tuple[Finding, ...]:
    """Return what a checkpoint's file finds: its own problems, then the differences.

    Args:
        model: The model's name.
        checkpoint: What its file publishes.
        resolution: What is built.
        reach: Finds out which flags set a value.
    """
    found = [
        Finding(
            problem.rule,
            model,
            f"{checkpoint.name}: {problem.message}",
            field=problem.field,
            remedy=problem.remedy or ITS_OWN,
        )
        for problem in checkpoint.problems
    ]
    if not checkpoint.ropes:
        return tuple(found)
    built = resolution.rope
    if built is None:
        reason = resolution.refused.message if resolution.refused else "nothing is built"
        found.append(
            Finding(
                "checkpoint",
                model,
                f"{checkpoint.name} cannot be compared, because nothing is built: {reason}",
                remedy="correct what is refused; the checkpoint is compared after that",
            )
        )
        return tuple(found)
    meant, *others = _by_likeness(checkpoint.ropes, built)
    check_one = _Check(model, checkpoint.name, resolution, built, reach)
    found.extend(check_one.differences(meant))
    for other in others:
        found.extend(check_one.other_layers(other))
    return tuple(found)


def differences(published: PublishedRope, built: RopeConfig) -> list[Difference]:
    """Return the fields in which a published embedding and a built one differ."""
    return [one for one in _differences(published, built) if not _agree(one)]


def _by_likeness(ropes: tuple[PublishedRope, ...], built: RopeConfig) -> list[PublishedRope]:
    """Sort by how little differs; Megatron builds one embedding for all layers."""
    return sorted(ropes, key=lambda one: (one.kind != built.kind, len(differences(one, built))))


def _agree(one: Difference) -> bool:
    return equal(one.expected, one.actual)


def _differences(published: PublishedRope, built: RopeConfig) -> Iterator[Difference]:
    values = published.values

    def difference(name: str, actual: Any) -> Iterator[Difference]:
        if name in values:
            yield Difference(name, values[name], actual, published.sources[name])

    # Where the type is not known, a problem of the file says so already.
    known = published.kind is not None or published.refusal is not None
    if known and published.kind != built.kind:
        named = published.kind or published.rope_type
        yield Difference("kind", named, built.kind, published.sources["kind"])
    if "none" in (published.kind, built.kind):
        return
    yield from difference("rotary_base", built.rotary_base)
    if published.refusal is None:
        yield from difference("rotary_dim", built.rotary_dim)
    if published.kind == built.kind:
        yield from _of_one_kind(published, built, difference)
    if "rotary_interleaved" in values:
        # Multi-latent attention always pairs neighbours, without saying so in its config.
        pairs = built.attention == "mla" or bool(built.rotary_interleaved)
        yield from difference("rotary_interleaved", pairs)
    if "no_rope_layers" in values:
        yield _skipped(published, built)


def _of_one_kind(
    published: PublishedRope,
    built: RopeConfig,
    difference: Callable[[str, Any], Iterator[Difference]],
) -> Iterator[Difference]:
    values = published.values
    if built.kind == "yarn":
        for name in YARN_FIELDS:
            yield from difference(name, getattr(built, name))
        yield from _factors(published, built)
        return
    interpolation = built.seq_len_interpolation_factor or 1.0
    yield Difference(
        "seq_len_interpolation_factor",
        values.get("seq_len_interpolation_factor", 1.0),
        interpolation,
        published.sources.get("seq_len_interpolation_factor", published.sources["kind"]),
    )
    if built.kind == "mrope":
        yield from difference("mrope_section", built.mrope_section)
        yield from difference("mrope_interleaved", False)
    else:
        scaled = bool(built.rope_scaling)
        where = published.sources.get("rope_scaling", published.sources["kind"])
        yield Difference("rope_scaling", values.get("rope_scaling", False), scaled, where)
        if scaled and values.get("rope_scaling"):
            for name in LLAMA3_FIELDS:
                actual = LLAMA3_CONSTANTS.get(name) or getattr(built, name)
                yield from difference(name, actual)
    softmax = 1.0 if built.softmax_multiplier is None else built.softmax_multiplier
    yield Difference("softmax_multiplier", 1.0, softmax, published.sources["kind"])


def _factors(published: PublishedRope, built: RopeConfig) -> Iterator[Difference]:
    """Compare YaRN's two factors as they would be with the published scaling factor.

    Both follow from it: where it differs, that is said, and these are part of its size.
    """
    at_factor = expecting.at_published_factor(published, built)
    if at_factor is None:
        return
    wanted = published.values.get("magnitude")
    if wanted is not None:
        where = published.sources["magnitude"]
        yield Difference("magnitude", wanted, at_factor.magnitude, where)
    factor = at_factor.rotary_scaling_factor
    softmax = expecting.softmax_multiplier(published, built.attention, factor)
    if softmax is not None and at_factor.softmax_multiplier is not None:
        where = published.sources.get("mscale_all_dim", published.sources["kind"])
        yield Difference("softmax_multiplier", softmax, at_factor.softmax_multiplier, where)


def _skipped(published: PublishedRope, built: RopeConfig) -> Difference:
    """Compare the layers that are not rotated, as far as both have them."""
    wanted = published.values["no_rope_layers"]
    actual = built.no_rope_layers or (0,) * len(wanted)
    length = min(len(wanted), len(actual))
    return Difference(
        "no_rope_layers",
        tuple(int(bool(one)) for one in wanted[:length]),
        tuple(int(bool(one)) for one in actual[:length]),
        published.sources["no_rope_layers"],
    )


class _Check:
    """Makes findings of differences."""

    def __init__(
        self, model: str, name: str, resolution: Resolution, built: RopeConfig, reach: Finder
    ) -> None:
        self.model = model
        self.name = name
        self.resolution = resolution
        self.built = built
        self.reach = reach

    def differences(self, published: PublishedRope) -> Iterator[Finding]:
        """Yield a finding for every field in which the published embedding differs."""
        for one in differences(published, self.built):
            yield self._finding(one, published)

    def other_layers(self, published: PublishedRope) -> Iterator[Finding]:
        """Yield that some layers need another embedding than the one that is built."""
        differing = differences(published, self.built)
        if not differing:
            return
        said = ", ".join(
            f"{one.field} {_shown(one.field, one.expected)} (built: "
            f"{_shown(one.field, one.actual)})"
            for one in differing
        )
        count = "" if published.layer_count is None else f"{published.layer_count} "
        yield Finding(
            "unreachable-field",
            self.model,
            f"the {count}layers with {published.layers} need {said} by {self.name} "
            f"({differing[0].where}), and Megatron builds one embedding for all layers",
            field=differing[0].field,
            expected=differing[0].expected,
            actual=differing[0].actual,
            remedy="build these layers with a rotary embedding of their own",
            effect=self._size(published, None, differing),
        )

    def _finding(self, one: Difference, published: PublishedRope) -> Finding:
        stated = expecting.FOLLOWS_FROM.get(one.field, one.field)
        source = self.resolution.sources.get(stated)
        reached = self.reach.find(self.resolution, one, published)
        come = "" if source is None else f" ({source.origin}: {source.text}{self._fraction(one)})"
        layers = "" if published.layers is None else f" for layers with {published.layers}"
        message = (
            f"{one.field} is {_shown(one.field, one.actual)}{come}, the checkpoint's is "
            f"{_shown(one.field, one.expected)}{self._details(one, published)}{layers} "
            f"({self.name}: {one.where})"
        )
        if reached.flags is None:
            message += f", {reached.reason}"
        return Finding(
            "checkpoint" if reached.flags is not None else "unreachable-field",
            self.model,
            message,
            field=one.field,
            expected=one.expected,
            actual=one.actual,
            origin=source.origin if source else None,
            source=source.text if source else None,
            remedy=reached.remedy,
            effect=self._size(published, one.field, [one]),
        )

    def _fraction(self, one: Difference) -> str:
        """Name the fraction of a head that a width is, where it is one."""
        source = self.resolution.sources.get("rotary_percent")
        if one.field != "rotary_dim" or source is None or self.built.rotary_percent == 1:
            return ""
        return f"; {source.origin}: {source.text}"

    def _details(self, one: Difference, published: PublishedRope) -> str:
        """Name the parameters of another kind, which are not compared one by one."""
        if one.field not in ("kind", "rope_scaling"):
            return ""
        names = OF_A_KIND.get(published.kind, LLAMA3_FIELDS)
        parts = [
            f"{name} {plain(published.values[name])}" for name in names if name in published.values
        ]
        return f" ({', '.join(parts)})" if parts else ""

    def _size(
        self, published: PublishedRope, field: str | None, those: Sequence[Difference]
    ) -> str | None:
        """Return the size of the difference in one field, or of all."""
        wanted = expecting.rotation(published, self.built, field)
        if wanted is None:
            return None
        try:
            used = effect.rotation(self.built)
        except ValueError:
            return None
        for one in those:
            # No config states these two as they are built.
            if one.field == "rotary_interleaved":
                used = dataclasses.replace(used, interleaved=one.actual)
                wanted = dataclasses.replace(wanted, interleaved=one.expected)
            elif one.field == "mrope_interleaved":
                wanted = dataclasses.replace(wanted, sections=None)
        return effect.compare_rotations(used, wanted).text


def _shown(name: str, value: Any) -> str:
    if value is None:
        return "not used"
    if isinstance(value, bool):
        return "true" if value else "false"
    if name == "no_rope_layers":
        skipped = [index for index, skips in enumerate(value) if skips]
        if not skipped:
            return "none"
        listed = [str(index) for index in skipped[:_LISTED]]
        listed += ["..."] if len(skipped) > _LISTED else []
        return f"{len(skipped)} layers ({', '.join(listed)})"
    return plain(value)
