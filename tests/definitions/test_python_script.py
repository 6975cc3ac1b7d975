from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from no_trace import no_trace

from pytest_ropecontract.definitions import Definition, PythonScript


def test_string_is_split_at_whitespace(project):
    script = 'def model_args():\n    return """\n  --num-layers 61\n\t--swiglu """\n'
    assert project.expand("kimi-k2.py", script).argv == ("--num-layers", "61", "--swiglu")


def test_string_is_not_unquoted(project):
    script = "def model_args():\n    return \"--spec 'a b'\"\n"
    assert project.expand("kimi-k2.py", script).argv == ("--spec", "'a", "b'")


@pytest.mark.parametrize("brackets", ["[]", "()"], ids=["list", "tuple"])
def test_list_is_taken_as_it_is(project, brackets):
    script = f"def model_args():\n    return {brackets[0]}'--spec', 'a b', ''{brackets[1]}\n"
    assert project.expand("kimi-k2.py", script).argv == ("--spec", "a b", "")


def test_overrides_of_every_json_type_arrive_unchanged(project):
    overrides = {"a": "x", "b": 1, "c": 1.5, "d": True, "e": None, "f": [1, [2]], "g": {"h": "i"}}
    script = "def model_args(**overrides):\n    return [repr(overrides)]\n"
    assert project.expand("kimi-k2.py", script, **overrides).argv == (repr(overrides),)


def test_file_and_name_of_the_module(project):
    script = "def model_args():\n    return [__file__, __name__]\n"
    argv = project.expand("glm4.7-flash.py", script).argv
    assert argv == (str(project.models / "glm4.7-flash.py"), "rope_definition_glm4_7_flash")


def test_argv_of_the_script_is_its_path(project):
    script = "import sys\ndef model_args():\n    return sys.argv\n"
    assert project.expand("kimi-k2.py", script).argv == (str(project.models / "kimi-k2.py"),)


def test_working_directory_is_the_root(project):
    script = "import os\ndef model_args():\n    return [os.getcwd()]\n"
    assert project.expand("kimi-k2.py", script).argv == (str(project.root),)


def test_standard_input_is_empty(project):
    script = "import sys\ndef model_args():\n    return ['--' + sys.stdin.read()]\n"
    assert project.expand("kimi-k2.py", script).argv == ("--",)


def test_environment_is_that_of_the_moment(project, monkeypatch):
    script = "import os\ndef model_args():\n    return ['--n', os.environ['ROPE_TEST_N']]\n"
    name = project.add("kimi-k2.py", script)
    for value in ("5", "6"):
        monkeypatch.setenv("ROPE_TEST_N", value)
        assert project.registry[name].expand().argv == ("--n", value)


def test_programs_that_the_script_starts_see_the_environment(project, monkeypatch):
    monkeypatch.setenv("ROPE_TEST_N", "7")
    script = "import os\ndef model_args():\n    return os.popen('echo --n $ROPE_TEST_N').read()\n"
    assert project.expand("kimi-k2.py", script).argv == ("--n", "7")


def test_environment_that_was_asked_for_is_recorded(project, monkeypatch):
    monkeypatch.setenv("ROPE_TEST_B", "1")
    script = (
        "import os\nfrom os import environ, getenv\n"
        "def model_args():\n"
        "    environ['ROPE_TEST_B'], getenv('ROPE_TEST_A'), 'ROPE_TEST_D' in os.environ\n"
        "    os.environb.get(b'ROPE_TEST_C')\n"
        "    return '--a'\n"
    )
    expected = ("ROPE_TEST_A", "ROPE_TEST_B", "ROPE_TEST_C", "ROPE_TEST_D")
    assert project.expand("kimi-k2.py", script).environment == expected


def test_environment_is_told_in_order(project):
    script = (
        "import os\ndef model_args():\n"
        "    os.environ.get('ROPE_TEST_B'), os.environ.get('ROPE_TEST_A')\n    return '--a'\n"
    )
    told = project.expand("kimi-k2.py", script).environment
    assert [name for name in told if name.startswith("ROPE_")] == ["ROPE_TEST_A", "ROPE_TEST_B"]


def test_environment_that_the_script_set_itself_is_not_recorded(project):
    script = (
        "import os\ndef model_args():\n"
        "    os.environ['ROPE_TEST_A'] = '1'\n    return ['--a', os.environ['ROPE_TEST_A']]\n"
    )
    assert project.expand("kimi-k2.py", script).environment == ()


def test_output_of_the_script_and_of_its_programs_is_captured(project, capfd):
    script = (
        "import os, sys\nprint('one')\n"
        "def model_args():\n"
        "    print('two', file=sys.stderr)\n    os.system('echo three')\n    return '--a'\n"
    )
    assert project.expand("kimi-k2.py", script).output == "one\ntwo\nthree\n"
    assert capfd.readouterr() == ("", "")


def test_output_may_be_anything(project):
    script = "import os\nos.write(1, b'caf\\xe9\\n')\ndef model_args():\n    return '--a'\n"
    assert project.expand("kimi-k2.py", script).output == "caf\ufffd\n"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_text_that_is_no_utf_8_is_printed_escaped(project, stream):
    script = f"import sys\nsys.{stream}.write('\\udce9')\ndef model_args():\n    return '--a'\n"
    assert project.expand("kimi-k2.py", script).output == "\\udce9"


def test_programs_that_the_script_starts_cannot_write_to_its_answer(project):
    script = "import os\ndef model_args():\n    os.system('echo 3 >&99')\n    return '--a'\n"
    assert project.expand("kimi-k2.py", script).argv == ("--a",)


def test_of_much_output_the_end_is_kept(project):
    script = "def model_args():\n    print('x' * 9_000_000 + 'end')\n    return '--a'\n"
    output = project.expand("kimi-k2.py", script).output
    assert len(output) == 64 * 1024
    assert output.endswith("xend\n")


def test_argv_that_is_longer_than_what_is_kept_of_the_output(project):
    script = "def model_args():\n    return ['x' * 1000] * 500\n"
    assert project.expand("kimi-k2.py", script).argv == ("x" * 1000,) * 500


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the open files")
def test_script_has_no_open_files_of_the_worker(project):
    script = (
        "import os\ndef model_args():\n"
        "    with os.scandir('/proc/self/fd') as found:\n"
        "        return sorted((entry.name for entry in found), key=int)\n"
    )
    argv = project.expand("kimi-k2.py", script).argv
    # The third is the folder that is listed.
    assert argv == ("0", "1", "2", "3", "99")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_stream_that_the_script_closes_is_open_for_its_programs(project, stream):
    number = {"stdout": 1, "stderr": 2}[stream]
    script = (
        f"import os, sys\ndef model_args():\n    sys.{stream}.close()\n"
        f"    os.system('echo three >&{number}')\n    return '--a'\n"
    )
    assert project.expand("kimi-k2.py", script).output == "three\n"


def test_imports_come_from_the_pythonpath_first(project):
    for directory in ("lib", "models"):
        path = project.root / directory
        path.mkdir(exist_ok=True)
        (path / "layers.py").write_text(f"COUNT = '{directory}'\n")
    script = "import layers\ndef model_args():\n    return ['--from', layers.COUNT]\n"
    assert project.expand("kimi-k2.py", script).argv == ("--from", "lib")


def test_imports_come_from_this_process_path_too(project, monkeypatch):
    elsewhere = project.root / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "layers.py").write_text("COUNT = '3'\n")
    monkeypatch.syspath_prepend(elsewhere)
    script = "import layers\ndef model_args():\n    return ['--n', layers.COUNT]\n"
    assert project.expand("kimi-k2.py", script).argv == ("--n", "3")


def test_own_directory_is_the_last_that_imports_come_from(project):
    script = "import sys\ndef model_args():\n    return [sys.path[0], sys.path[-1]]\n"
    expected = (str(project.root / "lib"), str(project.models))
    assert project.expand("kimi-k2.py", script).argv == expected


def test_windows_line_ends(project):
    script = b'def model_args():\r\n    return """--num-layers\r\n 61"""\r\n'
    assert project.expand("kimi-k2.py", script).argv == ("--num-layers", "61")


def test_declared_encoding_and_byte_order_mark(project):
    latin = "# coding: latin-1\ndef model_args():\n    return ['é']\n".encode("latin-1")
    assert project.expand("latin.py", latin).argv == ("é",)
    marked = b"\xef\xbb\xbfdef model_args():\n    return '--a'\n"
    assert project.expand("marked.py", marked).argv == ("--a",)


def test_dataclass_with_postponed_annotations(project):
    script = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Layers:\n    n: ClassVar[int] = 3\n"
        "def model_args():\n    return ['--n', str(Layers.n)]\n"
    )
    assert project.expand("kimi-k2.py", script).argv == ("--n", "3")


def test_closed_standard_streams_do_not_lose_the_argv(project):
    script = "import os, sys\ndef model_args():\n    sys.stdout.close()\n    os.closerange(0, 50)\n"
    assert project.expand("kimi-k2.py", script + "    return '--a'\n").argv == ("--a",)


def test_replaced_library_functions_do_not_lose_the_argv(project):
    script = (
        "import json, os, sys\njson.dumps = os._exit = os.write = sys.exit = None\n"
        "def model_args():\n    return '--a'\n"
    )
    assert project.expand("kimi-k2.py", script).argv == ("--a",)


def test_thread_that_goes_on_does_not_delay_the_argv(project):
    script = (
        "import threading, time\n"
        "def model_args():\n"
        "    threading.Thread(target=time.sleep, args=(600,)).start()\n    return '--a'\n"
    )
    assert project.expand("kimi-k2.py", script).argv == ("--a",)


def test_path_relative_to_the_root_and_name_of_another_definition(project):
    project.write("kimi-k2.py", "def model_args():\n    return '--a'\n")
    source = PythonScript(Path("models/kimi-k2.py"), project.root)
    assert Definition("other", source).expand().argv == ("--a",)


MEDDLING = """
import atexit, logging, os, signal, sys, tempfile, warnings
import layers
os.environ["ROPE_TEST_NEW"] = "1"
os.environ.pop("PATH", None)
sys.path.insert(0, "/nowhere")
sys.argv.append("--b")
sys.modules["json"] = None
warnings.simplefilter("ignore")
logging.basicConfig(level=1)
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.alarm(100)
sys.stdout = sys.stderr = None
os.chdir("/")
os.umask(0)
def model_args(fail=False):
    if fail:
        raise KeyError("X")
    return "--a"
"""


@pytest.fixture
def meddling(project, temporary):  # noqa: ARG001 - the worker starts with it
    lib = project.root / "lib"
    lib.mkdir()
    (lib / "layers.py").write_text("")
    project.expand("meddling.py", MEDDLING)
    return project.registry["meddling"]


def test_expansion_leaves_no_trace(meddling, project, temporary):
    with no_trace(temporary), no_trace(project.root):
        meddling.expand()


def test_failing_expansion_leaves_no_trace(meddling, project, temporary):
    with no_trace(temporary), no_trace(project.root):
        project.failure(meddling.name, fail=True)


def test_definition_does_not_influence_the_next(meddling, project):
    meddling.expand()
    script = (
        "import os, sys\ndef model_args():\n"
        "    found = ['layers' in sys.modules, 'ROPE_TEST_NEW' in os.environ, os.getcwd()]\n"
        "    return list(map(str, found))\n"
    )
    assert project.expand("next.py", script).argv == ("False", "False", str(project.root))


def test_module_is_not_left_in_sys_modules(project):
    project.expand("kimi-k2.py", "def model_args():\n    return '--a'\n")
    assert not [name for name in sys.modules if name.startswith("rope_definition_")]


def test_imports_write_no_bytecode(project):
    lib = project.root / "lib"
    lib.mkdir()
    (lib / "layers.py").write_text("")
    project.expand("kimi-k2.py", "import layers\ndef model_args():\n    return '--a'\n")
    assert [path.name for path in lib.iterdir()] == ["layers.py"]


def test_own_environment_is_not_touched(project):
    before = dict(os.environ)
    project.expand("kimi-k2.py", "import os\nos.environ.clear()\ndef model_args():\n  return 'a'\n")
    assert dict(os.environ) == before


def test_variables_beside_those_that_it_always_has(project, monkeypatch):
    monkeypatch.setenv("ROPE_TEST_A", "0")
    script = (
        "import os\ndef model_args():\n"
        "    return [os.environ['ROPE_TEST_' + name] for name in 'ABC']\n"
    )
    project.add("kimi-k2.py", script)
    under = project.registry["kimi-k2"].under({"ROPE_TEST_B": "1", "ROPE_TEST_C": "1"})
    assert under.under({"ROPE_TEST_C": "2"}).expand().argv == ("0", "1", "2")
