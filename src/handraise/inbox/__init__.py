"""Where asks are queued and settled: the first answer wins, timeouts expire, rules answer, and nothing is lost."""
