"""The version, where the build and the command read it without importing anything else."""

from __future__ import annotations

VERSION = "0.1.0"
