"""Channels: where threads live, one file a surface."""
