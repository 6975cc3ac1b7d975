"""Definitions in Python that do harm, and what is said of each.

Where nothing is said, the definition gives good flags all the same, and passes. What gives flags
that are no good, ``None``, is judged by the parser and the rules.
"""

from __future__ import annotations

from typing import TypeAlias

PLAIN = (
    "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --kv-channels 16 "
    "--position-embedding-type rope --rotary-base 10000 --rotary-percent 1.0"
)
Catalogue: TypeAlias = dict[str, tuple[str | bytes, str | None]]


def body(*lines: str) -> str:
    """Return a script whose ``model_args`` has a body; without a return it gives good flags."""
    return "\n".join(["def model_args():", *(f"    {line}" for line in (*lines, GOOD)), ""])


def returns(value: str, *before: str) -> str:
    """Return a script whose ``model_args`` gives a value."""
    return "\n".join([*before, "def model_args():", f"    return {value}", ""])


def first(*lines: str) -> str:
    """Return a script that does something while it is loaded, and has good flags."""
    return "\n".join([*lines, "def model_args():", f"    {GOOD}", ""])


LOST = "the flags cannot be read after what the script does to its process"
GOOD = f"return {PLAIN!r}"
FOR_EVER = "import signal, time\nfor number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)"

BYTES: Catalogue = {
    "empty": (b"", "the script is empty"),
    "blank": (b" \n\t\n", "the script is empty"),
    "nul": (b"model_args = 1\n\0", "the script contains a NUL byte in line 2"),
    "nul-in-a-name": (b"mod\0el_args = 1\n", "the script contains a NUL byte in line 1"),
    "only-nul": (b"\0" * 100, "the script contains a NUL byte in line 1"),
    "bom": (b"\xef\xbb\xbf" + first().encode(), ""),
    "two-boms": (b"\xef\xbb\xbf" * 2 + first().encode(), "the script has a syntax error"),
    "utf-16": (first().encode("utf-16"), "the script is not UTF-8: byte 0xff in line 1"),
    "utf-16-le": (first().encode("utf-16-le"), "the script contains a NUL byte in line 1"),
    "utf-32": (first().encode("utf-32"), "the script is not UTF-8: byte 0xff in line 1"),
    "latin-1": (b"x = '\xe4'\n", "the script is not UTF-8: byte 0xe4 in line 1"),
    "cut-in-a-character": (b"x = 1\n# \xe2\x82", "the script is not UTF-8: byte 0xe2 in line 2"),
    "surrogate": (b"x = '\xed\xa0\x80'\n", "the script is not UTF-8: byte 0xed in line 1"),
    "overlong": (b"x = '\xc0\xaf'\n", "the script is not UTF-8: byte 0xc0 in line 1"),
    "other-encoding": (b"# coding: latin-1\nx = '\xe4'\n" + first().encode(), ""),
    "no-such-encoding": (b"# coding: nonsense\n" + first().encode(), "unknown encoding: nonsense"),
    "no-text-encoding": (b"# coding: rot13\n" + first().encode(), "the script has a syntax error"),
    "encoding-of-bytes": (b"# coding: base64\n" + first().encode(), "the script has a syntax"),
    "other-than-the-bom": (b"\xef\xbb\xbf# coding: latin-1\n", "the script has a syntax error"),
    "windows": (first("x = 1").replace("\n", "\r\n").encode(), ""),
    "old-mac": (first("x = 1").replace("\n", "\r").encode(), ""),
    "form-feed": (b"\f" + first().encode(), ""),
    "end-of-file-mark": (first().encode() + b"\x1a", "the script has a syntax error"),
    "elf": (b"\x7fELF\x02\x01\x01" + bytes(9), "the script contains a NUL byte in line 1"),
    "gzip": (b"\x1f\x8b\x08\x00\xff\xff", "the script is not UTF-8: byte 0x8b in line 1"),
    "pyc": (b"\xa7\x0d\x0d\x0a\x00\x00", "the script is not UTF-8: byte 0xa7 in line 1"),
    "merge-conflict": (b"<<<<<<< HEAD\n", "the script has a syntax error: invalid syntax"),
    "html": (b"<!DOCTYPE html>\n<html>", "the script has a syntax error: invalid syntax"),
}
TEXTS: Catalogue = {
    "unclosed": ("def model_args(\n", "the script has a syntax error: '(' was never closed"),
    "tabs-and-spaces": ("if 1:\n\tx = 1\n        y = 2\n", "the script has a syntax error"),
    "invisible": ("model_args\u200b = 1\n", "invalid non-printable character U+200B"),
    "right-to-left": ("x = 1 \u202e\n", "invalid non-printable character U+202E"),
    "deep-brackets": ("x = " + "(" * 300 + ")" * 300 + "\n", "the script has a syntax error"),
    "deep-minus": ("x = " + "-" * 20_000 + "1\n", "the script cannot be compiled"),
    "deep-attributes": ("x = a" + ".a" * 20_000 + "\n", "the script cannot be compiled"),
    "deep-sum": ("x = " + "+".join(["1"] * 20_000) + "\n", "the script cannot be compiled"),
    "deep-blocks": (
        "".join(" " * depth + "if 1:\n" for depth in range(120)) + " " * 120 + "x = 1\n",
        "the script has a syntax error: too many levels of indentation",
    ),
    "long-number": ("x = " + "9" * 5_000 + "\n", "Exceeds the limit (4300 digits)"),
    "long-line": (first("x = '" + "x" * 3_000_000 + "'"), ""),
    "many-lines": (first("x = 1\n" * 10_000), ""),
    "long-name": (first("x" * 1_000_000 + " = 1"), ""),
    "return-outside": ("return 1\n", "the script has a syntax error: 'return' outside function"),
    "future": ("from __future__ import braces\n", "the script has a syntax error: not a chance"),
    "star-import": ("from nowhere import *\n", "ModuleNotFoundError: No module named 'nowhere'"),
    "imports-itself": ("import sys; sys.modules[__name__].model_args()\n", "AttributeError"),
    "no-function": ("x = 1\n", "the script defines no model_args()"),
    "a-number": ("model_args = 3\n", "model_args is an int, not a function"),
    "a-module": ("import os as model_args\n", "model_args is a module, not a function"),
    "deleted": (first() + "del model_args\n", "the script defines no model_args()"),
    "a-class": ("class model_args: pass\n", "expected a string or a list of strings"),
    "a-coroutine": ("async def model_args(): return ''\n", "returned a coroutine"),
    "a-generator": ("def model_args():\n    while True: yield '--a'\n", "returned a generator"),
    "needs-a-value": ("def model_args(layers): pass\n", "needs 'layers', which has no default"),
    "signature-that-raises": (
        (
            "class F:\n    __signature__ = property(lambda s: 1 / 0)\n"
            "    def __call__(s): return 1\n"
            "model_args = F()\n"
        ),
        "returned 1 (int)",
    ),
    "signature-that-is-none": (f"def model_args(): {GOOD}\nmodel_args.__signature__ = 3\n", ""),
    "wraps-itself": (f"def model_args(): {GOOD}\nmodel_args.__wrapped__ = model_args\n", ""),
    "attribute-that-raises": (
        (
            "class F:\n    def __getattr__(s, name): raise OSError(name)\n"
            f"    def __call__(s): {GOOD}\nmodel_args = F()\n"
        ),
        "",
    ),
}
RETURNED: Catalogue = {
    "none": (returns("None"), "returned None, expected a string or a list of strings"),
    "true": (returns("True"), "returned True (bool)"),
    "nan": (returns("float('nan')"), "returned nan (float)"),
    "inf": (returns("1e999"), "returned inf (float)"),
    "huge-number": (returns("10 ** 5000"), "model_args() returned"),
    "bytes": (returns("b'--a'"), "returned b'--a' (bytes)"),
    "set": (returns("{'--a'}"), "returned a set"),
    "dict": (returns("{'--a': 1}"), "returned a dict"),
    "ellipsis": (returns("..."), "returned an ellipsis"),
    "empty-list": (returns("[]"), "returned an empty list"),
    "empty-tuple": (returns("()"), "returned an empty tuple"),
    "white-space": (returns("' \\n\\t'"), "returned an empty string"),
    "number-in-a-list": (returns("['--a', 1]"), "a list with 1 (int) at index 1"),
    "nested-list": (returns("[['--a']]"), "a list with a list at index 0"),
    "list-of-itself": (returns("x", "x = []; x.append(x)"), "a list with a list at index 0"),
    "nul-in-a-token": (returns("['a\\0b']"), "returned a NUL character in token a\\0b (index 0)"),
    "surrogate-in-a-token": (returns("['--\\udcff']"), None),
    "escape-in-a-token": (returns("['--\\x1b[2J']"), None),
    "line-break-in-a-token": (returns("['--a\\nb']"), None),
    "ten-million-tokens": (returns("['--a'] * 10 ** 7"), "more than 2 MiB of argv"),
    "one-long-token": (returns("'x' * 10 ** 7"), "more than 2 MiB of argv"),
    "many-empty-tokens": (returns("[''] * (22 * 10 ** 5)"), "more than 2 MiB of argv"),
    "class-that-raises": (
        returns("X()", "class X:\n    __class__ = property(lambda s: 1 / 0)"),
        "returned a X",
    ),
    "repr-that-raises": (
        returns("X()", "class X(int):\n    def __repr__(s): raise OSError('no')"),
        "returned a X",
    ),
    "repr-of-two-lines": (
        returns("X()", "class X(int):\n    def __repr__(s): return 'one\\ntwo'"),
        "returned",
    ),
    "split-that-lies": (
        returns(f"X({PLAIN!r})", "class X(str):\n    def split(s, *a): return [1, 2]"),
        "",
    ),
    "split-that-raises": (
        returns(f"X({PLAIN!r})", "class X(str):\n    def split(s, *a): raise KeyError"),
        "",
    ),
    "iteration-that-raises": (
        returns("X(['a'])", "class X(list):\n    def __iter__(s): raise KeyError"),
        None,
    ),
    "truth-that-raises": (
        returns(f"X({PLAIN.split()!r})", "class X(list):\n    def __len__(s): raise KeyError"),
        "",
    ),
    "iteration-without-end": (
        returns(
            f"X({PLAIN.split()!r})",
            "class X(list):\n    def __iter__(s):\n        while 1: yield ''",
        ),
        "",
    ),
    "text-that-lies": (
        returns(
            f"[X(one) for one in {PLAIN.split()!r}]",
            "class X(str):\n    def __str__(s): return 1\n    def __len__(s): return -1\n"
            "    def __contains__(s, x): raise KeyError\n    def __eq__(s, o): raise KeyError\n"
            "    __hash__ = None",
        ),
        "",
    ),
}
RAISED: Catalogue = {
    "error": (body("raise ValueError('no flags')"), "raised ValueError: no flags"),
    "error-without-text": (body("raise ValueError"), "raised ValueError"),
    "error-of-two-lines": (body("raise ValueError('one\\ntwo')"), "raised ValueError: one ..."),
    "error-of-megabytes": (body("raise ValueError('x' * 10 ** 7)"), "raised ValueError: xxx"),
    "error-of-escapes": (body("raise ValueError('\\x1b[2J')"), "raised ValueError: \\x1b[2J"),
    "error-of-a-surrogate": (body("raise ValueError('\\udcff')"), "raised ValueError: "),
    "error-of-a-nul": (body("raise ValueError('a\\0b')"), "raised ValueError: a\\x00b"),
    "error-that-is-a-class": (body("raise type('E', (Exception,), {})"), "raised E"),
    "text-that-raises": (
        body("class E(Exception):", "    def __str__(s): raise OSError", "raise E"),
        "raised ",
    ),
    "text-that-ends": (
        body("class E(Exception):", "    def __str__(s): raise SystemExit", "raise E"),
        "raised ",
    ),
    "text-that-is-none": (
        body("class E(Exception):", "    def __str__(s): return 3", "raise E"),
        "raised ",
    ),
    "module-that-is-none": (
        body("class E(Exception): pass", "E.__module__ = None", "raise E"),
        "raised ",
    ),
    "cause-that-raises": (
        body("class E(Exception):", "    def __str__(s): raise OSError", "raise OSError from E()"),
        "raised OSError",
    ),
    "notes-that-are-none": (
        body("error = OSError('x')", "error.__notes__ = 3", "raise error"),
        "raised OSError: x",
    ),
    "notes-of-numbers": (
        body("error = OSError('x')", "error.__notes__ = [3]", "raise error"),
        "raised OSError: x",
    ),
    "key-error-without-a-key": (body("raise KeyError"), "raised KeyError"),
    "no-such-module": (body("import nowhere.at.all"), "No module named 'nowhere'"),
    "module-error-with-a-number": (
        body("raise ModuleNotFoundError('x', name=3)"),
        "raised ModuleNotFoundError: x",
    ),
    "group": (body("raise ExceptionGroup('g', [ValueError('x')] * 2)"), "raised ExceptionGroup: g"),
    "deep-group": (
        body("e = ValueError()", "for _ in range(9_000): e = ExceptionGroup('g', [e])", "raise e"),
        "raised ExceptionGroup: g",
    ),
    "long-chain": (
        body(
            "e = ValueError('x')",
            "for _ in range(20_000): n = ValueError('x'); n.__cause__ = e; e = n",
            "raise e",
        ),
        "raised ValueError: x",
    ),
    "circle-of-causes": (
        body("a, b = OSError('a'), OSError('b')", "a.__cause__, b.__cause__ = b, a", "raise a"),
        "raised OSError: a",
    ),
    "exit": (body("raise SystemExit"), "called sys.exit()"),
    "exit-with-a-text": (body("raise SystemExit('no')"), "called sys.exit('no')"),
    "exit-with-harm": (
        body("class X:", "    def __repr__(s): raise OSError", "raise SystemExit(X())"),
        "called sys.exit(",
    ),
    "interrupt": (body("raise KeyboardInterrupt"), "raised KeyboardInterrupt"),
    "generator-exit": (body("raise GeneratorExit"), "raised GeneratorExit"),
    "base-exception": (body("raise type('Out', (BaseException,), {})"), "raised Out"),
    "base-group": (body("raise BaseExceptionGroup('g', [KeyboardInterrupt()])"), "raised Base"),
    "stop-iteration": (body("next(iter(()))"), "raised StopIteration"),
    "recursion": (body("model_args()"), "raised RecursionError: maximum recursion depth"),
    "memory": (body("bytearray(10 ** 18)"), "raised MemoryError"),
    "warning": (body("import warnings", "warnings.warn('x')"), ""),
    "warning-that-fails": (
        body("import warnings", "warnings.simplefilter('error')", "warnings.warn('x')"),
        "raised UserWarning: x",
    ),
    "own-error-of-this-package": (
        body(
            "from pytest_ropecontract.errors import RopeContractError",
            "raise RopeContractError('a\\nb')",
        ),
        "a",
    ),
    "own-definition-error": (
        body(
            "from pytest_ropecontract.definitions import DefinitionError",
            "raise DefinitionError('a\\nb')",
        ),
        "a",
    ),
    "empty-definition-error": (
        body(
            "from pytest_ropecontract.definitions import DefinitionError",
            "raise DefinitionError('')",
        ),
        "raised",
    ),
    "error-while-loading": ("raise ValueError('early')\n", "loading the script raised ValueError"),
    "exit-while-loading": ("raise SystemExit(2)\n", "loading the script called sys.exit(2)"),
    "interrupt-while-loading": ("raise KeyboardInterrupt\n", "loading the script raised Keyboard"),
    "import-hook-that-raises": (
        first(
            "import sys",
            "class F:\n    def find_spec(s, *a): raise OSError('hooked')",
            "sys.meta_path.insert(0, F())",
            "import colorsys",
        ),
        "loading the script raised OSError: hooked",
    ),
}
PROCESS: Catalogue = {
    "os-exit": (body("import os", "os._exit(3)"), "ended its process with status 3 before"),
    "os-exit-0": (body("import os", "os._exit(0)"), "ended its process with status 0 before"),
    "abort": (body("import os", "os.abort()"), "was killed by SIGABRT before model_args()"),
    "kills-itself": (body("import os", "os.kill(os.getpid(), 9)"), "was killed by SIGKILL before"),
    "terminates-itself": (body("import os", "os.kill(os.getpid(), 15)"), "was killed by SIGTERM"),
    "segfault": (body("import ctypes", "ctypes.string_at(0)"), "was killed by SIGSEGV before"),
    "kills-its-group": (body("import os", "os.killpg(0, 9)"), "was killed by SIGKILL before"),
    "alarm": (
        body("import signal, time", "signal.setitimer(0, 0.01)", "time.sleep(60)"),
        "SIGALRM",
    ),
    "becomes-another": (body("import os", "os.execv('/bin/true', ['true'])"), "ended its process"),
    "fork": (body("import os", "if os.fork() == 0: os._exit(0)"), ""),
    "fork-that-stays": (body("import os, time", "if os.fork() == 0: time.sleep(60)"), ""),
    "fork-that-returns": (body("import os", "os.fork()"), ""),
    "daemon": (
        body(
            "import os, time",
            "if os.fork() == 0:",
            "    os.setsid()",
            "    if os.fork() == 0: time.sleep(60)",
            "    os._exit(0)",
        ),
        "",
    ),
    "many-forks": (body("import os", "for _ in range(20): os.fork() or os._exit(0)"), ""),
    "child-that-stays": (body("import subprocess", "subprocess.Popen(['sleep', '60'])"), ""),
    "thread-without-end": (
        body("import threading, time", "threading.Thread(target=time.sleep, args=(60,)).start()"),
        "",
    ),
    "thread-that-raises": (
        body(
            "import threading",
            "t = threading.Thread(target=lambda: 1 / 0)",
            "t.start()",
            "t.join()",
        ),
        "",
    ),
    "closes-everything": (body("import os", "os.closerange(0, 256)"), LOST),
    "closes-low-numbers": (body("import os", "os.closerange(3, 90)"), ""),
    "takes-all-numbers": (body("import os", "x = [os.dup(0) for _ in range(80)]"), ""),
    "signal-handlers": (first(FOR_EVER), ""),
    "handler-that-raises": (
        body("import signal", "signal.signal(10, lambda *a: 1 / 0)", "signal.raise_signal(10)"),
        "raised ZeroDivisionError",
    ),
    "tracing": (body("import sys", "sys.settrace(lambda *a: None)"), ""),
    "profiling-that-raises": (
        body("import sys", "sys.setprofile(lambda *a: 1 / 0)"),
        "ZeroDivision",
    ),
    "audit-that-raises": (
        body(
            "import sys",
            "def hook(event, args):",
            "    if event == 'open': raise OSError('audit')",
            "sys.addaudithook(hook)",
            "open('/dev/null')",
        ),
        "raised OSError: audit",
    ),
    "at-exit": (body("import atexit, time", "atexit.register(time.sleep, 60)"), ""),
    "finalizer": (
        body("class X:", "    def __del__(s): raise OSError", "X()"),
        "",
    ),
    "limits": (body("import resource", "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))"), ""),
    "niceness": (body("import os", "os.nice(19)"), ""),
    "mask": (body("import os", "os.umask(0o777)"), ""),
    "prints-megabytes": (body("for _ in range(4_000): print('x' * 1_000)"), ""),
    "prints-no-line": (body("print('x' * 3_000_000, end='')"), ""),
    "prints-bytes": (body("import os", "os.write(1, bytes(range(256)) * 100)"), ""),
    "prints-to-the-result": (body("import os", "os.write(99, b'{}')"), "ended its process"),
    "closes-the-result": (body("import os", "os.close(99)"), LOST),
    "answers-itself": (
        body("import os", 'os.write(99, b\'{"argv": 3, "environment": 4}\')', "os._exit(0)"),
        "ended its process with status 0",
    ),
    "answers-something": (
        body("import os", "os.write(99, b'{\"headline\": 3}')", "os._exit(0)"),
        "ended its process with status 0",
    ),
    "answers-a-number": (
        body("import os", "os.write(99, b'3')", "os._exit(0)"),
        "ended its process with status 0",
    ),
    "answers-nesting": (
        body("import os", "os.write(99, b'[' * 50_000)", "os._exit(0)"),
        "ended its process",
    ),
    "answers-without-end": (
        body("import os", "while True: os.write(99, b'x' * 65_536)"),
        "more than 2 MiB of argv",
    ),
    "standard-input": (body("input()"), "raised EOFError: EOF when reading a line"),
}
CHANGES: Catalogue = {
    "working-directory": (body("import os", "os.chdir('/')"), ""),
    "directory-that-is-gone": (
        body("import os, tempfile", "d = tempfile.mkdtemp()", "os.chdir(d)", "os.rmdir(d)"),
        "",
    ),
    "environment": (body("import os", "os.environ.clear()"), ""),
    "environment-object": (body("import os", "os.environ = {}"), ""),
    "import-path": (body("import sys", "sys.path.clear()"), ""),
    "import-path-of-numbers": (body("import sys", "sys.path[:] = [1, None]"), ""),
    "arguments": (body("import sys", "del sys.argv"), ""),
    "modules": (body("import sys", "sys.modules.clear()"), ""),
    "modules-object": (
        body("import sys", "sys.modules = None"),
        f"{LOST}: AttributeError: 'NoneType'",
    ),
    "json": (body("import json", "json.dumps = json.loads = None"), ""),
    "os-write": (body("import os", "os.write = os._exit = None"), ""),
    "builtins": (
        body("import builtins", "for n in ('len', 'str', 'sorted', 'sum'): delattr(builtins, n)"),
        f"{LOST}: NameError: name ",
    ),
    "builtins-that-raise": (
        body("import builtins", "builtins.isinstance = lambda *a: 1 / 0"),
        f"{LOST}: ZeroDivisionError: division by zero",
    ),
    "string-of-builtins": (
        body("import builtins", "builtins.str = builtins.list = int"),
        None,
    ),
    "streams": (body("import sys", "sys.stdout = sys.stderr = None"), ""),
    "streams-that-raise": (
        body(
            "import sys",
            "class S:",
            "    def flush(s): raise KeyboardInterrupt",
            "sys.stdout = sys.stderr = S()",
        ),
        "",
    ),
    "closed-streams": (body("import sys", "sys.stdout.close()", "sys.stderr.close()"), ""),
    "hooks": (body("import sys", "sys.excepthook = sys.unraisablehook = None"), ""),
    "pathlib": (body("import pathlib", "pathlib.Path = None"), ""),
    "inspect": (first("import inspect", "inspect.signature = inspect.unwrap = None"), ""),
    "own-package": (
        body(
            "import pytest_ropecontract.definitions.argv as a",
            "a.argv_of = None",
            "import pytest_ropecontract.definitions.calling as c",
            "c.argv_of = lambda *a: 3",
        ),
        "ended its process with status 0",
    ),
    "own-code": (
        body("import sys", "sys._getframe(1).f_globals.clear()"),
        f"{LOST}: NameError: name ",
    ),
    "garbage": (body("import gc", "gc.disable()", "gc.set_threshold(1)"), ""),
    "locale": (body("import locale", "locale.setlocale(locale.LC_ALL, 'C')"), ""),
    "decimal-digits": (body("import sys", "sys.set_int_max_str_digits(640)"), ""),
    "own-file": (body("open(__file__, 'w').close()"), ""),
    "own-file-is-gone": (body("import os", "os.remove(__file__)"), ""),
}
HANGING: Catalogue = {
    "loops": (body("while True: pass"), "did not end within"),
    "sleeps": (body("import time", "time.sleep(60)"), "did not end within"),
    "loads-for-ever": ("while True: pass\n", "did not end within"),
    "catches-everything": (
        body(
            "while True:", "    try:", "        while True: pass", "    except BaseException: pass"
        ),
        "did not end within",
    ),
    "ignores-signals": (FOR_EVER + "\ntime.sleep(60)\n", "did not end within"),
    "stops-itself": (body("import os", "os.kill(os.getpid(), 19)"), "did not end within"),
    "waits-for-a-lock": (
        body("import threading", "lock = threading.Lock()", "lock.acquire()", "lock.acquire()"),
        "did not end within",
    ),
    "a-long-computation-in-c": (body("sum(range(10 ** 12))"), "did not end within"),
    "a-search-without-end": (
        body("import re", "re.match('(a+)+$', 'a' * 60 + 'b')"),
        "did not end within",
    ),
    "text-without-end": (
        body("class E(Exception):", "    def __str__(s):", "        while True: pass", "raise E"),
        "did not end within",
    ),
    "reads-a-pipe": (
        body("import os", "os.read(os.pipe()[0], 1)"),
        "did not end within",
    ),
}
SCRIPTS: Catalogue = {**BYTES, **TEXTS, **RETURNED, **RAISED, **PROCESS, **CHANGES}
