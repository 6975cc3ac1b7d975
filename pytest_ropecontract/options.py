"""Command line options and ini keys: their declarations, which every run of pytest needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

SURFACE_VARIABLE = "ROPE_CONTRACT_SURFACE"
DEFAULT_MODELS = ("scripts/models/*.py", "scripts/models/*.sh")
DEFAULT_TIME_LIMIT = "20"
ANNOTATIONS = ("none", "github")

LISTS = {
    "rope_contract_models": (
        f"Globs, from rootdir, of the files that define models. Default: {' '.join(DEFAULT_MODELS)}"
    ),
    "rope_contract_pythonpath": "Folders in which definitions and pipeline modules are found.",
    "rope_contract_arguments": (
        "module:function of functions that add options to Megatron's parser."
    ),
    "rope_contract_defaults": (
        "module:function of functions that fill defaults in the parsed namespace."
    ),
    "rope_contract_stubs": (
        "module:attribute of validators that are replaced while a model is resolved."
    ),
    "rope_contract_base_args": "Tokens that are placed before every definition's.",
    "rope_contract_pins": (
        "dest=value, set before the config is constructed, for what this machine cannot do: "
        "moe_permute_fusion=False"
    ),
    "rope_contract_checkpoints": (
        "Globs, from rootdir, of the config.json files of a model's checkpoints; {model} stands "
        "for its name. Default: tests/checkpoints/{model}.json tests/checkpoints/{model}@*.json"
    ),
    "rope_contract_launchers": (
        "Launchers, a line each, from rootdir: GLOB, or GLOB::FUNCTION of Python scripts, each "
        "with = MODEL behind it where a launcher does not tell which definition it launches."
    ),
    "rope_contract_training": (
        "Globs of the names of scripts that train, among what launchers run. Default: *train*"
    ),
    "rope_contract_launch_environment": "NAME=VALUE, variables that launchers begin with.",
    "rope_contract_launch_answers": (
        "COMMAND = TEXT: what a command prints to a launcher; of a program, or of a program with "
        "its first arguments. \\n is a line break."
    ),
    "rope_contract_allow": (
        "Known deviations, a line each: MODEL_GLOB RULE reason; 'ropecontract rule' lists the "
        "rules."
    ),
}
TEXTS = {
    "rope_contract_surface": (
        "What to resolve against: auto, live, the name of a recorded surface, or a path. "
        f"--rope-contract-surface and {SURFACE_VARIABLE} come before it."
    ),
    "rope_contract_parser": (
        "module:function of a framework's whole parse_args(); needs a live Megatron."
    ),
    "rope_contract_rotary": (
        "module:function that gets namespace and config, and returns the rotary constructor "
        "arguments in which the framework's own model provider differs."
    ),
    "rope_contract_examples": (
        "How many omissions Hypothesis draws for every model. Default: the max_examples of the "
        "Hypothesis profile, 100 where none is loaded. 0: none."
    ),
    "rope_contract_snapshots": (
        "Folder, from rootdir, of the snapshots. Default: tests/rope_snapshots"
    ),
    "rope_contract_unknown": (
        "reject (default), or drop where the framework ignores unknown flags."
    ),
    "rope_contract_time_limit": (
        f"Seconds that the expansion of one definition may take. Default: {DEFAULT_TIME_LIMIT}"
    ),
}


def add_options(parser: pytest.Parser) -> None:
    """Declare the options and ini keys."""
    group = parser.getgroup("rope-contract", "contracts on rotary position embeddings")
    group.addoption(
        "--rope-contract",
        action="store_true",
        dest="rope_contract",
        help="check the rotary position embedding of every registered model definition, beside "
        "the project's own tests; 'ropecontract explain MODEL' shows one of them",
    )
    group.addoption(
        "--rope-contract-surface",
        dest="rope_contract_surface",
        metavar="NAME",
        default=None,
        help="what to resolve against: auto (the importable Megatron, else the newest "
        "recording), live, the name of a recorded surface, or the path of one",
    )
    group.addoption(
        "--rope-contract-strict",
        action="store_true",
        dest="rope_contract_strict",
        help="let notes fail, too: values that no flag declares, flags that change nothing, "
        "lost flags that no contract notices",
    )
    group.addoption(
        "--rope-contract-report",
        action="append",
        dest="rope_contract_report",
        metavar="FILE",
        default=[],
        help="write what every model resolves to into FILE.json, or as a page for people into "
        "FILE.html (needs pytest-ropecontract[report]); may be given again",
    )
    group.addoption(
        "--rope-contract-annotate",
        dest="rope_contract_annotate",
        choices=ANNOTATIONS,
        default="none",
        help="print failures so that a CI service shows them at the definition's line: github "
        "for GitHub Actions; default: none",
    )
    for name, text in LISTS.items():
        kind = "args" if name == "rope_contract_base_args" else "linelist"
        parser.addini(name, text, type=kind, default=[])  # type: ignore[arg-type]
    for name, text in TEXTS.items():
        parser.addini(name, text, type="string", default="")
    group.addoption(
        "--rope-contract-examples",
        dest="rope_contract_examples",
        metavar="N",
        default=None,
        help="how many omissions Hypothesis draws for every model; default: as the Hypothesis "
        "profile says",
    )
    parser.addini(
        "rope_contract_strict",
        "Let notes fail, too; the same as --rope-contract-strict.",
        "bool",
        default=False,
    )
