"""A command that a launcher believes to have started."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import types
from typing import IO, TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_ropecontract.launchers.interpreter.channel import Channel

_FIRST_PID = 5_000_000
"""Above what Linux gives to processes."""

_CHUNK = 64 * 1024
_STOPPED = 70
_SHELLS = ("bash", "sh")
_read = os.read
_write = os.write


def _text(value: Any) -> str:
    if not isinstance(value, str | bytes | os.PathLike):
        raise TypeError(f"expected str, bytes or os.PathLike object, not {type(value).__name__}")
    return os.fsdecode(value)


class Started:
    """One command: told when it starts, run as a recording when what it reads is known.

    Args:
        channel: Where it is told.
        text: What a shell would be given to run it.
        environment: Its whole environment, or None where that is this process's.
        folder: Its working directory, or None where that is this process's.
        waits: Whether what it reads on standard input is known only later.
        stdin: What it reads, where that is known.
    """

    count = 0
    running: dict[int, Started] = {}  # noqa: RUF012  # of this process, by process id

    def __init__(  # noqa: PLR0913  # what surrounds a command is that much
        self,
        channel: Channel,
        text: str,
        *,
        environment: Mapping[Any, Any] | None = None,
        folder: Any = None,
        waits: bool = False,
        stdin: str | None = None,
    ) -> None:
        if "\0" in text:
            raise ValueError("embedded null byte")
        self._channel = channel
        Started.count += 1
        self.pid = _FIRST_PID + Started.count
        folder = os.path.abspath(os.getcwd() if folder is None else _text(folder))
        if not os.path.isdir(folder):
            raise FileNotFoundError(2, "No such file or directory", folder)
        self._slot = Started.count
        begins = {
            "text": text,
            "environment": {
                _text(name): _text(value)
                for name, value in (os.environ if environment is None else environment).items()
            },
            "folder": folder,
            "origin": channel.origin(),
        }
        self.stdout = self.stderr = ""
        self.returncode: int | None = None
        Started.running[self.pid] = self
        channel.tell(slot=self._slot, begins=begins)
        if not waits:
            self.finish(stdin)

    def finish(self, stdin: str | None = None) -> int:
        """Record it with what it reads; return its exit status."""
        if self.returncode is None:
            answer = self._channel.ask(run=self._slot, stdin=stdin)
            if answer.get("stop"):
                self._channel.end(_STOPPED)
            self.stdout, self.stderr = answer["stdout"], answer["stderr"]
            self.returncode = answer["returncode"]
        return self.returncode or 0


def shell_text(args: Any, executable: Any = None) -> str:
    """Return what a shell is given with ``shell=True``: further arguments become ``$0``, ``$1``."""
    if isinstance(args, str | bytes | os.PathLike):
        text, more = _text(args), []
    else:
        text, *more = [_text(one) for one in args]
    shell = "" if executable is None else os.path.basename(_text(executable))
    return command_text([shell or "sh", "-c", text, *more])


def command_text(args: Any, executable: Any = None) -> str:
    """Return a command as a shell would be given it, every word as it is.

    Of a shell that is given a text, that is the text.
    """
    words = (
        [_text(args)]
        if isinstance(args, str | bytes | os.PathLike)
        else [_text(one) for one in args]
    )
    if executable is not None:
        words[:1] = [_text(executable)]
    if os.path.basename(words[0]) in _SHELLS and words[1:2] == ["-c"] and words[2:]:
        # What bash is given by itself has been looked at, as a text inside of it has not.
        arguments = shlex.join(words[4:])
        return f"set -- {arguments}\n{words[2]}" if arguments else words[2]
    return shlex.join(words)


class Popen:
    """Stands for ``subprocess.Popen``: the same to whoever uses it, but nothing runs."""

    channel: Channel
    __class_getitem__: Any = classmethod(types.GenericAlias)

    def __init__(  # noqa: PLR0913, PLR0917  # the signature of subprocess.Popen
        self,
        args: Any,
        bufsize: int = -1,
        executable: Any = None,
        stdin: Any = None,
        stdout: Any = None,
        stderr: Any = None,
        preexec_fn: Any = None,
        close_fds: bool = True,
        shell: bool = False,
        cwd: Any = None,
        env: Mapping[Any, Any] | None = None,
        universal_newlines: bool | None = None,
        startupinfo: Any = None,
        creationflags: int = 0,
        restore_signals: bool = True,
        start_new_session: bool = False,
        pass_fds: Any = (),
        *,
        encoding: str | None = None,
        errors: str | None = None,
        text: bool | None = None,
        **more: Any,
    ) -> None:
        del bufsize, preexec_fn, close_fds, startupinfo, creationflags, restore_signals
        del start_new_session, pass_fds, more
        self.args = args
        self.encoding, self.errors = encoding, errors
        self.text_mode = bool(encoding or errors or text or universal_newlines)
        self._out, self._err = stdout, stderr
        self._told = False
        self._made: dict[str, IO[Any] | None] = {}
        self.stdin: IO[Any] | None = None
        if stdin == subprocess.PIPE:
            self.stdin = io.StringIO() if self.text_mode else io.BytesIO()
            # What was written stays to be read after it is closed.
            self.stdin.close = lambda: None  # type: ignore[method-assign]
        self._started = Started(
            self.channel,
            shell_text(args, executable) if shell else command_text(args, executable),
            environment=env,
            folder=cwd,
            waits=stdin == subprocess.PIPE,
            stdin=_content(stdin),
        )
        self.pid = self._started.pid
        if stdin != subprocess.PIPE:
            self._finish()

    @property
    def returncode(self) -> int | None:
        """The exit status, once it was waited for."""
        return self._started.returncode if self._told else None

    @property
    def stdout(self) -> IO[Any] | None:
        """What it printed, where that was asked for."""
        return self._stream("out", self._out)

    @property
    def stderr(self) -> IO[Any] | None:
        """What it complained of, where that was asked for."""
        return self._stream("err", self._err)

    def _stream(self, name: str, target: Any) -> IO[Any] | None:
        if target != subprocess.PIPE:
            return None
        self._finish()
        return self._made[name]

    def _finish(self, given: Any = None) -> None:
        if self._made:
            return
        if self.stdin is not None and given is None:
            given = self.stdin.getvalue()  # type: ignore[attr-defined]  # of memory
        if isinstance(given, bytes | bytearray | memoryview):
            given = bytes(given).decode(errors="replace")
        self._started.finish(given)
        out, err = self._started.stdout, self._started.stderr
        if self._err == subprocess.STDOUT:
            out, err = out + err, ""
        self._made = {"out": self._give(out, self._out, 1), "err": self._give(err, self._err, 2)}

    def _give(self, output: str, target: Any, descriptor: int) -> IO[Any] | None:
        """Put output where the launcher wants it; return what it reads it from."""
        if target == subprocess.PIPE:
            data = output.encode(self.encoding or "utf-8", "surrogateescape")
            raw = io.BytesIO(data)
            if not self.text_mode:
                return raw
            return io.TextIOWrapper(raw, self.encoding or "utf-8", self.errors or "strict")
        if output and target not in (subprocess.DEVNULL, subprocess.STDOUT):
            if target is not None:
                descriptor = target if isinstance(target, int) else target.fileno()
            data = output.encode("utf-8", "surrogateescape")
            while data:
                data = data[_write(descriptor, data) :]
        return None

    def communicate(self, input: Any = None, timeout: float | None = None) -> tuple[Any, Any]:  # noqa: A002  # the name of subprocess
        """Give it what it reads, and return what it printed."""
        del timeout
        self._finish(input)
        self._told = True
        out, err = self._made["out"], self._made["err"]
        return (None if out is None else out.read(), None if err is None else err.read())

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit status."""
        del timeout
        self._finish()
        self._told = True
        return self._started.returncode or 0

    def poll(self) -> int:
        """Return its exit status: whatever it is, it ends at once."""
        return self.wait()

    def send_signal(self, sig: int) -> None:
        """Do nothing: it has ended."""

    def terminate(self) -> None:
        """Do nothing: it has ended."""

    def kill(self) -> None:
        """Do nothing: it has ended."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()


def _content(stdin: Any) -> str | None:
    """Return what is in a file, or in the output of another command, that is to be read."""
    if stdin is None or stdin in (subprocess.PIPE, subprocess.DEVNULL):
        return None
    if isinstance(stdin, int) or not isinstance(stdin, io.BytesIO | io.StringIO | io.TextIOWrapper):
        data = b""
        descriptor = stdin if isinstance(stdin, int) else stdin.fileno()
        while chunk := _read(descriptor, _CHUNK):
            data += chunk
    else:
        read = stdin.read()
        data = read.encode() if isinstance(read, str) else read
    return data.decode(errors="replace")
