-- name: save_rule
INSERT INTO rules (id, rule) VALUES (:id, :rule)
ON CONFLICT (id) DO UPDATE SET rule = excluded.rule

-- name: remove_rule
DELETE FROM rules WHERE id = :id

-- name: rules
SELECT rule FROM rules ORDER BY position

-- A directory is on one machine: copied to a shared database, a rule for it must not apply to the same path elsewhere.
-- What denies a path stays as it is, everywhere.
-- name: name_machine_of_rules
UPDATE rules SET rule = json_set(rule, '$.machine', :machine)
WHERE coalesce(json_extract(rule, '$.machine'), '') = ''
    AND (
        json_extract(rule, '$.project') LIKE '/%'
        OR (json_extract(rule, '$.decision') = 'allow' AND json_extract(rule, '$.path') LIKE '/%')
    )
