"""ConfigDO: one document per tier, each written by compare-and-swap."""
