"""Has the name of a vendored package, which must win."""

OURS = True
