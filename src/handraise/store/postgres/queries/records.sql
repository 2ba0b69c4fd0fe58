-- name: record_of
SELECT value FROM handraise.records WHERE kind = :kind AND "key" = :key

-- name: records
SELECT "key", value FROM handraise.records WHERE kind = :kind ORDER BY "key"

-- name: add_record
INSERT INTO handraise.records (kind, "key", value) VALUES (:kind, :key, :value) ON CONFLICT DO NOTHING

-- name: change_record
UPDATE handraise.records SET value = :value WHERE kind = :kind AND "key" = :key AND value = :only_if

-- name: remove_record
DELETE FROM handraise.records WHERE kind = :kind AND "key" = :key

-- Whether this store may have leases at all, and whether it has this one. One that another has isn't even touched:
-- whoever waits for it costs next to nothing.
-- name: take_lease
WITH fence AS (
    SELECT :epoch::bigint IS NULL
        OR EXISTS (SELECT 1 FROM handraise.machines WHERE id = :machine AND epoch = :epoch) AS is_open
), taken AS (
    INSERT INTO handraise.leases (name, holder, until)
    SELECT :name, :holder, handraise.clock() + :microseconds FROM fence
    WHERE is_open AND NOT EXISTS (
        SELECT 1 FROM handraise.leases WHERE name = :name AND holder <> :holder AND until > handraise.clock()
    )
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
    WHERE leases.holder = excluded.holder OR leases.until <= handraise.clock()
    RETURNING name
)
SELECT (SELECT is_open FROM fence), EXISTS (SELECT 1 FROM taken)

-- name: end_lease
DELETE FROM handraise.leases WHERE name = :name AND holder = :holder
