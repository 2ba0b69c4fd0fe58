"""`ask_user` and `approval_prompt` for agents that we did not start."""
