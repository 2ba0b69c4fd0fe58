-- name: queue_say
INSERT INTO handraise.says (id, session, content, "by", source, at, taken_at, mentioned)
VALUES (:id, :session, :content, :by, :source, :at, :taken_at, 0)
ON CONFLICT DO NOTHING

-- name: take_say
UPDATE handraise.says SET taken_at = :at
WHERE id = :id AND taken_at IS NULL
RETURNING session

-- name: return_say
UPDATE handraise.says SET taken_at = NULL
WHERE id = :id AND taken_at IS NOT NULL
RETURNING id, session, content, "by", source, at, taken_at

-- name: withdraw_say
DELETE FROM handraise.says WHERE id = :id AND taken_at IS NULL
RETURNING session

-- name: prune_says
DELETE FROM handraise.says WHERE mentioned <= :up_to AND taken_at IS NOT NULL

-- name: says
SELECT id, session, content, "by", source, at, taken_at FROM handraise.says
WHERE session = :session ORDER BY number

-- name: says_waiting
SELECT id, session, content, "by", source, at, taken_at FROM handraise.says
WHERE session = :session AND taken_at IS NULL ORDER BY number
