-- Small values of parts of the hub, such as keys and devices.
CREATE TABLE handraise.records (
    kind text COLLATE "C" NOT NULL,
    "key" text COLLATE "C" NOT NULL,
    value bytea NOT NULL,
    PRIMARY KEY (kind, "key")
);

-- What only one hub does at a time. `holder` is a store, not a machine.
CREATE TABLE handraise.leases (
    name text COLLATE "C" PRIMARY KEY,
    holder text NOT NULL,
    until bigint NOT NULL
);

-- Unfinished blocks on their way between machines, and who looks at which session. Both are gone after a crash of the
-- server, and nobody misses them.
CREATE UNLOGGED TABLE handraise.watched (
    session text COLLATE "C" NOT NULL,
    hub text COLLATE "C" NOT NULL,
    until bigint NOT NULL,
    PRIMARY KEY (session, hub)
);
CREATE UNLOGGED TABLE handraise.previews (
    session text COLLATE "C" NOT NULL,
    block text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    at bigint NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (session, block)
);
CREATE SEQUENCE handraise.preview_numbers;
