-- What the chat services (Slack, Telegram) need remembered. Times are epoch milliseconds.

-- What was posted, and the threads that were opened, once a key: the services know no idempotency
-- keys. A text is split into parts; begun > sent: a part was handed over and its answer was lost.
CREATE TABLE chat_posts (
  surface TEXT NOT NULL,
  key TEXT NOT NULL,                -- the poster's
  thread TEXT NOT NULL,
  parts INTEGER NOT NULL,
  begun INTEGER NOT NULL,
  sent INTEGER NOT NULL,            -- sent = parts: delivered
  at INTEGER NOT NULL,
  PRIMARY KEY (surface, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX chat_posts_by_thread ON chat_posts (thread);
CREATE INDEX chat_posts_by_age ON chat_posts (at);

-- Names that were looked up.
CREATE TABLE chat_names (
  id TEXT PRIMARY KEY,              -- slack:U042; telegram:ID of the bot itself
  name TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;

-- Where the answers of Slack's slash commands go: each has a thread of its own.
CREATE TABLE slack_replies (
  thread TEXT PRIMARY KEY,
  url TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

-- What is known of Telegram groups.
CREATE TABLE telegram_chats (
  id TEXT PRIMARY KEY,
  forum INTEGER,                    -- whether it has topics; NULL: not known
  moved_to TEXT                     -- the supergroup that it became
) STRICT;
