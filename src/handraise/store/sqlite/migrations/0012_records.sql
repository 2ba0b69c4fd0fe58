-- Small values of parts of the hub, such as keys and devices that several hubs share. This database has them so that
-- they can be copied into it.
CREATE TABLE records (
    kind TEXT NOT NULL,
    "key" TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (kind, "key")
) STRICT, WITHOUT ROWID;
