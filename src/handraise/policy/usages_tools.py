"""The options of common developer tools that are known to be safe. A table, read by `options`.

They run the project's own code, and the person who allows them knows it. Left out is anything that makes them run
or load something else, or choose where to write: configurations, plug-ins, interpreters, formatters, wrappers."""

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
