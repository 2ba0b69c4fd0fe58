-- name: record
INSERT INTO audit (at, what, "by", name, source, ask, session, digest, rule, detail)
VALUES (:at, :what, :by, :name, :source, :ask, :session, :digest, :rule, :detail)

-- The newest stays, so that its number isn't given again.
-- name: prune_audit
DELETE FROM audit WHERE number <= :up_to AND number < (SELECT max(number) FROM audit)

-- As with asks, each statement names the one condition to start from.
-- name: audit
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM audit
WHERE number > :after AND number < :before AND at >= :since AND at < :until
ORDER BY number LIMIT :limit

-- name: audit_newest
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM audit
WHERE number > :after AND number < :before AND at >= :since AND at < :until
ORDER BY number DESC LIMIT :limit

-- name: audit_of_ask
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM audit
WHERE ask = :ask AND number > :after AND number < :before AND at >= :since AND at < :until
    AND (:session IS NULL OR session = :session) AND (:name IS NULL OR name = :name) AND (:what IS NULL OR what = :what)
ORDER BY number LIMIT :limit

-- name: audit_of_ask_newest
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM audit
WHERE ask = :ask AND number > :after AND number < :before AND at >= :since AND at < :until
    AND (:session IS NULL OR session = :session) AND (:name IS NULL OR name = :name) AND (:what IS NULL OR what = :what)
ORDER BY number DESC LIMIT :limit

-- name: audit_of_session
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM audit
WHERE session = :session AND number > :after AND number < :before AND at >= :since AND at < :until
    AND (:name IS NULL OR name = :name) AND (:what IS NULL OR what = :what)
ORDER BY number LIMIT :limit

-- name: audit_of_session_newest
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM audit
WHERE session = :session AND number > :after AND number < :before AND at >= :since AND at < :until
    AND (:name IS NULL OR name = :name) AND (:what IS NULL OR what = :what)
ORDER BY number DESC LIMIT :limit

-- name: audit_of_name
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM audit
WHERE name = :name AND number > :after AND number < :before AND at >= :since AND at < :until
    AND (:what IS NULL OR what = :what)
ORDER BY number LIMIT :limit

-- name: audit_of_name_newest
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM audit
WHERE name = :name AND number > :after AND number < :before AND at >= :since AND at < :until
    AND (:what IS NULL OR what = :what)
ORDER BY number DESC LIMIT :limit

-- name: audit_of_what
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM audit
WHERE what = :what AND number > :after AND number < :before AND at >= :since AND at < :until
ORDER BY number LIMIT :limit

-- name: audit_of_what_newest
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM audit
WHERE what = :what AND number > :after AND number < :before AND at >= :since AND at < :until
ORDER BY number DESC LIMIT :limit
