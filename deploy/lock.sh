#!/bin/sh
# Prints a lock file as it is (included), or without Claude Code (none). Containerfile uses it.
set -eu
case "$1" in
  included) cat "$2" ;;
  none) awk '/^[^ #]/ { skip = /^claude-agent-sdk==/ } !skip' "$2" ;;
  *) echo "CLAUDE is 'included' or 'none', not '$1'." >&2; exit 2 ;;
esac
