"""`python -m handraise`: the same as the command."""

from handraise.cli.entry import main

main()
