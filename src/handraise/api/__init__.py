"""The hub over HTTP: the API, one live stream for each client, and the page."""
