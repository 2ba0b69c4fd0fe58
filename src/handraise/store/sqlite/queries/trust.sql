-- name: save_trust
INSERT INTO trust (machine, directory, trust) VALUES (:machine, :directory, :trust)
ON CONFLICT (directory, machine) DO UPDATE SET trust = excluded.trust

-- name: remove_trust
DELETE FROM trust WHERE directory = :directory AND machine IN (:machine, :or_machine)

-- name: name_machine_of_trust
UPDATE OR REPLACE trust SET machine = :machine, trust = json_set(trust, '$.machine', :machine) WHERE machine = ''

-- name: trust
SELECT trust FROM trust WHERE directory = :directory AND machine IN (:machine, '')
ORDER BY machine DESC LIMIT 1

-- name: trusts
SELECT trust FROM trust ORDER BY directory, machine
