-- name: save_rule
INSERT INTO handraise.rules (id, rule) VALUES (:id, :rule)
ON CONFLICT (id) DO UPDATE SET rule = excluded.rule

-- name: remove_rule
DELETE FROM handraise.rules WHERE id = :id

-- name: rules
SELECT rule FROM handraise.rules ORDER BY position
