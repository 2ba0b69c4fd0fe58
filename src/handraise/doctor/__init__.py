"""Checks the machine, and says what keeps a hub from working and how to fix it. Changes nothing."""
