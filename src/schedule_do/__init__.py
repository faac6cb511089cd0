"""ScheduleDO: the firing history of both kinds of schedule, and tick statistics."""
