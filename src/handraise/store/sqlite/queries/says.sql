-- name: queue_say
INSERT INTO says (id, session, content, "by", source, at, taken_at, mentioned)
VALUES (:id, :session, :content, :by, :source, :at, :taken_at, :mentioned)
ON CONFLICT DO NOTHING

-- name: take_say
UPDATE says SET taken_at = :at, mentioned = :mentioned
WHERE id = :id AND taken_at IS NULL
RETURNING session

-- name: return_say
UPDATE says SET taken_at = NULL, mentioned = :mentioned
WHERE id = :id AND taken_at IS NOT NULL
RETURNING id, session, content, "by", source, at, taken_at

-- name: withdraw_say
DELETE FROM says WHERE id = :id AND taken_at IS NULL
RETURNING session

-- name: prune_says
DELETE FROM says WHERE mentioned <= :up_to AND taken_at IS NOT NULL

-- name: says
SELECT id, session, content, "by", source, at, taken_at FROM says
WHERE session = :session ORDER BY number

-- name: says_waiting
SELECT id, session, content, "by", source, at, taken_at FROM says
WHERE session = :session AND taken_at IS NULL ORDER BY number
