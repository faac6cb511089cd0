-- Whether an agent wrote a job's prompt, and so the text of its runs: such words are never read
-- as a command.
ALTER TABLE jobs ADD COLUMN by_agent INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN by_agent INTEGER NOT NULL DEFAULT 0;
