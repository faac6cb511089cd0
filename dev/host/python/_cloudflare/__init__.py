"""What the vendored SDK asks of production's package of this name: entropy at import time."""
