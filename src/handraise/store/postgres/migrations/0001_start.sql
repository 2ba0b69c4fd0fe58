-- Times are microseconds since 1970, UTC. `mentioned` is the cursor of the last item about a row.
-- Indexed text is compared byte by byte (COLLATE "C"): a new version of the system's collations can't damage an index.
-- Text that can be long is indexed by its MD5: an index entry must be shorter than 2,700 bytes.

CREATE FUNCTION handraise.clock() RETURNS bigint LANGUAGE sql VOLATILE
AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;

CREATE TABLE handraise.sessions (
    number bigint GENERATED ALWAYS AS IDENTITY,
    id text COLLATE "C" PRIMARY KEY,
    project text,
    directory text NOT NULL,
    claude_id text NOT NULL,
    title text NOT NULL,
    created_at bigint NOT NULL,
    changed_at bigint NOT NULL,
    phase text COLLATE "C" NOT NULL,
    mode text NOT NULL,
    model text,
    cost_usd double precision NOT NULL,
    run bigint NOT NULL,
    ended text,
    stuck_since bigint,
    forked_from text,
    usage text,
    terminal text NOT NULL,
    dialog text NOT NULL,
    machine text COLLATE "C" NOT NULL
);
CREATE INDEX sessions_by_age ON handraise.sessions (created_at, number);
CREATE INDEX sessions_by_phase ON handraise.sessions (phase, created_at);
CREATE INDEX sessions_by_machine ON handraise.sessions (machine, phase);

CREATE TABLE handraise.checkpoints (
    session text COLLATE "C" PRIMARY KEY,
    run bigint NOT NULL,
    "offset" bigint NOT NULL,
    memory bytea NOT NULL
) WITH (fillfactor = 50);

-- What each session did last, in one line.
CREATE TABLE handraise.lines (
    session text COLLATE "C" PRIMARY KEY,
    line text NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE handraise.asks (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    session text COLLATE "C",
    project text,
    kind text NOT NULL,
    body text NOT NULL,
    tool text NOT NULL,
    reference text NOT NULL,
    tool_use text,
    request text NOT NULL,
    opened_at bigint NOT NULL,
    asker text NOT NULL,
    agent text,
    why text NOT NULL,
    expires_at bigint,
    state text COLLATE "C" NOT NULL,
    settlement text,
    late text,
    delivered_at bigint,
    mentioned bigint NOT NULL,
    machine text COLLATE "C" NOT NULL,
    CHECK ((state = 'open') = (settlement IS NULL)),
    CHECK (late IS NULL OR state = 'expired')
);
-- An asker is a session, or an agent without one; it opens each of its references once.
CREATE UNIQUE INDEX asks_by_reference
ON handraise.asks (md5(coalesce('s:' || session, 'a:' || agent, 'a:')), md5(reference));
CREATE INDEX asks_by_state ON handraise.asks (state, number);
CREATE INDEX asks_by_session ON handraise.asks (session, number);
CREATE INDEX asks_undelivered ON handraise.asks (number)
WHERE delivered_at IS NULL AND state IN ('answered', 'expired');
CREATE INDEX asks_by_mention ON handraise.asks (mentioned);
CREATE INDEX asks_without_machine ON handraise.asks (machine) WHERE machine = '';

CREATE TABLE handraise.says (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    session text COLLATE "C" NOT NULL,
    content text NOT NULL,
    "by" text NOT NULL,
    source text NOT NULL,
    at bigint NOT NULL,
    taken_at bigint,
    mentioned bigint NOT NULL
);
CREATE INDEX says_by_session ON handraise.says (session, number);
CREATE INDEX says_waiting ON handraise.says (session, number) WHERE taken_at IS NULL;
CREATE INDEX says_by_mention ON handraise.says (mentioned);

CREATE TABLE handraise.items (
    cursor bigint PRIMARY KEY,
    session text COLLATE "C",
    at bigint NOT NULL,
    content bytea NOT NULL
);
CREATE INDEX items_by_session ON handraise.items (session, cursor);

-- One row. Whoever updates it holds its lock until the commit, so cursors become visible in their order. A cursor is
-- never given twice, so the last one that was pruned outlives its item. `rules` counts changes of rules and projects.
CREATE TABLE handraise.feed (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    newest bigint NOT NULL,
    pruned bigint NOT NULL,
    audited bigint NOT NULL,
    rules bigint NOT NULL
) WITH (fillfactor = 10, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
INSERT INTO handraise.feed (newest, pruned, audited, rules) VALUES (0, 0, 0, 0);

-- The number of the last batch that each hub committed. A hub that lost its connection during a commit finds out here
-- whether it happened.
CREATE TABLE handraise.writers (
    id text COLLATE "C" PRIMARY KEY,
    number bigint NOT NULL,
    at bigint NOT NULL
) WITH (fillfactor = 10, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- Long texts, kept once and already compressed. `mentioned` is the cursor of the last item that has one.
CREATE TABLE handraise.texts (
    hash bytea PRIMARY KEY,
    content bytea NOT NULL,
    mentioned bigint NOT NULL
);
ALTER TABLE handraise.texts ALTER content SET STORAGE EXTERNAL;
CREATE INDEX texts_by_mention ON handraise.texts (mentioned);

-- Which asks need which.
CREATE TABLE handraise.ask_texts (
    ask text COLLATE "C" NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (ask, hash)
);
CREATE INDEX ask_texts_by_hash ON handraise.ask_texts (hash);

CREATE TABLE handraise.rules (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    rule text NOT NULL
);

-- What people decided about what a directory brings.
CREATE TABLE handraise.trust (
    machine text COLLATE "C" NOT NULL,
    directory text COLLATE "C" NOT NULL,
    trust text NOT NULL
);
CREATE UNIQUE INDEX trust_by_directory ON handraise.trust (machine, md5(directory));

CREATE TABLE handraise.projects (
    id text COLLATE "C" PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    options text NOT NULL,
    created_at bigint
);
CREATE UNIQUE INDEX projects_by_name ON handraise.projects (md5(name));

-- A project's directory on each machine.
CREATE TABLE handraise.places (
    project text COLLATE "C" NOT NULL,
    machine text COLLATE "C" NOT NULL,
    path text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, machine)
);
CREATE UNIQUE INDEX places_by_path ON handraise.places (machine, md5(path));

CREATE TABLE handraise.tokens (
    number bigint GENERATED ALWAYS AS IDENTITY,
    id text COLLATE "C" PRIMARY KEY,
    name text NOT NULL,
    role text NOT NULL,
    hash text COLLATE "C" NOT NULL UNIQUE,
    created_at bigint NOT NULL,
    expires_at bigint,
    last_used_at bigint,
    revoked_at bigint,
    kind text NOT NULL,
    project text
);
CREATE INDEX tokens_by_age ON handraise.tokens (created_at, number);

-- Machines that share this inbox. A batch locks the row of its own machine against a change of the epoch.
CREATE TABLE handraise.machines (
    id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version text NOT NULL,
    "limit" bigint NOT NULL,
    started_at bigint NOT NULL,
    seen_at bigint NOT NULL,
    epoch bigint NOT NULL,
    away_since bigint,
    PRIMARY KEY (id)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX machines_by_name ON handraise.machines (name);

-- What people want of sessions on other machines.
CREATE TABLE handraise.instructions (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    machine text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    value text NOT NULL,
    words text,
    "by" text NOT NULL,
    source text NOT NULL,
    at bigint NOT NULL,
    state text NOT NULL,
    reason text NOT NULL,
    result text NOT NULL,
    epoch bigint NOT NULL,
    settled_at bigint,
    mentioned bigint NOT NULL
);
CREATE INDEX instructions_unsettled ON handraise.instructions (machine, number) WHERE settled_at IS NULL;
CREATE INDEX instructions_by_session ON handraise.instructions (session, number);
CREATE INDEX instructions_by_mention ON handraise.instructions (mentioned);

-- Nothing is ever deleted here, so that a number is never given twice.
CREATE TABLE handraise.audit (
    number bigint PRIMARY KEY,
    at bigint NOT NULL,
    what text COLLATE "C" NOT NULL,
    "by" text NOT NULL,
    name text NOT NULL,
    source text NOT NULL,
    ask text COLLATE "C",
    session text COLLATE "C",
    digest text,
    rule text,
    detail text NOT NULL
);
CREATE INDEX audit_by_ask ON handraise.audit (ask, number);
CREATE INDEX audit_by_session ON handraise.audit (session, number);
CREATE INDEX audit_by_name ON handraise.audit (md5(name), number);
CREATE INDEX audit_by_what ON handraise.audit (what, number);
