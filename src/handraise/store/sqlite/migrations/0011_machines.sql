-- Machines that share an inbox. Here there is one; its rows move to a shared database with it.
-- An empty machine is this one: its first hub of this version puts its own id there.
CREATE TABLE machines (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    version TEXT NOT NULL,
    "limit" INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    away_since INTEGER
) STRICT;

ALTER TABLE sessions ADD COLUMN machine TEXT NOT NULL DEFAULT '';
CREATE INDEX sessions_by_machine ON sessions (machine, phase);
ALTER TABLE asks ADD COLUMN machine TEXT NOT NULL DEFAULT '';
CREATE INDEX asks_without_machine ON asks (machine) WHERE machine = '';

-- What people want of sessions on other machines.
CREATE TABLE instructions (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    machine TEXT NOT NULL,
    session TEXT NOT NULL,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    words TEXT,
    "by" TEXT NOT NULL,
    source TEXT NOT NULL,
    at INTEGER NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    result TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    settled_at INTEGER,
    mentioned INTEGER NOT NULL
) STRICT;
CREATE INDEX instructions_unsettled ON instructions (machine) WHERE settled_at IS NULL;
CREATE INDEX instructions_by_session ON instructions (session);

-- A project has a directory on each machine, and a decision about a directory holds on one machine.
CREATE TABLE places (
    project TEXT NOT NULL,
    machine TEXT NOT NULL,
    path TEXT NOT NULL,
    PRIMARY KEY (project, machine),
    UNIQUE (machine, path)
) STRICT, WITHOUT ROWID;
INSERT INTO places (project, machine, path) SELECT id, '', path FROM projects;
CREATE TABLE projects_of_machines (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    options TEXT NOT NULL,
    created_at INTEGER
) STRICT;
INSERT INTO projects_of_machines (id, name, options, created_at) SELECT id, name, options, created_at FROM projects;
DROP TABLE projects;
ALTER TABLE projects_of_machines RENAME TO projects;

CREATE TABLE trust_of_machines (
    machine TEXT NOT NULL,
    directory TEXT NOT NULL,
    trust TEXT NOT NULL,
    PRIMARY KEY (directory, machine)
) STRICT;
INSERT INTO trust_of_machines (machine, directory, trust) SELECT '', directory, trust FROM trust;
DROP TABLE trust;
ALTER TABLE trust_of_machines RENAME TO trust;
