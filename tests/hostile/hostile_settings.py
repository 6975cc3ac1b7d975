"""Settings and options that no run can use, and what is said of each."""

from __future__ import annotations

from typing import Any, TypeAlias

Settings: TypeAlias = dict[str, tuple[dict[str, Any], str]]
LONG = "x" * 300

INI: Settings = {
    "models-absolute": ({"models": ["/etc/*"]}, "rope_contract_models: '/etc/*' is no glob"),
    "models-empty-glob": ({"models": ["**/"]}, "no model definitions found"),
    "models-parent": ({"models": ["../*.none"]}, "no model definitions found"),
    "models-dot": ({"models": ["."]}, " definitions"),
    "models-nul": ({"models": ["a\0*.py"]}, "no model definitions found"),
    # From 3.12 on, Python finds nothing with such a name, and says nothing of it.
    "models-long": ({"models": [LONG]}, " definitions"),
    "models-brackets": ({"models": ["[.py"]}, "no model definitions found"),
    # From 3.13 on, it is a glob like others.
    "models-stars": ({"models": ["***/*.py"]}, " definitions"),
    "models-a-number": ({"models": 3}, "rope_contract_models"),
    "snapshots-long": ({"snapshots": LONG}, ""),
    "snapshots-no-home": ({"snapshots": "~nobody-here/a"}, ""),
    "limit-text": ({"time_limit": "soon"}, "rope_contract_time_limit: 'soon' is not a number"),
    "limit-nan": ({"time_limit": "nan"}, "rope_contract_time_limit: 'nan' is not a number"),
    "limit-inf": ({"time_limit": "1e999"}, "rope_contract_time_limit: '1e999' is not a number"),
    "limit-negative": ({"time_limit": "-1"}, "rope_contract_time_limit: '-1' is not a number"),
    "limit-zero": ({"time_limit": "0"}, "rope_contract_time_limit: '0' is not a number"),
    "examples-text": ({"examples": "many"}, "rope_contract_examples: 'many' is not a whole number"),
    "examples-negative": ({"examples": "-1"}, "rope_contract_examples: '-1' is not a whole"),
    "examples-float": ({"examples": "1.5"}, "rope_contract_examples: '1.5' is not a whole"),
    "examples-huge": ({"examples": "9" * 5_000}, "rope_contract_examples"),
    "examples-digits": ({"examples": "²"}, "rope_contract_examples: '²' is not a whole number"),
    "unknown-other": ({"unknown": "ignore"}, "rope_contract_unknown: 'ignore' is neither reject"),
    "pins-no-value": ({"pins": ["moe"]}, "rope_contract_pins: 'moe' is not of the form"),
    "pins-no-name": ({"pins": ["=1"]}, "rope_contract_pins: '=1' is not of the form dest=value"),
    "pins-attribute": ({"pins": ["a.b=1"]}, "rope_contract_pins: 'a.b=1' is not of the form"),
    "checkpoints-no-model": ({"checkpoints": ["a.json"]}, "rope_contract_checkpoints: 'a.json'"),
    "snapshots-a-file": ({"snapshots": "pyproject.toml"}, "rope_contract_snapshots: 'pyproject"),
    "allow-no-rule": ({"allow": ["good"]}, "rope_contract_allow: 'good' names no rule"),
    "allow-other-rule": ({"allow": ["good yarn x"]}, "rope_contract_allow: there is no rule"),
    "allow-no-reason": ({"allow": ["good checkpoint"]}, "gives no reason"),
    "allow-nul": ({"allow": ["good \0 x"]}, "rope_contract_allow: there is no rule '\\x00'"),
    "allow-escape": ({"allow": ["good \x1b[2J x"]}, "rope_contract_allow: there is no rule"),
    "allow-long": ({"allow": [f"good {LONG} x"]}, "rope_contract_allow: there is no rule"),
    "allow-case": ({"allow": ["good Checkpoint x"]}, "rope_contract_allow: there is no rule"),
    "allow-comma": ({"allow": ["good checkpoint, x"]}, "rope_contract_allow: there is no rule"),
    "allow-swapped": ({"allow": ["checkpoint good x"]}, "rope_contract_allow: there is no rule"),
    "allow-a-number": ({"allow": 3}, "rope_contract_allow"),
    "allow-numbers": ({"allow": [3]}, "rope_contract_allow: [3] is not a list of texts"),
    "launchers-nothing": ({"launchers": ["none.sh"]}, "'none.sh' matches no file"),
    "launchers-dot": ({"launchers": ["."]}, "rope_contract_launchers: '.' "),
    "launchers-absolute": ({"launchers": ["/etc/*"]}, "rope_contract_launchers: '/etc/*' is no"),
    "launchers-equals": ({"launchers": ["= good"]}, "rope_contract_launchers: '= good' names no"),
    "launchers-function": ({"launchers": ["run.sh::f"]}, "only a Python script has functions"),
    "environment-no-value": ({"launch_environment": ["A"]}, "rope_contract_launch_environment"),
    "environment-no-name": ({"launch_environment": ["=1"]}, "rope_contract_launch_environment"),
    "answers-no-text": ({"launch_answers": ["nvidia-smi"]}, "rope_contract_launch_answers"),
    "defaults-no-colon": ({"defaults": ["a.b"]}, "rope_contract_defaults: 'a.b' is not of the"),
    "defaults-no-module": ({"defaults": ["no.where:f"]}, "there is no module 'no'"),
    "defaults-relative": ({"defaults": [".a:f"]}, "rope_contract_defaults"),
    "defaults-spaces": ({"defaults": ["a b:c d"]}, "rope_contract_defaults"),
    "defaults-nul": ({"defaults": ["a\0b:f"]}, "rope_contract_defaults"),
    "defaults-main": ({"defaults": ["__main__:nowhere"]}, "rope_contract_defaults"),
    "defaults-no-function": ({"defaults": ["os:nowhere"]}, "rope_contract_defaults"),
    "defaults-a-module": ({"defaults": ["os:path"]}, "rope_contract_defaults"),
    "defaults-that-exit": ({"defaults": ["exits:f"]}, "raised SystemExit: 3"),
    "defaults-that-raise": ({"defaults": ["raises:f"]}, "raised E: <its text cannot be made>"),
    "defaults-no-python": ({"defaults": ["broken:f"]}, "raised SyntaxError"),
    "arguments-that-raise": ({"arguments": ["adds:raises"]}, "raised ValueError: one ..."),
    "arguments-that-exit": ({"arguments": ["adds:exits"]}, "raised SystemExit"),
    "arguments-that-return": ({"arguments": ["adds:returns"]}, "returned int, not a parser"),
    "arguments-twice": ({"arguments": ["adds:adds"]}, "conflicting option string"),
    "parser-without-live": ({"parser": "os:getcwd"}, "rope_contract_parser"),
    "rotary-no-colon": ({"rotary": "a"}, "rope_contract_rotary: 'a' is not of the form"),
    "stubs-no-attribute": ({"stubs": ["os:nowhere"]}, "rope_contract_stubs"),
    "surface-no-name": ({"surface": "0.1.2"}, "no surface is named"),
    "surface-nul": ({"surface": "a\0.json"}, "rope_contract_surface"),
    "surface-escape": ({"surface": "\x1b[2J"}, "no surface is named '\\x1b[2J'"),
    "surface-no-file": ({"surface": "./none.json"}, "surface none.json cannot be read"),
    "strict-other": ({"strict": "maybe"}, "rope_contract_strict"),
}
OPTIONS: dict[str, tuple[list[str], str]] = {
    "surface-name": (["--rope-contract-surface=nope"], "no surface is named 'nope'"),
    "surface-empty-folder": (["--rope-contract-surface=/"], "--rope-contract-surface: surface"),
    "surface-long": ([f"--rope-contract-surface=./{LONG}.json"], "--rope-contract-surface"),
    "surface-lines": (["--rope-contract-surface=./a\nb.json"], "surface a\\nb.json cannot be"),
    "surface-surrogate": (["--rope-contract-surface=./\udcff.json"], "--rope-contract-surface"),
    "surface-no-home": (["--rope-contract-surface=~nobody-here/a.json"], "--rope-contract-surf"),
    "examples-text": (["--rope-contract-examples=x"], "--rope-contract-examples: 'x' is not"),
    "examples-empty": (["--rope-contract-examples="], "--rope-contract-examples: '' is not"),
    "examples-huge": (["--rope-contract-examples=1000001"], "--rope-contract-examples"),
    "report-no-suffix": (["--rope-contract-report=a"], "--rope-contract-report: 'a' does not end"),
    "report-no-folder": (["--rope-contract-report=no/a.json"], "there is no folder 'no'"),
    "report-folder": (["--rope-contract-report=folder.json"], "'folder.json' is a folder"),
    "report-in-a-file": (["--rope-contract-report=pyproject.toml/a.json"], "--rope-contract-rep"),
    "report-only-suffix": (["--rope-contract-report=.json"], "--rope-contract-report: '.json'"),
    "report-lines": (["--rope-contract-report=a\nb"], "--rope-contract-report: 'a\\nb' does"),
    "report-long": ([f"--rope-contract-report={LONG}/a.json"], "--rope-contract-report"),
}
# What a hook does, and what is said of it.
HOOKS: dict[str, tuple[str, str]] = {
    "raises": ("models(registry): raise ValueError('no')", "raised ValueError: no"),
    "raises-two-lines": ("models(registry): raise ValueError('a\\nb')", "ValueError: a ..."),
    "raises-nothing": ("models(registry): raise ValueError", "raised ValueError"),
    "raises-harm": ("models(registry): raise harm", "raised Harm: <its text cannot be made>"),
    "exits": ("models(registry): raise SystemExit(3)", "raised SystemExit: 3"),
    "generator-exit": ("models(registry): raise GeneratorExit", "raised GeneratorExit"),
    "base-exception": ("models(registry): raise Out('x')", "raised Out: x"),
    "recursion": ("models(registry): f = lambda: f(); f()", "raised RecursionError"),
    "returns": ("models(registry): return 3", "returned int, expected nothing"),
    "no-name": ("models(registry): registry.add('', 'a')", "'' cannot name a definition"),
    "name-number": ("models(registry): registry.add(3, 'a')", "3 cannot name a definition"),
    "name-none": ("models(registry): registry.add(None, 'a')", "None cannot name a definition"),
    "name-list": ("models(registry): registry.add([], 'a')", "[] cannot name a definition"),
    "name-harm": ("models(registry): registry.add(harm, 'a')", "cannot name a definition"),
    "name-lines": ("models(registry): registry.add('a\\nb', 'a')", "'a\\nb' cannot name"),
    "name-brackets": ("models(registry): registry.add('a[b]', 'a')", "'a[b]' cannot name"),
    "name-colons": ("models(registry): registry.add('a::b', 'a')", "'a::b' cannot name"),
    "name-slash": ("models(registry): registry.add('../a', 'a')", "'../a' cannot name"),
    "name-nul": ("models(registry): registry.add('a\\0', 'a')", "cannot name a definition"),
    "name-surrogate": ("models(registry): registry.add('\\udcff', 'a')", "cannot name a"),
    "name-taken": ("models(registry): registry.add('good', 'a')", "two definitions are named"),
    "name-case": ("models(registry): registry.add('GOOD', 'a')", "two definitions differ only"),
    "source-none": ("models(registry): registry.add('a', None)", "cannot be expanded from"),
    "source-harm": ("models(registry): registry.add('a', harm)", "cannot be expanded from"),
    "source-set": ("models(registry): registry.add('a', {'b'})", "cannot be expanded from a set"),
    "source-class": ("models(registry): registry.add('a', type)", ""),
    "path-number": ("models(registry): registry.add('a', 'b', path=3)", "'a' cannot be shown"),
    "unpacks-text": ("models(registry): registry.add('a', 'b', unpacks='2')", "cannot unpack '2'"),
    "unpacks-harm": ("models(registry): registry.add('a', 'b', unpacks=harm)", "cannot unpack"),
    "variant-of-nothing": ("models(registry): registry.variant('a', 'b')", "is a variant of 'b'"),
    "variant-of-harm": ("models(registry): registry.variant('a', harm)", "is a variant of"),
    "pipeline-list": ("pipeline(settings): return [1]", "returned list, not a mapping"),
    "pipeline-name": ("pipeline(settings): return {'pin': 1}", "there is no setting 'pin'"),
    "pipeline-number": ("pipeline(settings): return {3: 1}", "there is no setting 3"),
    "pipeline-harm-name": ("pipeline(settings): return {harm: 1}", "there is no setting <Harm>"),
    "pipeline-harm": ("pipeline(settings): return {'pins': harm}", "pins is <Harm>, expected"),
    "pipeline-raises": ("pipeline(settings): raise harm", "raised Harm: <its text cannot be"),
    "pipeline-texts": ("pipeline(settings): return {'stubs': 'a:b'}", "expected a list of"),
    "pipeline-unknown": ("pipeline(settings): return {'unknown': []}", "expected 'reject' or"),
}
HEAD = """\
class Harm(Exception):
    def __str__(self): raise OSError
    __repr__ = __str__
class Out(BaseException): pass
harm = Harm()
def pytest_ropecontract_"""
FILES = {
    "exits.py": "raise SystemExit(3)",
    "raises.py": "class E(Exception):\n    def __str__(s): raise OSError\nraise E",
    "broken.py": "def f(:",
    "adds.py": (
        "def raises(parser): raise ValueError('one\\ntwo')\n"
        "def exits(parser): raise SystemExit\n"
        "def returns(parser): return 3\n"
        "def adds(parser): parser.add_argument('--seed')\n"
    ),
    "run.sh": "true\n",
}
