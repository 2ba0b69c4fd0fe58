"""The programs we know: which run other programs, which options make a harmless one write or run, and how far a
standing permission for each may sensibly go. Tables, and the few questions asked of them."""

import re
from collections.abc import Sequence

from handraise.policy.words import Word

SHELLS = frozenset({
    "bash", "sh", "zsh", "dash", "ksh", "fish", "ash", "csh", "tcsh", "busybox", "pwsh",
})  # fmt: skip
INTERPRETERS = frozenset({
    "python", "python2", "python3", "node", "nodejs", "deno", "bun", "perl", "ruby", "php", "lua", "Rscript",
    "osascript", "tclsh",
})  # fmt: skip
_AWKS = frozenset({"awk", "gawk", "mawk", "nawk"})
# They run what their own words name.
WRAPPERS = (SHELLS | _AWKS) | frozenset({
    "sudo", "doas", "su", "env", "xargs", "parallel", "eval", "source", ".", "exec", "nohup", "time", "nice",
    "ionice", "timeout", "command", "builtin", "ssh", "setsid", "stdbuf", "unshare", "chroot", "nsenter", "script",
    "watch", "strace", "ltrace", "gdb", "flock", "entr", "systemd-run", "at", "batch", "trap", "coproc", "noglob",
    "nocorrect", "-", "repeat", "caffeinate", "runuser", "pkexec", "chrt", "taskset", "unbuffer", "expect", "screen",
    "tmux", "vi", "vim", "nvim", "emacs", "ed", "ex",
})  # fmt: skip
# A standing permission for these is not offered; somebody who wants one writes the rule.
NEVER_STANDING = WRAPPERS | frozenset({
    "rm", "rmdir", "unlink", "shred", "dd", "mkfs", "fdisk", "parted", "wipefs", "truncate", "kill", "pkill",
    "killall", "shutdown", "reboot", "halt", "poweroff", "chmod", "chown", "chgrp", "chattr", "setfacl", "crontab",
    "scp", "sftp", "nc", "ncat", "netcat", "socat", "telnet", "curl", "wget", "alias", "unalias", "function",
    "export", "declare", "typeset", "local", "readonly", "unset", "set", "shopt", "enable", "hash", "bind", "mount",
    "umount", "useradd", "usermod", "passwd", "visudo", "iptables", "systemctl", "service", "launchctl", "defaults",
    "security", "gpg", "ssh-keygen", "ssh-add", "[", "[[", "((", "test", "let", "read", "printf", "mapfile",
    "readarray", "claude", "handraise",
})  # fmt: skip
_INLINE_CODE = ("-c", "-e", "-p", "-r", "-E", "--eval", "--print", "--command")
# Setting one of these changes how a program looks, not what it does. Every other name could name a program to run.
_HARMLESS_VARIABLES = frozenset({
    "LANG", "LANGUAGE", "TZ", "TERM", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CI", "COLUMNS", "LINES",
    "RUST_BACKTRACE", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONWARNINGS", "NODE_ENV", "DEBIAN_FRONTEND",
})  # fmt: skip
# Tied to upper-case names or to the shell's own tables in zsh.
_ZSH_VARIABLES = frozenset({
    "path", "cdpath", "fpath", "manpath", "mailpath", "fignore", "prompt", "psvar", "watch", "argv", "status",
    "pipestatus", "aliases", "galiases", "saliases", "functions", "commands", "options", "builtins", "parameters",
    "modules", "dirstack", "history", "historywords", "jobdirs", "jobtexts", "jobstates", "nameddirs", "userdirs",
    "usergroups", "patchars", "reswords", "histchars", "signals", "keymaps", "widgets",
})  # fmt: skip
_LOCAL_VARIABLE = re.compile(r"LC_[A-Z]+|[a-z][a-z0-9]*")

# Options that make a reading program write a file or run another program: `*` in a rule does not reach them.
_WITHHELD: dict[str, tuple[str, ...]] = {
    "find": ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"),
    "fd": ("-x", "-X", "--exec"),
    "git": (
        "-c", "-C", "-O", "-o", "--exec-path", "--config", "--git-dir", "--work-tree", "--namespace", "--output",
        "--upload-pack", "--receive-pack", "--exec", "--ext-diff", "--textconv", "--open-files-in-pager", "--template",
        "--paginate", "--pager", "--extcmd", "--tool", "--separate-git-dir",
    ),
    "rg": ("--pre", "--hostname-bin", "--search-zip", "-z"),
    "sort": ("-o", "--output", "--compress-program", "-T", "--temporary-directory"),
    "tree": ("-o", "--output"),
    "tar": ("-I", "-F", "--to-command", "--checkpoint-action", "--use-compress-program", "--rmt-command", "--rsh"),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "man": ("-P", "-H", "--pager", "--html", "-C", "--config-file"),
    "yq": ("-i", "--inplace"),
    "go": ("-exec", "-toolexec", "-o", "-C", "-overlay", "-modfile"),
    "cargo": ("--config", "-Z", "--manifest-path", "--target-dir", "--out-dir", "-C"),
    "npm": ("--prefix", "-C", "--script-shell", "--node-options", "--userconfig", "--globalconfig"),
    "pytest": ("-p", "-c", "--rootdir", "--confcutdir", "--basetemp", "-o", "--override-ini"),
    "date": ("-s", "--set"),
    "file": ("-C", "--compile", "-m", "--magic-file"),
    "docker": ("-H", "--host", "--context", "--config"),
    "kubectl": ("--kubeconfig", "--server", "-s", "--context", "--as", "--token"),
}  # fmt: skip
_LONG_DASHES = ("find", "go")
_SED_PLACE = r"(?:/[^/\\\n]*/|\d+|\$)"
_SED_ADDRESS = rf"(?:{_SED_PLACE}(?:,{_SED_PLACE})?)?"
_SED_SUBSTITUTE = r"s([/|#,])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI0-9]*"
_SED_SAFE = re.compile(rf"{_SED_ADDRESS}(?:[pdq=]|{_SED_SUBSTITUTE})")
_SED_OPTIONS = frozenset({
    "-n", "-E", "-r", "-e", "-s", "-u", "-z", "--quiet", "--silent", "--regexp-extended", "--expression", "--posix",
})  # fmt: skip
_AWK_REACHES = re.compile(r"system|getline|[|>@]|^-[fiElL]|^--|^-$")
_FILE_LIKE = re.compile(r"[\w./@+][\w./@+-]*")

# Behind these words any further ones do no more than the words themselves say.
_OPEN_ENDED = (
    "npm run", "npm test", "pnpm run", "pnpm test", "yarn run", "yarn test", "bun test", "git status", "git log",
    "git diff", "git show", "git add", "git commit", "git blame", "git rev-parse", "git ls-files", "git describe",
    "git shortlog", "git grep", "git fetch", "git stash list", "cargo build", "cargo check", "cargo test",
    "cargo clippy", "cargo fmt", "cargo doc", "cargo tree", "go build", "go test", "go vet", "go list", "docker ps",
    "docker images", "docker logs", "docker inspect", "docker compose ps", "docker compose logs", "kubectl get",
    "kubectl describe", "kubectl logs", "kubectl top", "pip list", "pip show", "pip freeze", "pip check",
    "uv pip list", "uv run pytest", "uv run ruff", "uv run mypy", "python -m pytest", "python3 -m pytest", "pytest",
    "ruff check", "ruff format", "mypy", "npx tsc", "npx eslint", "npx jest", "npx vitest", "npx prettier", "ls",
    "pwd", "wc", "du", "df", "which", "echo", "stat", "tree", "true", "false",
)  # fmt: skip


def is_harmless_variable(name: str) -> bool:
    """Whether setting it can change nothing but looks, or only a variable of the shell itself."""
    return name in _HARMLESS_VARIABLES or bool(_LOCAL_VARIABLE.fullmatch(name) and name not in _ZSH_VARIABLES)


def runs_its_words(words: Sequence[Word]) -> bool:
    """Whether the program runs what some of its own words name: `sudo rm`, `find -exec rm`, `python -c …`."""
    if not words or not words[0].literal:
        return True
    name = basename(words[0].text)
    if name in WRAPPERS or (name in INTERPRETERS and runs_inline_code(words)):
        return True
    return name in ("find", "fd", "git") and any(withheld(words, words[1:]))


def runs_inline_code(words: Sequence[Word]) -> bool:
    """Whether an interpreter is given its program in the command, or reads it from a pipe."""
    for word in words[1:]:
        if word.text == "-" or word.text.startswith(_INLINE_CODE):
            return True
        if not word.text.startswith("-"):
            return False
    return True


def withheld(words: Sequence[Word], further: Sequence[Word]) -> list[Word]:
    """Those of the further words that a `*` does not stand for, since they make this program write or run."""
    name = basename(words[0].text)
    if name == "sed":
        return _withheld_by_sed(further)
    if name in _AWKS:
        return _withheld_by_awk(further)
    options = _WITHHELD.get(name)
    if options is None:
        return []
    return [
        word
        for word in further
        if not _is_operand(word) and (not word.literal or _names(word.text, options, bundled=name not in _LONG_DASHES))
    ]


def open_ended(words: Sequence[str]) -> int:
    """How many leading words a standing permission should keep before `*`; 0 where it should keep them all."""
    return max((len(each) for each in map(str.split, _OPEN_ENDED) if list(words[: len(each)]) == each), default=0)


def basename(program: str) -> str:
    """`/usr/bin/rm` is rm."""
    return program.rsplit("/", 1)[-1]


def _is_operand(word: Word) -> bool:
    """A glob that begins like a file's name cannot become an option; an expansion can become anything."""
    return not word.literal and word.text[0] not in "-*?[{'\"" and not any(each in word.text for each in "$`<>(")


def _names(word: str, options: tuple[str, ...], bundled: bool) -> bool:
    """`--output`, `--output=x`, its abbreviations (`--outp`), `-ox`, and short ones in a bundle (`-xo`)."""
    name = word.split("=", 1)[0]
    for option in options:
        if name == option or (option.startswith("--") and len(name) > 3 and option.startswith(name)):
            return True
        if len(option) == 2 and bundled and re.match(rf"-[A-Za-z]*{option[1]}", word):
            return True
    return False


def _withheld_by_sed(further: Sequence[Word]) -> list[Word]:
    """sed writes files (`-i`, `w`) and runs programs (`e`): only simple scripts are covered."""
    left, script_is_next = [], True
    for word in further:
        if word.literal and word.text in _SED_OPTIONS:
            script_is_next = script_is_next or word.text in ("-e", "--expression")
            continue
        known = _SED_SAFE if script_is_next else _FILE_LIKE
        script_is_next = False
        if not (word.literal and known.fullmatch(word.text)):
            left.append(word)
    return left


def _withheld_by_awk(further: Sequence[Word]) -> list[Word]:
    """awk writes files (`>`), runs programs (`system`, `|`) and loads code (`-f`, `@`)."""
    return [word for word in further if not word.literal or _AWK_REACHES.search(word.text)]
