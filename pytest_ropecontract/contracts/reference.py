"""What each rule means: the single source of its reference, in the command and the README."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_ropecontract.contracts.findings import Rule


@dataclass(frozen=True)
class RulePage:
    """The reference page of a rule; every text is for a reader who did not write the plugin.

    Attributes:
        fires_when: When it fires, to be read after "fires when".
        by_default: What it does then: ``fails``, or when it is only a note.
        why: What that means, and why it matters.
        example: A failure's first line.
        remedy: What to do about it.
    """

    fires_when: str
    by_default: str
    why: str
    example: str
    remedy: str


PAGES: dict[Rule, RulePage] = {
    "implicit-yarn": RulePage(
        "YaRN is built and no flag says so",
        "fails",
        "Megatron, or a framework on top of it, takes YaRN for every model with "
        "multi-latent attention that does not say otherwise. If the checkpoint uses plain"
        " RoPE, another class is built, whose forward returns a pair; if it uses YaRN, "
        "its numbers are defaults that nobody chose. Training runs either way, and the "
        "model that is rolled out differs.",
        "implicit-yarn: kimi-k2: becomes yarn (factor 1.0, beta_fast 32, beta_slow 1) and "
        "no flag says so (config-default: MLATransformerConfig.rope_type)",
        "Declare what the checkpoint uses: --rope-type yarn with its numbers, or "
        "--rope-type rope --no-rope-fusion.",
    ),
    "implicit-field": RulePage(
        "a value that is read was not declared",
        "note; fails under a `rope_expect` that names the field",
        "The value is a default of the parser, of the config class or of a function that "
        "fills the namespace. It may be right today, and change with the next version of "
        "any of them. Where a rope_expect mark names the field, right by accident is not "
        "enough.",
        "implicit-field: kimi-k2: beta_fast is 32 as expected, but no flag declares it "
        "(parser-default: default of --beta-fast)",
        "Declare the flag that the failure names, or accept the default in the mark with "
        "declared=False.",
    ),
    "inert-flag": RulePage(
        "a RoPE flag was given and nothing that is built reads it",
        "fails; note where it changes nothing",
        "The flag belongs to another attention or to another kind of RoPE: the parser "
        "takes it, and the embedding is built without it. Whoever reads the definition "
        "believes that the value is in use.",
        "inert-flag: kimi-k2: --rotary-scaling-factor 32 is read by nothing that is built"
        " (RotaryEmbedding); rope_scaling_factor is 8 (constructor-default: "
        "RotaryEmbedding.rope_scaling_factor)",
        "Remove the flag, or use the one that this attention reads: ropecontract explain "
        "MODEL shows which flags are read.",
    ),
    "dropped-flag": RulePage(
        "the parser does not know a flag, and the framework ignores such flags",
        "fails",
        "With rope_contract_unknown = drop the framework parses with parse_known_args, so"
        " that a misspelled flag, or one of another Megatron version, is lost without a "
        "word.",
        "dropped-flag: kimi-k2: --beta-fst 1 is dropped: megatron-core-0.19.2 has no flag"
        " --beta-fst, did you mean --beta-fast?",
        "Correct or remove the flag, or name the function that adds it to the parser in "
        "rope_contract_arguments.",
    ),
    "rejected-flag": RulePage(
        "the parser does not know a flag, or refuses its value",
        "fails",
        "No training run can start from these flags with this Megatron: argparse ends it.",
        "rejected-flag: kimi-k2: megatron-core-0.19.2 has no flag --beta-fst, did you "
        "mean --beta-fast?",
        "Correct or remove the flag, or name the function that adds it to the parser in "
        "rope_contract_arguments.",
    ),
    "overwritten-flag": RulePage(
        "a declared RoPE value is changed after parsing",
        "fails",
        "A function that fills defaults, or Megatron's validate_args, replaces the value "
        "that the definition states. The flag is a lie: it reads as if it were in use.",
        "overwritten-flag: kimi-k2: --rope-type rope is declared, and "
        "rule_text_frame:overwrite makes it yarn",
        "Let the function keep a declared value, or declare the value that is used.",
    ),
    "repeated-flag": RulePage(
        "one flag is given twice with different values",
        "fails",
        "argparse takes the last one without a word. Often the first one is what someone edits.",
        "repeated-flag: kimi-k2: --rotary-base 50000 is given first, then --rotary-base "
        "10000; the last one is used",
        "Keep one of them.",
    ),
    "spaced-token": RulePage(
        "a token is empty or has white space inside",
        "fails",
        "A launcher writes the tokens on a shell's command line, which divides them anew:"
        " the parser then sees other tokens than the definition returned.",
        "spaced-token: kimi-k2: token 15, '--rotary-base 50000', has white space inside: "
        "on a command line it becomes 2 tokens",
        "Write flag and value as two tokens.",
    ),
    "config-refused": RulePage(
        "Megatron refuses what the flags say, with Megatron's own message",
        "fails",
        "The flags pass the parser, and validate_args, the config class or the model "
        "refuses their combination: no training run can start from them.",
        "config-refused: kimi-k2: the config constructor raises ValueError: "
        "apply_rope_fusion for MLA only works with YARN RoPE.",
        "Correct the flags that Megatron's message names.",
    ),
    "expectation": RulePage(
        "a value differs from a `rope_expect`",
        "fails",
        "A mark states what the RoPE of this model must be, and something else is built. "
        "The origin says who decided: a flag, a default, a function.",
        "expectation: kimi-k2: beta_fast is 32 (parser-default: default of --beta-fast), "
        'expected 1 by rope_expect("yarn", 4096, 1, 1)',
        "Declare the expected value in the definition, or correct the mark.",
    ),
    "unguarded-omission": RulePage(
        "a lost flag changes something and no contract notices",
        "YaRN fails, the rest are notes",
        "The faults that go unnoticed are flags that are not there. Flags are left out, "
        "one by one, together and at random; where what is then built differs, and no "
        "mark and no checkpoint of the model would have noticed, the next edit can lose "
        "them for real.",
        "unguarded-omission: kimi-k2 without --rope-type yarn becomes yarn (factor 32.0, "
        "beta_fast 1, beta_slow 1) and no contract notices",
        "Add the contract that the failure names: a rope_expect mark, or the model's checkpoint.",
    ),
    "checkpoint": RulePage(
        "what is built differs from the checkpoint",
        "fails",
        "The checkpoint's config.json is what inference reads. Training with another "
        "rotation than inference uses degrades the model without an error anywhere; the "
        "size says how much, and from which position on.",
        "checkpoint: kimi-k2: beta_fast is 32 (parser-default: default of --beta-fast), "
        "the checkpoint's is 1 (tests/checkpoints/kimi-k2.json: rope_scaling.beta_fast)",
        "Declare the checkpoint's value: the failure names the flag. If the file is not "
        "the model's, replace it.",
    ),
    "unreachable-field": RulePage(
        "the checkpoint needs a value that no flag can set",
        "fails where it differs from what is used",
        "This Megatron has no flag for the value, or none that this attention reads. "
        "Training rotates differently than inference whatever the definition says.",
        "unreachable-field: kimi-k2: low_freq_factor is 1, the checkpoint's is 2 "
        "(tests/checkpoints/kimi-k2.json: rope_scaling.low_freq_factor), and no flag of "
        "megatron-core-0.19.2 sets it",
        "Add a flag with rope_contract_arguments and use it in the model, choose a "
        "Megatron that has one, or allow the finding with its size as the reason.",
    ),
    "unknown-checkpoint-key": RulePage(
        "the checkpoint's RoPE block has a key that no reader knows",
        "fails",
        "A key that neither this plugin nor transformers reads is a misspelling, or "
        "belongs to a newer format whose meaning would otherwise be ignored.",
        "unknown-checkpoint-key: kimi-k2: tests/checkpoints/kimi-k2.json: "
        "rope_scaling.attn_factor is 1.0, a key that transformers does not read; did you "
        "mean attention_factor? (cosine and sine are multiplied with 1.34657 without it, "
        "with 1 as attention_factor, and with 1.34657 where it comes on top)",
        "Correct the key, or remove it if the checkpoint's own code ignores it too.",
    ),
    "return-arity": RulePage(
        "the adapter that `--spec` names unpacks another number of results than the built"
        " class returns",
        "fails; note where it cannot be read",
        "RotaryEmbedding returns one tensor and YarnRotaryEmbedding a pair. An adapter "
        "that always unpacks two hides an implicit YaRN, and breaks at the first step "
        "once that is corrected. Results are followed through names, attributes, lists and dicts; "
        "where one is kept beside other things, what is unpacked there is a note.",
        "return-arity: kimi-k2: frame/adapter.py:7 takes two results from the rotary "
        "embedding, and RotaryEmbedding returns one result (kind rope: --rope-type rope)",
        "Let the adapter take what the class returns, or declare the kind that it is written for.",
    ),
    "launcher-override": RulePage(
        "a launched command line builds another RoPE than the definition that the launcher "
        "names, or a variable that should have changed it reaches no flag",
        "fails",
        "The flags that train are those of the launched command. A launcher adds, repeats and "
        "replaces flags, or expands another definition than that of the checkpoint it names; "
        "every contract of the definition then holds, and the training run does not keep it.",
        "launcher-override: scripts/run-kimi-k2.sh: kimi-k2: rotary_base is 10000, and kimi-k2, "
        "which --hf-checkpoint Kimi-K2-Instruct names, builds 50000",
        "Launch the definition's own flags, or define what is launched under a name of its own "
        "and name that in rope_contract_launchers.",
    ),
}
