"""Commands: how people say what they want, on every surface alike (contract §5)."""
