-- A revocation stays, also when a token that was read before it is saved.
-- name: save_token
INSERT INTO handraise.tokens (id, name, role, hash, created_at, expires_at, last_used_at, revoked_at, kind, project)
VALUES (:id, :name, :role, :hash, :created_at, :expires_at, :last_used_at, :revoked_at, :kind, :project)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, role = excluded.role, hash = excluded.hash, created_at = excluded.created_at,
    expires_at = excluded.expires_at, last_used_at = excluded.last_used_at,
    revoked_at = coalesce(tokens.revoked_at, excluded.revoked_at), kind = excluded.kind,
    project = excluded.project

-- name: spend_code
UPDATE handraise.tokens SET revoked_at = :at
WHERE id = :id AND kind = 'code' AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :at)

-- name: prune_tokens
DELETE FROM handraise.tokens
WHERE least(coalesce(revoked_at, :never::bigint), coalesce(expires_at, :never::bigint))
    < CASE kind WHEN 'code' THEN :codes::bigint ELSE :others::bigint END

-- name: token
SELECT id, name, role, hash, created_at, expires_at, last_used_at, revoked_at, kind, project
FROM handraise.tokens WHERE hash = :hash

-- name: tokens
SELECT id, name, role, hash, created_at, expires_at, last_used_at, revoked_at, kind, project FROM handraise.tokens
ORDER BY created_at, number
