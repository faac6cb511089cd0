-- What a person keeps: all of it is the owner's alone. Times are epoch milliseconds.
CREATE TABLE memories (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  text TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX memories_by_owner ON memories (owner, created_at DESC);

CREATE TABLE mcp_servers (
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (owner, name)
) STRICT;

CREATE TABLE skills (
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  writes INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (owner, name)
) STRICT;

CREATE TABLE identity_links (
  owner TEXT NOT NULL,
  surface TEXT NOT NULL,
  subject TEXT NOT NULL,
  linked_at INTEGER NOT NULL,
  PRIMARY KEY (owner, surface)
) STRICT;

CREATE TABLE link_codes (
  code TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  surface TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

-- The owners' event ring.
CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  data TEXT,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX events_by_owner ON events (owner, seq DESC);
