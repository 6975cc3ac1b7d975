"""From a checkpoint's ``config.json``, whole or its RoPE part, to what it publishes.

The RoPE is looked for in the text model's config, where the file nests it, else at the top
level, in ``rope_scaling`` and ``rope_parameters``, and in the keys beside them. What the file
does not state, and what does not follow from it as transformers 5 would compute it, is left
open. What it states twice and differently, or in a way that leaves a choice, is a problem
and not a guess.
"""

from __future__ import annotations

import dataclasses
import difflib
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.contracts.checkpoints import (
    blocks,
    document,
    excerpt,
    folders,
    keys,
    model_types,
)
from pytest_ropecontract.contracts.checkpoints.blocks import Surroundings
from pytest_ropecontract.contracts.checkpoints.published import (
    Checkpoint,
    Problem,
    PublishedRope,
)
from pytest_ropecontract.contracts.checkpoints.values import Collector, shown
from pytest_ropecontract.contracts.findings import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NESTED_DEPTH = 3
BLOCKS = ("rope_scaling", "rope_parameters")
MOST_LAYERS = 100_000
# What makes an object one that is about RoPE.
STATING = (
    "rope_parameters",
    "rope_scaling",
    "rope_theta",
    "rotary_emb_base",
    "rope_local_base_freq",
    "compress_rope_theta",
    "no_rope_layers",
)
# Fields of which the top level and the nested config may state different values.
STATED_TWICE = (
    "kind",
    "rotary_base",
    "rotary_dim",
    "rotary_scaling_factor",
    "rope_scaling_factor",
    "original_max_position_embeddings",
    "beta_fast",
    "beta_slow",
)


def load(path: Path, name: str) -> Checkpoint:
    """Read a file.

    Args:
        path: The file, the folder of a checkpoint, or that of a repository in a hub cache.
        name: What to call it in texts.

    Raises:
        CheckpointError: It cannot be read, or is no JSON object.
    """
    located = folders.locate(path, name)
    return read(document.load(located.path, located.name), located.name)


def read(config: Mapping[str, Any], name: str = "config.json") -> Checkpoint:
    """Read a document.

    Args:
        config: The content of a ``config.json``, whole or its RoPE part.
        name: What to call it in texts.
    """
    problems = list(_note(config))
    holders = list(_holders(config, "", problems))
    stating = [one for one in holders if _states_rope(one[1])]
    if not stating:
        problems.append(
            Problem(
                "checkpoint",
                f"nothing is stated about RoPE: there is none of {', '.join(STATING[:3])}",
                remedy="copy the checkpoint's config.json, or its RoPE part, here",
            )
        )
        return Checkpoint(name, (), tuple(problems))
    # Those that are nested deepest come first.
    path, holder = stating[0]
    reading = _Holder(holder, path, config)
    ropes = reading.read()
    problems.extend(reading.problems)
    for other_path, other in stating[1:]:
        problems.extend(_contradictions(ropes, path, _Holder(other, other_path, config)))
    return Checkpoint(name, tuple(ropes), tuple(dict.fromkeys(problems)))


def _note(config: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with what a file says about itself."""
    key = excerpt.NOTE
    note = config.get(key)
    if note is None:
        return
    if not isinstance(note, dict):
        yield Problem("checkpoint", f"{key} is {shown(note)}, not an object")
        return
    for name, value in note.items():
        if name not in excerpt.NOTE_KEYS:
            near = difflib.get_close_matches(name, excerpt.NOTE_KEYS, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            known = f"one of {', '.join(excerpt.NOTE_KEYS)}"
            what = f"{key}.{name} is no key of this object{hint}"
            yield Problem("unknown-checkpoint-key", what, remedy=known)
        elif not isinstance(value, str):
            yield Problem("checkpoint", f"{key}.{name} is {shown(value)}, not a text")


def _holders(
    config: Mapping[str, Any], path: str, problems: list[Problem]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects that may state RoPE, the innermost first."""
    if path.count(".") < NESTED_DEPTH:
        for key in excerpt.NESTED:
            nested = config.get(key)
            if isinstance(nested, dict):
                yield from _holders(nested, f"{path}{key}.", problems)
            elif nested is not None:
                problems.append(
                    Problem("checkpoint", f"{path}{key} is {shown(nested)}, not an object")
                )
    yield path, config


def _states_rope(holder: Mapping[str, Any]) -> bool:
    model_type = holder.get("model_type")
    unrotated = isinstance(model_type, str) and model_type in model_types.NO_ROTATION
    return unrotated or any(key in holder for key in STATING)


def _contradictions(ropes: list[PublishedRope], path: str, other: _Holder) -> Iterator[Problem]:
    """Yield what another object of the same document states differently."""
    others = other.read()
    if len(ropes) != 1 or len(others) != 1:
        return
    for field in STATED_TWICE:
        if not (field in ropes[0].values and field in others[0].values):
            continue
        one, two = (rope.values[field] for rope in (ropes[0], others[0]))
        where, elsewhere = (rope.sources[field] for rope in (ropes[0], others[0]))
        # A default has no path in the document, but a text with blanks.
        if one == two or " " in where + elsewhere:
            continue
        yield Problem(
            "checkpoint",
            f"{elsewhere} is {plain(two)} and {where} is {plain(one)}; "
            f"transformers reads {path[:-1]}",
            field,
            "keep the one that the checkpoint was trained with",
        )


def _of_unknown_kind(rope: PublishedRope) -> PublishedRope:
    of_a_kind = ("kind", "magnitude")
    values = {name: value for name, value in rope.values.items() if name not in of_a_kind}
    return dataclasses.replace(rope, kind=None, values=values)


class _Holder(Collector):
    """Reads the object that states RoPE."""

    def __init__(self, holder: Mapping[str, Any], path: str, config: Mapping[str, Any]) -> None:
        super().__init__()
        self.holder = holder
        self.path = path
        model_type = self.text(holder, "model_type", path)
        if model_type is None:
            # A nested config without a type of its own is of the outer one's family.
            outer = config.get("model_type")
            model_type = f"{outer}_text" if isinstance(outer, str) else None
        self.model_type = model_type
        self.layer_types = self._layer_types()

    def read(self) -> list[PublishedRope]:
        """Return the embeddings that are published; the problems are kept."""
        if self.model_type in model_types.NO_ROTATION:
            source = f"{self.model_type} rotates nothing, whatever its config states"
            return [PublishedRope("none", "none", {"kind": "none"}, {"kind": source})]
        block, path = self._block()
        # All of them first: what one layer type states may be about all layers.
        found = list(self._ropes(block, path))
        ropes = [self._with_shape(*one) for one in found]
        if not block and any(self._is_malformed(key) for key in BLOCKS):
            # Something is stated, and nobody knows what: that it is unscaled would be a guess.
            ropes = [_of_unknown_kind(one) for one in ropes]
        return self._merged(ropes)

    def _is_malformed(self, key: str) -> bool:
        value = self.holder.get(key)
        return value is not None and not isinstance(value, dict)

    def _block(self) -> tuple[Mapping[str, Any], str]:
        """Return the parameters in use, and where they are; none are nowhere in particular."""
        found = {}
        for key in BLOCKS:
            value = self.holder.get(key)
            if self._is_malformed(key):
                self.problem(f"{self.path}{key} is {shown(value)}, not an object", "kind")
            elif value:
                found[key] = value
        if len(found) > 1:
            base = self.holder.get("rope_theta")
            one, other = ({"rope_theta": base, **value} for value in found.values())
            if not blocks.same_parameters(one, other):
                self.problem(
                    f"{self.path}rope_scaling and {self.path}rope_parameters state different "
                    f"things; transformers reads rope_scaling alone",
                    "kind",
                    "keep the one that the checkpoint was trained with",
                )
        for key, value in found.items():
            return value, f"{self.path}{key}"
        return {}, self.path

    def _ropes(
        self, block: Mapping[str, Any], path: str
    ) -> Iterator[tuple[PublishedRope, Mapping[str, Any], str]]:
        nested = {
            key: value
            for key, value in block.items()
            if isinstance(value, dict) and key not in keys.EVERY_KEY
        }
        if nested:
            yield from self._per_layer_type(block, nested, path)
        elif self.model_type in model_types.COMPRESSED or "compress_rope_theta" in self.holder:
            yield from self._compressed(block, path)
        else:
            local = self.model_type in model_types.LOCAL_ROPE
            local = local or "rope_local_base_freq" in self.holder
            rope = self._read(block, path)
            yield self._for(rope, "full_attention") if local else rope, block, path
            if local:
                plain_block: dict[str, Any] = {}
                rope = self._read(plain_block, path, base_key="rope_local_base_freq")
                yield self._for(rope, "sliding_attention"), plain_block, path

    def _read(
        self, block: Mapping[str, Any], path: str, *, base_key: str | None = None
    ) -> PublishedRope:
        if base_key is None:
            aliased = "rope_theta" not in self.holder and "rotary_emb_base" in self.holder
            base_key = "rotary_emb_base" if aliased else "rope_theta"
        around = Surroundings(
            self.holder,
            self.path,
            base_key,
            longrope_names=self.model_type in ("phi3", "phi4_multimodal"),
        )
        rope, problems = blocks.read(block, path, around)
        self.problems.extend(problems)
        return rope

    def _per_layer_type(
        self, block: Mapping[str, Any], nested: Mapping[str, Any], path: str
    ) -> Iterator[tuple[PublishedRope, Mapping[str, Any], str]]:
        known = keys.LAYER_TYPES | set(self.layer_types)
        for key, value in sorted(block.items()):
            where = f"{path}.{key}"
            if key not in known and (isinstance(value, dict) or key not in keys.EVERY_KEY):
                near = difflib.get_close_matches(key, sorted(known), n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                self.problems.append(
                    Problem(
                        "unknown-checkpoint-key",
                        f"{where} names no layer type{hint}",
                        remedy="name a layer type of layer_types",
                    )
                )
            elif value is None:
                self._unrotated(key, where)
            elif key not in nested:
                self.problem(
                    f"{where} stands beside parameters by layer type; transformers does not "
                    f"read it",
                    remedy="move it into each of them",
                )
            elif not self.layer_types or key in self.layer_types or key in ("main", "compress"):
                yield self._for(self._read(value, where), key), value, where

    def _compressed(
        self, block: Mapping[str, Any], path: str
    ) -> Iterator[tuple[PublishedRope, Mapping[str, Any], str]]:
        """Read DeepSeek-V4's two embeddings.

        Layers with a compressor use the parameters at ``compress_rope_theta``, and YaRN there
        multiplies cosine and sine with nothing; those without use plain RoPE at
        ``rope_theta``. From ``DeepseekV4Config.__post_init__``.
        """
        ratios = self.whole_list(self.holder, "compress_ratios", self.path)
        layers = self.whole(self.holder, "num_hidden_layers", self.path)
        ratios = None if ratios is None else ratios[:layers]
        counts: tuple[int | None, int | None] = (None, None)
        if ratios is not None:
            counts = (ratios.count(0), len(ratios) - ratios.count(0))
        plain_block: dict[str, Any] = {}
        if counts[0] != 0:
            rope = self._read(plain_block, path)
            yield self._for(rope, "compress ratio 0", counts[0]), plain_block, path
        if counts[1] != 0:
            scaled = {key: value for key, value in block.items() if key != "rope_theta"}
            rope = self._read(scaled, path, base_key="compress_rope_theta")
            if rope.kind == "yarn" and scaled.get("attention_factor") is None:
                why = "DeepSeek-V4 multiplies cosine and sine with nothing"
                rope = dataclasses.replace(
                    rope,
                    values={**rope.values, "magnitude": 1.0},
                    sources={**rope.sources, "magnitude": why},
                )
            yield self._for(rope, "a compress ratio", counts[1]), scaled, path

    def _for(self, rope: PublishedRope, layers: str, count: int | None = None) -> PublishedRope:
        if count is None and layers in self.layer_types:
            count = self.layer_types.count(layers)
        return dataclasses.replace(rope, layers=layers, layer_count=count)

    def _merged(self, ropes: list[PublishedRope]) -> list[PublishedRope]:
        """Return one embedding where all layers use the same."""
        meant = {repr((one.rope_type, one.kind, sorted(one.values.items()))) for one in ropes}
        if len(meant) == 1:
            return [dataclasses.replace(ropes[0], layers=None, layer_count=None)]
        return ropes

    def _with_shape(
        self, rope: PublishedRope, block: Mapping[str, Any], path: str
    ) -> PublishedRope:
        """Add what is the same for every type: width, pairing, layers that skip rotation."""
        shape = _Shape(self, rope, block, f"{path}.")
        shape.read()
        self.problems.extend(shape.problems)
        return dataclasses.replace(
            rope,
            values={**rope.values, **self.values, **shape.values},
            sources={**rope.sources, **self.sources, **shape.sources},
        )

    def _layer_types(self) -> list[str]:
        value = self.holder.get("layer_types")
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            self.problem(f"{self.path}layer_types is {shown(value)}, not a list of texts")
            return []
        return value

    def _unrotated(self, layer_type: str, where: str) -> None:
        """Read a layer type whose parameters are null: its layers are not rotated."""
        if layer_type not in keys.LAYER_TYPES | set(self.layer_types):
            return
        if not self.layer_types:
            self.problem(
                f"{where} is null, and no layer_types say which layers are not rotated",
                "no_rope_layers",
            )
        elif layer_type in self.layer_types:
            skipped = tuple(int(one == layer_type) for one in self.layer_types)
            self.put("no_rope_layers", skipped, where)


class _Shape(Collector):
    """Reads width, pairing and the layers that are not rotated."""

    def __init__(
        self, holder: _Holder, rope: PublishedRope, block: Mapping[str, Any], block_path: str
    ) -> None:
        super().__init__()
        self.holder = holder.holder
        self.path = holder.path
        self.model_type = holder.model_type
        self.rope = rope
        self.block = block
        self.block_path = block_path

    def read(self) -> None:
        self._width()
        interleaved = self.truth(self.holder, "rope_interleave", self.path)
        if interleaved is not None:
            self.put("rotary_interleaved", interleaved, f"{self.path}rope_interleave")
        self._no_rope_layers()

    def _width(self) -> None:
        fraction, fraction_path = self._fraction()
        latent = self.whole(self.holder, "qk_rope_head_dim", self.path)
        rotary = self.whole(self.holder, "rotary_dim", self.path)
        if self.rope.rope_type == "proportional":
            return  # the fraction is of the frequencies, not of the head
        if latent is not None:
            self._latent_width(latent, fraction, fraction_path)
        elif rotary is not None:
            head, head_path = self._head()
            if head is not None and fraction is not None and int(head * fraction) != rotary:
                self.problem(
                    f"{self.path}rotary_dim is {rotary}, but {fraction_path} {plain(fraction)} "
                    f"of {head_path} {head} is {int(head * fraction)}",
                    "rotary_dim",
                    "correct the one that is wrong",
                )
            else:
                self.put("rotary_dim", rotary, f"{self.path}rotary_dim")
        else:
            self._head_width(fraction, fraction_path)
        self._check_width()

    def _fraction(self) -> tuple[float | None, str]:
        name = "partial_rotary_factor"
        inside = self.number(self.block, name, self.block_path)
        key = name
        if self.holder.get(name) is None and self.holder.get("rotary_pct") is not None:
            key = "rotary_pct"
        beside = self.number(self.holder, key, self.path)
        if inside is not None and beside is not None and inside != beside:
            self.problem(
                f"{self.path}{key} is {plain(beside)} and {self.block_path}{name} is "
                f"{plain(inside)}; transformers reads the latter",
                "rotary_dim",
                "keep the one that the checkpoint was trained with",
            )
        if inside is not None:
            return inside, f"{self.block_path}{name}"
        return beside, f"{self.path}{key}"

    def _latent_width(self, latent: int, fraction: float | None, fraction_path: str) -> None:
        """Read the width under multi-latent attention.

        A fraction is then that of a head of which the rotated part is a slice: DeepSeek-V4
        states 0.125 of 512, and a slice of 64, which is rotated whole.
        """
        source = f"{self.path}qk_rope_head_dim"
        if fraction is None or fraction == 1:
            self.put("rotary_dim", latent, source)
            return
        head = self.whole(self.holder, "head_dim", self.path)
        if head is not None and int(head * fraction) == latent:
            self.put("rotary_dim", latent, source)
            return
        self.problem(
            f"{source} is {latent} and {fraction_path} is {plain(fraction)}, which may mean "
            f"that {latent} or that {int(latent * fraction)} elements are rotated",
            "rotary_dim",
            "remove the fraction, or state the head_dim that it is of",
        )

    def _head_width(self, fraction: float | None, fraction_path: str) -> None:
        head, head_path = self._head()
        if head is None:
            return
        if fraction is None:
            if self.model_type not in model_types.OWN_FRACTION:
                self.put("rotary_dim", head, head_path)
            return
        self.put("rotary_dim", int(head * fraction), f"{head_path} * {fraction_path}")

    def _head(self) -> tuple[int | None, str]:
        if self.rope.layers == "full_attention":
            whole = self.whole(self.holder, "global_head_dim", self.path)
            if whole is not None:
                return whole, f"{self.path}global_head_dim"
        head = self.whole(self.holder, "head_dim", self.path)
        if head is not None:
            return head, f"{self.path}head_dim"
        if self.holder.get("head_dim") is None and self.model_type in model_types.DERIVED_HEAD:
            hidden = self.whole(self.holder, "hidden_size", self.path)
            heads = self.whole(self.holder, "num_attention_heads", self.path)
            if hidden is not None and heads is not None:
                return hidden // heads, f"{self.path}hidden_size / num_attention_heads"
        return None, ""

    def _check_width(self) -> None:
        width = self.values.get("rotary_dim")
        if width is None:
            return
        source = self.sources["rotary_dim"]
        sections = self.rope.values.get("mrope_section")
        if width <= 0 or width % 2:
            self.problem(
                f"the rotated width is {width} ({source}), and elements are rotated in pairs",
                "rotary_dim",
            )
            self.drop("rotary_dim")
        elif sections is not None and 2 * sum(sections) != width:
            self.problem(
                f"{self.rope.sources['mrope_section']} sums up to {sum(sections)} frequencies, "
                f"and the rotated width of {width} ({source}) has {width // 2}",
                "mrope_section",
            )

    def _no_rope_layers(self) -> None:
        """Read which layers are not rotated.

        In ``no_rope_layers`` of transformers, 1 means that the layer is rotated and 0 that it
        is not; in RopeConfig it is the other way round.
        """
        key = "no_rope_layers"
        where = f"{self.path}{key}"
        rotated = self.whole_list(self.holder, key, self.path)
        interval = self.whole(self.holder, "no_rope_layer_interval", self.path)
        layers = self.whole(self.holder, "num_hidden_layers", self.path)
        if self.holder.get(key) is not None and rotated is None:
            return
        if rotated:
            if set(rotated) - {0, 1}:
                self.problem(f"{where} has numbers other than 0 and 1", key)
            elif layers is not None and layers != len(rotated):
                self.problem(f"{where} has {len(rotated)} numbers for {layers} layers", key)
            else:
                self.put(key, tuple(1 - one for one in rotated), where)
        elif interval is not None:
            where = f"{self.path}no_rope_layer_interval"
            if layers is None:
                self.problem(f"{where} is {interval}, and num_hidden_layers is not stated", key)
            elif layers > MOST_LAYERS:
                self.problem(
                    f"{self.path}num_hidden_layers is {shown(layers)}, more than any model has", key
                )
            else:
                skipped = tuple(int((index + 1) % interval == 0) for index in range(layers))
                self.put(key, skipped, where)
        elif rotated == [] and self.model_type in model_types.FILLS_NO_ROPE_LAYERS:
            self.problem(
                f"{where} is empty, which {self.model_type} replaces by a rule of its class",
                key,
                "state no_rope_layer_interval, or one number for every layer",
            )
