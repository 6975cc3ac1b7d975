"""Launchers that do harm, and what is said of each; where nothing is, what they launch is good."""

from __future__ import annotations

from hostile_python import PLAIN

TRAIN = f"python train.py {PLAIN}\n"
RUN = f"import subprocess\ndef train(): subprocess.run({TRAIN.split()!r})\n"
OTHER = None

SHELL: dict[str, tuple[str | bytes, str | None]] = {
    "good": (TRAIN, ""),
    "empty": ("", "it runs no command"),
    "nul": (b"\0" + TRAIN.encode(), OTHER),
    "bom": (b"\xef\xbb\xbf" + TRAIN.encode(), OTHER),
    "utf-16": (TRAIN.encode("utf-16"), OTHER),
    "latin-1": (b"# \xe4\n" + TRAIN.encode(), ""),
    "windows": (TRAIN.replace("\n", "\r\n"), OTHER),
    "elf": (b"\x7fELF\x02\x01\x01" + bytes(9), OTHER),
    "syntax": ("if\n" + TRAIN, OTHER),
    "unclosed": (TRAIN + "echo 'x\n", OTHER),
    "merge-conflict": ("<<<<<<< HEAD\n" + TRAIN, OTHER),
    "exit": ("exit 3\n" + TRAIN, OTHER),
    "strict": ("set -euo pipefail\nfalse\n" + TRAIN, OTHER),
    "unbound": ("set -u\npython train.py $NOWHERE\n", OTHER),
    "kills-itself": ("kill -9 $$\n" + TRAIN, OTHER),
    "kills-all": ("kill -9 -1\n" + TRAIN, OTHER),
    "becomes-another": ("exec true\n" + TRAIN, OTHER),
    "background": ("sleep 60 &\n" + TRAIN, OTHER),
    "daemon": ("setsid sleep 60 &\ndisown\n" + TRAIN, OTHER),
    "closed-files": ("exec 0<&- 1>&- 2>&-\n" + TRAIN, OTHER),
    "noise": ("for i in {1..200}; do echo xxxxxxxxxx; done\n" + TRAIN, ""),
    "writes-files": ("echo x > scripts/models/good.txt\nrm -rf scripts\n" + TRAIN, OTHER),
    "removes-all": ("rm -rf / ~ .\n" + TRAIN, OTHER),
    "no-path": ("PATH=\n" + TRAIN, OTHER),
    "sources-env": ("set -a; source .env; set +a\n" + TRAIN, ""),
    "sources-nul": ("source nul.env\n" + TRAIN, OTHER),
    "sources-code": ("source code.env\n" + TRAIN, OTHER),
    "sources-nothing": ("source none.env\n" + TRAIN, OTHER),
    "sources-a-folder": ("source scripts\n" + TRAIN, OTHER),
    "sources-a-pipe": ("source pipe.env\n" + TRAIN, OTHER),
    "sources-zeros": ("read -r -n 10 x < /dev/zero\n" + TRAIN, OTHER),
    "empty-argument": ("python train.py ''\n", OTHER),
    "long-argument": ("printf -v x %200000s\npython train.py $x --a\n", OTHER),
    "line-break-argument": ("python train.py $'a\\nb' $'\\e[2J'\n", OTHER),
    "odd-bytes": ("python train.py $'\\xff'\n", OTHER),
    "traps": ("trap 'exit 5' DEBUG EXIT ERR\n" + TRAIN, OTHER),
    "functions": ("python() { echo; }\ncommand() { :; }\n" + TRAIN, OTHER),
    "own-names": ("unset BASH_ENV PATH HOME\nreadonly PATH\n" + TRAIN, OTHER),
}
PYTHON: dict[str, tuple[str | bytes, str | None]] = {
    "good": (RUN, ""),
    "empty": ("", "has no function 'train'"),
    "nul": (b"x = 1\0\n", OTHER),
    "utf-16": (RUN.encode("utf-16"), OTHER),
    "latin-1": (b"x = '\xe4'\n", OTHER),
    "syntax": ("def train(:\n", OTHER),
    "deep": ("x = " + "-" * 20_000 + "1\n" + RUN, OTHER),
    "a-number": ("train = 3\n", OTHER),
    "needs-values": ("def train(a, b): pass\n", OTHER),
    "raises": ("def train(): raise ValueError('no')\n", OTHER),
    "raises-harm": (
        "class E(Exception):\n    def __str__(s): raise OSError\ndef train(): raise E\n",
        OTHER,
    ),
    "raises-lines": ("def train(): raise ValueError('one\\ntwo')\n", OTHER),
    "raises-out": ("class E(BaseException): pass\ndef train(): raise E('x')\n", OTHER),
    "interrupt": ("def train(): raise KeyboardInterrupt\n", OTHER),
    "exit": ("def train(): raise SystemExit(3)\n", OTHER),
    "os-exit": ("import os\ndef train(): os._exit(3)\n", OTHER),
    "abort": ("import os\ndef train(): os.abort()\n", OTHER),
    "kill": ("import os\ndef train(): os.kill(os.getpid(), 9)\n", OTHER),
    "fork": ("import os\n" + RUN + "os.fork()\n", OTHER),
    "thread": (
        "import threading as t\nt.Thread(target=t.Event().wait, daemon=True).start()\n" + RUN,
        OTHER,
    ),
    "recursion": ("def train(): train()\n", OTHER),
    "modules": ("import sys\n" + RUN + "sys.modules.clear()\n", OTHER),
    "builtins": ("import builtins\n" + RUN + "del builtins.len, builtins.isinstance\n", OTHER),
    "subprocess": ("import subprocess\nsubprocess.run = None\n" + RUN, OTHER),
    "json": ("import json\n" + RUN + "json.dumps = json.loads = None\n", OTHER),
    "streams": ("import sys\nsys.stdout = sys.stderr = None\n" + RUN, OTHER),
    "closes": ("import os\nos.closerange(3, 256)\n" + RUN, OTHER),
    "noise": ("print('x' * 3_000_000)\n" + RUN, ""),
    "odd-argument": ("import subprocess\ndef train(): subprocess.run([3, None])\n", OTHER),
}
FILES = {
    ".env": "A='x y'\nB=$(echo)\n# c\n\nC=\n",
    "nul.env": "A=\0\n",
    "code.env": "exit 7\n",
    "train.py": "",
}
