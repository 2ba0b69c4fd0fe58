-- What each session did last, in one line, so that a list of sessions need not look through their items.
CREATE TABLE lines (
    session TEXT PRIMARY KEY,
    line TEXT NOT NULL
) STRICT, WITHOUT ROWID;
