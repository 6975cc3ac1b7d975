"""One set of RoPE parameters: ``rope_scaling``, ``rope_parameters`` or a part of it.

Precedence and defaults are those that ``modeling_rope_utils`` of transformers 5 applies:
values in the block come before those beside it, the defaults are those of the function of
the type in ``ROPE_INIT_FUNCTIONS``. Defaults of a model's config class are not among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.contracts.checkpoints import keys
from pytest_ropecontract.contracts.checkpoints.published import Problem, PublishedRope
from pytest_ropecontract.contracts.checkpoints.values import Collector, same, shown
from pytest_ropecontract.contracts.findings import plain
from pytest_ropecontract.rope.frequencies import magnitude, yarn_get_mscale

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_ropecontract.rope.config import Kind

# Megatron's kind for each type that it has a class for.
KINDS: dict[str, Kind] = {"default": "rope", "linear": "rope", "llama3": "rope", "yarn": "yarn"}
# The types that no class of Megatron computes, with the reason.
UNBUILDABLE = {
    "dynamic": "no class of Megatron changes its base with the length of the input",
    "longrope": "no class of Megatron takes a factor for every frequency",
    "proportional": "no class of Megatron leaves the lower frequencies of a head at zero",
    "axial": "no class of Megatron has axial frequencies",
}
SCALED_SECTIONS = "no class of Megatron divides scaled frequencies among axes"
# Names from before the types had their present ones.
OLD_NAMES = {"su": "longrope", "mrope": "default"}
BETA_FAST = 32.0
BETA_SLOW = 1.0
# Keys without which transformers refuses the type.
REQUIRED = {
    "linear": ("factor",),
    "dynamic": ("factor",),
    "yarn": ("factor",),
    "longrope": ("short_factor", "long_factor"),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor"),
}


@dataclass(frozen=True)
class Surroundings:
    """What stands beside a block in the document.

    Attributes:
        holder: The object that the block is in.
        path: Where that is, with a dot at the end, or nothing.
        base_key: The key beside the block that states its base.
        longrope_names: Whether this model type calls longrope ``yarn``.
    """

    holder: Mapping[str, Any]
    path: str = ""
    base_key: str = "rope_theta"
    longrope_names: bool = False


def read(
    block: Mapping[str, Any], path: str, around: Surroundings
) -> tuple[PublishedRope, list[Problem]]:
    """Read a block.

    Args:
        block: The parameters; empty where the document has none.
        path: Where they are in the document, without a dot at the end.
        around: What stands beside them.

    Returns:
        What they publish, without the width and without the layers, and what cannot be read.
    """
    return _Block(block, f"{path}.", around).read()


class _Block(Collector):
    def __init__(self, block: Mapping[str, Any], path: str, around: Surroundings) -> None:
        super().__init__()
        self.block = block
        self.path = path
        self.around = around

    def read(self) -> tuple[PublishedRope, list[Problem]]:
        given = self._type_name()
        rope_type = OLD_NAMES.get(given, given)
        if rope_type == "yarn" and self.around.longrope_names:
            rope_type = "longrope"
        self._base()
        stated = [self.block.get(key) for key in ("rope_type", "type")]
        if any(one is not None for one in stated) and not any(isinstance(o, str) for o in stated):
            # A type is stated, and it is none: that the block is unscaled would be a guess.
            return PublishedRope("", None, self.values, self.sources), self.problems
        if rope_type not in keys.KEYS:
            near = keys.nearest_type(given)
            self.problem(
                f"{self.path}rope_type is {given!r}, which transformers does not know"
                + (f"; did you mean {near}?" if near else ""),
                "kind",
                f"one of {', '.join(keys.TYPES)}",
            )
            return PublishedRope(given, None, self.values, self.sources), self.problems
        self._unknown_keys(rope_type)
        for key in REQUIRED.get(rope_type, ()):
            if key not in self.block:
                self.problem(
                    f"{self.path}{key} is missing, without which transformers refuses {rope_type}"
                )
        kind, refusal = self._kind(rope_type)
        if rope_type == "linear":
            self._keep_number("seq_len_interpolation_factor", "factor")
        elif rope_type == "llama3":
            self._llama3()
        elif rope_type == "yarn":
            self._yarn()
        if kind in ("rope", "mrope"):
            self.put("magnitude", 1.0, f"{rope_type} leaves cosine and sine alone")
        rope = PublishedRope(rope_type, kind, self.values, self.sources, refusal=refusal)
        return rope, self.problems

    def _type_name(self) -> str:
        new = self.text(self.block, "rope_type", self.path)
        old = self.text(self.block, "type", self.path)
        if new is not None and old is not None:
            meant = {OLD_NAMES.get(new, new), OLD_NAMES.get(old, old)}
            if len(meant) > 1:
                self.problem(
                    f"{self.path}rope_type is {new!r} and {self.path}type is {old!r}; "
                    f"transformers reads rope_type",
                    "kind",
                    "keep the one that the checkpoint was trained with",
                )
        return new or old or "default"

    def _kind(self, rope_type: str) -> tuple[Kind | None, str | None]:
        """Return the kind, or why Megatron has none; neither where the block leaves it open."""
        kind = KINDS.get(rope_type)
        source = self._where("rope_type", "type") or "no scaling is stated"
        sections = self.whole_list(self.block, "mrope_section", self.path)
        if self.truth(self.block, "mrope_interleaved", self.path):
            self.put("mrope_interleaved", True, f"{self.path}mrope_interleaved")
        refusal = UNBUILDABLE.get(rope_type)
        if sections and rope_type == "default":
            kind, source = "mrope", f"{self.path}mrope_section"
            self.put("mrope_section", tuple(sections), source)
        elif sections:
            kind, refusal = None, refusal or SCALED_SECTIONS
        elif "mrope" in (self.block.get("type"), self.block.get("rope_type")):
            if not self.block.get("mrope_section"):
                self.problem(f"{self.path}mrope_section is missing, which mrope needs", "kind")
            return None, None
        self.sources["kind"] = source
        if kind is not None:
            self.values["kind"] = kind
        return kind, refusal

    def _unknown_keys(self, rope_type: str) -> None:
        named = self._where("rope_type", "type") is not None
        for key, value in self.block.items():
            if value is None or key in keys.KEYS[rope_type] or isinstance(value, dict):
                continue
            others = keys.readers(key)
            what = f"{self.path}{key} is {shown(value)}, "
            if others:
                why = f"which {rope_type} does not read"
                if not named:
                    why = "but no rope_type is stated, so it is not read"
                hint = f"a key of {', '.join(others)}"
                remedy = f"remove it, or state the rope_type that it is for: {', '.join(others)}"
            else:
                near = keys.nearest(key, rope_type)
                why = "a key that transformers does not read"
                hint = f"did you mean {near}?" if near else "no known key is like it"
                remedy = f"remove it, or spell it {near}" if near else "remove it"
            self.problems.append(
                Problem(
                    "unknown-checkpoint-key",
                    f"{what}{why}; {hint}{self._on_top(key, value, rope_type)}",
                    remedy=remedy,
                )
            )

    def _on_top(self, key: str, value: Any, rope_type: str) -> str:
        """Say what a reader that does use the key makes of it."""
        if rope_type != "yarn" or keys.nearest(key, rope_type) != "attention_factor":
            return ""
        factor = self.block.get("factor")
        numbers = (factor, value)
        if not all(isinstance(n, int | float) and not isinstance(n, bool) for n in numbers):
            return ""
        try:
            without = yarn_get_mscale(float(factor))  # type: ignore[arg-type]  # checked above
            on_top = without * float(value)
        except (ValueError, OverflowError):
            return ""
        return (
            f" (cosine and sine are multiplied with {without:.6g} without it, with {value:.6g} "
            f"as attention_factor, and with {on_top:.6g} where it comes on top)"
        )

    def _base(self) -> None:
        base = self.number(self.block, "rope_theta", self.path)
        beside_path = f"{self.around.path}{self.around.base_key}"
        beside = self.number(self.around.holder, self.around.base_key, self.around.path)
        if base is not None:
            self.put("rotary_base", base, f"{self.path}rope_theta")
            if beside is not None and beside != base and self.around.base_key == "rope_theta":
                self.problem(
                    f"{beside_path} is {plain(beside)} and {self.path}rope_theta is "
                    f"{plain(base)}; transformers reads the latter",
                    "rotary_base",
                    "keep the one that the checkpoint was trained with",
                )
        elif beside is not None:
            self.put("rotary_base", beside, beside_path)

    def _llama3(self) -> None:
        self.put("rope_scaling", True, self._where("rope_type", "type") or "")
        self._keep_number("rope_scaling_factor", "factor")
        self._keep_number("low_freq_factor", "low_freq_factor")
        self._keep_number("high_freq_factor", "high_freq_factor")
        self._original_length()

    def _yarn(self) -> None:
        self._original_length()
        self._yarn_factor()
        for name, default in (("beta_fast", BETA_FAST), ("beta_slow", BETA_SLOW)):
            # transformers writes ``get(name) or default``: zero means the default, too.
            value = self.number(self.block, name, self.path, zero=True)
            if value:
                self.put(name, value, f"{self.path}{name}")
            elif not self.block.get(name):
                self.put(name, default, f"default of {name} in transformers")
        truncate = self.truth(self.block, "truncate", self.path)
        self.put(
            "round_to_int",
            True if truncate is None else truncate,
            "default of truncate in transformers" if truncate is None else f"{self.path}truncate",
        )
        self._yarn_magnitude()

    def _yarn_factor(self) -> None:
        factor = self.number(self.block, "factor", self.path)
        length = self.values.get("original_max_position_embeddings")
        longest = self.whole(self.around.holder, "max_position_embeddings", self.around.path)
        ratio = longest / length if longest and length else None
        longest_path = f"{self.around.path}max_position_embeddings"
        if factor is not None:
            self.put("rotary_scaling_factor", factor, f"{self.path}factor")
            if ratio is not None and ratio not in (1, factor):
                self.problem(
                    f"{self.path}factor is {plain(factor)}, but {longest_path} is "
                    f"{plain(ratio)} times the original length: {longest} / {length}; "
                    f"transformers uses the factor",
                    "rotary_scaling_factor",
                    "correct the one that is wrong",
                )
        elif ratio is not None and "factor" in self.block and self.block["factor"] is None:
            self.put("rotary_scaling_factor", ratio, f"{longest_path} / original length")

    def _yarn_magnitude(self) -> None:
        factor = self.values.get("rotary_scaling_factor")
        own = self.number(self.block, "attention_factor", self.path)
        before = len(self.problems)
        numerator = self.number(self.block, "mscale", self.path, zero=True) or 0.0
        denominator = self.number(self.block, "mscale_all_dim", self.path, zero=True) or 0.0
        if len(self.problems) > before:
            return
        self.put(
            "mscale_all_dim",
            denominator,
            self._where("mscale_all_dim") or "no mscale_all_dim is stated",
        )
        if own is not None:
            self.put("magnitude", own, f"{self.path}attention_factor")
        elif factor is not None and self.block.get("attention_factor") is None:
            try:
                if numerator and denominator:
                    value = magnitude(factor, numerator, denominator)
                    source = f"{self.path}mscale and mscale_all_dim"
                else:
                    value, source = yarn_get_mscale(factor), f"{self.path}factor"
            except ValueError as error:
                self.problem(f"{self.path.removesuffix('.')}: {error}", "magnitude")
                return
            self.put("magnitude", value, source)

    def _original_length(self) -> None:
        key = "original_max_position_embeddings"
        around = self.around
        inside = self.whole(self.block, key, self.path)
        beside = self.whole(around.holder, key, around.path)
        if beside is not None:
            # Phi-3 keeps it there, and transformers lets it come first.
            self.put(key, beside, f"{around.path}{key}")
            if inside is not None and inside != beside:
                self.problem(
                    f"{around.path}{key} is {beside} and {self.path}{key} is {inside}; "
                    f"transformers reads the former",
                    key,
                    "keep the one that the checkpoint was trained with",
                )
        elif inside is not None:
            self.put(key, inside, f"{self.path}{key}")
        elif self.block.get(key) is None:
            longest = self.whole(around.holder, "max_position_embeddings", around.path)
            if longest is not None:
                self.put(key, longest, f"{around.path}max_position_embeddings")

    def _keep_number(self, name: str, key: str) -> None:
        value = self.number(self.block, key, self.path)
        if value is not None:
            self.put(name, value, f"{self.path}{key}")

    def _where(self, *names: str) -> str | None:
        for name in names:
            if self.block.get(name) is not None:
                return f"{self.path}{name}"
        return None


def same_parameters(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two blocks say the same, however the type is spelled."""
    return same(_spelled_alike(one), _spelled_alike(other))


def _spelled_alike(block: Mapping[str, Any]) -> dict[str, Any]:
    name = block.get("rope_type") or block.get("type") or "default"
    meant = OLD_NAMES.get(name, name) if isinstance(name, str) else name
    return {**block, "type": None, "rope_type": meant}
