-- The run ledger: one row a turn, kept for good. Times are epoch milliseconds.
CREATE TABLE runs (
  id TEXT PRIMARY KEY,              -- of a firing: made from the row's id and the due minute
  actor TEXT NOT NULL,
  grants TEXT NOT NULL,             -- JSON list of the grants the turn runs under
  source TEXT NOT NULL,             -- schedule, job, message, catalog, ingress
  name TEXT,                        -- the schedule's or job's name
  row_id TEXT,                      -- the schedule's row id
  due_at INTEGER,
  claimed_at INTEGER,
  trigger TEXT,                     -- tick, refire, hand
  by TEXT,                          -- who pressed
  channel TEXT,
  thread TEXT,                      -- NULL until the first step opened it
  slot TEXT,                        -- what only one live run may hold besides its thread
  lead TEXT,                        -- the first line of a thread that is yet to be opened
  text TEXT NOT NULL,
  route TEXT,
  effect TEXT,
  state TEXT NOT NULL,
  code TEXT,
  output TEXT,
  delivery TEXT,
  coalesced INTEGER NOT NULL DEFAULT 0,
  admitted_at INTEGER NOT NULL,
  started_at INTEGER,
  touched_at INTEGER NOT NULL,      -- the last step's start: what the watchdog judges a stall by
  resumed INTEGER NOT NULL DEFAULT 0,
  finished_at INTEGER
) STRICT;

-- A thread has one slot: at most one live run holds it.
CREATE UNIQUE INDEX runs_live_thread ON runs (thread) WHERE state = 'running' AND thread IS NOT NULL;
CREATE UNIQUE INDEX runs_live_slot ON runs (slot) WHERE state = 'running' AND slot IS NOT NULL;
CREATE INDEX runs_by_admission ON runs (admitted_at DESC);
CREATE INDEX runs_by_name ON runs (name, admitted_at DESC) WHERE name IS NOT NULL;
CREATE INDEX runs_live ON runs (touched_at) WHERE state = 'running';

-- The web channel's threads and messages.
CREATE TABLE threads (
  key TEXT PRIMARY KEY,             -- web:CHANNEL/ID
  channel TEXT NOT NULL,
  title TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX threads_by_channel ON threads (channel, updated_at DESC);

CREATE TABLE messages (
  id TEXT PRIMARY KEY,              -- the poster's key, so that posting twice keeps one
  thread TEXT NOT NULL REFERENCES threads (key),
  author TEXT NOT NULL,             -- an actor's id, or 'bot'
  text TEXT NOT NULL,
  run_id TEXT,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX messages_by_thread ON messages (thread);  -- in it, the order of rowids

-- Commands handed back, to be confirmed by the same actor within ten minutes, once.
CREATE TABLE handbacks (
  code TEXT PRIMARY KEY,
  actor TEXT NOT NULL,
  command TEXT NOT NULL,            -- in chat form
  made_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
