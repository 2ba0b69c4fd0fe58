"""Everything a surface may do: one interface, called directly or over HTTP."""
