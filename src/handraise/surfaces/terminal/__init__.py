"""The terminal: follow a session, or clear the inbox. Cards and keys are decided purely; the edges only perform."""
