-- On which machine a person runs a session in a terminal; empty if the hub runs it.
ALTER TABLE sessions ADD COLUMN terminal TEXT NOT NULL DEFAULT ''
