"""Where asks wait and are settled: the first answer wins, patience ends, rules answer, and nothing is lost."""
