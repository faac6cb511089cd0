-- What agents did in the runs of the ledger. Times are epoch milliseconds.
ALTER TABLE runs ADD COLUMN model_calls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN tokens_in INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN tokens_out INTEGER NOT NULL DEFAULT 0;

-- The last turns of a thread, which its next turn sees.
CREATE INDEX runs_by_thread ON runs (thread, admitted_at DESC) WHERE thread IS NOT NULL;

-- One row a call of a model or of a tool, in the order of rowids; a step that ran again replaces
-- its row.
CREATE TABLE run_steps (
  run_id TEXT NOT NULL REFERENCES runs (id),
  name TEXT NOT NULL,               -- the durable step's name, such as tool-1-2
  tool TEXT,                        -- the called tool's name; NULL for a model call
  args TEXT,                        -- its arguments, cut; NULL where they are a person's own
  outcome TEXT NOT NULL,            -- ok, failed, refused, malformed
  note TEXT,                        -- why it was not ok, cut
  ms INTEGER NOT NULL,
  tokens_in INTEGER NOT NULL DEFAULT 0,
  tokens_out INTEGER NOT NULL DEFAULT 0,
  at INTEGER NOT NULL,              -- when it began
  UNIQUE (run_id, name)
) STRICT;
