CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    last_used_at INTEGER,
    revoked_at INTEGER,
    kind TEXT NOT NULL
) STRICT;
CREATE INDEX tokens_by_age ON tokens (created_at);

-- Nothing is ever taken away from here, so that a number is never given twice.
CREATE TABLE audit (
    number INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    what TEXT NOT NULL,
    "by" TEXT NOT NULL,
    name TEXT NOT NULL,
    source TEXT NOT NULL,
    ask TEXT,
    session TEXT,
    digest TEXT,
    rule TEXT,
    detail TEXT NOT NULL
) STRICT;
CREATE INDEX audit_by_ask ON audit (ask);
CREATE INDEX audit_by_session ON audit (session);
CREATE INDEX audit_by_name ON audit (name);
CREATE INDEX audit_by_what ON audit (what);
