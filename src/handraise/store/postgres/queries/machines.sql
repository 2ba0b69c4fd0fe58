-- name: save_machine
INSERT INTO handraise.machines (id, name, version, "limit", started_at, seen_at, epoch, away_since)
VALUES (:id, :name, :version, :limit, :started_at, :seen_at, :epoch, :away_since)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, version = excluded.version, "limit" = excluded."limit", started_at = excluded.started_at,
    seen_at = excluded.seen_at, epoch = excluded.epoch, away_since = excluded.away_since

-- Claims are made one after another, so that two new machines never get the same name.
-- name: lock_claims
SELECT pg_advisory_xact_lock(hashtextextended('handraise.claims', 0))

-- Waits until no batch of an earlier hub of this machine is open.
-- name: lock_machine
SELECT id, name, version, "limit", started_at, seen_at, epoch, away_since FROM handraise.machines
WHERE id = :id FOR UPDATE

-- name: machine_names
SELECT name FROM handraise.machines

-- name: machines
SELECT id, name, version, "limit", started_at, seen_at, epoch, away_since FROM handraise.machines ORDER BY name

-- name: rename_machine
UPDATE handraise.machines SET name = :name WHERE id = :id
RETURNING id, name, version, "limit", started_at, seen_at, epoch, away_since

-- name: beat
WITH before AS (SELECT away_since FROM handraise.machines WHERE id = :id)
UPDATE handraise.machines SET seen_at = handraise.clock(), away_since = NULL WHERE id = :id
RETURNING id, name, version, "limit", started_at, seen_at, epoch, away_since, (SELECT away_since FROM before)

-- name: find_away
UPDATE handraise.machines SET away_since = seen_at
WHERE away_since IS NULL AND id <> :id AND seen_at < handraise.clock() - :lease
RETURNING id, name, version, "limit", started_at, seen_at, epoch, away_since

-- name: release_machine
UPDATE handraise.machines SET away_since = handraise.clock() WHERE id = :id
RETURNING id, name, version, "limit", started_at, seen_at, epoch, away_since

-- name: forget_machine
DELETE FROM handraise.machines
WHERE id = :id AND away_since IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM handraise.sessions WHERE sessions.machine = machines.id AND sessions.phase <> 'ended'
    )
RETURNING id, name, version, "limit", started_at, seen_at, epoch, away_since
