-- Long texts, kept once. `mentioned` is the cursor of the last item that has one.
CREATE TABLE texts (
    hash BLOB PRIMARY KEY,
    content BLOB NOT NULL,
    mentioned INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX texts_by_mention ON texts (mentioned);

-- Which asks need which.
CREATE TABLE ask_texts (
    ask TEXT NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (ask, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX ask_texts_by_hash ON ask_texts (hash);
