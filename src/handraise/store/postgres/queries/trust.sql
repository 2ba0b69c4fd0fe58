-- name: save_trust
INSERT INTO handraise.trust (machine, directory, trust) VALUES (:machine, :directory, :trust)
ON CONFLICT (machine, md5(directory)) DO UPDATE SET trust = excluded.trust

-- name: remove_trust
DELETE FROM handraise.trust
WHERE machine IN (:machine, :or_machine) AND md5(directory) = md5(:directory) AND directory = :directory

-- name: trust_without_machine
DELETE FROM handraise.trust WHERE machine = '' RETURNING trust

-- name: trust
SELECT trust FROM handraise.trust
WHERE machine IN (:machine, '') AND md5(directory) = md5(:directory) AND directory = :directory
ORDER BY machine DESC LIMIT 1

-- name: trusts
SELECT trust FROM handraise.trust ORDER BY directory, machine
