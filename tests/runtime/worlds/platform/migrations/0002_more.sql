-- Two statements, and a semicolon in a string.
ALTER TABLE notes ADD COLUMN author TEXT;
INSERT INTO notes (text, author) VALUES ('first; of all', 'migration');
