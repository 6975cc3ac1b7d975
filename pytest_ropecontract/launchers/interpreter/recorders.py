"""Puts recorders in the place of what starts commands."""

from __future__ import annotations

import _imp
import _posixsubprocess
import asyncio
import os
import pty
import signal
import socket
import subprocess
import time
from typing import TYPE_CHECKING, Any, NoReturn

from pytest_ropecontract.launchers.interpreter.started import (
    Popen,
    Started,
    command_text,
    shell_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from pytest_ropecontract.launchers.interpreter.channel import Channel

_BELOW = "use subprocess or asyncio.create_subprocess_exec, which are recorded"
_wait_really = os.waitpid
_kill_really = os.kill
_killpg_really = os.killpg


def install(channel: Channel, writable: tuple[str, ...]) -> None:
    """Replace what starts commands, what no audit event tells of, and what differs by machine.

    Args:
        channel: Where commands are told.
        writable: The folders that may be written to.
    """
    Popen.channel = channel
    subprocess.Popen = Popen  # type: ignore[misc,assignment]  # that is what it stands for
    _install_os(channel)
    _install_asyncio(channel)
    _install_making(channel, writable)
    _install_loading(channel)

    def refuse(*_: Any, **__: Any) -> NoReturn:
        channel.stop("it starts a process below subprocess", _BELOW)

    _posixsubprocess.fork_exec = refuse
    subprocess._fork_exec = refuse  # type: ignore[attr-defined]  # noqa: SLF001  # its name here
    signal.pidfd_send_signal = lambda *_: channel.stop("it sends a signal to a process")
    pty.spawn = lambda argv, *_: _run(channel, _argv_text(argv))
    time.sleep = lambda _: None
    socket.gethostname = lambda: "localhost"
    socket.getfqdn = lambda name="": name or "localhost"
    socket.gethostbyname = lambda _: "127.0.0.1"


def _install_making(channel: Channel, writable: tuple[str, ...]) -> None:
    """Stop what makes pipes and devices elsewhere."""
    inside = tuple(os.path.realpath(one) + os.sep for one in writable)

    def stopping(make: Callable[..., None]) -> Callable[..., None]:
        def made(path: Any, *args: Any, **given: Any) -> None:
            folder = given.get("dir_fd")
            if folder is not None or not os.path.realpath(path).startswith(inside):
                channel.stop(
                    f"it makes {os.fsdecode(path)}, outside of the scratch directory",
                    "make it below the working directory, $HOME or $TMPDIR",
                )
            make(path, *args, **given)

        return made

    os.mkfifo = stopping(os.mkfifo)
    os.mknod = stopping(os.mknod)


def _install_loading(channel: Channel) -> None:
    """Stop whoever loads anew what starts processes, which no recorder would know of."""

    def stopping(create: Callable[..., ModuleType]) -> Callable[..., ModuleType]:
        def created(spec: ModuleSpec, *args: Any) -> ModuleType:
            if spec.name == _posixsubprocess.__name__:
                channel.stop("it loads a second copy of what starts processes", _BELOW)
            return create(spec, *args)

        return created

    _imp.create_builtin = stopping(_imp.create_builtin)
    _imp.create_dynamic = stopping(_imp.create_dynamic)


def _argv_text(argv: Any) -> str:
    return command_text([argv] if isinstance(argv, str) else argv)


def _run(channel: Channel, text: str, environment: Mapping[Any, Any] | None = None) -> int:
    """Run a command that prints where this process does; return its exit status."""
    started = Started(channel, text, environment=environment)
    for descriptor, output in ((1, started.stdout), (2, started.stderr)):
        data = output.encode("utf-8", "surrogateescape")
        while data:
            data = data[os.write(descriptor, data) :]
    # It was waited for: nothing of it is left to a later os.wait().
    del Started.running[started.pid]
    return started.finish()


def _install_os(channel: Channel) -> None:
    def system(command: Any) -> int:
        return (_run(channel, shell_text(command)) & 0xFF) << 8

    def replace(file: Any, args: Any, env: Mapping[Any, Any] | None = None) -> NoReturn:
        channel.end(_run(channel, command_text(args, file), env))

    def spawn(mode: int, file: Any, args: Any, env: Mapping[Any, Any] | None = None) -> int:
        if mode == os.P_WAIT:
            return _run(channel, command_text(args, file), env)
        started = Started(channel, command_text(args, file), environment=env)
        return started.pid

    def posix_spawn(path: Any, argv: Any, env: Any, **_: Any) -> int:
        return Started(channel, command_text(argv, path), environment=env).pid

    os.system = system
    # Names with e take an environment last; those with l take the arguments one by one.
    for suffix in ("v", "ve", "vp", "vpe"):
        setattr(os, f"exec{suffix}", replace)
        setattr(os, f"spawn{suffix}", spawn)
    for suffix in ("l", "lp"):
        setattr(os, f"exec{suffix}", lambda file, *args: replace(file, args))
        setattr(os, f"spawn{suffix}", lambda mode, file, *args: spawn(mode, file, args))
    for suffix in ("le", "lpe"):
        setattr(os, f"exec{suffix}", lambda file, *args: replace(file, args[:-1], args[-1]))
        setattr(
            os,
            f"spawn{suffix}",
            lambda mode, file, *args: spawn(mode, file, args[:-1], args[-1]),
        )
    os.posix_spawn = posix_spawn
    os.posix_spawnp = posix_spawn
    _install_waiting()


def _install_waiting() -> None:
    def waitpid(pid: int, options: int) -> tuple[int, int]:
        if pid in (-1, 0) and Started.running:
            pid = next(iter(Started.running))
        started = Started.running.pop(pid, None)
        if started is None:
            return _wait_really(pid, options)
        return pid, (started.finish() & 0xFF) << 8

    def kill(pid: int, number: int) -> None:
        if abs(pid) not in Started.running:
            _kill_really(pid, number)

    def killpg(group: int, number: int) -> None:
        if group not in Started.running:
            _killpg_really(group, number)

    os.waitpid = waitpid
    os.wait = lambda: waitpid(-1, 0)
    os.wait3 = lambda options: (*waitpid(-1, options), None)  # type: ignore[assignment,return-value]
    os.wait4 = lambda pid, options: (*waitpid(pid, options), None)  # type: ignore[assignment,return-value]
    os.kill = kill
    os.killpg = killpg
    os.getpgid = lambda pid: pid or os.getpgrp()


class _AsyncProcess:
    """Stands for a process of asyncio."""

    def __init__(self, process: Popen) -> None:
        self._process = process
        self.pid = process.pid
        self.stdin = None if process.stdin is None else _Writer(process.stdin)
        self._readers: dict[str, asyncio.StreamReader | None] = {}

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    @property
    def stdout(self) -> asyncio.StreamReader | None:
        return self._reader("stdout")

    @property
    def stderr(self) -> asyncio.StreamReader | None:
        return self._reader("stderr")

    def _reader(self, name: str) -> asyncio.StreamReader | None:
        if name not in self._readers:
            source = getattr(self._process, name)
            reader = None if source is None else asyncio.StreamReader()
            if reader is not None:
                reader.feed_data(source.read())
                reader.feed_eof()
            self._readers[name] = reader
        return self._readers[name]

    async def wait(self) -> int:
        return self._process.wait()

    async def communicate(self, input: bytes | None = None) -> tuple[bytes | None, bytes | None]:  # noqa: A002  # the name of asyncio
        return self._process.communicate(input)

    def send_signal(self, number: int) -> None:
        self._process.send_signal(number)

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()


class _Writer:
    """Stands for the stream to a process."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def write(self, data: bytes) -> None:
        self._target.write(data)

    def writelines(self, lines: Any) -> None:
        self._target.writelines(lines)

    def close(self) -> None:
        """Do nothing: what was written is read when the process is waited for."""

    def write_eof(self) -> None:
        """Do nothing, likewise."""

    def is_closing(self) -> bool:
        return False

    async def drain(self) -> None:
        """Do nothing: it is taken at once."""

    async def wait_closed(self) -> None:
        """Do nothing."""


def _install_asyncio(channel: Channel) -> None:
    async def start_exec(program: Any, *args: Any, limit: int = 0, **given: Any) -> _AsyncProcess:
        del limit
        return _AsyncProcess(Popen([program, *args], **given))

    async def start_shell(cmd: Any, limit: int = 0, **given: Any) -> _AsyncProcess:
        del limit
        return _AsyncProcess(Popen(cmd, shell=True, **given))  # noqa: S604  # nothing runs

    async def below(*_: Any, **__: Any) -> NoReturn:
        channel.stop("it starts a process through an event loop", _BELOW)

    for module in (asyncio, asyncio.subprocess):
        module.create_subprocess_exec = start_exec  # type: ignore[attr-defined]
        module.create_subprocess_shell = start_shell  # type: ignore[attr-defined]
    asyncio.BaseEventLoop.subprocess_exec = below  # type: ignore[method-assign]
    asyncio.BaseEventLoop.subprocess_shell = below  # type: ignore[method-assign]
