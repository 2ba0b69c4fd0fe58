"""The programs we know: which run other programs, and how much a rule with `*` may cover for each.

Tables, and a few questions about them. Never calls an unknown program harmless.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from handraise.policy.options import Standing, Usage, read_usage
from handraise.policy.shell_words import Word
from handraise.policy.usages import BASIC, GIT, GLOBAL, TOOLS

_SED_PLACE = r"(?:/[^/\\\n]*/|\d+|\$)"
_SED_ADDRESS = rf"(?:{_SED_PLACE}(?:,{_SED_PLACE})?)?"
_SED_SUBSTITUTE = r"s([/|#,])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI0-9]*"
_SED_SAFE = re.compile(rf"{_SED_ADDRESS}(?:[pdq=]|{_SED_SUBSTITUTE})")
_SED_OPTIONS = frozenset({
    "-n", "-E", "-r", "-e", "-s", "-u", "-z", "--quiet", "--silent", "--regexp-extended", "--expression", "--posix",
})  # fmt: skip
_FILE_LIKE = re.compile(r"[\w./@+][\w./@+-]*")
# It writes files (`>`), runs programs (`system`, `|`) and loads code (`@`).
_AWK_REACHES = re.compile(r"system|getline|[|>@]")
_AWK_SEPARATOR = re.compile(r"-F.*", re.DOTALL)
_AWK_VARIABLE = re.compile(r"\w+=.*", re.DOTALL)
# Numbers are arithmetic in zsh, and arithmetic runs what is in a subscript.
_FORMAT = re.compile(r"(?!-)(?:[^%]|%%|%-?\d*\.?\d*[sbq])*", re.DOTALL)
_TEST_ONE = frozenset(f"-{each}" for each in "bcdefghkLnprsSuwxzOGN")
_TEST_TWO = frozenset(("=", "==", "!=", "-nt", "-ot", "-ef"))
_TEST_NUMBERS = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_VARIABLE = re.compile(r'"\$(?:\w+|\{\w+\})"')
SHELLS = frozenset({
    "bash", "sh", "zsh", "dash", "ksh", "mksh", "fish", "ash", "csh", "tcsh", "rbash", "pwsh",
    "nu", "elvish", "xonsh",
})  # fmt: skip
INTERPRETERS = frozenset({
    "python", "python2", "python3", "pypy", "pypy3", "node", "nodejs", "perl", "ruby", "php", "lua",
    "luajit", "Rscript", "R", "julia", "osascript", "tclsh", "wish", "guile", "racket", "sbcl", "clisp", "ghci",
    "runghc", "scala", "groovy", "kotlin", "jshell", "elixir", "iex", "erl", "escript", "ocaml", "octave", "irb", "jjs",
    "ipython", "tsx", "ts-node", "swipl", "gst", "raku",
})  # fmt: skip
_AWKS = frozenset({"awk", "gawk", "mawk", "nawk", "original-awk"})
# They run what their arguments name: `*` never covers these arguments, and only a rule without one allows them.
WRAPPERS = (SHELLS | _AWKS) | frozenset({
    # as another user, on another machine, in another way
    "sudo", "doas", "su", "runuser", "pkexec", "env", "nohup", "time", "nice", "ionice", "timeout", "gtimeout",
    "setsid",
    "stdbuf", "unbuffer", "unshare", "chroot", "nsenter", "setpriv", "capsh", "firejail", "bwrap", "fakeroot", "proot",
    "chrt", "taskset", "numactl", "prlimit", "cgexec", "systemd-run", "systemd-inhibit", "caffeinate",
    "dbus-run-session",
    "dbus-launch", "xvfb-run", "sg", "newgrp", "linux32", "linux64", "setarch", "choom", "cpulimit", "rlwrap", "winpty",
    "wine", "ssh", "mosh", "autossh", "sshpass", "rsh", "rlogin", "ssh-agent", "gpg-agent", "direnv", "asdf", "mise",
    # for each, later, again, watched
    "xargs", "parallel", "watch", "entr", "at", "batch", "crontab", "anacron", "flock", "script", "expect", "screen",
    "tmux", "zellij", "watchexec", "nodemon", "inotifywait", "hyperfine", "chronic", "ts", "tini", "dumb-init", "gosu",
    "su-exec", "start-stop-daemon", "daemonize", "run-parts", "run-one", "incron", "socat", "nc", "ncat", "netcat",
    "strace", "ltrace", "gdb", "lldb", "perf", "valgrind", "rr", "bpftrace", "ldd", "qemu", "catchsegv", "coredumpctl",
    "busybox", "toybox", "eval", "source", ".", "exec", "command", "builtin", "trap", "coproc", "noglob", "nocorrect",
    "-", "repeat",
    "vi", "vim", "nvim", "emacs", "ed", "ex",
})  # fmt: skip
# They change what later words mean, evaluate subscripts, or accept a program, a library or an output file in their
# options: `*` never covers their arguments either.
EXACT_ONLY = WRAPPERS | frozenset({
    # of the shell itself
    "deno", "bc", "dc", "m4", "gnuplot", "alias", "unalias", "function", "functions", "autoload", "zmodload",
    "zcompile", "emulate", "sched", "zle",
    "bindkey",
    "vared", "zparseopts", "print", "let", "read", "mapfile", "readarray", "declare", "typeset", "local", "readonly",
    "integer", "float", "unset", "set", "setopt", "unsetopt", "shopt", "enable", "disable", "hash", "rehash", "bind",
    "complete", "compgen", "compopt", "compdef", "fc", "history", "r", "getopts", "wait", "export", "shift", "select",
    "((", "[", "[[", "limit", "ulimit", "umask", "logout", "suspend", "zstyle", "ztcp", "zpty", "zsocket", "syswrite",
    "zsystem", "zformat", "zregexparse", "disown",
    # editors and pagers, which run commands and write files
    "vimdiff", "view", "emacsclient", "nano", "pico", "micro", "helix", "hx",
    "kak", "joe", "code", "subl", "less", "more", "most", "man", "info", "pinfo", "w3m", "lynx", "links", "elinks",
    "sensible-editor", "sensible-pager", "xdg-open", "open", "start", "ranger", "mc", "nnn", "fzf", "sk", "tig",
    "lazygit",
    # they take a program, a library or a script among their options
    "scp", "sftp", "split", "csplit", "zip", "cpio", "install", "patch", "wget", "aria2c", "nmap", "tcpdump",
    "tshark", "dumpcap", "openssl", "gpg", "gpg2", "ssh-keygen", "ssh-add", "ip", "iptables", "logrotate", "dpkg-query",
    "ffmpeg", "convert", "magick", "gs", "latex", "pdflatex", "xelatex", "lualatex", "tex", "troff", "groff", "dot",
    "pandoc", "7z", "7za", "rar", "unrar", "ccache", "distcc", "sccache", "ctags", "cscope", "gcov", "objcopy",
    "objdump", "addr2line", "exiftool", "sqlite", "mysqldump", "pg_dump", "mongo", "mutt", "mail", "sendmail", "rename",
    "rclone", "restic", "borg", "minikube", "kind", "skaffold", "k9s", "uvx", "pipx", "bunx", "pnpx", "corepack",
    "volta",
    "nvm", "rbenv", "pyenv", "sdk", "cloc", "tokei", "act", "dagger", "earthly", "claude", "handraise", "gitk",
    "git-lfs",
    "locate", "updatedb", "systemctl", "service", "launchctl", "journalctl", "loginctl", "machinectl", "busctl",
    "gdbus",
    "dbus-send", "ls-remote", "tput", "stty", "reset", "setterm", "dialog", "whiptail", "zenity", "notify-send",
    "xterm",
    "gnome-terminal", "konsole", "alacritty", "kitty", "x-terminal-emulator", "osacompile", "automator", "shortcuts",
})  # fmt: skip
# "Always allow" isn't offered for these; a person who wants it writes the rule.
NEVER_STANDING = EXACT_ONLY | frozenset({
    "rm", "rmdir", "unlink", "shred", "dd", "mkfs", "fdisk", "parted", "wipefs", "truncate", "kill", "pkill",
    "killall", "shutdown", "reboot", "halt", "poweroff", "chmod", "chown", "chgrp", "chattr", "setfacl", "telnet",
    "curl",
    "mount", "umount", "useradd", "usermod", "passwd", "visudo", "defaults", "security", "test", "printf",
})  # fmt: skip
_INLINE_CODE = ("-c", "-e", "-p", "-r", "-E", "--eval", "--print", "--command")
# Setting one of these changes how a program looks, not what it does. Every other name could name a program to run.
_HARMLESS_VARIABLES = frozenset({
    "LANG", "LANGUAGE", "TZ", "TERM", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CI", "COLUMNS", "LINES",
    "RUST_BACKTRACE", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "NODE_ENV", "DEBIAN_FRONTEND",
})  # fmt: skip
# Tied to upper-case names or to the shell's own tables in zsh.
_ZSH_VARIABLES = frozenset({
    "path", "cdpath", "fpath", "manpath", "mailpath", "fignore", "prompt", "psvar", "watch", "argv", "status",
    "pipestatus", "aliases", "galiases", "saliases", "functions", "commands", "options", "builtins", "parameters",
    "modules", "dirstack", "history", "historywords", "jobdirs", "jobtexts", "jobstates", "nameddirs", "userdirs",
    "usergroups", "patchars", "reswords", "histchars", "signals", "keymaps", "widgets",
})  # fmt: skip
_LOCAL_VARIABLE = re.compile(r"LC_[A-Z]+|[a-z][a-z0-9]*")
# Options that make a harmless program run another: a deny rule for that one may apply.
_RUNNING: dict[str, tuple[str, ...]] = {
    "find": ("-exec", "-execdir", "-ok", "-okdir"),
    "fd": ("-x", "-X", "--exec", "--exec-batch"),
    "git": ("-c", "-x", "--exec", "--config-env", "--exec-path", "--upload-pack", "--receive-pack", "--extcmd"),
    "tar": ("-I", "-F", "--to-command", "--checkpoint-action", "--use-compress-program", "--rmt-command"),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "sort": ("--compress-program",),
    "rg": ("--pre", "--hostname-bin"),
    "go": ("-exec", "-toolexec", "-vettool"),
    "docker": ("run", "exec"),
    "kubectl": ("exec", "run"),
}  # fmt: skip
_RUNNING_COMMANDS = (["submodule", "foreach"], ["bisect", "run"], ["stash", "branch"], ["filter-branch"], ["difftool"])
_USAGES = GIT | TOOLS | BASIC
_SCRIPT = re.compile(r"[^-+].*[./].*", re.DOTALL)
_TAR_KEY = re.compile(r"[xtcvzjJpak]+f?")
_RUNS = EXACT_ONLY | INTERPRETERS
_MINOR = re.compile(r"\.\d+$")
_VERSION = re.compile(r"-?\d+(?:\.\d+)*$")


def sed_is_plain(words: Sequence[Word]) -> bool:
    """It writes files (`-i`, `w`) and runs programs (`e`)."""
    script_is_next = True
    for word in words:
        if word.literal and word.text in _SED_OPTIONS:
            script_is_next = script_is_next or word.text in ("-e", "--expression")
            continue
        known = _SED_SAFE if script_is_next else _FILE_LIKE
        script_is_next = False
        if not (word.literal and known.fullmatch(word.text)):
            return False
    return True


def awk_is_plain(words: Sequence[Word]) -> bool:
    """`-F`, `-v`, one program that reaches for nothing, and files."""
    if not all(word.literal and not _AWK_REACHES.search(word.text) for word in words if not _is_separator(word)):
        return False
    texts = [word.text for word in words]
    while texts and texts[0].startswith("-"):
        option = texts.pop(0)
        if option in ("-F", "-v") and texts:
            value = texts.pop(0)
            if option == "-v" and not _AWK_VARIABLE.fullmatch(value):
                return False
        elif not _AWK_SEPARATOR.fullmatch(option):
            return False
    return bool(texts) and all(_FILE_LIKE.fullmatch(each) for each in texts[1:])


def printf_is_plain(words: Sequence[Word]) -> bool:
    """`-v` sets a variable, also one with a subscript."""
    return bool(words) and words[0].literal and bool(_FORMAT.fullmatch(words[0].text))


def question_is_plain(words: Sequence[Word]) -> bool:
    """One question with a literal operator: `-v` and numbers run what is in a subscript."""
    if not all(word.literal or word.text in _TEST_TWO or _VARIABLE.fullmatch(word.text) for word in words):
        return False
    asked = list(words[1:] if words and words[0] == Word("!") else words)
    match asked:
        case [Word(text=text, literal=literal)]:
            return literal or bool(_VARIABLE.fullmatch(text))
        case [Word(text=operator, literal=True), _]:
            return operator in _TEST_ONE
        case [left, Word(text=operator), right]:
            numbers = all(each.literal and each.text.isdigit() for each in (left, right))
            return operator in _TEST_TWO or (operator in _TEST_NUMBERS and numbers)
        case _:
            return False


def _is_separator(word: Word) -> bool:
    """`-F'|'` and a `|` by itself aren't pipes."""
    return word.literal and (bool(re.fullmatch(r"-F[|>@]", word.text)) or word.text in ("|", ">", "@"))


_KNOWN = frozenset(key.split(" ", 1)[0] for key in _USAGES)
_LONGEST = max(len(key.split()) for key in _USAGES)
_PLAIN: dict[str, Callable[[Sequence[Word]], bool]] = {
    "sed": sed_is_plain,
    "gsed": sed_is_plain,
    "printf": printf_is_plain,
    "test": question_is_plain,
    **dict.fromkeys(_AWKS, awk_is_plain),
}


def is_harmless_variable(name: str) -> bool:
    """Whether setting it changes nothing but looks, or only a variable of the shell itself."""
    return name in _HARMLESS_VARIABLES or bool(_LOCAL_VARIABLE.fullmatch(name) and name not in _ZSH_VARIABLES)


def runs_its_words(words: Sequence[Word]) -> bool:
    """Whether the program runs another one named in its arguments: `sudo rm`, `find -exec rm`, `python -c …`."""
    if not words or not words[0].literal:
        return True
    name = known_name(words[0].text)
    if name in WRAPPERS or (name in INTERPRETERS and runs_inline_code(words)):
        return True
    texts = [word.text for word in words[1:]]
    if any(_names(text, _RUNNING.get(name, ())) for text in texts):
        return True
    return name == "git" and any(texts[at : at + len(each)] == each for each in _RUNNING_COMMANDS for at in range(4))


def runs_inline_code(words: Sequence[Word]) -> bool:
    """Whether an interpreter gets its program in the command, or reads it from a pipe."""
    for word in words[1:]:
        if word.text == "-" or word.text.startswith(_INLINE_CODE):
            return True
        if not word.text.startswith("-"):
            return False
    return True


def is_plain(words: Sequence[Word], exact_words: int) -> bool:
    """Whether a rule with `*` may cover these words; it names the first `exact_words` of them itself.

    Programs that run others, options that write, and unknown options are never covered by `*`.
    """
    name = known_name(words[0].text)
    found = usage_of(words)
    if found is not None:
        usage, length = found
        return usage.covers(_as_options(words[length:]) if name == "tar" else words[length:])
    if name in _PLAIN:
        return _PLAIN[name](words[1:])
    if name in INTERPRETERS or name in SHELLS:
        # The rule itself names the script; what follows are that script's own arguments.
        return exact_words > 1 and bool(_SCRIPT.fullmatch(words[1].text))
    return name not in EXACT_ONLY and name not in _KNOWN


def usage_of(words: Sequence[Word]) -> tuple[Usage, int] | None:
    """The known usage of the longest prefix of the words, and how many words that is."""
    literal = []
    for word in words[: _LONGEST + len(GLOBAL)]:
        if not word.literal:
            break
        literal.append(word.text)
    if not literal:
        return None
    skipped = 0
    while known_name(literal[0]) == "git" and literal[1:2] and literal[1] in GLOBAL:
        del literal[1]
        skipped += 1
    for length in range(min(_LONGEST, len(literal)), 0, -1):
        key = _USAGES.get(" ".join([known_name(literal[0]), *literal[1:length]]))
        if key is not None:
            return read_usage(key), length + skipped
    return None


def standing_of(words: Sequence[Word]) -> tuple[Standing, int]:
    """What "always" may offer for these words, and how many of them it keeps before `*`."""
    name = known_name(words[0].text)
    found = usage_of(words)
    if found is not None:
        usage, length = found
        return usage.standing, length
    if name in INTERPRETERS:
        return Standing.NEVER if runs_inline_code(words) else Standing.EXACT, 0
    return Standing.NEVER if name in NEVER_STANDING or name in _KNOWN else Standing.EXACT, 0


@lru_cache(maxsize=1024)
def known_name(program: str) -> str:
    """The name in the tables: `/usr/bin/rm` is rm, and `python3.12` is python3."""
    name = basename(program)
    spellings = (name, _MINOR.sub("", name), _VERSION.sub("", name))
    return next((each for each in spellings if each in _KNOWN or each in _RUNS), name)


def basename(program: str) -> str:
    """`/usr/bin/rm` is rm."""
    return program.rsplit("/", 1)[-1]


def _names(word: str, options: tuple[str, ...]) -> bool:
    """`--exec`, `--exec=x`, its abbreviations (`--exe`), and short ones in a bundle (`-xv`)."""
    name = word.split("=", 1)[0]
    for option in options:
        if name == option or (option.startswith("--") and len(name) > 3 and option.startswith(name)):
            return True
        if len(option) == 2 and option[0] == "-" and re.match(rf"-[A-Za-z]*{option[1]}", word):
            return True
    return False


def _as_options(words: Sequence[Word]) -> Sequence[Word]:
    """`tar xzf` is `tar -xzf`, as long as only the last letter takes a value."""
    if words and words[0].literal and _TAR_KEY.fullmatch(words[0].text):
        return [Word(f"-{words[0].text}"), *words[1:]]
    return words if words and words[0].text.startswith("-") else [Word("-?")]
