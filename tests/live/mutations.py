"""Mistakes that a surface could have: each a change of one thing in its document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Document = dict[str, Any]


class AbsentError(Exception):
    """This version has nothing to change there."""


def record(part: str, at: int = 0, **known: Any) -> Callable[[Document], Document]:
    """Find a record by some of its values, or by what its ``when`` contains."""

    def find(document: Document) -> Document:
        found = [
            one
            for one in document[part]
            if all(one.get(key) == value for key, value in known.items() if key != "given")
            and known.get("given", {}).items() <= one.get("when", {}).items()
        ]
        if len(found) <= at:
            raise AbsentError
        result: Document = found[at]
        return result

    return find


def option(dest: str) -> Callable[[Document], Document]:
    return record("options", dest=dest)


def setting(
    find: Callable[[Document], Document], *path: str, to: Any
) -> Callable[[Document], None]:
    """Return a mutation that gives a field of a record another value."""

    def mutate(document: Document) -> None:
        holder = find(document)
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = to

    return mutate


def dropping(find: Callable[[Document], Document], *path: str) -> Callable[[Document], None]:
    """Return a mutation that leaves a field out, so that it has its default."""

    def mutate(document: Document) -> None:
        holder = find(document)
        for step in path[:-1]:
            holder = holder[step]
        if path[-1] not in holder:
            raise AbsentError
        del holder[path[-1]]

    return mutate


def removing(part: str, find: Callable[[Document], Document]) -> Callable[[Document], None]:
    """Return a mutation that removes a record."""

    def mutate(document: Document) -> None:
        document[part].remove(find(document))

    return mutate


def turn_classes(document: Document) -> None:
    """Put the class that holds always first."""
    document["classes"].reverse()


def delay_rules(document: Document) -> None:
    """Put the rules for one kind of hybrid model after those for any."""
    special = [one for one in document["rules"] if "contains" in repr(one["when"])]
    if not special:
        raise AbsentError
    document["rules"] = [one for one in document["rules"] if one not in special] + special


def appending(find: Callable[[Document], Document], key: str, value: Any) -> Any:
    def mutate(document: Document) -> None:
        find(document).setdefault(key, []).append(value)

    return mutate


def swap_options(dest: str) -> Callable[[Document], None]:
    def mutate(document: Document) -> None:
        places = [i for i, one in enumerate(document["options"]) if one["dest"] == dest]
        if len(places) < 2:
            raise AbsentError
        first, second = places[:2]
        options = document["options"]
        options[first], options[second] = options[second], options[first]

    return mutate


def members(document: Document) -> dict[str, int]:
    """Return the members of an enumeration that no choice names."""
    found: dict[str, int] = document["enums"][SCOPE(document)["enum"]]
    return found


def rename_member(document: Document) -> None:
    members(document)["MAMBA"] = members(document).pop("mamba")


def add_member(document: Document) -> None:
    members(document)["flash"] = 99


def remove_member(document: Document) -> None:
    del members(document)["moe"]


def add_option(document: Document) -> None:
    document["options"].append({"flags": ["--rope-theta"], "dest": "rope_theta", "action": "store"})


def exchange_rules(document: Document) -> None:
    """Let plain RoPE and YaRN under multi-latent attention change places."""
    places = {"mla-rope": "mla-yarn", "mla-yarn": "mla-rope"}
    for rule in document["rules"]:
        rule["path"] = places.get(rule["path"], rule["path"])


MLA = record("classes", name="MLATransformerConfig")
COMMON = record("classes", name="TransformerConfig")
BASE = option("rotary_base")
SCOPE = record("options", flags=["--cuda-graph-scope"])
SPEC = option("spec")
GPT_ROPE, MLA_ROPE, MLA_YARN, GPT_YARN, MROPE, HYBRID = (
    record("paths", name=name)
    for name in ("gpt-rope", "mla-rope", "mla-yarn", "gpt-yarn", "gpt-mrope", "hybrid-rope")
)
GPT_RULE = record("rules", path="gpt-rope")
FUSION = record("edits", dest="apply_rope_fusion")
CHANNELS = record("edits", dest="kv_channels")
TYPE = record("edits", dest="position_embedding_type")
EXTRA = record("extras")


def refusal(text: str) -> Callable[[Document], Document]:
    def find(document: Document) -> Document:
        for one in document["refusals"]:
            if text in one["message"]:
                found: Document = one
                return found
        raise AbsentError

    return find


GQA = refusal("Group query attention is mutually exclusive")
ONLY_YARN = refusal("only works with YARN RoPE")
INTERLEAVED = refusal("rotary_interleaved does not work")
COMMON_YARN = refusal("Common attention only support")
NO_SECTIONS = refusal("--mrope-section should be set")
MTP = refusal("Multi-Token Prediction (MTP) is not supported")
DEPRECATED = refusal("--no-position-embedding is deprecated")
BIAS = refusal("When bias_activation_fusion is True")

# What the parser accepts, and the namespace that it makes.
PARSER: dict[str, Any] = {
    "another default": setting(BASE, "default", to=20000),
    "a default of another type": setting(option("rotary_percent"), "default", to=1),
    "a default in place of none": setting(option("rope_type"), "default", to="rope"),
    "no default in place of one": dropping(option("mscale"), "default"),
    "another default of a switch": setting(option("rotary_interleaved"), "default", to=True),
    "another default of a boolean": setting(
        record("options", action="boolean"), "default", to="neither"
    ),
    "another default list": setting(option("cp_comm_type"), "default", to=["a2a"]),
    "another default member": setting(option("attention_backend"), "default", "member", to="flash"),
    "another dest": setting(BASE, "dest", to="rope_theta"),
    "two options with one dest": setting(option("mscale"), "dest", to="mscale_all_dim"),
    "another order of options with one dest": swap_options("yarn_correction_range_round_to_int"),
    "a fraction where a whole number is": setting(BASE, "value_type", to="float"),
    "a whole number where a fraction is": setting(
        option("rotary_scaling_factor"), "value_type", to="int"
    ),
    "text where a number is": dropping(option("kv_channels"), "value_type"),
    "a list pattern read as text": dropping(option("no_rope_freq"), "value_type"),
    "another name of a reader": setting(option("moe_layer_freq"), "reader", to="int"),
    "a choice more": appending(option("position_embedding_type"), "choices", "alibi"),
    "a choice less": setting(option("rope_type"), "choices", to=["rope"]),
    "choices in another order": setting(option("rope_type"), "choices", to=["yarn", "rope"]),
    "no choices": dropping(option("transformer_impl"), "choices"),
    "one value where several are": dropping(option("mrope_section"), "nargs"),
    "several values where one is": setting(option("rope_type"), "nargs", to="+"),
    "at least one value where none is enough": setting(SPEC, "nargs", to="+"),
    "two values where any number is": setting(option("mrope_section"), "nargs", to=2),
    "a value that may be left out": setting(option("rope_type"), "nargs", to="?"),
    "a switch that says the opposite": setting(
        option("multi_latent_attention"), "action", to="store_false"
    ),
    "a boolean without its negation": setting(
        record("options", action="boolean"), "action", to="store_true"
    ),
    "values that add up": setting(option("rotary_percent"), "action", to="append"),
    "another flag": setting(option("rope_type"), "flags", to=["--rotary-type"]),
    "a flag more": setting(BASE, "flags", to=["--rotary-base", "--rope-theta"]),
    "a flag less": setting(option("save_interval"), "flags", to=["--save-interval"]),
    "an option less": removing("options", option("qk_pos_emb_head_dim")),
    "an option more": add_option,
    "a required option": setting(BASE, "required", to=True),
    "a member more": add_member,
    "a member less": remove_member,
    "another name of a member": rename_member,
    "a literal less": dropping(SCOPE, "const"),
}
# What becomes of a namespace.
BEHAVIOUR: dict[str, Any] = {
    "another class default": setting(MLA, "attributes", "beta_fast", "default", to=16),
    "another class default of a selector": setting(
        MLA, "attributes", "rope_type", "default", to="rope"
    ),
    "a value that does not reach the config": dropping(MLA, "attributes", "rotary_base", "dest"),
    "a value that reaches another attribute": setting(
        MLA, "attributes", "mscale", "dest", to="mscale_all_dim"
    ),
    "none as a value": dropping(MLA, "attributes", "rope_type", "none_is_default"),
    "a pattern that is not spread": dropping(COMMON, "attributes", "no_rope_freq", "transform"),
    "an attribute less": dropping(MLA, "attributes", "qk_pos_emb_head_dim"),
    "another name of a class": setting(MLA, "name", to="LatentConfig"),
    "another condition of a class": setting(MLA, "when", "multi_latent_attention", to=[False]),
    "another order of classes": turn_classes,
    "another default afterwards": setting(
        EXTRA, "attributes", "yarn_beta_fast", "default", to=16.0
    ),
    "another source afterwards": setting(
        EXTRA, "attributes", "yarn_mscale", "dest", to="kv_channels"
    ),
    "another condition afterwards": setting(EXTRA, "when", "position_embedding_type", to=["rope"]),
    "nothing set afterwards": removing("extras", EXTRA),
    "an edit less": removing("edits", CHANNELS),
    "another quotient": setting(CHANNELS, "quotient", to=["num_attention_heads", "hidden_size"]),
    "another value of an edit": setting(TYPE, "value", to="none"),
    "another condition of an edit": setting(
        TYPE, "when", "use_rotary_position_embeddings", to=[False]
    ),
    "another dest of an edit": setting(FUSION, "dest", to="bias_gelu_fusion"),
    "an edit that is always made": setting(FUSION, "when", to={}),
    "a refusal less": removing("refusals", ONLY_YARN),
    "another text of a refusal": setting(INTERLEAVED, "message", to="no"),
    "another exception": setting(COMMON_YARN, "error", to="ValueError"),
    "another one who refuses": setting(COMMON_YARN, "by", to="model"),
    "another condition of a refusal": setting(GQA, "when", "group_query_attention", to=[False]),
    "a condition more of a refusal": setting(NO_SECTIONS, "when", "swiglu", to=[True]),
    "a condition less of a refusal": dropping(BIAS, "when", "add_bias_linear"),
    "a value less of a refusal": setting(MTP, "when", "position_embedding_type", to=["mrope"]),
    "a refusal that is gone for a reason": setting(
        DEPRECATED, "when", "add_position_embedding", to=[True]
    ),
    "another class of a path": setting(MLA_ROPE, "rotary_class", to="YarnRotaryEmbedding"),
    "another number of results": setting(MLA_YARN, "returns", to=1),
    "another kind": setting(MLA_ROPE, "kind", to="mrope"),
    "another attention": setting(HYBRID, "attention", to="gpt"),
    "an argument from elsewhere": setting(
        MLA_YARN, "arguments", "rotary_base", to={"origin": "args", "name": "seq_length"}
    ),
    "an argument from another attribute": setting(
        MLA_YARN, "arguments", "beta_slow", "name", to="beta_fast"
    ),
    "another constructor default": setting(
        GPT_ROPE, "arguments", "rope_scaling_factor", "value", to=4.0
    ),
    "a flag that would arrive": setting(
        GPT_ROPE,
        "arguments",
        "rope_scaling_factor",
        to={"origin": "args", "name": "rope_scaling_factor"},
    ),
    "a flag that does not arrive": setting(
        GPT_ROPE, "arguments", "rope_scaling", to={"origin": "constructor", "value": False}
    ),
    "a rounding that is always made": setting(
        GPT_YARN,
        "arguments",
        "correction_range_round_to_int",
        to={"origin": "constructor", "value": True},
    ),
    "a softmax scale from the other mscale": setting(
        MLA_YARN, "reads", "softmax_mscale", "name", to="mscale"
    ),
    "no softmax scale": setting(MLA_ROPE, "reads", to={}),
    "no sections": dropping(MROPE, "reads", "mrope_section"),
    "no layers without rotation": dropping(GPT_ROPE, "reads", "no_rope_freq"),
    "another way": setting(GPT_RULE, "path", to="gpt-none"),
    "exchanged ways": exchange_rules,
    "a rule less": removing("rules", GPT_RULE),
    "another condition of a rule": setting(
        GPT_RULE, "when", "position_embedding_type", to=["rope", "none"]
    ),
    "another order of rules": delay_rules,
}
# What no command line can tell, since the parser always gives the value.
UNREACHED: dict[str, Any] = {
    "a class default that the parser's hides": setting(
        MLA, "attributes", "mscale", "default", to=0.707
    ),
    "a class default of the factor": setting(
        MLA, "attributes", "rotary_scaling_factor", "default", to=1
    ),
    "another value of a member": lambda d: members(d).update(moe=77),
}
