"""One conversation with Claude: a pure machine decides, a runner performs, and a supervisor oversees all sessions."""
