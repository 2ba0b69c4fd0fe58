"""Web Push: asks on phones and browsers that turned it on, removed again when they are answered."""
