-- name: save_machine
INSERT INTO machines (id, name, version, "limit", started_at, seen_at, epoch, away_since)
VALUES (:id, :name, :version, :limit, :started_at, :seen_at, :epoch, :away_since)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, version = excluded.version, "limit" = excluded."limit", started_at = excluded.started_at,
    seen_at = excluded.seen_at, epoch = excluded.epoch, away_since = excluded.away_since

-- name: machine
SELECT id, name, version, "limit", started_at, seen_at, epoch, away_since FROM machines WHERE id = :id

-- name: machines
SELECT id, name, version, "limit", started_at, seen_at, epoch, away_since FROM machines ORDER BY name

-- name: forget_machine
DELETE FROM machines
WHERE id = :id AND away_since IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.machine = machines.id AND sessions.phase <> 'ended')
RETURNING id, name, version, "limit", started_at, seen_at, epoch, away_since
