"""Runs: the ledger that records them, the flow that carries them, the watchdog."""
