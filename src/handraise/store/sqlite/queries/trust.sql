-- name: save_trust
INSERT INTO trust (directory, trust) VALUES (:directory, :trust)
ON CONFLICT (directory) DO UPDATE SET trust = excluded.trust

-- name: remove_trust
DELETE FROM trust WHERE directory = :directory

-- name: trust
SELECT trust FROM trust WHERE directory = :directory

-- name: trusts
SELECT trust FROM trust ORDER BY directory
