"""The options of programs that are known to be safe: basic ones, git, and common developer tools. Read by `options`."""

_FIND = """
    -H -L -P -maxdepth= -mindepth= -depth -d -xdev -mount -follow -daystart -noleaf -warn -nowarn -regextype=
    -name= -iname= -path= -ipath= -wholename= -iwholename= -lname= -ilname= -regex= -iregex= -type= -xtype= -size=
    -empty -newer= -anewer= -cnewer= -newermt= -mtime= -mmin= -atime= -amin= -ctime= -cmin= -perm= -user= -group=
    -uid= -gid= -nouser -nogroup -links= -inum= -samefile= -readable -writable -executable -true -false -print
    -print0 -printf= -ls -prune -quit -not -and -or -a -o @any
"""
_FD = """
    -H --hidden -I --no-ignore -u --unrestricted -s --case-sensitive -i --ignore-case -g --glob -F --fixed-strings
    -a --absolute-path -L --follow -p --full-path -d= --max-depth= --min-depth= --exact-depth= -t= --type= -e=
    --extension= -E= --exclude= -S= --size= --changed-within= --changed-before= -0 --print0 -l --list-details -1
    --max-results= -q --quiet --color= -c= @any
"""
_RG = """
    -i -s -S -w -x -v -n -N -l -c -o -F -P -U -L -u -uu -uuu -a -q -H -I -0 -p -e= -g= --glob= --iglob= -t= --type= -T=
    --type-not= -A= -B= -C= -m= --max-count= --max-depth= -d= -r= --replace= -M= -j= --color= --files --hidden -.
    --no-ignore --ignore-case --case-sensitive --smart-case --word-regexp --line-regexp --invert-match --line-number
    --no-line-number --files-with-matches --files-without-match --count --count-matches --only-matching
    --fixed-strings --pcre2 --multiline --follow --json --heading --no-heading --with-filename --no-filename --column
    --stats --sort= --vimgrep --trim --type-list --no-messages --text @any
"""
_SORT = """
    -b -d -f -g -i -M -h -n -R -r -V -c -C -m -s -u -z -k= -t= --key= --field-separator= --numeric-sort --reverse
    --unique --ignore-case --version-sort --human-numeric-sort --general-numeric-sort --stable --zero-terminated
    --check --dictionary-order --month-sort --ignore-leading-blanks @any
"""
_TREE = """
    -a -d -l -f -x -L= -P= -I= -p -u -g -s -h -D -F -q -N -Q -i -n -C -t -r -U -J -X --prune --dirsfirst --noreport
    --gitignore --filelimit= --du --si --inodes --device --sort= --matchdirs --ignore-case @any
"""
_CURL = """
    -s -S -f -L -I -i -v -k -4 -6 -G -g -N -sS -fsS -fsSL -sSL -H= -X= -d= -m= -A= -e= --silent --show-error --fail
    --location --head --include --verbose --header= --request= --data= --data-raw= --data-urlencode= --json= --get
    --max-time= --connect-timeout= --retry= --retry-delay= --user-agent= --compressed --http1.1 --http2 @any
"""
_TAR = """
    -x -t -c -z -j -J -v -p -a -k -O -f=@here -C= --extract --list --create --gzip --bzip2 --xz --zstd --verbose
    --file=@here --directory= --strip-components= --exclude= --to-stdout --keep-old-files --no-same-owner @any
"""

BASIC: dict[str, str] = {
    **dict.fromkeys(
        (
            "ls", "pwd", "wc", "du", "df", "which", "echo", "stat", "true", "false",
        ),
        "+ **",
    ),
    **dict.fromkeys(
        (
            "cat", "head", "tail", "grep", "egrep", "fgrep", "cut", "tr", "nl", "tac", "rev", "fold", "fmt", "paste",
            "join", "comm", "expand", "unexpand", "column", "seq", "sleep", "basename", "dirname", "realpath",
            "readlink", "id", "whoami", "groups", "uname", "arch", "nproc", "uptime", "free", "ps", "pgrep", "lscpu",
            "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum", "cmp", "diff",
            "jq", "od", "hexdump", "type", "whence", "where", ":", "cal", "tty", "factor", "expr",
            "strings", "size", "readelf", "lsb_release", "getconf", "locale", "printenv", "zipinfo",
        ),
        "= **",
    ),
    "command -v": "+ **",
    "command -V": "+ **",
    "tree": f"+ {_TREE}",
    "find": f"= {_FIND}",
    "fd": f"= {_FD}",
    "fdfind": f"= {_FD}",
    "rg": f"+ {_RG}",
    "sort": f"= {_SORT}",
    "uniq": "= -c -d -D -u -i -z -f= -s= -w= --count --repeated --unique --ignore-case @any @nothing",
    "shuf": "= -n= -r -z -e -i= --head-count= --repeat --echo --input-range= @any",
    "date": "= -u --utc -I[=] -R -d= --date= --iso-8601[=] --rfc-3339= -r= --reference= @format",
    "file": "= -b -i -L -h -k -N -0 --brief --mime --mime-type --mime-encoding --dereference @any",
    "base64": "= -d -D -w= --decode --wrap= @any",
    "xxd": "= -l= -s= -c= -g= -b -u -p -e -i @any @nothing",
    "curl": _CURL,
    "tar": f"= {_TAR}",
    "unzip": "= -l -t -v -p -q -o -n -j -d= @any",
    "zcat": "= @any",
    "gunzip": "= -c -k -t -l -v -q @any",
    "gzip": "= -c -d -k -t -l -v -q -1 -9 @any",
    "cd": "= @inside",
    "pushd": "= @inside",
    "popd": "=",
    "hostname": "= -f -s -i -I -d",
    "dmesg": "= -T -H -k -x",
    "lsof": "= -i[=] -n -P -p= -t -u= -c= -a @any",
    "ss": "= -t -l -n -p -a -u -x -4 -6 -s -e -i -o -m -H",
    "netstat": "= -t -l -n -p -a -u -r -s -i",
    "dig": "= -x= -t= -4 -6 @any",
    "nslookup": "= @name",
    "host": "= -t= -a -v @name",
    "ping": "= -c= -i= -W= -w= -n -q -4 -6 -s= @name",
    "iconv": "= -f= -t= -l -c -s --from-code= --to-code= --list @any",
    "bat": "= -n -p -l= --language= --plain --number --style= --line-range= -r= --color= --paging=never @any",
    "yq": "= -r -P -o= -p= -e -n -C -M -N -j -y --raw-output --prettyPrint --output-format= --input-format= @any",
    "openssl version": "= -a",
}  # fmt: skip


_DIFF = """
    -p -u --patch -s --no-patch --raw --stat[=] --numstat --shortstat --summary --name-only --name-status --color[=]
    --no-color --word-diff[=] --color-words -b -w --ignore-all-space --ignore-space-change --ignore-blank-lines -M[=]
    -C[=] --find-renames[=] --find-copies[=] --diff-filter= -U= --unified= --minimal --patience --histogram --check
    --full-index --abbrev[=] -R -a --text --exit-code --quiet -q --no-ext-diff --no-textconv --no-renames -z
    --function-context -W --compact-summary -S= -G= --pickaxe-regex --no-prefix --relative --dirstat[=]
"""
_LOG = f"""{_DIFF}
    --oneline --graph --all --decorate[=] --no-decorate -n= --max-count= --skip= --since= --until= --after= --before=
    --author= --committer= --grep= -i -E -F --merges --no-merges --first-parent --reverse --pretty[=] --format= --date=
    --abbrev-commit --no-abbrev-commit --follow --branches[=] --tags[=] --remotes[=] --left-right --cherry-pick
    --cherry-mark --cherry --topo-order --date-order --source --full-history --ancestry-path --boundary -L= -# -g
    --walk-reflogs --no-notes --all-match --invert-grep --cc -m --root
"""
_GREP = """
    -n -i -I -l -L -c -w -v -h -H -E -F -P -G -e= -o -p -W -A= -B= -C= -z -q --count --name-only --line-number
    --files-with-matches --files-without-match --ignore-case --word-regexp --fixed-strings --extended-regexp
    --perl-regexp --cached --untracked --and --or --not --all-match --break --heading --show-function
    --function-context --max-depth= --color[=] --no-color --column --max-count= --recursive --only-matching
"""

GLOBAL = ("--no-pager", "-P", "--no-optional-locks")
"""Allowed before the command."""

GIT: dict[str, str] = {
    "git status": """+ -s --short -b --branch --porcelain[=] --long -v --verbose -u[=] --untracked-files[=] --ignored[=]
        -z --show-stash --ahead-behind --no-ahead-behind --column[=] --no-column --renames --no-renames @rev""",
    "git log": f"+ {_LOG} @rev",
    "git diff": f"+ {_DIFF} --cached --staged --merge-base --ours --theirs --base @rev",
    "git show": f"+ {_LOG} @rev",
    "git add": "+ -A --all -u --update -n --dry-run -v --verbose -N --intent-to-add --renormalize --refresh @rev",
    "git commit": """+ -m= --message= -a --all -q --quiet -v --verbose -s --signoff --amend --no-edit --allow-empty
        --dry-run --short --porcelain --author= --date= -o --only -i --include --fixup= --squash= @rev""",
    "git blame": """+ -L= -w -M[=] -C[=] -l -t -s -e -f -n -p -c --porcelain --line-porcelain --date= --since= --root
        --show-stats --abbrev= --first-parent --show-name --show-number --show-email @rev""",
    "git rev-parse": """+ --short[=] --abbrev-ref[=] --show-toplevel --show-prefix --show-cdup --git-dir
        --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --verify -q
        --quiet --symbolic --symbolic-full-name --all --branches --tags --remotes @rev""",
    "git ls-files": """+ -c --cached -d --deleted -m --modified -o --others -i --ignored -s --stage -u --unmerged -t -v
        -z --full-name --error-unmatch --exclude-standard --directory --eol --deduplicate -x= --exclude= @rev""",
    "git describe": """+ --tags --all --always --dirty[=] --long --abbrev= --contains --exact-match --match= --exclude=
        --first-parent @rev""",
    "git shortlog": "+ -s -n -e -c --summary --numbered --email --all --since= --until= --no-merges --group= @rev",
    "git grep": f"+ {_GREP} @any",
    "git fetch": """+ --all --prune -p --tags -t --no-tags --depth= --dry-run -v --verbose -q --quiet -j= --jobs=
        --progress --no-progress --unshallow --deepen= @remote @ref""",
    "git stash list": "+ --oneline -# -n= --format= --pretty[=] --date= --stat[=]",
    "git stash show": f"+ {_DIFF} --include-untracked --only-untracked @rev",
    "git branch": """= -a --all -r --remotes -l --list[=] -v -vv --verbose --show-current --sort= --merged[=]
        --no-merged[=] --contains[=] --format= --color[=] --no-color -d -m -u= --set-upstream-to= --unset-upstream -t
        --track[=] --no-track @ref""",
    "git tag": "= -l --list[=] -n[=] --sort= --contains[=] --merged[=] --points-at[=] --format= -a -m= -d @ref",
    "git checkout": "= -b= -B= -q --quiet -t --track[=] --no-track --detach --ours --theirs --orphan= @rev",
    "git switch": "= -c= --create= -q --quiet --detach -t --track[=] --no-track @ref",
    "git restore": "= --staged -S --worktree -W -s= --source= -q --quiet @rev",
    "git merge": "= --no-ff --ff --ff-only --no-commit --squash --abort --quit -m= -q --quiet --no-edit --stat @ref",
    "git rebase": "= --abort --skip --quit --autostash --no-autostash --onto= --root -q --quiet --keep-base @ref",
    "git pull": """= --rebase[=] --no-rebase --ff-only --ff --no-ff -q --quiet -v --prune -p --tags --autostash
        --no-edit --depth= @remote @ref""",
    "git push": """= -u --set-upstream --tags --follow-tags -n --dry-run -q --quiet -v --verbose --progress --porcelain
        --atomic @remote @ref""",
    "git stash": "= -u --include-untracked -q --quiet -k --keep-index",
    "git stash push": "= -u --include-untracked -q --quiet -k --keep-index -m= --message= @rev",
    "git stash pop": "= -q --quiet --index @rev",
    "git stash apply": "= -q --quiet --index @rev",
    "git remote": "= -v --verbose",
    "git remote show": "= -n @remote",
    "git remote get-url": "= --all --push @remote",
    "git reset": "= --soft --mixed -q --quiet --keep @rev",
    "git mv": "= -n --dry-run -k -v --verbose @inside",
    "git rm": "= -r --cached -n --dry-run -q --quiet @inside",
    "git cherry-pick": "= --abort --skip --quit --no-commit -n -x -m= @rev",
    "git revert": "= --abort --skip --quit --no-commit -n --no-edit -m= @rev",
    "git clean": "= -n --dry-run -d -x -X @inside",
    "git worktree list": "= --porcelain -v",
    "git ls-remote": "= --heads --tags --refs -q --quiet --exit-code --sort= @remote @ref",
    "git ls-tree": """+ -r -d -t -l -z --name-only --name-status --long --full-name --full-tree --abbrev[=] @rev""",
    "git cat-file": "+ -t -s -e -p @rev",
    "git rev-list": f"+ {_LOG} --count --objects @rev",
    "git merge-base": "+ --all -a --is-ancestor --octopus --fork-point --independent @rev",
    "git reflog": f"+ {_LOG}",
    "git reflog show": f"+ {_LOG} @rev",
    "git show-ref": "+ --heads --tags --verify -q --quiet --hash[=] -s --abbrev[=] -d @ref",
    "git for-each-ref": "+ --sort= --format= --count= --contains[=] --merged[=] --points-at= @ref",
    "git diff-tree": f"+ {_DIFF} -r --root -m -c --cc --no-commit-id @rev",
    "git config --get": "= --global --local --system --show-origin --show-scope --type= --bool @name",
    "git config --list": "= --global --local --system --show-origin --show-scope --name-only -z",
    "git config -l": "= --global --local --system --show-origin --show-scope --name-only -z",
    "git count-objects": "+ -v -H",
    "git check-ignore": "+ -v --verbose -q --quiet -n --non-matching @rev",
    "git --version": "+",
    "git version": "+",
    "git init": "= !",
    "git clone": "= !",
}


_PYTEST = """
    -k= -m= -x -q -v -s -l -vv -vvv -r= --lf --ff --nf --sw --last-failed --failed-first --stepwise --exitfirst
    --maxfail= --tb= --durations= --collect-only --co --no-header --no-summary --color= --showlocals --full-trace
    --disable-warnings --strict-markers --quiet --verbose --deselect= --ignore= --cache-clear -n= --capture= --version
    --setup-show --fixtures --markers @inside
"""
_MYPY = """
    --strict --ignore-missing-imports --show-error-codes --hide-error-codes --pretty --no-error-summary
    --no-color-output -v --verbose --python-version= --platform= --follow-imports= --no-incremental --exclude=
    --explicit-package-bases --namespace-packages --show-error-context --show-column-numbers --no-site-packages
    --warn-unused-ignores --warn-return-any --disallow-untyped-defs --check-untyped-defs --version -p= -m= @inside
"""
_RUFF = """
    --fix --no-fix --unsafe-fixes --diff --select= --ignore= --extend-select= --extend-ignore= --statistics
    --show-files --no-cache --preview --no-preview -q --quiet -v --verbose -s --silent --target-version=
    --output-format=full|concise|grouped|json|json-lines|github|gitlab|junit|pylint|sarif|azure -e --exit-zero
    --line-length= --exclude= --extend-exclude= --respect-gitignore --force-exclude -n --ignore-noqa -w --watch @inside
"""
_RUFF_FORMAT = "--check --diff --no-cache --preview -q --quiet -v --verbose --line-length= --exclude= @inside"
_TSC = "--noEmit -w --watch --pretty --strict --skipLibCheck --listFiles --showConfig -v --version -h --help @inside"
_ESLINT = """
    --fix --fix-dry-run --quiet --max-warnings= --ext= --color --no-color --ignore-pattern= --no-ignore --debug
    --report-unused-disable-directives --no-error-on-unmatched-pattern --cache -v --version
    -f=stylish|json|compact|unix --format=stylish|json|compact|unix @inside
"""
_JEST = """
    -t= --testNamePattern= --watch --watchAll --ci -i --runInBand --verbose --silent --bail -b --onlyChanged -o
    --passWithNoTests --updateSnapshot -u --detectOpenHandles --forceExit --listTests --maxWorkers= -w=
    --testPathPattern= --testPathPatterns= --no-coverage --coverage --version @inside
"""
_VITEST = """
    -t= --testNamePattern= -w --watch -u --update --passWithNoTests --bail= --silent --hideSkippedTests --run
    --reporter=default|verbose|dot|basic|json|tap|junit --no-color --version @inside
"""
_PRETTIER = """
    -c --check -w --write -l --list-different --log-level=silent|error|warn|log|debug --no-color --no-config
    --ignore-unknown -u --no-editorconfig --version @inside
"""
_CARGO = """
    --release -r --all-features --features= -F= --no-default-features -p= --package= --workspace --all --lib --bins
    --tests --examples --benches --all-targets -v -vv --verbose -q --quiet -j= --jobs= --locked --offline --frozen
    --message-format= --keep-going --bin= --test= --example= --bench= --exclude= --color=
"""
_HARNESS = (
    "--nocapture --no-capture --test-threads= --ignored --include-ignored --exact --skip= --list --show-output -q"
)
_LINTS = "-D= -W= -A= -F= --deny= --warn= --allow= --forbid="
_GO = "-v -x -n -a -race -msan -tags= -mod= -trimpath -buildvcs= -cover -covermode= @inside"
_GO_TEST = """
    -run= -count= -short -timeout= -bench= -benchmem -benchtime= -failfast -parallel= -cpu= -list= -shuffle= -json
    -skip= -fullpath -vet=off|all
"""
_PODS = """
    -n= --namespace= -A --all-namespaces -l= --selector= -o= --output= --show-labels --sort-by= --field-selector=
    --no-headers -w --watch --ignore-not-found --limit= @any
"""
_PIP = "-o --outdated -u --uptodate -l --local --user -e --editable --not-required --format= -v -q --verbose --quiet"
_SCRIPT = "-s --silent --if-present -w= --workspace= --workspaces --quiet @name @nothing"

TOOLS: dict[str, str] = {
    "pytest": f"+ {_PYTEST}",
    "py.test": f"+ {_PYTEST}",
    "python -m pytest": f"+ {_PYTEST}",
    "python3 -m pytest": f"+ {_PYTEST}",
    "uv run pytest": f"+ {_PYTEST}",
    "poetry run pytest": f"+ {_PYTEST}",
    "mypy": f"+ {_MYPY}",
    "python -m mypy": f"+ {_MYPY}",
    "python3 -m mypy": f"+ {_MYPY}",
    "uv run mypy": f"+ {_MYPY}",
    "ruff check": f"+ {_RUFF}",
    "uv run ruff check": f"+ {_RUFF}",
    "ruff format": f"+ {_RUFF_FORMAT}",
    "uv run ruff format": f"+ {_RUFF_FORMAT}",
    "tsc": f"+ {_TSC}",
    "npx tsc": f"+ {_TSC}",
    "eslint": f"+ {_ESLINT}",
    "npx eslint": f"+ {_ESLINT}",
    "jest": f"+ {_JEST}",
    "npx jest": f"+ {_JEST}",
    "vitest": f"+ {_VITEST}",
    "npx vitest": f"+ {_VITEST}",
    "prettier": f"+ {_PRETTIER}",
    "npx prettier": f"+ {_PRETTIER}",
    "cargo build": f"+ {_CARGO}",
    "cargo check": f"+ {_CARGO}",
    "cargo test": f"+ {_CARGO} --no-run --no-fail-fast --doc @name -- {_HARNESS} @name",
    "cargo clippy": f"+ {_CARGO} --no-deps -- {_LINTS}",
    "cargo fmt": "+ --all --check -v -q --verbose --quiet -p= --package= -- --check --color= -v",
    "cargo doc": f"+ {_CARGO} --no-deps --document-private-items",
    "cargo tree": "+ -p= --package= -i= --invert= -d --duplicates --depth= -e= --edges= --prefix= --all-features",
    "go build": f"+ {_GO}",
    "go vet": f"+ {_GO} -json",
    "go test": f"+ {_GO} {_GO_TEST}",
    "go list": "+ -m -f= -json -deps -test -e -find -u -versions -compiled -export @any",
    "go version": "+ -m -v",
    "npm run": f"= {_SCRIPT}",
    "npm run-script": f"= {_SCRIPT}",
    "npm test": "+ -s --silent --if-present -w= --workspace= --workspaces @inside",
    "npm ls": "+ -a --all --depth= --json --long -g --global --omit= @name",
    "npm outdated": "+ --json --long --all @name",
    "npm view": "+ --json @any",
    "npm audit": "+ --json --omit= --audit-level=",
    "pnpm run": "= @name @nothing",
    "pnpm test": "+",
    "yarn run": "= @name @nothing",
    "yarn test": "+",
    "bun run": "= @name @nothing",
    "bun test": "+ -t= --watch --bail[=] --timeout= --only --todo --coverage -u --update-snapshots @inside",
    "make": "= -j[=] -k -s -n -B -i -w --jobs[=] --keep-going --silent --quiet --dry-run --always-make @target",
    "docker ps": "+ -a --all -q --quiet --no-trunc -n= --last= -l --latest -s --size -f= --filter= --format=",
    "docker images": "+ -a --all -q --quiet --no-trunc --digests -f= --filter= --format= @any",
    "docker logs": "+ -f --follow -t --timestamps -n= --tail= --since= --until= --details @any",
    "docker inspect": "+ -f= --format= -s --size --type= @any",
    "docker version": "+ -f= --format=",
    "docker info": "+ -f= --format=",
    "docker compose ps": "+ -a --all -q --quiet --services --format= --status= --filter= --no-trunc @name",
    "docker compose logs": "+ -f --follow -t --timestamps -n= --tail= --since= --until= --no-color @name",
    "kubectl get": f"+ {_PODS}",
    "kubectl describe": "+ -n= --namespace= -A --all-namespaces -l= --selector= --show-events[=] @any",
    "kubectl logs": """+ -n= --namespace= -f --follow -c= --container= -p --previous --tail= --since= --since-time=
        --timestamps --all-containers -l= --selector= --prefix --max-log-requests= @any""",
    "kubectl top": "+ -n= --namespace= -A --all-namespaces -l= --selector= --sort-by= --containers --no-headers @any",
    "pip list": f"+ {_PIP}",
    "pip show": "+ -f --files -v --verbose @name",
    "pip freeze": "+ -l --local --user --all --exclude-editable --exclude=",
    "pip check": "+",
    "pip3 list": f"+ {_PIP}",
    "pip3 show": "+ -f --files -v --verbose @name",
    "pip3 freeze": "+ -l --local --user --all --exclude-editable --exclude=",
    "uv pip list": "+ --outdated --format= -e --editable --exclude-editable --exclude= -q --quiet -v --verbose",
    "uv pip show": "+ -f --files @name",
    "uv tree": "+ --depth= --outdated --no-dev --frozen --locked --invert --no-dedupe --package=",
    "gh pr list": "+ -s= --state= -L= --limit= -a= --author= -l= --label= -S= --search= --json= -q= --jq=",
    "gh pr view": "+ -c --comments --json= -q= --jq= @any",
    "gh pr diff": "+ --name-only --patch --color= @any",
    "gh pr checks": "+ --json= --watch --required @any",
    "gh issue list": "+ -s= --state= -L= --limit= -l= --label= -S= --search= --json= -q= --jq=",
    "gh issue view": "+ -c --comments --json= -q= --jq= @any",
    "gh run list": "+ -L= --limit= -b= --branch= -w= --workflow= -s= --status= --json= -q= --jq=",
    "gh run view": "+ --log --log-failed -v --verbose --exit-status --job= -j= --json= -q= --jq= @any",
    "terraform validate": "+ -json -no-color",
    "terraform version": "+ -json",
    "python --version": "+",
    "python3 --version": "+",
    "node --version": "+",
    "node -v": "+",
    "npm --version": "+",
    "npm -v": "+",
    "cargo --version": "+",
    "rustc --version": "+",
    "java -version": "+",
    "java --version": "+",
}
# Only exact commands: what they do depends on everything that follows.
_EXACTLY = (
    "npm", "npx", "pnpm", "yarn", "bun", "cargo", "go", "docker", "kubectl", "pip", "pip3", "uv", "gh", "helm",
    "terraform", "poetry", "pipenv", "tox", "nox", "hatch", "gradle", "gradlew", "mvn", "mvnw", "ant", "cmake",
    "ninja", "meson", "bazel", "rake", "bundle", "gem", "composer", "dotnet", "msbuild", "rustc", "gcc", "g++", "cc",
    "c++", "clang", "clang++", "ld", "ar", "nm", "strip", "javac", "java", "swift", "swiftc", "zig", "dart",
    "flutter", "mix", "stack", "cabal", "ghc", "nix", "brew", "conda", "mamba", "pre-commit", "ansible",
    "ansible-playbook", "vagrant", "aws", "gcloud", "az", "hg", "svn", "psql", "mysql", "sqlite3", "redis-cli",
    "mongosh", "rsync", "tsx", "ts-node", "black", "isort", "flake8", "pylint", "pyright", "sphinx-build", "mkdocs",
    "webpack", "vite", "rollup", "esbuild", "rustup", "rustfmt", "gofmt", "protoc", "just", "task", "turbo", "nx",
    "lerna", "playwright", "cypress", "opam", "guix", "apt", "apt-get", "dpkg", "rpm", "yum", "dnf", "snap",
    "flatpak", "podman", "nerdctl", "buildah",
)  # fmt: skip
TOOLS |= dict.fromkeys(_EXACTLY, "= !")
