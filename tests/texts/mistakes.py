"""What users do wrong, by name: each case raises the error whose text they read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ropecontract import paths
from pytest_ropecontract.contracts import allowances, expectation
from pytest_ropecontract.contracts.checkpoints import document as checkpoints
from pytest_ropecontract.contracts.checkpoints import files as checkpoint_files
from pytest_ropecontract.contracts.checkpoints import folders
from pytest_ropecontract.definitions import Registry, discover
from pytest_ropecontract.megatron import surface_files
from pytest_ropecontract.megatron.pipeline import PipelineSettings
from pytest_ropecontract.project import Project, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

TOKENS = (
    "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --kv-channels 16 "
    "--position-embedding-type rope --rotary-base 10000 --rotary-percent 1.0"
)
CASES: dict[str, Callable[[Path], object]] = {}


def case(function: Callable[[Path], object]) -> Callable[[Path], object]:
    """Register what a user does; it gets an empty folder."""
    CASES[function.__name__.replace("_", "-")] = function
    return function


def several(prefix: str, **functions: Callable[[Path], object]) -> None:
    CASES.update({f"{prefix}-{name}".replace("_", "-"): one for name, one in functions.items()})


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def text_of(name: str, folder: Path) -> str:
    """Return the text of the error that a case ends with."""
    try:
        CASES[name](folder)
    except BaseException as error:  # noqa: BLE001  # also pytest's, which are no Exception
        return paths.portable(str(error), folder)
    raise AssertionError(f"{name} raises nothing")


# Definitions


def expanded(content: str | bytes, name: str = "kimi-k2.py", **overrides: Any):
    """Return a case that expands a file."""

    def expand(folder: Path) -> object:
        # Only one waits for its end; on a busy machine the others take a while, too.
        registry = Registry(folder, time_limit=3.0 if "while True" in str(content) else 60.0)
        path = write(folder, f"models/{name}", content)
        return registry.add_file(path).expand(**overrides)

    return expand


def returning(value: str, **overrides: Any):
    return expanded(f"def model_args(**overrides):\n    return {value}\n", **overrides)


several(
    "definition",
    returns_nothing=expanded("def model_args():\n    '--num-layers 2'\n"),
    returns_a_number=returning("7"),
    returns_an_empty_string=returning("''"),
    returns_an_empty_list=returning("[]"),
    returns_a_list_with_a_number=returning("['--num-layers', 2]"),
    returns_a_nul=returning(r"['--name', 'a\0b']"),
    returns_too_much=returning("['--num-layers', '2'] * 300000"),
    raises=expanded("def model_args():\n    return ['--num-layers', LAYERS]\n"),
    raises_when_imported=expanded("import no_such_module\n"),
    exits=expanded("import sys\n\ndef model_args():\n    sys.exit('no GPU')\n"),
    hangs=expanded("def model_args():\n    while True: pass\n"),
    is_killed=expanded(
        "import os, signal\n\ndef model_args():\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    ),
    breaks_python=expanded("import builtins\n\ndef model_args():\n    del builtins.sorted\n"),
    returns_what_cannot_be_read=expanded(
        "class Kind(type):\n    __hash__ = None\n\nclass Flags(metaclass=Kind):\n    pass\n\n"
        "def model_args():\n    return Flags()\n"
    ),
    ends_its_process=expanded("import os\n\ndef model_args():\n    os._exit(3)\n"),
    has_no_function=expanded("MODEL_ARGS = ['--num-layers', '2']\n"),
    has_no_function_but_a_list=expanded("model_args = ['--num-layers', '2']\n"),
    has_a_syntax_error=expanded("def model_args()\n    return []\n"),
    is_empty=expanded(""),
    has_a_nul=expanded(b"def model_args():\n    return '\0'\n"),
    is_not_utf8=expanded("# é\ndef model_args():\n    return ''\n".encode("latin-1")),
    takes_no_such_override=expanded("def model_args(nlayers=2):\n    return []\n", layers=3),
    needs_an_argument=expanded("def model_args(nlayers):\n    return []\n"),
    gets_an_override_that_is_no_value=returning("[]", nlayers=object()),
    names_no_sibling=expanded(
        "from pytest_ropecontract import load_sibling_model_args\n\n"
        "def model_args():\n    return load_sibling_model_args(__file__, 'kimi-k3')\n"
    ),
    loads_itself=expanded(
        "from pytest_ropecontract import load_sibling_model_args\n\n"
        "def model_args():\n    return load_sibling_model_args(__file__, 'kimi-k2')\n"
    ),
    array_is_missing=expanded("ARGS=(--num-layers 2)\n", "kimi-k2.sh"),
    array_is_a_string=expanded("MODEL_ARGS='--num-layers 2'\n", "kimi-k2.sh"),
    array_is_empty=expanded("MODEL_ARGS=()\n", "kimi-k2.sh"),
    array_is_associative=expanded("declare -A MODEL_ARGS=([a]=b)\n", "kimi-k2.sh"),
    array_is_not_utf8=expanded(b"MODEL_ARGS=(--name $'\\xff')\n", "kimi-k2.sh"),
    shell_exits=expanded("set -e\nfalse\nMODEL_ARGS=(--num-layers 2)\n", "kimi-k2.sh"),
    shell_begins_with_a_mark=expanded(b"\xef\xbb\xbfMODEL_ARGS=(--x)\n", "kimi-k2.sh"),
    shell_has_windows_line_ends=expanded("MODEL_ARGS=(--x)\r\n", "kimi-k2.sh"),
    shell_has_a_syntax_error=expanded("fi\nMODEL_ARGS=(--x)\n", "kimi-k2.sh"),
    shell_has_a_flag_outside=expanded("MODEL_ARGS=(--x)\n--rotary-base 1\n", "kimi-k2.sh"),
    shell_reads_a_file_that_is_missing=expanded("source base.sh\nMODEL_ARGS=(-x)\n", "kimi-k2.sh"),
    shell_takes_no_override=expanded("MODEL_ARGS=(--x)\n", "kimi-k2.sh", nlayers=2),
    argv_file_is_empty=expanded("# nothing\n", "kimi-k2.txt"),
    argv_file_is_wrongly_quoted=expanded("--x\n--name 'kimi\n", "kimi-k2.txt"),
    argv_file_ends_in_a_backslash=expanded("--x \\", "kimi-k2.txt"),
    argv_file_mixes_json_and_words=expanded('"--x"\n--y\n', "kimi-k2.txt"),
    argv_file_is_too_large=expanded(b"--x " * 5_000_000, "kimi-k2.txt"),
)


@case
def definition_file_is_missing(folder: Path) -> object:
    return Registry(folder).add_file(folder / "models/kimi-k2.py").expand()


@case
def definition_file_is_a_folder(folder: Path) -> object:
    (folder / "models/kimi-k2.py").mkdir(parents=True)
    return Registry(folder).add_file(folder / "models/kimi-k2.py").expand()


@case
def definition_file_is_a_link_to_itself(folder: Path) -> object:
    (folder / "kimi-k2.py").symlink_to("kimi-k2.py")
    return Registry(folder).add_file(folder / "kimi-k2.py").expand()


@case
def definition_root_is_missing(folder: Path) -> object:
    path = write(folder, "models/kimi-k2.py", "def model_args():\n    return '--x'\n")
    return Registry(folder / "absent").add_file(path).expand()


def registered(*names_and_sources: tuple[str, Any], **more: Any):
    def register(folder: Path) -> object:
        registry = Registry(folder)
        for name, source in names_and_sources:
            registry.add(name, source, **more)
        return registry

    return register


class Own:
    """A source of a project's own."""

    def __init__(self, gives: Callable[[], object]) -> None:
        self.gives = gives

    def expand(self, overrides: object) -> object:
        del overrides
        return self.gives()


several(
    "registry",
    two_of_one_name=registered(("kimi-k2", TOKENS), ("kimi-k2", TOKENS)),
    two_that_differ_in_case=registered(("kimi-k2", TOKENS), ("Kimi-K2", TOKENS)),
    name_cannot_be_one=registered(("moonshot/kimi k2", TOKENS)),
    source_is_none=registered(("kimi-k2", 7)),
    unpacks_no_number=registered(("kimi-k2", TOKENS), unpacks="two"),
    path_is_a_text=registered(("kimi-k2", TOKENS), path="models/kimi-k2.py"),
    own_source_raises=lambda folder: registered(("kimi-k2", Own(lambda: 1 // 0)))(folder)[
        "kimi-k2"
    ].expand(),
    own_source_gives_a_list=lambda folder: registered(("kimi-k2", Own(lambda: TOKENS)))(folder)[
        "kimi-k2"
    ].expand(),
    no_such_name=lambda folder: Registry(folder)["kimi-k2"],
    near_name=lambda folder: registered(("kimi-k2", TOKENS))(folder)["kimi-k3"],
    glob_matches_nothing=lambda folder: registered(("kimi-k2", TOKENS))(folder).select(["glm-*"]),
    variant_of_nothing=lambda folder: registered(("kimi-k2", TOKENS))(folder).variant(
        "kimi-k3_2layer", "kimi-k3"
    ),
    models_glob_is_absolute=lambda folder: discover(folder, ["/models/*.py"]),
)


# The mark


def marked(*args: Any, **kwargs: Any):
    return lambda _: expectation.read(args, kwargs, "tests/test_rope.py::test_kimi_k2")


several(
    "mark",
    no_such_field=marked("yarn", betafast=1),
    too_many_positions=marked("yarn", 4096, 1, 1, 50000),
    given_twice=marked("yarn", kind="rope"),
    expects_nothing=marked(models=["kimi-k2"]),
    declared_is_no_bool=marked("yarn", declared="no"),
    models_is_no_list=marked("yarn", models=7),
    models_is_empty=marked("yarn", models=[]),
    kind_is_none_of_them=marked("yarm"),
    value_is_no_number=marked("yarn", beta_fast="1"),
)


# Settings


several(
    "allow",
    no_rule=lambda _: allowances.read(["kimi-*"]),
    no_such_rule=lambda _: allowances.read(["kimi-* implicit-yarm because"]),
    no_reason=lambda _: allowances.read(["kimi-* implicit-yarn"]),
)


def project(folder: Path, surface: str = "0.19.2", **pipeline: Any) -> Project:
    settings = PipelineSettings(pythonpath=(str(folder),), **pipeline)
    registry = Registry(folder)
    registry.add("kimi-k2", TOKENS)
    return Project(Settings(folder, surface, settings), registry)


def framework(content: str, **pipeline: Any):
    """Return a case that resolves with functions of a framework."""

    def resolve(folder: Path) -> object:
        write(folder, "ropeframe_texts.py", content)
        try:
            return project(folder, **pipeline).resolve("kimi-k2")
        finally:
            import sys  # noqa: PLC0415

            sys.modules.pop("ropeframe_texts", None)

    return resolve


several(
    "pipeline",
    module_is_missing=framework("", defaults=("no_such_module:fill",)),
    module_raises=framework("1 / 0", defaults=("ropeframe_texts:fill",)),
    function_is_missing=framework("def fills(args): pass", defaults=("ropeframe_texts:fill",)),
    function_is_none=framework("fill = 7", defaults=("ropeframe_texts:fill",)),
    function_is_misspelled=framework("", defaults=("ropeframe_texts.fill",)),
    defaults_raises=framework(
        "def fill(args): args.no_such_value + 1", defaults=("ropeframe_texts:fill",)
    ),
    arguments_raises=framework(
        "def add(parser): parser.add_argument('--seed')", arguments=("ropeframe_texts:add",)
    ),
    arguments_returns_no_parser=framework(
        "def add(parser): return 7", arguments=("ropeframe_texts:add",)
    ),
    rotary_returns_a_list=framework(
        "def rotary(args, config): return [1]", rotary="ropeframe_texts:rotary"
    ),
    rotary_returns_no_argument=framework(
        "def rotary(args, config): return {'theta': 1}", rotary="ropeframe_texts:rotary"
    ),
    parser_needs_live=framework("def parse(): pass", parser="ropeframe_texts:parse"),
)

several(
    "surface",
    no_such_name=lambda folder: project(folder, "0.20").pipeline,
    no_such_file=lambda folder: project(folder, "surfaces/ours.json").pipeline,
    no_json=lambda folder: surface_files.load_file(write(folder, "ours.json", "{")),
    is_a_list=lambda folder: surface_files.load_file(write(folder, "ours.json", "[]")),
    is_newer=lambda folder: surface_files.load_file(write(folder, "ours.json", '{"schema": 9}')),
    is_malformed=lambda folder: surface_files.load_file(
        write(folder, "ours.json", json.dumps({"schema": 1, "name": 7}))
    ),
    is_not_utf8=lambda folder: surface_files.load_file(write(folder, "ours.json", b"\xff")),
    is_too_large=lambda folder: surface_files.load_file(
        write(folder, "ours.json", b" " * (surface_files.SIZE_LIMIT + 1))
    ),
    is_a_folder=surface_files.load_file,
    is_nested_too_deeply=lambda folder: surface_files.load_file(
        write(folder, "ours.json", "[" * 100_000)
    ),
    has_a_wrong_number=lambda folder: surface_files.load_file(
        write(folder, "ours.json", '{"schema": ' + "9" * 5000 + "}")
    ),
)


# Checkpoints


def checkpoint(content: str | bytes):
    return lambda folder: checkpoints.load(
        write(folder, "kimi-k2.json", content), "tests/checkpoints/kimi-k2.json"
    )


several(
    "checkpoint",
    is_empty=checkpoint(""),
    is_no_json=checkpoint("rope: yarn"),
    is_a_list=checkpoint("[]"),
    is_not_utf8=checkpoint(b"\xff"),
    is_too_large=checkpoint(b" " * (checkpoints.SIZE_LIMIT + 1)),
    is_nested_too_deeply=checkpoint("[" * 100_000),
    states_a_key_twice=checkpoint('{"rope_theta": 1, "rope_theta": 2}'),
    has_a_number_of_too_many_digits=checkpoint('{"rope_theta": ' + "9" * 5000 + "}"),
    is_missing=lambda folder: checkpoints.load(folder / "x.json", "tests/checkpoints/x.json"),
    is_a_folder_without_config=lambda folder: folders.locate(folder, "checkpoints/kimi-k2"),
    folder_lacks_a_revision=lambda folder: folders.locate(
        write(folder, "models--a--b/snapshots/1234567/config.json", "{}").parents[2],
        "checkpoints/models--a--b",
        "main",
    ),
    file_is_of_one_revision=lambda folder: folders.locate(
        write(folder, "config.json", "{}"), "checkpoints/config.json", "main"
    ),
    is_no_file=lambda _: checkpoints.load(Path("/dev/null"), "tests/checkpoints/x.json"),
    has_a_null_character=lambda _: checkpoints.load(Path("a\0b"), "x.json"),
    pattern_without_model=lambda _: checkpoint_files.check_pattern("checkpoints/*.json"),
)

several(
    "resolve",
    an_argv_with_an_override=lambda folder: project(folder).resolve(["--x"], nlayers=2),
    a_token_that_is_no_string=lambda folder: project(folder).resolve(["--num-layers", 2]),
    neither_a_name_nor_an_argv=lambda folder: project(folder).resolve(7),
)


def omitted(**arguments: Any):
    def make(folder: Path) -> object:
        from pytest_ropecontract.omission.strategy import omissions_of  # noqa: PLC0415

        return omissions_of(project(folder), "kimi-k2", **arguments)

    return make


several(
    "omissions",
    no_such_flag=omitted(only=["--beta-fast"]),
    only_names_none=omitted(only=[]),
    at_most_is_no_number=omitted(at_most=-1),
)


def built(config: dict[str, Any], **arguments: Any):
    def resolve(_: Path) -> object:
        from pytest_ropecontract.rope.built import resolve_config  # noqa: PLC0415

        return resolve_config(type("TransformerConfig", (), config)(), **arguments)

    return resolve


HEADS = {"kv_channels": 64, "multi_latent_attention": False, "rotary_interleaved": False}
several(
    "config",
    takes_no_argument=built(HEADS, theta=1),
    has_no_kind=built({**HEADS, "position_embedding_type": "alibi"}),
    lacks_an_attribute=built({"multi_latent_attention": True, "rope_type": "yarn"}),
    is_given_no_value=built(HEADS),
)


# Launchers


def launchers(*lines: str):
    """Return a case that reads lines of rope_contract_launchers, beside one script of each kind."""

    def read(folder: Path) -> object:
        from pytest_ropecontract.launchers.launcher import discover  # noqa: PLC0415

        write(folder, "run.sh", "")
        write(folder, "run.py", "")
        return discover(folder, lines)

    return read


def launched(script: str, **models: str):
    """Return a case that inspects a shell launcher."""

    def inspect(folder: Path) -> object:
        from pytest_ropecontract.launchers.launcher import Launcher  # noqa: PLC0415
        from pytest_ropecontract.project_launchers import LaunchSettings, ProjectLaunchers  # noqa: PLC0415

        path = write(folder, "run.sh", script)
        known = project(folder)
        for name, argv in models.items():
            known.registry.add(name, argv)
        inspection = ProjectLaunchers(known, LaunchSettings(), 60.0).inspect(Launcher(path), {})
        raise inspection.error or AssertionError("nothing is wrong with it")

    return inspect


def stopped(reason: str):
    """Return a case whose launcher was stopped, which not every machine does for one reason."""

    def check(_: Path) -> object:
        from pytest_ropecontract.launchers.recording import Recording, Stop  # noqa: PLC0415
        from pytest_ropecontract.project_launchers import check_end  # noqa: PLC0415

        return check_end("run.sh", Recording(returncode=None, stop=Stop(reason, "run.sh:1")))

    return check


several(
    "launchers",
    line_names_none=launchers("= kimi-k2"),
    glob_matches_nothing=launchers("scripts/run-*.sh"),
    glob_is_absolute=launchers("/scripts/run-*.sh"),
    function_of_a_shell_script=launchers("run.sh::execute"),
    two_models_for_one=launchers("run.sh = kimi-k2", "*.sh = kimi-k25"),
)
several(
    "launcher",
    trains_nothing=launched("ray start --head\n"),
    trains_nothing_of_many=launched("ray start --head\n" + "ray status --address a:1\n" * 6),
    trains_on_another_machine=launched(f"ssh node-2 'cd /x && python train.py {TOKENS}'\n"),
    trains_as_a_job=launched("sbatch -N 2 <<END\npython train.py\nEND\n"),
    names_no_definition=launched("python train.py --num-layers 3\n"),
    lacks_a_backslash=launched(f"python train.py {TOKENS}\n  --rotary-base 7\n"),
    reads_no_flags=launched("source models/no.sh\npython train.py ${MODEL_ARGS[@]}\n"),
    launches_what_is_not_known=launched("ray job submit -- bash train.sh\n"),
    exits=launched("false\nexit 3\n"),
    exits_with_its_usage=launched("echo usage: run.sh NODES\nexit 2\n"),
    writes_elsewhere=stopped("it would write to /etc/rope, outside of its scratch folder"),
    may_be_either=launched(
        f"python train.py --hf-checkpoint Kimi-K2 --load Kimi-K2.5 {TOKENS}\n",
        **{"kimi-k25": f"{TOKENS} --rotary-base 20000"},
    ),
)


# Commands


def command(*argv: str):
    """Return a case that runs a command, whose error is raised instead of printed."""

    def run(folder: Path) -> object:
        import os  # noqa: PLC0415

        from pytest_ropecontract import cli  # noqa: PLC0415

        before = Path.cwd()
        os.chdir(folder)
        try:
            options = cli.parse([*argv])
            return options.run(options)
        finally:
            os.chdir(before)

    return run


several(
    "command",
    show_no_such_surface=command("surface", "show", "0.20"),
    record_into_a_folder=command("surface", "record", "-o", "."),
    record_into_no_folder=command("surface", "record", "-o", "surfaces/ours.json"),
    record_with_a_wrong_name=command("surface", "record", "-o", "o.json", "--name", "our fork"),
    record_with_a_shipped_name=command(
        "surface", "record", "-o", "o.json", "--name", "megatron-core-0.19.2"
    ),
    record_into_a_file_with_too_long_a_name=command("surface", "record", "-o", "x" * 300),
    record_from_no_folder=command("surface", "record", "-o", "o.json", "--pythonpath", "nowhere"),
    diff_no_such_models=command("surface", "diff", "0.18.2", "0.19.2", "--models", "kimi-*"),
    explain_nothing=command("explain"),
    explain_no_such_model=command("explain", "kimi-k2"),
    explain_no_such_surface=command("explain", "--surface", "0.20", "--", "--num-layers", "2"),
    explain_against_nothing=command("explain", "--against", "0.20", "--", "--num-layers", "2"),
    explain_no_such_file=command("explain", "--argv", "kimi-k2.txt"),
    no_such_rule=command("rule", "implicit-yarm"),
)


@case
def command_record_over_a_file(folder: Path) -> object:
    write(folder, "o.json", "{}")
    return command("surface", "record", "-o", "o.json")(folder)


@case
def command_ini_with_an_error(folder: Path) -> object:
    write(folder, "pytest.ini", "[pytest]\naddopts = --no-such-option\n")
    return command("explain", "--", "--num-layers", "2")(folder)
