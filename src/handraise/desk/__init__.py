"""Everything a surface may do: one interface, done by straight calls or over HTTP."""
