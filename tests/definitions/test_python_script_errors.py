from __future__ import annotations

import json
import os

import pytest

from pytest_ropecontract.definitions import Registry


def body(*lines: str) -> str:
    return "def model_args():\n" + "".join(f"    {line}\n" for line in lines)


CASES = {
    "raises": (
        body("table = {}", "return table['X']"),
        "kimi-k2: model_args() raised KeyError: 'X'",
        3,
    ),
    "raises-a-long-text": (
        body("raise ValueError('one\\ntwo')"),
        "kimi-k2: model_args() raised ValueError: one ...",
        2,
    ),
    "raises-its-own-class": (
        "class NoGpu(Exception): pass\n" + body("raise NoGpu"),
        "kimi-k2: model_args() raised NoGpu",
        3,
    ),
    "raises-without-a-text": (
        "class Bad(Exception):\n    def __str__(self): raise self\n" + body("raise Bad"),
        "kimi-k2: model_args() raised Bad: <its text cannot be made>",
        4,
    ),
    "interrupts": (
        body("raise KeyboardInterrupt"),
        "kimi-k2: model_args() raised KeyboardInterrupt",
        2,
    ),
    "raises-in-another-file": (
        "import textwrap\n" + body("return textwrap.dedent(61)"),
        "kimi-k2: model_args() raised TypeError: expected string or bytes-like object, got 'int'",
        3,
    ),
    "raises-at-import": (
        "LAYERS = 61\nLAYERS / 0\n",
        "kimi-k2: loading the script raised ZeroDivisionError: division by zero",
        2,
    ),
    "imports-what-is-not-there": (
        "import layers_of_mine.deep\n",
        "kimi-k2: loading the script raised ModuleNotFoundError: No module named 'layers_of_mine'",
        1,
    ),
    "imports-relatively": (
        "from . import layers\n",
        (
            "kimi-k2: loading the script raised ImportError: "
            "attempted relative import with no known parent package"
        ),
        1,
    ),
    "no-function": ("args = 1\n", "kimi-k2: the script defines no model_args()", None),
    "no-function-but-a-value": (
        "model_args = '--a'\n",
        "kimi-k2: model_args is a str, not a function",
        None,
    ),
    "returns-none": (
        "\n" + body("'--a'"),
        "kimi-k2: model_args() returned None, expected a string or a list of strings",
        2,
    ),
    "returns-an-int": (
        body("return 61"),
        "kimi-k2: model_args() returned 61 (int), expected a string or a list of strings",
        1,
    ),
    "returns-a-generator": (
        body("yield '--a'"),
        "kimi-k2: model_args() returned a generator, expected a string or a list of strings",
        1,
    ),
    "returns-an-empty-string": (
        body("return ' '"),
        "kimi-k2: model_args() returned an empty string",
        1,
    ),
    "returns-an-empty-list": (body("return []"), "kimi-k2: model_args() returned an empty list", 1),
    "returns-an-empty-tuple": (
        body("return ()"),
        "kimi-k2: model_args() returned an empty tuple",
        1,
    ),
    "returns-an-int-in-a-list": (
        body("return ['--n', 61]"),
        "kimi-k2: model_args() returned a list with 61 (int) at index 1, expected strings only",
        1,
    ),
    "returns-a-nul": (
        body("return ['--n', 'a\\0b']"),
        r"kimi-k2: model_args() returned a NUL character in token a\0b (index 1)",
        1,
    ),
    "returns-50-mb": (
        body("return ['x' * 1000] * 50_000"),
        "kimi-k2: model_args() returned more than 2 MiB of argv, longer than any command line",
        1,
    ),
    "exits": ("import sys\n" + body("sys.exit(0)"), "kimi-k2: model_args() called sys.exit(0)", 3),
    "exits-with-a-text": (
        "import sys\n" + body("sys.exit('no GPU')"),
        "kimi-k2: model_args() called sys.exit('no GPU')",
        3,
    ),
    "exits-at-import": (
        "import sys\nsys.exit()\n",
        "kimi-k2: loading the script called sys.exit()",
        2,
    ),
    "exits-at-once": (
        "import os\n" + body("os._exit(3)"),
        "kimi-k2: ended its process with status 3 before model_args() returned",
        None,
    ),
    "exits-at-once-with-0": (
        "import os\n" + body("os._exit(0)"),
        "kimi-k2: ended its process with status 0 before model_args() returned",
        None,
    ),
    "crashes": (
        "import os, signal\n" + body("os.kill(os.getpid(), signal.SIGSEGV)"),
        "kimi-k2: was killed by SIGSEGV before model_args() returned",
        None,
    ),
    "recurses": (
        body("return model_args()"),
        "kimi-k2: model_args() raised RecursionError: maximum recursion depth exceeded",
        2,
    ),
    "closes-everything": (
        "import os\n" + body("os.closerange(0, 1000)", "return '--a'"),
        "kimi-k2: the flags cannot be read after what the script does to its process",
        None,
    ),
    "needs-an-argument": (
        "def model_args(nlayers):\n    return '--a'\n",
        "kimi-k2: model_args() needs 'nlayers', which has no default",
        1,
    ),
    "is-not-utf-8": (
        b"# a\n# \xe9\n",
        "kimi-k2: the script is not UTF-8: byte 0xe9 in line 2",
        2,
    ),
    "is-utf-16": (
        "def model_args(): ...".encode("utf-16"),
        "kimi-k2: the script is not UTF-8: byte 0xff in line 1",
        1,
    ),
    "is-empty": (b" \n", "kimi-k2: the script is empty", None),
    "has-a-syntax-error": (
        "# a\ndef model_args(:\n",
        "kimi-k2: the script has a syntax error: invalid syntax",
        2,
    ),
    "has-a-nul": (b"a = 1\n\0\n", "kimi-k2: the script contains a NUL byte in line 2", 2),
}


@pytest.mark.parametrize(("script", "headline", "line"), CASES.values(), ids=CASES)
def test_first_line_and_own_line(project, script, headline, line):
    error = project.error("kimi-k2.py", script)
    assert str(error).splitlines()[0] == headline
    assert error.origin == "models/kimi-k2.py" + ("" if line is None else f":{line}")
    assert error.remedy


def test_call_is_shown_with_its_overrides(project):
    script = "def model_args(n, deep):\n    raise ValueError('no')\n"
    error = project.error("kimi-k2.py", script, n=2, deep=[1])
    assert error.headline == "kimi-k2: model_args(n=2, deep=[1]) raised ValueError: no"


def test_override_that_the_function_does_not_take(project):
    script = "def model_args(nlayers=61, *, rope=None):\n    return '--a'\n"
    error = project.error("kimi-k2.py", script, layers=2)
    assert error.headline == "kimi-k2: model_args() takes no override 'layers'"
    assert error.remedy == "the overrides it takes are: nlayers, rope"


def test_override_that_a_function_without_parameters_does_not_take(project):
    error = project.error("kimi-k2.py", "def model_args():\n    return '--a'\n", n=2)
    assert error.headline == "kimi-k2: model_args() takes no override 'n'"
    assert error.remedy == "add the parameter n to model_args(), or expand it without overrides"


def test_type_error_inside_the_function_is_not_taken_for_a_wrong_override(project):
    script = "def model_args(n=1):\n    return int([])\n"
    error = project.error("kimi-k2.py", script, n=2)
    assert error.headline.startswith("kimi-k2: model_args(n=2) raised TypeError: int() argument")
    assert error.origin == "models/kimi-k2.py:2"


@pytest.mark.parametrize(
    ("value", "kind"),
    [({1}, "a set"), ((1,), "a tuple"), ([{"a": b"x"}], "a bytes"), ({1: 2}, "an int")],
    ids=["set", "tuple", "nested-bytes", "key"],
)
def test_override_that_is_no_json(project, value, kind):
    error = project.error("kimi-k2.py", "def model_args(n): ...\n", n=value)
    expected = f"kimi-k2: the override n={value!r} holds {kind}, which cannot be passed to a script"
    assert error.headline == expected
    assert error.origin == "models/kimi-k2.py"


def test_override_that_contains_itself(project):
    value: list[object] = []
    value.append(value)
    error = project.error("kimi-k2.py", "def model_args(n): ...\n", n=value)
    assert error.headline.startswith("kimi-k2: the override n=[[...]] holds a list, which cannot")


@pytest.mark.parametrize("ignoring", [False, True], ids=["plainly", "and-catches-everything"])
def test_script_that_hangs_is_ended_and_its_line_is_told(project, ignoring):
    project.registry = Registry(project.root, time_limit=0.3)
    handler = "        except BaseException: pass\n" if ignoring else "        finally: pass\n"
    script = (
        "import time\ndef model_args():\n    while True:\n        try:\n"
        "            time.sleep(600)\n" + handler
    )
    error = project.error("kimi-k2.py", script)
    assert str(error).splitlines()[:2] == [
        "kimi-k2: did not end within 0.3 s",
        "  at: models/kimi-k2.py:5",
    ]


def test_script_that_stops_itself_is_ended(project):
    project.registry = Registry(project.root, time_limit=0.3)
    script = "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n"
    error = project.error("kimi-k2.py", script)
    assert error.headline == "kimi-k2: did not end within 0.3 s"


def test_script_that_hangs_and_takes_the_signal_for_itself_is_ended(project):
    project.registry = Registry(project.root, time_limit=0.3)
    script = "import signal, time\nsignal.signal(signal.SIGUSR1, signal.SIG_DFL)\ntime.sleep(600)\n"
    error = project.error("kimi-k2.py", script)
    assert str(error).splitlines()[:2] == [
        "kimi-k2: did not end within 0.3 s",
        "  at: models/kimi-k2.py",
    ]


def test_line_of_a_thread_that_hangs_and_is_waited_for_is_told(project):
    project.registry.time_limit = 1.5
    script = (
        "import threading, time\ndef hang():\n    time.sleep(600)\n"
        "def model_args():\n    thread = threading.Thread(target=hang)\n"
        "    thread.start()\n    thread.join()\n"
    )
    assert project.error("kimi-k2.py", script).origin == "models/kimi-k2.py:3"


def test_line_below_many_calls_of_a_library_is_told(project):
    project.registry.time_limit = 1.5
    library = "import time\ndef deep(n):\n    deep(n - 1) if n else time.sleep(600)\n"
    (project.root / "lib").mkdir()
    (project.root / "lib" / "layers.py").write_text(library)
    script = "import layers\ndef model_args():\n    layers.deep(90)\n"
    assert project.error("kimi-k2.py", script).origin == "models/kimi-k2.py:3"


def test_script_that_tells_where_it_is_only_after_a_while_is_waited_for(project):
    project.registry.time_limit = 1.5
    script = (
        "import faulthandler, signal, time\n"
        "def tell(*_):\n    time.sleep(0.1)\n    faulthandler.dump_traceback(99)\n"
        "faulthandler.unregister(signal.SIGUSR1)\nsignal.signal(signal.SIGUSR1, tell)\n"
        "time.sleep(600)\n"
    )
    assert project.error("kimi-k2.py", script).origin == "models/kimi-k2.py:4"


def test_script_that_floods_the_result_is_ended(project):
    script = "import os\nwhile True:\n    os.write(99, b'x' * 1024 * 1024)\n"
    error = project.error("kimi-k2.py", script)
    assert error.headline == (
        "kimi-k2: model_args() returned more than 2 MiB of argv, longer than any command line"
    )


def test_script_that_writes_something_else_to_the_result(project):
    error = project.error("kimi-k2.py", "import os\nos.write(99, b'3')\nos._exit(0)\n")
    assert error.headline == (
        "kimi-k2: ended its process with status 0 before model_args() returned"
    )


FAILURE = {"headline": "no", "origin": None, "details": [], "remedy": None, "environment": []}
NO_ANSWERS = {
    "argv-of-another-type": {"argv": "--a", "environment": []},
    "argv-with-a-number": {"argv": ["--a", 1], "environment": []},
    "names-of-another-type": {"argv": ["--a"], "environment": {}},
    "names-with-a-number": {"argv": ["--a"], "environment": [1]},
    "argv-alone": {"argv": ["--a"]},
    "argv-and-more": {"argv": ["--a"], "environment": [], "more": ""},
    "list": ["argv", "environment"],
    "headline-alone": {"headline": "no"},
    "headline-of-another-type": {**FAILURE, "headline": 1},
    "origin-of-another-type": {**FAILURE, "origin": 1},
    "details-with-a-number": {**FAILURE, "details": [1]},
    "details-of-another-type": {**FAILURE, "details": "no"},
    "failure-and-more": {**FAILURE, "more": ""},
}


def answering(answer: object) -> str:
    return f"import os\nos.write(99, {json.dumps(answer)!r}.encode())\nos._exit(0)\n"


@pytest.mark.parametrize("answer", NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_script_that_writes_no_answer_to_the_result(project, answer):
    error = project.error("kimi-k2.py", answering(answer))
    assert error.headline == (
        "kimi-k2: ended its process with status 0 before model_args() returned"
    )


def test_script_that_writes_an_answer_to_the_result(project):
    assert project.expand("a.py", answering({"argv": ["a"], "environment": ["B"]})).argv == ("a",)
    error = project.error("b.py", answering({"argv": [], "environment": []}))
    assert error.headline == "b: model_args() returned an empty list"
    error = project.error("c.py", answering(FAILURE))
    assert (error.headline, error.origin, error.remedy) == ("c: no", "models/c.py", None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no", "ValueError: no"),
        ("a\\0b", "ValueError: a\0b"),
        ("a\\nb", "ValueError: a ..."),
        ("\\udce9", "ValueError: \\udce9"),
    ],
    ids=["line", "nul", "lines", "no-utf-8"],
)
def test_script_that_breaks_what_its_flags_are_read_with(project, text, reason):
    script = (
        "import builtins\ndef broken(*_, **__): raise ValueError('{}')\n"
        "builtins.sorted = broken\ndef model_args():\n    return '--a'\n"
    )
    error = project.error("kimi-k2.py", script.format(text))
    assert error.headline == (
        "kimi-k2: the flags cannot be read after what the script does to its process: " + reason
    )
    assert error.origin == "models/kimi-k2.py"


def test_function_of_another_file_is_told_by_the_script(project):
    """Its line is none of the script's."""
    project.write("../lib/layers.py", "\n\ndef model_args(size):\n    return '--a'\n")
    error = project.error("kimi-k2.py", "from layers import model_args\n")
    assert str(error).splitlines()[:2] == [
        "kimi-k2: model_args() needs 'size', which has no default",
        "  at: models/kimi-k2.py",
    ]


def test_script_that_is_nested_too_deeply(project):
    error = project.error("kimi-k2.py", "a = " + "-" * 100_000 + "1\n")
    assert error.headline.startswith("kimi-k2: the script cannot be compiled: ")


def test_of_a_long_chain_of_causes_the_last_three_are_told(project):
    script = (
        "def model_args(depth=6):\n    try:\n        1 / depth and model_args(depth - 1)\n"
        "    except ArithmeticError as error:\n"
        "        raise ArithmeticError(f'link {depth}') from error\n"
    )
    error = project.error("kimi-k2.py", script)
    causes = [line.split(" (line")[0] for line in error.details if line.startswith("caused")]
    assert causes == [f"caused by ArithmeticError: link {depth}" for depth in (5, 4, 3)]


def test_missing_module_names_the_setting(project):
    error = project.error("kimi-k2.py", "import layers_of_mine.deep\n")
    assert error.remedy == (
        "install layers_of_mine, or add the directory that holds it to rope_contract_pythonpath"
    )


def test_missing_environment_variable_is_named(project):
    script = "import os\ndef model_args():\n    return os.environ['ROPE_TEST_NOT_SET']\n"
    error = project.error("kimi-k2.py", script)
    assert str(error) == (
        "kimi-k2: model_args() raised KeyError: 'ROPE_TEST_NOT_SET'\n"
        "  at: models/kimi-k2.py:3\n"
        "  models/kimi-k2.py:3 in model_args: return os.environ['ROPE_TEST_NOT_SET']\n"
        "  remedy: set the environment variable ROPE_TEST_NOT_SET, "
        "or give it a default in the script"
    )


def test_function_of_a_similar_name_is_suggested(project):
    error = project.error("kimi-k2.py", "def model_arg():\n    return '--a'\n")
    assert error.remedy.endswith("; did you mean 'model_arg'?")


def test_details_hold_calls_cause_notes_and_output(project):
    script = (
        "def layers():\n"
        "    raise KeyError('n')\n"
        "def model_args():\n"
        "    print('looking')\n"
        "    try:\n"
        "        layers()\n"
        "    except KeyError as error:\n"
        "        problem = ValueError('no layers')\n"
        "        problem.add_note('see the table')\n"
        "        raise problem from error\n"
    )
    assert project.error("kimi-k2.py", script).details == (
        "models/kimi-k2.py:10 in model_args: raise problem from error",
        "caused by KeyError: 'n' (line 2)",
        "see the table",
        "printed: looking",
    )


def test_of_a_deep_recursion_the_last_calls_are_shown(project):
    error = project.error("kimi-k2.py", "def model_args():\n    return model_args()\n")
    assert error.details[0].startswith("... ")
    assert error.details[0].endswith(" calls before these")
    assert len(error.details) == 9


def test_output_of_a_process_that_ended_early_is_shown(project):
    script = "import os\nprint('loading')\nos._exit(1)\n"
    assert project.error("kimi-k2.py", script).details == ("printed: loading",)


def test_directory(project):
    project.write("kimi-k2.py/x")
    project.registry.add_file(project.models / "kimi-k2.py")
    assert project.failure("kimi-k2").headline == "kimi-k2: the path is a folder, not a script"


def test_pipe(project):
    os.mkfifo(project.models / "kimi-k2.py")
    project.registry.add_file(project.models / "kimi-k2.py")
    expected = "kimi-k2: the path is a device or a pipe, not a script"
    assert project.failure("kimi-k2").headline == expected


def test_missing_file(project):
    project.registry.add_file(project.models / "kimi-k2.py")
    assert project.failure("kimi-k2").headline == "kimi-k2: the file does not exist"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(project):
    project.add("kimi-k2.py", "")
    (project.models / "kimi-k2.py").chmod(0)
    expected = "kimi-k2: the file cannot be read: Permission denied"
    assert project.failure("kimi-k2").headline == expected


def test_file_below_a_file(project):
    project.write("file")
    project.registry.add_file(project.models / "file" / "kimi-k2.py")
    assert (
        project.failure("kimi-k2").headline == "kimi-k2: the file cannot be read: Not a directory"
    )


def test_missing_root(project):
    root = project.root / "nowhere"
    project.registry = Registry(root)
    error = project.error("kimi-k2.py", "def model_args():\n    return '--a'\n")
    assert error.headline == f"kimi-k2: the root {root} is no directory"


def test_path_outside_of_the_root_is_shown_whole(project):
    project.write("deep/x")
    project.registry = Registry(project.models / "deep")
    assert project.error("kimi-k2.py", "").origin == str(project.models / "kimi-k2.py")


def test_variant_is_named_in_its_error(project):
    project.add("kimi-k2.py", "def model_args():\n    return '--a'\n")
    project.registry.variant("kimi-k2-2layer", "kimi-k2", nlayers=2)
    expected = "kimi-k2-2layer: model_args() takes no override 'nlayers'"
    assert project.failure("kimi-k2-2layer").headline == expected
