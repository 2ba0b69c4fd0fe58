"""One conversation with Claude: a pure machine that decides, a runner that performs, a supervisor over all of them."""
