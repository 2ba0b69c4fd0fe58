-- name: record_of
SELECT value FROM records WHERE kind = :kind AND "key" = :key

-- name: records
SELECT "key", value FROM records WHERE kind = :kind ORDER BY "key"

-- name: add_record
INSERT INTO records (kind, "key", value) VALUES (:kind, :key, :value) ON CONFLICT DO NOTHING

-- name: change_record
UPDATE records SET value = :value WHERE kind = :kind AND "key" = :key AND value = :only_if

-- name: remove_record
DELETE FROM records WHERE kind = :kind AND "key" = :key
