"""Stream-json, sans-IO: bytes in, frames out; verbs in, lines out. Knows nothing of the rest of Handraise."""
