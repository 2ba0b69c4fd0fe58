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

-- name: size
SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
WHERE relnamespace = 'handraise'::regnamespace AND relkind = 'r'
