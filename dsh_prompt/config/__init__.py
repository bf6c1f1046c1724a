"""The host's configuration: read from files, checked, and trusted or not."""
