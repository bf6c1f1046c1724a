"""Where the owners of contributions stand in their lives."""

from __future__ import annotations

import enum


class State(enum.Enum):
    """Where a lifetime stands."""

    ACTIVE = "active"
    QUARANTINED = "quarantined"
    DISPOSING = "disposing"
    DISPOSED = "disposed"
