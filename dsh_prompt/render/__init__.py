"""Finished assemblies into text and digests."""
