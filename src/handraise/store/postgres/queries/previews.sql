-- The time from which previews count: those from before may be of blocks that are complete.
-- name: watch
WITH wanted AS (
    INSERT INTO handraise.watched (session, hub, until)
    SELECT session, :hub, handraise.clock() + :microseconds FROM unnest(:sessions::text[]) AS wanted (session)
    ON CONFLICT (session, hub) DO UPDATE SET until = excluded.until
), unwanted AS (
    DELETE FROM handraise.watched WHERE (hub = :hub AND session <> ALL (:sessions::text[])) OR until < handraise.clock()
), old AS (
    DELETE FROM handraise.previews WHERE at < handraise.clock() - :microseconds
)
SELECT handraise.clock()

-- name: watched_elsewhere
SELECT DISTINCT session FROM handraise.watched WHERE hub <> :hub AND until > handraise.clock()

-- name: send_previews
INSERT INTO handraise.previews (session, block, number, at, content)
SELECT session, block, nextval('handraise.preview_numbers'), handraise.clock(), content
FROM unnest(:sessions::text[], :blocks::text[], :contents::bytea[]) AS sent (session, block, content)
ON CONFLICT (session, block) DO UPDATE
SET number = excluded.number, at = excluded.at, content = excluded.content

-- name: new_previews
SELECT previews.session, previews.number, previews.content
FROM handraise.previews
JOIN unnest(:sessions::text[], :numbers::bigint[], :since::bigint[]) AS wanted (session, number, since)
    ON wanted.session = previews.session
WHERE previews.number > wanted.number AND previews.at >= wanted.since
ORDER BY previews.number
