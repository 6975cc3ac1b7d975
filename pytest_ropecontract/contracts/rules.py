"""The rules about one definition: what its argv says, and what becomes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_ropecontract.contracts.expectation import equal
from pytest_ropecontract.contracts.findings import Finding, becomes_yarn, plain
from pytest_ropecontract.megatron.pipeline import VALIDATE_ARGS
from pytest_ropecontract.rope.config import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_ropecontract.megatron.command_line import Occurrence
    from pytest_ropecontract.megatron.pipeline import Pipeline
    from pytest_ropecontract.rope.config import RopeConfig
    from pytest_ropecontract.rope.resolution import Resolution

NO_FUSION = "--no-rope-fusion"
# Flags whose only purpose is rotation, by dest, and the field whose value each would be.
ROPE_DESTS: dict[str, tuple[str, ...]] = {
    "rope_type": ("kind",),
    "rotary_base": ("rotary_base",),
    "rotary_percent": ("rotary_percent",),
    "rotary_interleaved": ("rotary_interleaved",),
    "rotary_seq_len_interpolation_factor": ("seq_len_interpolation_factor",),
    "use_rope_scaling": ("rope_scaling",),
    "rope_scaling_factor": ("rope_scaling_factor", "rotary_scaling_factor"),
    "rotary_scaling_factor": ("rotary_scaling_factor", "rope_scaling_factor"),
    "original_max_position_embeddings": ("original_max_position_embeddings",),
    "beta_fast": ("beta_fast",),
    "beta_slow": ("beta_slow",),
    "mscale": ("mscale",),
    "mscale_all_dim": ("mscale_all_dim",),
    "yarn_original_max_position_embeddings": ("original_max_position_embeddings",),
    "yarn_beta_fast": ("beta_fast",),
    "yarn_beta_slow": ("beta_slow",),
    "yarn_correction_range_round_to_int": ("round_to_int",),
    "mrope_section": ("mrope_section",),
    "no_rope_freq": ("no_rope_layers",),
}
# What an embedding that does not use a value behaves like.
NEUTRAL: dict[str, Any] = {
    "rotary_percent": 1.0,
    "rotary_interleaved": False,
    "use_rope_scaling": False,
    "rope_scaling_factor": 1.0,
    "rotary_scaling_factor": 1.0,
    "mscale": 1.0,
    "mscale_all_dim": 0.0,
}
# Beside ROPE_DESTS, what decides whether and with which width something is rotated.
OTHER_DESTS = frozenset(
    {
        "position_embedding_type",
        "use_rotary_position_embeddings",
        "multi_latent_attention",
        "qk_pos_emb_head_dim",
        "kv_channels",
    }
)


def check(model: str, resolution: Resolution, pipeline: Pipeline) -> tuple[Finding, ...]:
    """Return what the rules about a definition find, most important first."""
    return (
        *_unknown_flags(model, resolution, pipeline),
        *_refused(model, resolution, pipeline),
        *_spaced_tokens(model, resolution),
        *_repeated_flags(model, resolution),
        *_overwritten_flags(model, resolution),
        *_implicit_yarn(model, resolution),
        *_inert_flags(model, resolution),
        *_implicit_fields(model, resolution, pipeline),
    )


def _own(resolution: Resolution) -> list[Occurrence]:
    """Return the occurrences of the definition, without those of the base args."""
    parsed = resolution.parsed
    return [one for one in parsed.occurrences if one.start >= parsed.base_length]


def _unknown_flags(model: str, resolution: Resolution, pipeline: Pipeline) -> Iterator[Finding]:
    surface = pipeline.megatron.surface.name
    drop = pipeline.settings.unknown == "drop"
    for one in resolution.parsed.occurrences:
        if one.dest is not None:
            continue
        near = pipeline.nearest_flag(one.flag)
        hint = "" if near is None else f", did you mean {near}?"
        if not one.flag.startswith("-"):
            yield Finding(
                "dropped-flag" if drop else "rejected-flag",
                model,
                f"the token {one.flag!r} belongs to no flag",
                flag=one.text,
                remedy="remove it, or quote the value that it was part of",
            )
        elif drop:
            yield Finding(
                "dropped-flag",
                model,
                f"{one.text} is dropped: {surface} has no flag {one.flag}{hint}",
                flag=one.text,
                remedy=f"{_correction(one, near, resolution, pipeline)}: as it is, the value "
                "never reaches the model",
            )
        else:
            yield Finding(
                "rejected-flag",
                model,
                f"{surface} has no flag {one.flag}{hint}",
                flag=one.text,
                remedy=_correction(one, near, resolution, pipeline),
            )


def _correction(
    one: Occurrence, near: str | None, resolution: Resolution, pipeline: Pipeline
) -> str:
    """Say what to do about a flag that the parser does not know."""
    if near is not None and _is_of_common_attention(near, resolution, pipeline):
        named = "name the function that adds it to the parser in rope_contract_arguments"
        return f"{named}, or remove it: multi-latent attention does not read {near}"
    write = "" if near is None else f"write {' '.join((near, *one.values))}, "
    return f"{write}remove the flag, or add it to the parser (rope_contract_arguments)"


def _is_of_common_attention(flag: str, resolution: Resolution, pipeline: Pipeline) -> bool:
    """Return whether a command line is of multi-latent attention, and a flag only of common."""
    if all(one.dest != "multi_latent_attention" for one in resolution.parsed.occurrences):
        return False
    dest, surface = pipeline.flags[flag].dest, pipeline.megatron.surface
    read: dict[bool, set[str | None]] = {True: set(), False: set()}
    for path in surface.paths.values():
        for argument in (*path.arguments.values(), *path.reads.values()):
            read[path.attention == "mla"].add(argument.name)
    return dest in read[False] and dest not in read[True]


def _refused(model: str, resolution: Resolution, pipeline: Pipeline) -> Iterator[Finding]:
    refused = resolution.refused
    if refused is None:
        return
    if refused.by == "parser":
        yield Finding(
            "rejected-flag",
            model,
            f"{pipeline.megatron.surface.name} refuses the command line: {refused.message}",
            flag=_named_flag(refused.message, resolution),
            remedy="correct the value; run with this version to see Megatron's own usage text",
        )
        return
    raiser = {
        "config": "the config constructor",
        "validate_args": "validate_args",
        "model": "building the model",
    }[refused.by]
    fusion = "rope_fusion" in refused.message and resolution.parsed.namespace.get("rope_type")
    fix = f"declare {NO_FUSION}" if fusion == "rope" else "correct the flags that it names"
    yield Finding(
        "config-refused",
        model,
        f"{raiser} raises {refused.error}: {refused.message}",
        remedy=f"{fix}: no training run can start from these flags",
    )


def _named_flag(message: str, resolution: Resolution) -> str | None:
    for one in resolution.parsed.occurrences:
        if one.flag in message.replace("/", " ").replace(":", " ").split():
            return one.text
    return None


def _spaced_tokens(model: str, resolution: Resolution) -> Iterator[Finding]:
    for index, token in enumerate(resolution.argv):
        if token == "" or any(character.isspace() for character in token):
            what = "is empty" if token == "" else "has white space inside"
            yield Finding(
                "spaced-token",
                model,
                f"token {index + 1}, {token!r}, {what}: on a command line it becomes "
                f"{len(token.split())} tokens",
                flag=token,
                remedy=f"write it as {len(token.split())} tokens: {token.split()}"
                if token.split()
                else "remove it",
            )


def _repeated_flags(model: str, resolution: Resolution) -> Iterator[Finding]:
    seen: dict[str, Occurrence] = {}
    for one in _own(resolution):
        if one.dest is None:
            continue
        before = seen.get(one.dest)
        if before is not None and not _states_the_same(before, one):
            yield Finding(
                "repeated-flag",
                model,
                f"{before.text} is given first, then {one.text}; the last one is used",
                flag=one.text,
                expected=" ".join(before.values) or before.flag,
                actual=" ".join(one.values) or one.flag,
                origin="declared",
                source=one.text,
                remedy=f"remove {before.text}, which is not used, or {one.text}",
            )
        seen[one.dest] = one


def rotates(finding: Finding, resolution: Resolution) -> bool:
    """Return whether the flag of a finding has to do with RoPE."""
    return any(
        one.text == finding.flag and one.dest in ROPE_DESTS.keys() | OTHER_DESTS
        for one in resolution.parsed.occurrences
    )


def _states_the_same(one: Occurrence, other: Occurrence) -> bool:
    if not (one.values or other.values):
        return one.flag == other.flag
    return equal([number(value) for value in one.values], [number(v) for v in other.values])


def number(text: str) -> float | str:
    """Return the number that a flag's value writes, or the text where it is none."""
    try:
        return float(text)
    except ValueError:
        return text


def _overwritten_flags(model: str, resolution: Resolution) -> Iterator[Finding]:
    parsed = resolution.parsed
    last = {one.dest: one for one in parsed.occurrences if one.dest is not None}
    for dest, filler in parsed.fillers.items():
        if dest not in last or dest not in ROPE_DESTS.keys() | OTHER_DESTS:
            continue
        before, after = parsed.parsed.get(dest), parsed.unpinned.get(dest)
        if equal(before, after):
            continue
        who = "Megatron's validate_args" if filler == VALIDATE_ARGS else filler
        yield Finding(
            "overwritten-flag",
            model,
            f"{last[dest].text} is declared, and {who} makes it {plain(after)}",
            field=ROPE_DESTS.get(dest, (None,))[0],
            flag=last[dest].text,
            expected=before,
            actual=after,
            origin="filled",
            source=filler,
            remedy=f"let {who} keep a declared value, or declare the value that is used",
        )


def _implicit_yarn(model: str, resolution: Resolution) -> Iterator[Finding]:
    rope = resolution.rope
    source = resolution.sources.get("kind")
    if rope is None or rope.kind != "yarn" or source is None or source.origin == "declared":
        return
    if source.flag is None:
        remedy = "no flag of this Megatron sets it: add one with rope_contract_arguments"
    else:
        remedy = (
            f"declare {source.flag} yarn, or {source.flag} rope where the checkpoint uses "
            "plain RoPE"
        )
    if rope.attention == "mla":
        remedy += f" (plain RoPE under MLA also needs {NO_FUSION})"
    yield Finding(
        "implicit-yarn",
        model,
        f"{becomes_yarn(rope.rotary_scaling_factor, rope.beta_fast, rope.beta_slow)} "
        f"and no flag says so ({source.origin}: {source.text})",
        field="kind",
        actual="yarn",
        origin=source.origin,
        source=source.text,
        remedy=remedy,
    )


def _inert_flags(model: str, resolution: Resolution) -> Iterator[Finding]:
    rope = resolution.rope
    if rope is None:
        return
    last = {str(one.dest): one for one in _own(resolution) if one.dest in ROPE_DESTS}
    for dest, one in last.items():
        if dest in resolution.reads:
            continue
        given = resolution.parsed.parsed.get(dest)
        name = _used_instead(dest, rope)
        if name is None:
            used, source, instead = NEUTRAL.get(dest), None, ""
        else:
            used, source = getattr(rope, name), resolution.sources[name]
            instead = f"; {name} is {plain(used)} ({source.origin}: {source.text})"
        harmless = equal(given, used)
        built = rope.rotary_class or "no rotary embedding"
        yield Finding(
            "inert-flag",
            model,
            f"{one.text} is read by nothing that is built ({built}){instead}",
            field=name,
            flag=one.text,
            expected=given,
            actual=used,
            origin=source.origin if source else None,
            source=source.text if source else None,
            remedy=_instead_of_inert(rope, harmless=harmless),
            status="note" if harmless else "fail",
        )


def _instead_of_inert(rope: RopeConfig, *, harmless: bool) -> str:
    if harmless:
        return "remove the flag, it changes nothing"
    if rope.kind == "none":
        return "add --position-embedding-type rope, or remove the flag"
    return "remove the flag, or use the one that this attention reads"


def _used_instead(dest: str, rope: RopeConfig) -> str | None:
    """Return the field whose value is used where a flag was meant to set one, or None."""
    return next((name for name in ROPE_DESTS[dest] if getattr(rope, name) is not None), None)


def _implicit_fields(model: str, resolution: Resolution, pipeline: Pipeline) -> Iterator[Finding]:
    rope = resolution.rope
    if rope is None:
        return
    for name in FIELDS:
        source = resolution.sources.get(name)
        value = getattr(rope, name)
        # What follows from other fields has no source.
        if source is None or source.origin in ("declared", "pinned"):
            continue
        if name == "kind" and value == "yarn":
            # The rule implicit-yarn says it already.
            continue
        if source.dest is None:
            continue
        # Where the parser leaves a value to the config, that of the namespace is None.
        used = resolution.parsed.namespace.get(source.dest)
        flag = _stating_flag(pipeline, source.dest, value if used is None else used)
        if flag is None:
            continue
        yield Finding(
            "implicit-field",
            model,
            f"{name} is {plain(value)} and not declared ({source.origin}: {source.text})",
            field=name,
            actual=value,
            origin=source.origin,
            source=source.text,
            remedy=f"declare it: {flag}",
            status="note",
        )


def _stating_flag(pipeline: Pipeline, dest: str, value: Any) -> str | None:
    """Return the flag that would state a value of a namespace attribute, or None."""
    for statement in pipeline.statements(dest):
        if statement.anything and value is not None:
            return f"{statement.flag} {plain(value)}"
        if not statement.anything and statement.constant is value:
            return statement.flag
    return None
