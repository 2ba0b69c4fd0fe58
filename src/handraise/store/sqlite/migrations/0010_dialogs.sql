-- What waits in a session's terminal and can be answered only there; empty if nothing does.
ALTER TABLE sessions ADD COLUMN dialog TEXT NOT NULL DEFAULT ''
