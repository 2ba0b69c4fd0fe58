-- Times are microseconds since 1970, UTC. `mentioned` is the cursor of the last item about a row.

CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    project TEXT,
    directory TEXT NOT NULL,
    claude_id TEXT NOT NULL,
    title TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    phase TEXT NOT NULL,
    mode TEXT NOT NULL,
    model TEXT,
    cost_usd REAL NOT NULL,
    run INTEGER NOT NULL,
    ended TEXT,
    stuck_since INTEGER,
    forked_from TEXT
) STRICT;
CREATE INDEX sessions_by_age ON sessions (created_at);
CREATE INDEX sessions_by_phase ON sessions (phase, created_at);

CREATE TABLE places (
    session TEXT PRIMARY KEY,
    run INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    memory BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE asks (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session TEXT,
    project TEXT,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    tool TEXT NOT NULL,
    reference TEXT NOT NULL,
    tool_use TEXT,
    request TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    asker TEXT NOT NULL,
    agent TEXT,
    why TEXT NOT NULL,
    expires_at INTEGER,
    state TEXT NOT NULL,
    settlement TEXT,
    late TEXT,
    delivered_at INTEGER,
    mentioned INTEGER NOT NULL,
    CHECK ((state = 'open') = (settlement IS NULL)),
    CHECK (late IS NULL OR state = 'expired')
) STRICT;
-- An asker is a session, or an agent without one; it opens each of its references once.
CREATE UNIQUE INDEX asks_by_reference ON asks (coalesce('s:' || session, 'a:' || agent, 'a:'), reference);
CREATE INDEX asks_by_state ON asks (state);
CREATE INDEX asks_by_session ON asks (session);
CREATE INDEX asks_undelivered ON asks (number) WHERE delivered_at IS NULL AND state IN ('answered', 'expired');
CREATE INDEX asks_by_mention ON asks (mentioned);

CREATE TABLE says (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    content TEXT NOT NULL,
    "by" TEXT NOT NULL,
    source TEXT NOT NULL,
    at INTEGER NOT NULL,
    taken_at INTEGER,
    mentioned INTEGER NOT NULL
) STRICT;
CREATE INDEX says_by_session ON says (session);
CREATE INDEX says_waiting ON says (session) WHERE taken_at IS NULL;
CREATE INDEX says_by_mention ON says (mentioned);

CREATE TABLE items (
    cursor INTEGER PRIMARY KEY,
    session TEXT,
    at INTEGER NOT NULL,
    content BLOB NOT NULL
) STRICT;
CREATE INDEX items_by_session ON items (session);

-- One row. A cursor is never given twice, so the last one that was pruned outlives its item.
CREATE TABLE feed (pruned INTEGER NOT NULL) STRICT;
INSERT INTO feed VALUES (0);

CREATE TABLE rules (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    rule TEXT NOT NULL
) STRICT;

CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    path TEXT NOT NULL UNIQUE,
    options TEXT NOT NULL,
    created_at INTEGER
) STRICT;
