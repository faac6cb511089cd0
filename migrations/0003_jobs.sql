-- A person's own jobs, their runs, and how their events are pushed. Times are epoch milliseconds.
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,              -- new at each creation; run ids are made from it
  user_id TEXT NOT NULL,            -- the owner's actor id
  name TEXT NOT NULL,
  prompt TEXT NOT NULL,
  schedule TEXT,                    -- */Nm, */Nh or daily@HH:MM (UTC)
  run_at INTEGER,                   -- of a one-shot
  enabled INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  last_fired_at INTEGER,            -- the last claim: what the next due instant is counted from
  next_at INTEGER,                  -- an index: never later than the next due instant; NULL when off
  thread TEXT,                      -- where it was made, if in a thread
  version INTEGER NOT NULL DEFAULT 1,
  CHECK ((schedule IS NULL) <> (run_at IS NULL))
) STRICT;
CREATE INDEX jobs_by_owner ON jobs (user_id, created_at);
CREATE INDEX jobs_due ON jobs (next_at) WHERE next_at IS NOT NULL;
-- Finds rows that were written under a clock ahead of its time, which next_at would silence.
CREATE INDEX jobs_by_base ON jobs (coalesce(last_fired_at, created_at))
  WHERE next_at IS NOT NULL AND schedule IS NOT NULL;

-- One row a claim, written with the claim itself, so that no claim is without a trace.
CREATE TABLE job_runs (
  run_id TEXT PRIMARY KEY,          -- the run's id in the ledger
  job_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  name TEXT NOT NULL,
  thread TEXT,
  due_at INTEGER,                   -- NULL for a run by hand
  claimed_at INTEGER NOT NULL,
  trigger TEXT NOT NULL,            -- tick, hand
  state TEXT,                       -- NULL until it ended: then ok, failed, refused
  code TEXT,
  ended_at INTEGER
) STRICT;
CREATE INDEX job_runs_by_job ON job_runs (job_id, claimed_at DESC);
CREATE INDEX job_runs_open ON job_runs (claimed_at) WHERE ended_at IS NULL;

-- An event is said once a key, and pushed at most once.
ALTER TABLE events ADD COLUMN key TEXT;
ALTER TABLE events ADD COLUMN thread TEXT;      -- where to push it when there is no linked chat
ALTER TABLE events ADD COLUMN push TEXT;        -- delivered, unknown, undelivered: REASON; NULL: not yet
ALTER TABLE events ADD COLUMN push_at INTEGER;  -- when to push it; NULL: no longer, or never
CREATE UNIQUE INDEX events_by_key ON events (key);
CREATE INDEX events_waiting ON events (push_at) WHERE push_at IS NOT NULL;

-- Why nothing is pushed to a linked chat (the person blocked the bot); NULL: pushes go out.
ALTER TABLE identity_links ADD COLUMN paused_reason TEXT;
