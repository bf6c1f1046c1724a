"""Plugins: found, loaded, reloaded and unloaded, each one whole or not at all."""
