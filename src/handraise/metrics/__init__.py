"""What a hub counts of itself, and the page on which Prometheus reads it."""
