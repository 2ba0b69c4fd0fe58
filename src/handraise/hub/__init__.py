"""The hub: every part put together, and taken apart again in order. Knows nothing of HTTP."""
