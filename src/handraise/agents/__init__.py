"""`ask_user` and `approval_prompt` for agents we did not start."""
