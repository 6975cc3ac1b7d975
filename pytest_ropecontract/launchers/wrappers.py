"""Programs that run another one: which of their arguments are their own.

The options are those of torch.distributed.run, ray's job command line, srun's manual page, the
help of uv, and the manual pages of the GNU and util-linux tools.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True)
class Wrapper:
    """The options of a program that runs another one.

    Attributes:
        values: Options whose value may be an argument of its own.
        flags: Options without a value, or with one that only ``=`` can give.
        positionals: How many arguments of its own stand before the program.
        abbreviates: Whether a beginning of a long option stands for it.
        last: Options behind whose value nothing is the wrapper's own.
    """

    values: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    positionals: int = 0
    abbreviates: bool = True
    last: frozenset[str] = frozenset()

    def own(self, arguments: Sequence[str]) -> Own | None:
        """Return the arguments that are the wrapper's, or None where an option is unknown."""
        given: list[tuple[str, str | None]] = []
        at = 0
        while at < len(arguments) and arguments[at].startswith("-") and arguments[at] != "-":
            option = arguments[at]
            at += 1
            if option == "--":
                break
            read = self._long(option) if option.startswith("--") else self._short(option)
            if read is None:
                return None
            for name, value in read:
                if value is None and name in self.values:
                    if at == len(arguments):
                        return None
                    given.append((name, arguments[at]))
                    at += 1
                else:
                    given.append((name, value))
            if read[-1][0] in self.last:
                break
        return Own(tuple(given), min(at + self.positionals, len(arguments)))

    def _long(self, option: str) -> list[tuple[str, str | None]] | None:
        name, equals, value = option.partition("=")
        known = self.values | self.flags
        if name not in known and self.abbreviates:
            # Spellings of one option with - and _ count as one.
            found = {one.replace("_", "-"): one for one in sorted(known) if one.startswith(name)}
            if len(found) == 1:
                name = next(iter(found.values()))
        if equals:
            return [(name, value)]
        return [(name, None)] if name in known else None

    def _short(self, option: str) -> list[tuple[str, str | None]] | None:
        if option in self.values | self.flags:
            return [(option, None)]
        read: list[tuple[str, str | None]] = []
        for at in range(1, len(option)):
            name = f"-{option[at]}"
            if name in self.values:
                rest = option[at + 1 :]
                return [*read, (name, rest.removeprefix("=") or None)]
            if name not in self.flags:
                return None
            read.append((name, None))
        return read


@dataclass(frozen=True)
class Own:
    """What of a wrapper's arguments is its own.

    Attributes:
        options: Name and value of each option; the value is None where there is none.
        end: Index of the first argument that is not the wrapper's.
    """

    options: tuple[tuple[str, str | None], ...]
    end: int

    def has(self, names: frozenset[str]) -> bool:
        """Return whether one of some options was given."""
        return any(name in names for name, _ in self.options)

    def values_of(self, name: str) -> list[str]:
        """Return the values of an option, in order."""
        return [value for one, value in self.options if one == name and value is not None]


MODULE = _names("-m --module")

# They name programs and scripts, and run none.
MENTION = _names(
    "pkill pgrep killall kill ps grep egrep fgrep echo printf which whereis ls rm cp mv ln cat "
    "head tail sed awk find tar rsync scp git pip pip3 conda touch chmod chown mkdir tee wc "
    "test md5sum sha256sum"
)

CONTAINER = "in a container"
# They hand what they run to a shell, a container or a job that is not looked into.
ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(("ssh", "pdsh", "clush", "pssh"), "on another machine"),
    **dict.fromkeys(
        ("docker", "podman", "kubectl", "apptainer", "singularity", "enroot"), CONTAINER
    ),
    **dict.fromkeys(("sbatch", "qsub", "bsub"), "as a job"),
}

TORCHRUN = Wrapper(
    values=_names(
        "--nnodes --nproc-per-node --nproc_per_node --rdzv-backend --rdzv_backend "
        "--rdzv-endpoint --rdzv_endpoint --rdzv-id --rdzv_id --rdzv-conf --rdzv_conf "
        "--max-restarts --max_restarts --monitor-interval --monitor_interval --start-method "
        "--start_method --event-log-handler --event_log_handler --role --log-dir --log_dir "
        "-r --redirects -t --tee --log-line-prefix-template --log_line_prefix_template "
        "--local-ranks-filter --local_ranks_filter --duplicate-stdout-filters "
        "--duplicate_stdout_filters --duplicate-stderr-filters --duplicate_stderr_filters "
        "--node-rank --node_rank --master-addr --master_addr --master-port --master_port "
        "--local-addr --local_addr --logs-specs --logs_specs --numa-binding --numa_binding "
        "--signals-to-handle --signals_to_handle --shutdown-timeout --shutdown_timeout "
        "--print-completion --print_completion"
    ),
    flags=MODULE
    | _names(
        "-h --help --standalone --no-python --no_python --run-path --run_path "
        "--virtual-local-rank --virtual_local_rank --use-env --use_env"
    ),
)

RAY_JOB_SUBMIT = Wrapper(
    values=_names(
        "--address --job-id --submission-id --runtime-env --runtime-env-json --working-dir "
        "--metadata-json --entrypoint-num-cpus --entrypoint-num-gpus --entrypoint-memory "
        "--entrypoint-resources --entrypoint-label-selector --verify --headers --log-style "
        "--log-color"
    ),
    flags=_names("--no-wait -v --verbose --help"),
    abbreviates=False,
)

PYTHON = Wrapper(
    values=_names("-c -m -W -X --check-hash-based-pycs"),
    flags=_names("-b -B -d -E -h -i -I -O -OO -P -q -s -S -u -v -V -x"),
    abbreviates=False,
    last=_names("-c -m"),
)

UV_RUN = Wrapper(
    values=_names(
        "--extra --no-extra --group --no-group --only-group --no-editable-package --env-file "
        "-w --with --with-editable --with-requirements --package --python-platform --index "
        "--default-index -i --index-url --extra-index-url -f --find-links --index-strategy "
        "--keyring-provider -P --upgrade-package --upgrade-group --resolution --prerelease "
        "--prerelease-package --fork-strategy --exclude-newer --exclude-newer-package "
        "--no-sources-package --reinstall-package --link-mode -C --config-setting "
        "--config-settings-package --no-build-isolation-package --no-build-package "
        "--no-binary-package --cache-dir --refresh-package -p --python --color "
        "--allow-insecure-host --directory --project --config-file"
    ),
    flags=MODULE
    | _names(
        "--all-extras --no-dev --only-dev --no-default-groups --all-groups --no-editable "
        "--exact --no-env-file --isolated --active --no-sync --locked --frozen -s --script "
        "--gui-script --all-packages --no-project --no-index -U --upgrade --no-sources "
        "--reinstall --compile-bytecode --no-build-isolation --no-build --no-binary "
        "--require-build-hashes --no-require-build-hashes -n --no-cache --refresh "
        "--managed-python --no-managed-python --no-python-downloads -q --quiet -v --verbose "
        "--system-certs --offline --no-progress --no-config -h --help"
    ),
    abbreviates=False,
)

SRUN = Wrapper(
    values=_names(
        "-A --account --acctg-freq -b --begin -c --cpus-per-task --chdir -D --cluster "
        "-M --clusters --comment --constraint -C --container --container-id "
        "--container-image --container-mounts --container-name --container-save "
        "--container-workdir --container-env --core-spec -S --cores-per-socket --cpu-bind "
        "--cpu-freq --cpus-per-gpu --deadline --delay-boot -d --dependency --distribution -m "
        "--epilog -e --error --exclude -x --export --export-file --extra -B "
        "--extra-node-info --gid -G --gpus --gpu-bind --gpu-freq --gpus-per-node "
        "--gpus-per-socket --gpus-per-task --gres --gres-flags --het-group --hint -i --input "
        "-J --job-name --jobid --licenses -L --mail-type --mail-user --mcs-label --mem "
        "--mem-bind --mem-per-cpu --mem-per-gpu --mincpus --mpi --msg-timeout --network "
        "-w --nodelist -F --nodefile -N --nodes --ntasks -n --ntasks-per-core --ntasks-per-gpu "
        "--ntasks-per-node --ntasks-per-socket --open-mode -o --output -p --partition --power "
        "--prefer --priority --profile --prolog -q --qos -r --relative "
        "--reservation --signal --slurmd-debug --sockets-per-node "
        "--task-epilog --task-prolog --threads -T --threads-per-core -t --time --time-min "
        "--tmp --tree-width --tres-bind --tres-per-task --uid --wait -W --wckey"
    ),
    # Those of the second kind take a value with = alone.
    flags=_names(
        "--contiguous --disable-status -X --exact -h --hold -H --label -l --multi-prog "
        "--no-allocate -Z --no-requeue --overcommit -O --overlap --parsable --preserve-env -E "
        "-Q --quiet --quit-on-interrupt --reboot --requeue --spread-job --unbuffered -u "
        "--use-min-nodes -v --verbose -V --version --help --usage --whole "
        "--bcast --compress --exclusive --immediate -I --interactive -k --no-kill "
        "--kill-on-bad-exit -K --nice -s --oversubscribe --propagate --pty --resv-ports "
        "--send-libs --stepmgr --x11 "
        "--container-mount-home --no-container-mount-home --container-remap-root "
        "--no-container-remap-root --container-entrypoint --no-container-entrypoint "
        "--container-entrypoint-log --no-container-entrypoint-log --container-writable "
        "--container-readonly"
    ),
)

NSYS_PROFILE = Wrapper(
    values=_names("-b -c -d -e -f -g -h -k -n -o -p -s -t -w -x -y"),
    abbreviates=False,
)

ENV = Wrapper(
    values=_names("-u --unset -C --chdir -S --split-string"),
    flags=_names(
        "-i --ignore-environment -0 --null -v --debug --block-signal --default-signal "
        "--ignore-signal --list-signal-handling --help --version"
    ),
)

TOOLS: Mapping[str, Wrapper] = {
    "nohup": Wrapper(flags=_names("--help --version")),
    "timeout": Wrapper(
        values=_names("-k --kill-after -s --signal"),
        flags=_names("--preserve-status --foreground -v --verbose --help --version"),
        positionals=1,
    ),
    "nice": Wrapper(values=_names("-n --adjustment"), flags=_names("--help --version")),
    "stdbuf": Wrapper(values=_names("-i --input -o --output -e --error")),
    "setsid": Wrapper(flags=_names("-c --ctty -f --fork -w --wait -h --help -V --version")),
    "ionice": Wrapper(
        values=_names("-c --class -n --classdata -p --pid -P --pgid -u --uid"),
        flags=_names("-t --ignore -h --help -V --version"),
    ),
    "taskset": Wrapper(
        flags=_names("-a --all-tasks -p --pid -c --cpu-list -h --help -V --version"),
        positionals=1,
    ),
    "numactl": Wrapper(
        values=_names(
            "-i --interleave -w --weighted-interleave -p --preferred -P --preferred-many -N "
            "--cpunodebind -C --physcpubind -m --membind"
        ),
        flags=_names("-a --all -b --balancing -l --localalloc -s --show -H --hardware"),
    ),
    "time": Wrapper(
        values=_names("-f --format -o --output"),
        flags=_names("-a --append -p --portability -q --quiet -v --verbose"),
    ),
    "sudo": Wrapper(
        values=_names("-u --user -g --group -h --host -p --prompt -C --close-from -D --chdir"),
        flags=_names("-E --preserve-env -H --set-home -n --non-interactive -b --background -i -s"),
    ),
    "srun": SRUN,
}
