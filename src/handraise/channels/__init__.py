"""Clients that send one notification to a third party: ntfy, e-mail, and the services of Apprise."""
