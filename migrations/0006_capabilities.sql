-- What a person's agent may use. Times are epoch milliseconds.

-- A memory's text without case and accents: what recall looks in.
ALTER TABLE memories ADD COLUMN folded TEXT NOT NULL DEFAULT '';

-- An MCP server's bearer secret, sealed for its owner, name and address.
ALTER TABLE mcp_servers ADD COLUMN secret TEXT;

-- Codes by which a person hands a secret in, outside any chat: used once, for ten minutes.
CREATE TABLE secret_codes (
  code TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,               -- the MCP server's
  expires_at INTEGER NOT NULL
) STRICT;

-- What was taken from a skill's document when it was added.
ALTER TABLE skills ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE skills ADD COLUMN hash TEXT NOT NULL DEFAULT '';        -- SHA-256 of the document
ALTER TABLE skills ADD COLUMN operations TEXT NOT NULL DEFAULT '[]'; -- JSON, bounded

-- Calls of personal tools that change the outside: a call is made once, whatever runs again.
CREATE TABLE tool_calls (
  key TEXT PRIMARY KEY,             -- the call's own, of its run
  begun_at INTEGER NOT NULL,
  result TEXT                       -- JSON; NULL until its end is known
) STRICT;
CREATE INDEX tool_calls_by_age ON tool_calls (begun_at);
