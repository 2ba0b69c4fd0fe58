-- What one hub asks another, such as for a file's diff, and the answers in pieces. A lookup is gone as soon as it was
-- taken, a piece as soon as it was read, and both after a minute. Unlogged: what is in files never gets into the
-- server's log, nor into what is made from it (replicas, archives).
CREATE UNLOGGED TABLE handraise.lookups (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    machine text COLLATE "C" NOT NULL,
    asker text NOT NULL,
    question bytea NOT NULL,
    until bigint NOT NULL
);
CREATE UNLOGGED TABLE handraise.lookup_pieces (
    lookup text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    is_last boolean NOT NULL,
    content bytea NOT NULL,
    until bigint NOT NULL,
    PRIMARY KEY (lookup, number)
);
ALTER TABLE handraise.lookup_pieces ALTER content SET STORAGE EXTERNAL;
