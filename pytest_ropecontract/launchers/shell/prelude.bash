# Read by every bash of a launcher before its script: external commands are recorded, not executed.
#
# Three things see a command. A name without a slash that is no builtin ends in bash's own
# command_not_found_handle. Before every simple command a DEBUG trap looks at the name that is about
# to run, and defines a function of that name where bash would otherwise look for a file: functions
# may have slashes in their names, so absolute paths are caught too, with their arguments exactly as
# bash expands them. Builtins that leave the shell (exec, kill, command) are functions of their own.
#
# The variables that begin with ROPECONTRACT_ come from recorder.py.

shopt -u expand_aliases
shopt -s varredir_close 2>/dev/null

__rc_place=$ROPECONTRACT_PLACE          # the folder of the recorder's files
__rc_self=$BASH_ENV
__rc_scratch=$ROPECONTRACT_SCRATCH
__rc_root=$ROPECONTRACT_ROOT
__rc_guarded=$ROPECONTRACT_GUARDED      # whether the kernel guards programs and files
__rc_key=$ROPECONTRACT_KEY              # what was running when this shell began: 12.3.
__rc_group=${ROPECONTRACT_GROUP:-$$}    # the first shell: all others are in its process group
__rc_folder=$ROPECONTRACT_FOLDER        # where the launcher believes to be, if that is not here
__rc_peek=$ROPECONTRACT_PEEK            # whether a name is only looked up: nothing is recorded
__rc_at=$ROPECONTRACT_AT                # the line that began this shell
unset BASH_ENV "${!ROPECONTRACT_@}"
source "$__rc_place/tables.bash"        # __rc_tools, __rc_answers, __rc_approved, __rc_python
__rc_n=0
__rc_pid=$BASHPID
__rc_word=
__rc_rest=
__rc_found=
__rc_last=
__rc_busy=
__rc_targets=()
__rc_text=                              # the launcher's command, as it is written
__rc_jobs="${ROPECONTRACT_JOBS-} $$ "   # the process ids that it may have come to know
__rc_job_names='[$!]|BASHPID|PPID'      # what expands to one

declare -A __rc_builtin=()
while read -r __rc_word; do
    __rc_builtin[$__rc_word]=1
done < <(compgen -b; compgen -k)
__rc_word=

# --- Before every simple command ---------------------------------------------------------------

__rc_see() {
    [[ -z $__rc_busy && ${BASH_SOURCE[1]-} != "$__rc_self" ]] || return 0
    local -
    set +efuvx
    unset -f exec  # the builtin alone can change the shell's own files
    exec 197<&0
    if [[ $BASHPID != "$__rc_pid" ]]; then
        __rc_key+=$__rc_n.
        RANDOM=$((__rc_n + 1))  # which a subshell would begin anew by chance
        __rc_n=0
        __rc_pid=$BASHPID
    fi
    __rc_n=$((__rc_n + 1))
    [[ ! -e ${BASH_SOURCE[1]-} ]] || __rc_at=${BASH_SOURCE[1]}:${BASH_LINENO[0]}
    __rc_targets=()
    __rc_rest=$BASH_COMMAND
    __rc_text=$BASH_COMMAND
    [[ $__rc_text != *\$* ]] || __rc_know_jobs
    case $__rc_rest in
        'for '* | 'case '* | 'select '* | '[['* | '(('*) return 0 ;;
        *__rc_trap_words*) return 0 ;;  # in a trap, the command is still the one before it
    esac
    __rc_next
    [[ $BASH_COMMAND != *'>'* ]] || __rc_find_targets
}

# Remember which numbers are process ids, and which variables hold some.
__rc_know_jobs() {
    local LC_ALL=C job names="\\$\\{?($__rc_job_names)([^A-Za-z0-9_]|$)"
    local assigned="(^|[[:space:]])([A-Za-z_][A-Za-z0-9_]*)(\\[[^]]*\\])?\\+?=\\(?\"?$names"
    local looped="^(for )([A-Za-z_][A-Za-z0-9_]*) in .*$names"
    job=${!-}
    [[ -z $job || $__rc_jobs == *" $job "* ]] || __rc_jobs+="$job "
    [[ $__rc_jobs == *" $BASHPID "* ]] || __rc_jobs+="$BASHPID "
    [[ $__rc_jobs == *" $PPID "* ]] || __rc_jobs+="$PPID "
    if [[ $__rc_text =~ $assigned || $__rc_text =~ $looped ]]; then
        __rc_job_names+="|${BASH_REMATCH[2]}"
    fi
}

# Put into __rc_words a command's words, with a word for the process ids that the launcher wrote.
# A number that is one by chance is left as it is.
__rc_without_jobs() {
    local LC_ALL=C words plain at places place one any='[][$*?{<>"`]' number='^(.*[^0-9])?([0-9]+)$'
    local names="\\$\\{?($__rc_job_names)([^A-Za-z0-9_]|$)"
    local alone="^[A-Za-z0-9_./=:,+-]*\"?[\$](($__rc_job_names)|\\{($__rc_job_names)\\})\"?$"
    __rc_words=("$@")
    read -r -d '' -a words <<<"$__rc_text" || :
    plain=("${words[@]}")
    for at in "${!words[@]}"; do
        [[ ! ${words[at]} =~ $alone ]] || plain[at]=x
    done
    for at in "${!words[@]}"; do
        [[ ${words[at]} =~ $names ]] || continue
        # The same place, from the beginning or from the end, where the words up to it are plain.
        places=()
        [[ ${plain[*]:0:at} == *$any* ]] || places+=("$at")
        [[ ${plain[*]:at+1} == *$any* ]] || places+=("$(($# - ${#words[@]} + at))")
        for place in "${places[@]}"; do
            ((place >= 0)) && one=${__rc_words[place]-} || one=
            [[ $one =~ $number && $__rc_jobs == *" ${BASH_REMATCH[2]} "* ]] || continue
            __rc_words[place]="${BASH_REMATCH[1]}<pid>"
            break
        done
    done
    [[ ${1##*/} == kill ]] || return 0
    for at in "${!__rc_words[@]}"; do
        one=${__rc_words[at]}
        [[ $one != *[!0-9]* && ${__rc_words[at-1]} != -[sn] && $__rc_jobs == *" $one "* ]] || continue
        __rc_words[at]='<pid>'
    done
}

# Find the word that names the command in what is left of its text. What needs no expansion is
# settled here, else it stays in __rc_word for the trap to expand.
__rc_next() {
    local LC_ALL=C before computed='\[[^]@*0-9]|@[A-Za-z]'
    local assignment='^[A-Za-z_][A-Za-z0-9_]*(\[[^]]*\])?\+?='
    local redirection='^([0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\})?(<<<|<<-|<<|<&|<>|>&|>>|>\||&>>|&>|<|>)'
    while :; do
        __rc_rest=${__rc_rest#"${__rc_rest%%[![:space:]]*}"}
        if [[ $__rc_rest =~ $assignment ]]; then
            __rc_rest=${__rc_rest:${#BASH_REMATCH[0]}}
            __rc_skip_word
        elif [[ $__rc_rest != [\<\>]\(* && $__rc_rest =~ $redirection ]]; then
            __rc_rest=${__rc_rest:${#BASH_REMATCH[0]}}
            __rc_rest=${__rc_rest#"${__rc_rest%%[![:blank:]]*}"}
            __rc_skip_word
        else
            break
        fi
    done
    before=$__rc_rest
    __rc_skip_word
    __rc_word=${before:0:${#before}-${#__rc_rest}}
    if [[ -n $__rc_word && $__rc_word != *[!A-Za-z0-9_./+@%:-]* ]]; then
        before=$__rc_word
        __rc_word=
        __rc_meet "$before"
    elif [[ $__rc_guarded == 0 && $__rc_word == *[\$\<\>]\(* || $__rc_guarded == 0 && $__rc_word == *[\`]* \
        || $__rc_guarded == 0 && $__rc_word =~ $computed ]]; then
        __rc_stop 'a command computes the name of its program, which cannot be looked at safely here'
    fi
}

# Find the files that the command's own redirections write to.
__rc_find_targets() {
    local LC_ALL=C word kind before name=$__rc_word
    local redirection='^([0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\})?(<<<|<<-|<<|<&|<>|>&|>>|>\||&>>|&>|<|>)'
    __rc_rest=$BASH_COMMAND
    while [[ -n $__rc_rest ]]; do
        __rc_rest=${__rc_rest#"${__rc_rest%%[! $'\t']*}"}
        [[ $__rc_rest != $'\n'* ]] || break  # a here-document's text
        kind=
        if [[ $__rc_rest != [\<\>]\(* && $__rc_rest =~ $redirection ]]; then
            kind=${BASH_REMATCH[2]}
            __rc_rest=${__rc_rest:${#BASH_REMATCH[0]}}
            __rc_rest=${__rc_rest#"${__rc_rest%%[![:blank:]]*}"}
        fi
        before=$__rc_rest
        __rc_skip_word
        word=${before:0:${#before}-${#__rc_rest}}
        [[ -n $word ]] || __rc_rest=${__rc_rest:1}
        [[ $kind == *'>'* ]] || continue
        case $word in
            /dev/null | /dev/stdout | /dev/stderr | - | [0-9] | [0-9]- | \>\(*) ;;
            *) __rc_targets+=("$word") ;;
        esac
    done
    __rc_word=$name
}

__rc_target() {
    local - LC_ALL=C
    set +efuvx
    local real=${__rc_found#*:}
    unset '__rc_targets[-1]'
    real=${real%.}
    [[ ${__rc_found%%:*} == 1 && -n $real && $real != *[!0-9]* ]] && return 0
    [[ ${__rc_found%%:*} == 1 && $real != /dev/fd/* && $real != /dev/null ]] || return 0
    real=$(${__rc_tools[realpath]} -m -- "$real" 2>/dev/null)
    case $real in
        "$__rc_scratch"/* | "$__rc_place"/temporary/* | /dev/null | /proc/*/fd/*) ;;
        *) __rc_stop "it would write to $real, outside of its scratch folder" ;;
    esac
}

# Take one word, quoted or not, from the beginning of __rc_rest.
__rc_skip_word() {
    while [[ -n $__rc_rest ]]; do
        case $__rc_rest in
            [[:space:]]* | [\;\&\|\)]*) return 0 ;;
            [\<\>]\(*) __rc_rest=${__rc_rest:2}; __rc_skip_to ')' ;;
            [\<\>]*) return 0 ;;
            *) __rc_skip_piece ;;
        esac
    done
}

# Take everything up to a closing character, and that.
__rc_skip_to() {
    while [[ -n $__rc_rest ]]; do
        case $__rc_rest in
            "$1"*) __rc_rest=${__rc_rest:1}; return 0 ;;
            *)
                if [[ $1 == '"' && $__rc_rest != [\\\$\`]* ]]; then
                    __rc_rest=${__rc_rest#"${__rc_rest%%[\\\$\`\"]*}"}
                else
                    __rc_skip_piece
                fi
                ;;
        esac
    done
}

# Take a quoted part, an expansion, or characters that mean nothing.
__rc_skip_piece() {
    local part plain='^[^][:space:]\"'\''$`(){};&|<>]+'
    case $__rc_rest in
        \\*) __rc_rest=${__rc_rest:2} ;;
        \'*) __rc_rest=${__rc_rest:1}; __rc_rest=${__rc_rest#*\'} ;;
        \$\'*)
            __rc_rest=${__rc_rest:2}
            while [[ $__rc_rest == *\\* && ${__rc_rest%%\'*} == *\\* ]]; do
                part=${__rc_rest%%\\*}
                __rc_rest=${__rc_rest:${#part}+2}
            done
            __rc_rest=${__rc_rest#*\'}
            ;;
        \"*) __rc_rest=${__rc_rest:1}; __rc_skip_to '"' ;;
        \$\(* | \$\{*)
            part=')'
            [[ $__rc_rest != \$\{* ]] || part='}'
            __rc_rest=${__rc_rest:2}
            __rc_skip_to "$part"
            ;;
        \(*) __rc_rest=${__rc_rest:1}; __rc_skip_to ')' ;;
        \`*)
            __rc_rest=${__rc_rest:1}
            while [[ $__rc_rest == *\\* && ${__rc_rest%%\`*} == *\\* ]]; do
                part=${__rc_rest%%\\*}
                __rc_rest=${__rc_rest:${#part}+2}
            done
            __rc_rest=${__rc_rest#*\`}
            ;;
        [[:space:]\;\&\|\<\>]*) __rc_rest=${__rc_rest:1} ;;
        *)
            if [[ $__rc_rest =~ $plain ]]; then
                __rc_rest=${__rc_rest:${#BASH_REMATCH[0]}}
            else
                __rc_rest=${__rc_rest:1}
            fi
            ;;
    esac
}

# Take what the trap found a word to expand to: how many words, and the first of them.
__rc_name() {
    local - LC_ALL=C
    set +efuvx
    local count=${__rc_found%%:*} first=${__rc_found#*:}
    first=${first%.}
    __rc_word=
    if [[ $count == 0 ]]; then
        __rc_next
    elif [[ -n $count ]]; then
        __rc_meet "$first"
    fi
}

# See to it that a command of this name is recorded.
__rc_meet() {
    local name=$1 next
    case $name in
        '') return 0 ;;
        exec)
            # Without a command it changes the shell's own redirections, which no function can.
            next=${__rc_rest#"${__rc_rest%%[![:space:]]*}"}
            if [[ -n $next && ! $next =~ ^([0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\})?(\&\>|\<|\>) ]]; then
                exec() { __rc_exec "$@"; }
            fi
            return 0
            ;;
        source | .) __rc_meet_source; return 0 ;;
        builtin)
            next=${__rc_rest#"${__rc_rest%%[![:space:]]*}"}
            next=${next%%[[:space:]]*}
            case $next in
                cd | echo | printf | read | local | declare | typeset | export | set | shift | test | \[) ;;
                pwd | true | false | : | return | unset | readonly | getopts | mapfile | wait | type) ;;
                *) __rc_stop "builtin ${next:-without a name} leaves what is recorded" ;;
            esac
            return 0
            ;;
        enable) __rc_stop 'enable changes which commands bash has built in' ;;
        suspend | logout) __rc_stop "$name leaves what is recorded" ;;
        set)
            [[ $__rc_rest != *posix* && $__rc_rest != *'+T'* && $__rc_rest != *'+o functrace'* ]] \
                || __rc_stop 'set turns off what records the commands'
            ;;
    esac
    if [[ $__rc_guarded == 0 && " ${__rc_unguarded[*]} " == *" $name "* ]]; then
        __rc_stop "$name leaves what can be looked at safely here"
    fi
    [[ ! -v __rc_builtin[$name] ]] || return 0
    ! declare -F -- "$name" >/dev/null || return 0
    if [[ $name == *[!A-Za-z0-9_./+@%:,~-]* ]]; then
        __rc_stop "a program of the name $name cannot be recorded"
    fi
    eval "function $name {
        { ( set +x; __rc_command $name \"\$@\" 2>&198 198>&- ); } 198>&2 2>/dev/null
    }"
}

# A file of this machine is not the launcher's: reading it is recorded like a command.
__rc_meet_source() {
    local word file
    __rc_rest=${__rc_rest#"${__rc_rest%%[![:space:]]*}"}
    word=$__rc_rest
    __rc_skip_word
    word=${word:0:${#word}-${#__rc_rest}}
    __rc_word="source:$word"
}

__rc_source() {
    local - LC_ALL=C
    set +efuvx
    local file=${__rc_found#*:}
    file=${file%.}
    __rc_word=
    unset -f source .
    if [[ -z $file ]]; then
        [[ $__rc_guarded == 1 ]] || __rc_stop 'a text is sourced that was not looked at'
        return 0
    fi
    case $(__rc_where "$file") in
        inside) ;;
        unread) __rc_stop "$file is sourced, which was not looked at" ;;
        *)
            source() { { ( set +x; __rc_record source "$@" ); } 2>/dev/null; }
            .() { { ( set +x; __rc_record . "$@" ); } 2>/dev/null; }
            ;;
    esac
}

# Say whether a file is the project's or the launcher's own, or elsewhere, or was not looked at.
__rc_where() {
    local real
    if [[ $1 == /dev/fd/* || $1 == /dev/stdin || $1 == /proc/*/fd/* ]]; then
        [[ $__rc_guarded == 1 ]] && echo inside || echo unread
        return 0
    fi
    real=$(${__rc_tools[realpath]} -m -- "$1" 2>/dev/null)
    case $real in
        "$__rc_root" | "$__rc_root"/* | "$__rc_scratch" | "$__rc_scratch"/*) ;;
        *) echo elsewhere; return 0 ;;
    esac
    if [[ $__rc_guarded == 1 || -v __rc_approved[$real] ]]; then
        echo inside
    elif [[ -e $real ]]; then
        echo unread
    else
        echo inside
    fi
}

# --- Builtins that leave the shell -------------------------------------------------------------

__rc_exec() {
    local -
    set +efuvx
    while [[ ${1-} == -* ]]; do
        case $1 in
            -a) shift 2 ;;
            --) shift; break ;;
            *) shift ;;
        esac
    done
    trap - EXIT
    if [[ ${__rc_builtin[${1-}]-} == 1 && $1 != exec && $1 != kill && $1 != command ]]; then
        exit 127
    fi
    ( __rc_command "$@" )
    exit $?
}

kill() {
    { ( set +efuvx; __rc_command kill "$@" 2>&198 198>&- ); } 198>&2 2>/dev/null
}

command() {
    { local -; set +x; } 2>/dev/null
    case ${1-} in
        -v | -V | -pv | -vp)
            { ( set +efuvx; __rc_tell "$@" ); } 2>/dev/null
            return
            ;;
        -p | --) shift; command "$@"; return ;;
    esac
    case ${1-} in
        '') return 0 ;;
        exec) __rc_exec "${@:2}" ;;
        kill | enable | suspend | command | builtin | source | . | eval) "$@" ;;
        *)
            if [[ -v __rc_builtin[$1] ]]; then
                builtin "$@"
            else
                { ( set +x; __rc_command "$@" 2>&198 198>&- ); } 198>&2 2>/dev/null
            fi
            ;;
    esac
}

trap() {
    { local -; set +x; } 2>/dev/null
    local __rc_one
    for __rc_one in "${@:2}"; do
        case ${__rc_one^^} in
            DEBUG | SIGDEBUG) __rc_stop 'trap ... DEBUG replaces what records the commands' ;;
        esac
    done
    # Which command a trap runs is not told to the DEBUG trap: its paths are met beforehand.
    __rc_trap_words=("$@")
    __rc_meet_paths "${1-}"
    while read -r __rc_one; do
        [[ $__rc_one == __rc_* || -v __rc_own[$__rc_one] ]] || __rc_meet_paths "$(declare -f -- "$__rc_one")"
    done < <(compgen -A function)
    builtin trap "${__rc_trap_words[@]}"
}

# See to it that every path in a text is recorded where it is run.
__rc_meet_paths() {
    local rest=$1 path='(^|[^A-Za-z0-9_./+@%~-])(\.{0,2}/[A-Za-z0-9_./+@%~-]+)'
    while [[ $rest =~ $path ]]; do
        rest=${rest#*"${BASH_REMATCH[0]}"}
        __rc_rest=
        declare -F -- "${BASH_REMATCH[2]}" >/dev/null || __rc_meet "${BASH_REMATCH[2]}"
    done
}

# Changing to a folder that only the training machine has is believed.
cd() {
    { local -; set +x; } 2>/dev/null
    if builtin cd "$@" 2>/dev/null; then
        __rc_folder=
        return 0
    fi
    while [[ ${1-} == -?* ]]; do shift; done
    if [[ ${1-} == /* && ! -e $1 && $1 != "$__rc_scratch"/* && $1 != "$__rc_root"/* ]]; then
        __rc_folder=$1
        return 0
    fi
    builtin cd "$@"
}

# Which programs there are: the answers, the tools, and what every training machine has.
__rc_tell() {
    local name=${2-} how=$1
    if declare -F -- "$name" >/dev/null && [[ $(declare -f -- "$name") != *__rc_* ]] \
        || [[ -v __rc_builtin[$name] ]]; then
        builtin command "$how" "$name"
        return
    fi
    if [[ ${__rc_answers[$name]+x} ]]; then
        [[ ${__rc_answers[$name]%%:*} != 127 ]] || return 1
    elif [[ -v __rc_tools[$name] ]]; then
        printf '%s\n' "${__rc_tools[$name]}"
        return 0
    else
        case $name in
            python | python3 | ray | torchrun | pip | pip3 | bash | sh | nvidia-smi) ;;
            *) return 1 ;;
        esac
    fi
    printf '/usr/bin/%s\n' "$name"
}

# --- What becomes of an external command -------------------------------------------------------

command_not_found_handle() {
    { ( set +x; __rc_command "$@" 2>&198 198>&- ); } 198>&2 2>/dev/null
}

# Decide about one command. It runs in a subshell of its own.
__rc_command() {
    set +efuvx +o pipefail
    builtin trap - DEBUG ERR EXIT RETURN
    shopt -u nullglob failglob nocasematch extglob
    unset LD_PRELOAD LD_AUDIT
    IFS=$' \t\n'
    (($#)) || exit 0
    local name=${1##*/} base=$1 count key
    # An absolute path names a tool where tools are, else something of that name.
    [[ $1 != */* || $1 == /bin/* || $1 == /usr/bin/* || $1 == /usr/local/bin/* ]] || base=

    for ((count = $#; count; count--)); do
        key="$name${*:2:count-1}"
        ((count == 1)) || key="$name ${*:2:count-1}"
        if [[ ${__rc_answers[$key]+x} ]]; then
            __rc_record "$@"
            key=${__rc_answers[$key]}
            count=${key%%:*}
            printf %s "${key#*:}"
            exit "$count"
        fi
    done
    if [[ -n $base ]]; then
        __rc_tool "$name" "$@"
    elif [[ -f $1 ]]; then
        __rc_script "$@"
    fi
    __rc_record "$@"
    exit 0
}

# Tools and shells that answer for real. It returns where the command is to be recorded.
__rc_tool() {
    local name=$1
    shift
    case $name in
        bash | sh | dash) __rc_shell "$@" ;;
        python | python3 | python3.[0-9]*) __rc_expand "$@" ;;
        env | nohup | timeout | nice | ionice | setsid | stdbuf | time | numactl | taskset | sudo) __rc_wrapper "$@" ;;
        xargs) __rc_xargs "$@" ;;
        kill)
            [[ ${2-} != -0 && "${2-} ${3-}" != '-s 0' ]] || { __rc_record "$@"; exit 1; }
            ;;
        pgrep | pidof | ps) [[ $name == ps && ${2-} != -p ]] || { __rc_record "$@"; exit 1; } ;;
        which) shift; __rc_which "$@" ;;
        mkdir) __rc_mkdir "$@" ;;
        tee) __rc_tee "$@" ;;
        date) __rc_date "$@" ;;
        *) [[ ! -v __rc_tools[$name] ]] || __rc_text "$name" "${@:2}" ;;
    esac
}

__rc_which() {
    local one status=0
    for one; do
        [[ $one != -* ]] || continue
        __rc_tell -v "$one" || status=1
    done
    exit $status
}

# Text in, text out; what makes them write or run something is not.
__rc_text() {
    local name=$1 one all operands=0
    shift
    all=" $* "
    case $name in
        sed)
            for one; do
                case $one in
                    --in-place* | -[nEsuzr]*i* | -i*) __rc_record sed "$@"; exit 0 ;;
                esac
            done
            builtin exec "${__rc_tools[sed]}" --sandbox "$@"
            ;;
        awk | gawk | mawk)
            for one; do
                case $one in
                    *system*\(* | *getline* | *'@load'* | *'@include'* | -i* | -l* | -f* | -E* | --[efil]*)
                        __rc_stop "$name runs or reads something by itself" ;;
                esac
                [[ $__rc_guarded == 1 || $one != *'|'* && ! $one =~ print[^}\;]*\> ]] \
                    || __rc_stop "$name may write or run something by itself"
            done
            ;;
        sort)
            [[ ! $all =~ \ (-[A-Za-z]*[oT]|--o|--compress|--temp) ]] \
                || __rc_stop 'sort writes or runs something by itself'
            ;;
        uniq)
            for one; do [[ $one == -?* ]] || operands=$((operands + 1)); done
            ((operands < 2)) || __rc_stop 'uniq writes to a file by itself'
            ;;
        find)
            [[ ! $all =~ \ -(exec|ok|delete|fprint|fls) ]] \
                || __rc_stop 'find runs or writes something by itself'
            ;;
        mktemp)
            [[ $__rc_guarded == 1 || $all != */* && $all != *' -p'* && $all != *--tmpdir=* ]] \
                || __rc_stop 'mktemp writes to a folder of its choice'
            ;;
    esac
    builtin exec "${__rc_tools[$name]}" "$@"
}

# The clock stands still, so that what is recorded is the same every day.
__rc_date() {
    local all=" ${*:2} "
    [[ ! $all =~ \ (-s|--set|-f|--file) ]] || return 0
    [[ $all =~ \ (-d|--date|-r|--reference) ]] || set -- "$@" -d @1735689600
    builtin exec "${__rc_tools[date]}" "${@:2}"
}

__rc_mkdir() {
    local one real
    for one in "${@:2}"; do
        [[ $one != -* ]] || continue
        real=$(${__rc_tools[realpath]} -m -- "$one" 2>/dev/null)
        [[ $real == "$__rc_scratch"/* ]] || return 0
    done
    [[ -n $__rc_peek ]] || ${__rc_tools[mkdir]} "${@:2}"
}

# Its input goes on, and into those of its files that are the launcher's own.
__rc_tee() {
    local one real files=()
    for one in "${@:2}"; do
        [[ $one != -* ]] || continue
        real=$(${__rc_tools[realpath]} -m -- "$one" 2>/dev/null)
        [[ $real != "$__rc_scratch"/* ]] || files+=("$real")
    done
    __rc_record "$@"
    builtin exec "${__rc_tools[tee]}" -a -- "${files[@]}"
}

# A program that runs another: the other is run where it is a tool or a shell script.
__rc_wrapper() {
    local words=("$@") one index=1 named=() name=${1##*/}
    while ((index < $#)); do
        one=${words[index]}
        case $name:$one in
            env:-i | env:- | env:--ignore-environment | env:-0) ;;
            env:-u | env:-C | env:--chdir | env:--unset | nice:-n | ionice:-[cn] | timeout:-[ks]) index=$((index + 1)) ;;
            env:-S* | env:--split-string*) return 0 ;;
            taskset:-c) index=$((index + 1)) ;;
            env:[A-Za-z_]*=*) named+=("$one") ;;
            *:-*) ;;
            timeout:[0-9]* | taskset:[0-9]*) [[ $name == taskset || -z ${__rc_waited-} ]] || break; __rc_waited=1 ;;
            *) break ;;
        esac
        index=$((index + 1))
    done
    if ((index >= $#)); then
        [[ $name == env && $# == 1 ]] || return 0
        builtin exec "${__rc_tools[printenv]}"
    fi
    for one in "${named[@]}"; do
        [[ ${one%%=*} != *[!A-Za-z0-9_]* ]] || return 0
    done
    words=("${words[@]:index}")
    name=${words[0]##*/}
    case $name in
        bash | sh | dash | env | nohup | timeout | nice | setsid | stdbuf) ;;
        python | python3) __rc_is_expansion "${words[@]}" || return 0 ;;
        *) [[ -v __rc_tools[$name] && ${words[0]} != */* || -f ${words[0]} ]] || return 0 ;;
    esac
    for one in "${named[@]}"; do
        builtin export "$one"
    done
    unset __rc_waited
    __rc_reached=("$@")
    if [[ ${words[0]} == */* && -f ${words[0]} ]]; then
        __rc_script "${words[@]}"
    else
        __rc_tool "$name" "${words[@]}"
    fi
    for one in "${named[@]}"; do
        builtin export -n "${one%%=*}"
    done
}

# What xargs puts together is run as if the launcher had run it, one after the other.
__rc_xargs() {
    local words=("$@") inner index=1
    while ((index < $#)); do
        case ${words[index]} in
            -[nILdsEP]) index=$((index + 2)) ;;
            --) index=$((index + 1)); break ;;
            -[0rtx] | -[nILdsEPil]?* | --null | --no-run-if-empty | --verbose | --exit) index=$((index + 1)) ;;
            --max-args=* | --max-lines=* | --max-procs=* | --max-chars=* | --delimiter=* | --replace | --replace=*) index=$((index + 1)) ;;
            -*) return 0 ;;
            *) break ;;
        esac
    done
    inner=("${words[@]:index}")
    words=("${words[@]:1:index-1}")
    case ${inner[0]-echo} in
        echo | basename | dirname | printf)
            inner[0]=${__rc_tools[${inner[0]-echo}]}
            builtin exec "${__rc_tools[xargs]}" "${words[@]}" "${inner[@]}"
            ;;
    esac
    __rc_export
    # What it began is put in order by the time at which it began: each is a shell of its own.
    builtin exec "${__rc_tools[xargs]}" "${words[@]}" -P 1 "$BASH" -c '
        __rc_n=${EPOCHREALTIME/[.,]/}
        __rc_command "$@"' bash "${inner[@]}"
    exit 126
}

# A file that is named as the program: the project's own shell scripts are followed.
__rc_script() {
    local first=
    [[ $(__rc_where "$1") == inside ]] || return 0
    IFS= read -r first <"$1"
    case $1:$first in
        *'#!'*/bash | *'#!'*/sh | *'#!'*/bash\ * | *'#!'*/sh\ * | *'#!'*'env bash'* | *.sh:[!#]* | *.sh:) ;;
        *) return 0 ;;
    esac
    __rc_begin -- "$@"
}

# A shell that is started is started for real, and recorded in turn.
__rc_shell() {
    local options=() kept=() one text=0 words=("${@:2}") index=0
    while ((index < ${#words[@]})); do
        one=${words[index]}
        case $one in
            --) index=$((index + 1)); break ;;
            --noprofile | --norc | --login) ;;
            -o | +o | -O | +O)
                [[ ${words[index+1]-} != posix && ${words[index+1]-} != privileged ]] \
                    || __rc_stop "$1 $one ${words[index+1]} leaves what is recorded"
                options+=("$one" "${words[index+1]-}")
                index=$((index + 1))
                ;;
            -*[!a-zA-Z-]* | --* | -*[irp]*) __rc_stop "$1 $one leaves what is recorded" ;;
            -*)
                [[ $one != *c* ]] || text=1
                [[ $one != *o* ]] || __rc_stop "$1 $one cannot be followed"
                one=${one//[lc]/}
                [[ $one == - ]] || options+=("$one")
                ;;
            +[a-zA-Z]*)
                [[ $one != *T* ]] || __rc_stop "$1 $one turns off what records the commands"
                options+=("$one")
                ;;
            *) break ;;
        esac
        index=$((index + 1))
    done
    words=("${words[@]:index}")
    if ((text)); then
        [[ $__rc_guarded == 1 ]] || __rc_stop "$1 -c runs a text that was not looked at"
        __rc_begin "${options[@]}" -c "${words[@]}"
    elif ((${#words[@]} == 0)) || [[ " ${options[*]} " == *' -'*s* ]]; then
        [[ $__rc_guarded == 1 ]] || __rc_stop "$1 runs its input, which was not looked at"
        # As a text: a bash that reads its script from its input faults when that is duplicated.
        for one in "${options[@]}"; do
            [[ $one != -* ]] || one=${one//s/}
            [[ $one == - ]] || kept+=("$one")
        done
        IFS= read -r -d '' text
        __rc_begin "${kept[@]}" -c "$text" bash "${words[@]}"
    elif [[ -f ${words[0]} || ${words[0]} == /dev/fd/* ]]; then
        case $(__rc_where "${words[0]}") in
            inside) __rc_begin "${options[@]}" -- "${words[@]}" ;;
            unread) __rc_stop "$1 runs ${words[0]}, which was not looked at" ;;
        esac
    fi
}

__rc_begin() {
    __rc_export
    builtin exec "$BASH" "$@"
    exit 126
}

# Have the shells that are begun from here record, too.
__rc_export() {
    builtin export BASH_ENV=$__rc_self ROPECONTRACT_PLACE=$__rc_place \
        ROPECONTRACT_SCRATCH=$__rc_scratch ROPECONTRACT_ROOT=$__rc_root \
        ROPECONTRACT_GUARDED=$__rc_guarded ROPECONTRACT_KEY=$__rc_key$__rc_n. \
        ROPECONTRACT_GROUP=$__rc_group ROPECONTRACT_FOLDER=$__rc_folder \
        ROPECONTRACT_PEEK=$__rc_peek ROPECONTRACT_AT=$__rc_at \
        ROPECONTRACT_JOBS="$__rc_jobs" PATH=/dev/null/bin
}

# Python runs for real where it only prints the flags of a model.
__rc_is_expansion() {
    local one=${2-} pattern
    if [[ $one == -c ]]; then
        [[ ${3-} == *load_model_args* ]]
        return
    fi
    [[ $one != -* && -f $one ]] || return 1
    one=$(${__rc_tools[realpath]} -m -- "$one")
    for pattern in "${__rc_expanders[@]}"; do
        [[ $one != $pattern ]] || return 0
    done
    return 1
}

__rc_expand() {
    __rc_is_expansion "$@" || return 0
    builtin exec "${__rc_python[@]}" "${@:2}"
}

# --- Files that the recorder reads -------------------------------------------------------------

__rc_record() {
    [[ -z $__rc_peek ]] || return 0
    [[ ! -v __rc_reached ]] || set -- "${__rc_reached[@]}"
    __rc_without_jobs "$@"
    set -- "${__rc_words[@]}"
    local text= known=0 names name
    # What it is given itself, not what the shell around it was given.
    if [[ ! /dev/fd/0 -ef /dev/fd/197 && ( -p /dev/fd/0 || -f /dev/fd/0 ) && ${1##*/} != tee ]]; then
        IFS= read -r -d '' text
        known=1
    fi
    mapfile -t names < <(compgen -e)
    {
        printf '%s\0' "$EPOCHREALTIME" "$__rc_key$__rc_n" "$__rc_at" "${__rc_folder:-$PWD}" \
            "$known" "$text" "$#" "$@"
        for name in "${names[@]}"; do
            printf '%s\0' "$name=${!name}"
        done
        printf 'end\0'
    } >"$__rc_place/record/$BASHPID-$EPOCHREALTIME-$RANDOM"
}

# End the launcher with all its shells.
__rc_stop() {
    {
        set +efuvx
        printf '%s\0' "$1" "$__rc_at" >"$__rc_place/record/stop"
        builtin kill -KILL -- "-$__rc_group"
        while :; do :; done
    } 2>/dev/null
}

# What these expand to is run where no DEBUG trap sees it.
declare -A __rc_own=([command_not_found_handle]=1 [kill]=1 [command]=1 [trap]=1 [cd]=1)

# Every run draws the same numbers, and its clock stands still, as that of date does.
RANDOM=1
unset EPOCHSECONDS
EPOCHSECONDS=1735689600

readonly POSIXLY_CORRECT
[[ $__rc_guarded == 1 ]] || readonly PS4

((BASH_VERSINFO[0] >= 5)) || __rc_stop "this is bash $BASH_VERSION, and recording takes 5 or later"
: >"$__rc_place/record/begun"

readonly -f __rc_see __rc_know_jobs __rc_without_jobs __rc_next __rc_find_targets __rc_target __rc_meet_paths __rc_skip_word __rc_skip_to __rc_skip_piece __rc_name __rc_meet \
    __rc_meet_source __rc_source __rc_where __rc_exec __rc_tell __rc_command __rc_tool __rc_which \
    __rc_text __rc_date __rc_mkdir __rc_tee __rc_wrapper __rc_xargs __rc_script __rc_shell \
    __rc_begin __rc_export __rc_is_expansion __rc_expand __rc_record __rc_stop \
    command_not_found_handle kill command trap

set -T
# The first line of the trap counts as the line of the command.
builtin trap '{ __rc_last=$_; __rc_see
    while [[ -n $__rc_word && -z $__rc_busy ]]; do
        __rc_busy=1
        __rc_found=$(set +eux; __rc_peek=1
            eval "__rc_words=( ${__rc_word#source:} )"
            printf "%s:%s." "${#__rc_words[@]}" "${__rc_words[0]-}") || :
        case $__rc_word in
            source:*) __rc_source ;;
            *) __rc_name ;;
        esac
        __rc_busy=
    done
    while (( ${#__rc_targets[@]} )) && [[ -z $__rc_busy ]]; do
        __rc_busy=1
        __rc_found=$(set +eux; __rc_peek=1
            eval "__rc_words=( ${__rc_targets[-1]} )"
            printf "%s:%s." "${#__rc_words[@]}" "${__rc_words[0]-}") || :
        __rc_target
        __rc_busy=
    done
    : "$__rc_last"
} 2>/dev/null' DEBUG
