-- Takes the next cursors and numbers, and with them the lock that orders all commits: nothing slow may follow.
-- name: publish
WITH counted AS (
    UPDATE handraise.feed SET newest = newest + :items, audited = audited + :entries, rules = rules + :changes
    RETURNING newest - :items AS base, audited - :entries AS audited, rules
), added AS (
    INSERT INTO handraise.items (cursor, session, at, content)
    SELECT counted.base + item.position, item.session, item.at, item.content
    FROM counted, unnest(:sessions::text[], :times::bigint[], :contents::bytea[])
        WITH ORDINALITY AS item (session, at, content, position)
)
SELECT base, audited, rules FROM counted

-- name: cursors
SELECT pruned, newest FROM handraise.feed

-- name: newest
SELECT newest, rules FROM handraise.feed

-- name: items_after
SELECT cursor, session, at, content FROM handraise.items
WHERE cursor > :after AND cursor < :before
ORDER BY cursor LIMIT :limit

-- name: items_before
SELECT cursor, session, at, content FROM handraise.items
WHERE cursor < :before
ORDER BY cursor DESC LIMIT :limit

-- name: session_items_after
SELECT cursor, session, at, content FROM handraise.items
WHERE session = :session AND cursor > :after AND cursor < :before
ORDER BY cursor LIMIT :limit

-- name: session_items_before
SELECT cursor, session, at, content FROM handraise.items
WHERE session = :session AND cursor < :before
ORDER BY cursor DESC LIMIT :limit

-- name: mark_pruned
UPDATE handraise.feed SET pruned = :up_to WHERE pruned < :up_to

-- name: prune_items
DELETE FROM handraise.items WHERE cursor <= :up_to

-- name: mention_asks
UPDATE handraise.asks SET mentioned = mention.cursor
FROM unnest(:ids::text[], :cursors::bigint[]) AS mention (id, cursor) WHERE asks.id = mention.id

-- name: mention_says
UPDATE handraise.says SET mentioned = mention.cursor
FROM unnest(:ids::text[], :cursors::bigint[]) AS mention (id, cursor) WHERE says.id = mention.id

-- name: mention_instructions
UPDATE handraise.instructions SET mentioned = mention.cursor
FROM unnest(:ids::text[], :cursors::bigint[]) AS mention (id, cursor) WHERE instructions.id = mention.id

-- What is stored, with an allowance for each row and its index entries. The size of the files would say little: what is
-- deleted leaves room in them that is used again. The size of a long value is known without reading it.
-- name: size
SELECT sum(bytes)::bigint FROM (
    SELECT coalesce(sum(pg_column_size(content) + 120), 0) AS bytes FROM handraise.items
    UNION ALL SELECT coalesce(sum(pg_column_size(content) + 120), 0) FROM handraise.texts
    UNION ALL SELECT coalesce(sum(pg_column_size(body) + pg_column_size(request) + 700), 0) FROM handraise.asks
    UNION ALL SELECT coalesce(sum(pg_column_size(content) + 300), 0) FROM handraise.says
    UNION ALL SELECT coalesce(sum(pg_column_size(memory) + 120), 0) FROM handraise.checkpoints
    UNION ALL SELECT coalesce(sum(pg_column_size(detail) + 400), 0) FROM handraise.audit
    UNION ALL SELECT 600 * count(*) FROM handraise.sessions
) AS tables
