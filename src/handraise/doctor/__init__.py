"""Looks at the machine, and says what stands in the way of a hub and what to do about it. Changes nothing."""
