-- name: save_rule
INSERT INTO rules (id, rule) VALUES (:id, :rule)
ON CONFLICT (id) DO UPDATE SET rule = excluded.rule

-- name: remove_rule
DELETE FROM rules WHERE id = :id

-- name: rules
SELECT rule FROM rules ORDER BY position
