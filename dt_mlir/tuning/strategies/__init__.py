"""The orders in which a search tries schedules."""
