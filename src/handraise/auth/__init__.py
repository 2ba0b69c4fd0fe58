"""Who may come in: tokens, one-time codes, and the browsers that used one."""
