-- name: record
INSERT INTO audit (at, what, "by", name, source, ask, session, digest, rule, detail)
VALUES (:at, :what, :by, :name, :source, :ask, :session, :digest, :rule, :detail)

-- As with asks, each statement names the one condition to start from.
-- name: audit
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM audit
WHERE number > :after
ORDER BY number LIMIT :limit

-- name: audit_of_ask
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM audit
WHERE ask = :ask AND number > :after AND (:session IS NULL OR session = :session) AND (:name IS NULL OR name = :name) AND (:what IS NULL OR what = :what)
ORDER BY number LIMIT :limit

-- name: audit_of_session
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM audit
WHERE session = :session AND number > :after AND (:name IS NULL OR name = :name) AND (:what IS NULL OR what = :what)
ORDER BY number LIMIT :limit

-- name: audit_of_name
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM audit
WHERE name = :name AND number > :after AND (:what IS NULL OR what = :what)
ORDER BY number LIMIT :limit

-- name: audit_of_what
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM audit
WHERE what = :what AND number > :after
ORDER BY number LIMIT :limit
