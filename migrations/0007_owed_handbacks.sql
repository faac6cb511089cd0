-- Hand-backs that admission refused and nobody has posted yet: the watchdog looks for them.
CREATE INDEX runs_owing ON runs (touched_at)
  WHERE state = 'refused' AND code = 'schedule_write' AND delivery IS NULL;
