-- name: record
INSERT INTO handraise.audit (number, at, what, "by", name, source, ask, session, digest, rule, detail)
VALUES (:number, :at, :what, :by, :name, :source, :ask, :session, :digest, :rule, :detail)

-- As with asks, each statement names the one condition to start from.
-- name: audit
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM handraise.audit
WHERE number > :after AND number < :before AND at >= :since AND at < :until
ORDER BY number LIMIT :limit

-- name: audit_newest
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM handraise.audit
WHERE number > :after AND number < :before AND at >= :since AND at < :until
ORDER BY number DESC LIMIT :limit

-- name: audit_of_ask
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM handraise.audit
WHERE ask = :ask AND number > :after AND number < :before AND at >= :since AND at < :until
    AND (:session::text IS NULL OR session = :session)
    AND (:name::text IS NULL OR name = :name) AND (:what::text IS NULL OR what = :what)
ORDER BY number LIMIT :limit

-- name: audit_of_ask_newest
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM handraise.audit
WHERE ask = :ask AND number > :after AND number < :before AND at >= :since AND at < :until
    AND (:session::text IS NULL OR session = :session)
    AND (:name::text IS NULL OR name = :name) AND (:what::text IS NULL OR what = :what)
ORDER BY number DESC LIMIT :limit

-- name: audit_of_session
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM handraise.audit
WHERE session = :session AND number > :after AND number < :before AND at >= :since AND at < :until
   
    AND (:name::text IS NULL OR name = :name) AND (:what::text IS NULL OR what = :what)
ORDER BY number LIMIT :limit

-- name: audit_of_session_newest
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM handraise.audit
WHERE session = :session AND number > :after AND number < :before AND at >= :since AND at < :until
   
    AND (:name::text IS NULL OR name = :name) AND (:what::text IS NULL OR what = :what)
ORDER BY number DESC LIMIT :limit

-- name: audit_of_name
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM handraise.audit
WHERE md5(name) = md5(:name) AND name = :name AND number > :after AND number < :before AND at >= :since AND at < :until
    AND (:what::text IS NULL OR what = :what)
ORDER BY number LIMIT :limit

-- name: audit_of_name_newest
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM handraise.audit
WHERE md5(name) = md5(:name) AND name = :name AND number > :after AND number < :before AND at >= :since AND at < :until
    AND (:what::text IS NULL OR what = :what)
ORDER BY number DESC LIMIT :limit

-- name: audit_of_what
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM handraise.audit
WHERE what = :what AND number > :after AND number < :before AND at >= :since AND at < :until
ORDER BY number LIMIT :limit

-- name: audit_of_what_newest
SELECT number, at, what, "by", source, ask, session, digest, rule, detail FROM handraise.audit
WHERE what = :what AND number > :after AND number < :before AND at >= :since AND at < :until
ORDER BY number DESC LIMIT :limit
