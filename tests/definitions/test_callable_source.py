# ruff: noqa: T201 - what is printed is the subject

from __future__ import annotations

import functools
import importlib
import linecache
import os
import signal
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest
from no_trace import no_trace

from pytest_ropecontract.definitions import CallableSource, DefinitionError

HERE = __file__


def kimi(nlayers: int = 61) -> str:
    return f"--num-layers {nlayers}"


def line_of(function) -> int:
    return function.__code__.co_firstlineno


def error_of(function, **overrides) -> DefinitionError:
    with pytest.raises(DefinitionError) as caught:
        CallableSource(function).expand(overrides)
    return caught.value


def test_overrides_are_its_keyword_arguments():
    assert CallableSource(kimi).expand({"nlayers": 2}).argv == ("--num-layers", "2")


def test_overrides_may_be_anything():
    assert CallableSource(lambda size: [str(len(size))]).expand({"size": {1, 2}}).argv == ("2",)


def test_partial_and_object():
    class Model:
        def __call__(self) -> list[str]:
            return ["--a"]

    assert CallableSource(functools.partial(kimi, 3)).expand({}).argv == ("--num-layers", "3")
    assert CallableSource(Model()).expand({}).argv == ("--a",)


def test_builtin_without_a_signature():
    assert CallableSource(str).expand({"object": "--a"}).argv == ("--a",)


def test_output_is_captured(capfd):
    def model() -> str:
        print("one")
        print("two", file=sys.stderr)
        return "--a"

    assert CallableSource(model).expand({}).output == "one\ntwo\n"
    assert capfd.readouterr() == ("", "")


def test_what_is_written_to_the_error_stream_itself_is_captured(capfd):
    def model() -> str:
        sys.stderr.write("one\n")
        return "--a"

    assert CallableSource(model).expand({}).output == "one\n"
    assert capfd.readouterr() == ("", "")


def test_of_much_output_the_end_is_kept():
    def model() -> str:
        print("x" * 100_000 + "end")
        return "--a"

    output = CallableSource(model).expand({}).output
    assert (len(output), output[-5:]) == (64 * 1024, "xend\n")


def test_output_says_that_it_can_be_written():
    assert CallableSource(lambda: f"--a {sys.stdout.writable()}").expand({}).argv == ("--a", "True")


def test_builtin_that_raises_has_no_lines_to_show():
    error = error_of(functools.partial(int, "--a"))
    assert error.headline.endswith(
        "raised ValueError: invalid literal for int() with base 10: '--a'"
    )
    assert error.details == ()


def test_environment_that_was_asked_for_is_recorded():
    def model() -> str:
        os.environ.get("ROPE_TEST_A")
        return "--a"

    assert CallableSource(model).expand({}).environment == ("ROPE_TEST_A",)


def test_environment_is_told_in_order():
    def model() -> str:
        os.environ.get("ROPE_TEST_B"), os.environ.get("ROPE_TEST_A")
        return "--a"

    told = CallableSource(model).expand({}).environment
    assert [name for name in told if name.startswith("ROPE_")] == ["ROPE_TEST_A", "ROPE_TEST_B"]


def meddle(fail: bool = False) -> str:
    import layers_of_meddle.deep  # noqa: F401, PLC0415

    os.environ["ROPE_TEST_NEW"] = "1"
    os.environ.pop("PATH", None)
    os.environ["HOME"] = "/nowhere"
    os.environ = {}  # noqa: B003
    sys.path.insert(0, "/nowhere")
    sys.path = ["/nowhere"]
    sys.argv.append("--b")
    sys.argv = []
    sys.modules["pytest"] = None
    del sys.modules["_pytest"]
    warnings.simplefilter("ignore")
    sys.dont_write_bytecode = False
    os.chdir("/")
    if fail:
        raise KeyError("X")
    return "--a"


@pytest.fixture
def layers(tmp_path, monkeypatch):
    package = tmp_path / "path" / "layers_of_meddle"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "deep.py").touch()
    monkeypatch.syspath_prepend(package.parent)
    return package.parent


def test_expansion_leaves_no_trace(layers, temporary):
    with no_trace(temporary), no_trace(layers):
        CallableSource(meddle).expand({})


def test_failing_expansion_leaves_no_trace(layers, temporary):
    with no_trace(temporary), no_trace(layers), pytest.raises(DefinitionError):
        CallableSource(meddle).expand({"fail": True})


def test_hanging_expansion_leaves_no_trace(temporary):
    with no_trace(temporary), pytest.raises(DefinitionError):
        CallableSource(lambda: time.sleep(600), time_limit=0.05).expand({})


@pytest.mark.usefixtures("layers")
def test_deep_submodule_is_removed_from_a_package_that_was_loaded_before(layers):
    (layers / "layers_of_meddle" / "more").mkdir()
    (layers / "layers_of_meddle" / "more" / "__init__.py").touch()
    (layers / "layers_of_meddle" / "more" / "deep.py").touch()
    more = pytest.importorskip("layers_of_meddle.more")

    def model() -> str:
        import layers_of_meddle.more.deep  # noqa: F401, PLC0415

        return "--a"

    CallableSource(model).expand({})
    assert not hasattr(more, "deep")
    del sys.modules["layers_of_meddle.more"], sys.modules["layers_of_meddle"]


def test_modules_behind_one_that_stays_are_removed():
    kept = "pytest_ropecontract.made_up"

    def model() -> str:
        sys.modules[kept] = sys.modules["made_up"] = type(sys)("made_up")
        return "--a"

    CallableSource(model).expand({})
    assert kept in sys.modules
    assert "made_up" not in sys.modules
    del sys.modules[kept]


@pytest.mark.usefixtures("layers")
def test_submodule_is_removed_from_a_package_that_was_loaded_before():
    package = pytest.importorskip("layers_of_meddle")

    def model() -> str:
        import layers_of_meddle.deep  # noqa: F401, PLC0415

        return "--a"

    CallableSource(model).expand({})
    assert not hasattr(package, "deep")
    assert "layers_of_meddle.deep" not in sys.modules
    del sys.modules["layers_of_meddle"]


def test_modules_that_cannot_be_loaded_twice_stay(monkeypatch):
    import _json  # noqa: PLC0415 - any extension module

    monkeypatch.delitem(sys.modules, "this_package", raising=False)

    def model() -> str:
        module = type(sys)("this_package")
        module.__file__ = getattr(_json, "__file__", None) or "a.abi3.so"
        sys.modules["this_package"] = module
        sys.modules["this_package.part"] = type(sys)("this_package.part")
        return "--a"

    CallableSource(model).expand({})
    assert {"this_package", "this_package.part"} <= set(sys.modules)
    del sys.modules["this_package"], sys.modules["this_package.part"]


def test_modules_of_this_package_stay(monkeypatch):
    name = "pytest_ropecontract.definitions.siblings"
    monkeypatch.delitem(sys.modules, name, raising=False)

    def model() -> str:
        importlib.import_module(name)
        return "--a"

    CallableSource(model).expand({})
    assert name in sys.modules


def test_working_directory_that_is_gone_does_not_hide_the_argv(tmp_path, monkeypatch):
    directory = tmp_path / "gone"
    directory.mkdir()
    monkeypatch.chdir(directory)

    def model() -> str:
        directory.rmdir()
        return "--a"

    assert CallableSource(model).expand({}).argv == ("--a",)


def raises() -> str:
    print("looking")
    return {}["X"]


def test_failure_is_told_with_its_own_line_and_output():
    error = error_of(raises)
    assert error.headline == "raises() raised KeyError: 'X'"
    assert error.origin.endswith(f"test_callable_source.py:{line_of(raises) + 2}")
    assert error.details[1:] == ("printed: looking",)


def test_paths_are_relative_to_the_root(request):
    with pytest.raises(DefinitionError) as caught:
        CallableSource(raises, root=request.path.parent.parent).expand({})
    assert caught.value.origin.startswith("definitions/test_callable_source.py:")


RESULTS = {
    "none": (None, "returned None, expected a string or a list of strings"),
    "int": (61, "returned 61 (int), expected a string or a list of strings"),
    "dict": ({}, "returned a dict, expected a string or a list of strings"),
    "empty": ("", "returned an empty string"),
    "item": ([None], "returned a list with None at index 0, expected strings only"),
}


@pytest.mark.parametrize(("value", "headline"), RESULTS.values(), ids=RESULTS)
def test_result_that_is_no_argv(value, headline):
    def model() -> object:
        return value

    error = error_of(model)
    assert error.headline == f"model() {headline}"
    assert error.origin.endswith(f"test_callable_source.py:{line_of(model)}")


def test_exit():
    def model() -> str:
        sys.exit(0)

    assert error_of(model).headline == "model() called sys.exit(0)"


def test_override_that_it_does_not_take():
    error = error_of(kimi, layers=2)
    assert error.headline == "kimi() takes no override 'layers'"
    assert error.origin.endswith(f"test_callable_source.py:{line_of(kimi)}")


def test_argument_without_a_default():
    def model(nlayers: int, /) -> str: ...

    assert error_of(model).headline == "model() needs 'nlayers', which has no default"


def test_wrapper_is_asked_for_its_own_parameters():
    @functools.wraps(kimi)
    def model(**overrides: int) -> str:
        return kimi(nlayers=overrides["n"])

    assert CallableSource(model).expand({"n": 2}).argv == ("--num-layers", "2")


def test_name_can_be_given():
    with pytest.raises(DefinitionError, match=r"^kimi-k2\(\) called sys.exit\(1\)\n"):
        CallableSource(lambda: sys.exit(1), "kimi-k2").expand({})


def test_error_of_a_builtin_has_its_name_for_an_origin():
    assert error_of(dict).origin == "dict"


@pytest.mark.parametrize("kind", [KeyboardInterrupt, pytest.skip.Exception], ids=["key", "skip"])
def test_what_is_meant_for_the_runner_passes(kind):
    def model() -> str:
        raise kind

    with pytest.raises(kind):
        CallableSource(model).expand({})


def hangs() -> str:
    while True:
        try:
            time.sleep(600)
        except Exception:  # noqa: BLE001
            continue


def test_function_that_hangs_is_ended():
    with pytest.raises(DefinitionError) as caught:
        CallableSource(hangs, root=Path("/nowhere"), time_limit=0.05).expand({})
    assert caught.value.headline == "did not end within 0.05 s"
    assert caught.value.origin == HERE


def test_function_that_catches_everything_once_is_ended():
    def model() -> str:
        try:
            time.sleep(600)
        except BaseException:  # noqa: BLE001
            time.sleep(600)

    with pytest.raises(DefinitionError, match=r"^did not end within 0\.05 s\n"):
        CallableSource(model, time_limit=0.05).expand({})


def late() -> str:
    deadline = time.monotonic() + 0.1
    while time.monotonic() < deadline:
        time.sleep(0.01)
    return "--a"


def test_no_limit_outside_of_the_main_thread():
    found = []
    source = CallableSource(late, time_limit=0.01)
    thread = threading.Thread(target=lambda: found.append(source.expand({}).argv))
    thread.start()
    thread.join()
    assert found == [("--a",)]


def test_alarm_that_rings_at_the_very_end_is_too_late(monkeypatch):
    setitimer = signal.setitimer

    def ring_last(which: int, seconds: float, *interval: float) -> None:
        # No definition runs at this moment, so none can bring it about.
        if seconds == 0:
            signal.raise_signal(signal.SIGALRM)
        setitimer(which, seconds, *interval)

    monkeypatch.setattr(signal, "setitimer", ring_last)
    assert CallableSource(kimi).expand({}).argv == ("--num-layers", "61")


def test_no_limit_while_somebody_else_handles_the_alarm():
    def handler(*_: object) -> None: ...

    original = signal.signal(signal.SIGALRM, handler)
    try:
        assert CallableSource(late, time_limit=0.01).expand({}).argv == ("--a",)
        assert signal.getsignal(signal.SIGALRM) is handler
    finally:
        signal.signal(signal.SIGALRM, original)


def test_no_limit_while_somebody_else_uses_the_timer():
    signal.setitimer(signal.ITIMER_REAL, 500)
    try:
        assert CallableSource(late, time_limit=0.01).expand({}).argv == ("--a",)
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def test_object_without_a_name_is_named_by_its_class():
    error = error_of(functools.partial(kimi), n=2)
    assert error.headline == "partial() takes no override 'n'"


def test_remedy_of_a_wrong_override_names_those_it_takes():
    assert error_of(kimi, layers=2).remedy == "the overrides it takes are: nlayers"


@pytest.mark.parametrize("known", [False, True])
def test_function_without_a_file_has_its_name_for_an_origin(monkeypatch, known):
    """Python 3.13 keeps the lines of what it is given with ``-c``."""
    monkeypatch.delitem(linecache.cache, "<string>", raising=False)
    if known:
        monkeypatch.setitem(linecache.cache, "<string>", (0, None, ["pass\n"], "<string>"))
    names: dict[str, object] = {}
    exec("def model():\n    return 61\n", names)
    assert error_of(names["model"]).origin == "model"


def test_value_whose_class_cannot_be_named():
    class Nameless(type):
        def __getattribute__(cls, name: str) -> object:
            raise ZeroDivisionError

    class Value(metaclass=Nameless):
        pass

    def model() -> object:
        return Value()

    error = error_of(model)
    assert error.headline == "model() returned a value that cannot be read: ZeroDivisionError"
    assert error.origin.endswith(f"test_callable_source.py:{line_of(model)}")
