-- An agent's token may be bound to a project.
ALTER TABLE tokens ADD COLUMN project TEXT;
