"""The commands and options of git that are known to be safe. A table, read by `options`.

Left out on purpose, among others: `-c`, `-C`, `--config-env`, `--exec-path`, `--git-dir`, `--no-index`, `--output`,
`--ext-diff`, `--textconv`, `-O`, `-x`, `--exec`, `--upload-pack`, `--receive-pack`, strategies, signatures, and the
commands `submodule`, `bisect`, `difftool`, `mergetool`, `config` that sets, `filter-branch`, `archive` and `daemon`."""

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
