-- Takes the next cursors and numbers, and with them the lock that orders all commits: everything that needs one is
-- written here at once, and nothing slow may follow. `at` and the like are positions, which count from 1.
-- name: publish
WITH counted AS (
    UPDATE handraise.feed SET newest = newest + :items, audited = audited + :entries, rules = rules + :changes
    RETURNING newest - :items AS base, audited - :entries AS audited, rules
), added AS (
    INSERT INTO handraise.items (cursor, session, at, content)
    SELECT counted.base + item.position, item.session, item.at, item.content
    FROM counted, unnest(:sessions::text[], :times::bigint[], :contents::bytea[])
        WITH ORDINALITY AS item (session, at, content, position)
), advanced AS (
    INSERT INTO handraise.checkpoints (session, run, "offset", memory)
    SELECT session, run, "offset", memory
    FROM unnest(:advanced::text[], :runs::bigint[], :offsets::bigint[], :memories::bytea[])
        AS place (session, run, "offset", memory)
    ON CONFLICT (session) DO UPDATE SET run = excluded.run, "offset" = excluded."offset", memory = excluded.memory
    WHERE (excluded.run, excluded."offset") >= (checkpoints.run, checkpoints."offset")
    RETURNING 1
), lined AS (
    INSERT INTO handraise.lines (session, line)
    SELECT session, line FROM unnest(:lined::text[], :lines::text[]) AS latest (session, line)
    ON CONFLICT (session) DO UPDATE SET line = excluded.line
), mentioned_asks AS (
    UPDATE handraise.asks SET mentioned = counted.base + mention.position
    FROM counted, unnest(:asks::text[], :asks_at::bigint[]) AS mention (id, position) WHERE asks.id = mention.id
), mentioned_says AS (
    UPDATE handraise.says SET mentioned = counted.base + mention.position
    FROM counted, unnest(:says::text[], :says_at::bigint[]) AS mention (id, position) WHERE says.id = mention.id
), mentioned_instructions AS (
    UPDATE handraise.instructions SET mentioned = counted.base + mention.position
    FROM counted, unnest(:instructions::text[], :instructions_at::bigint[]) AS mention (id, position)
    WHERE instructions.id = mention.id
), mentioned_texts AS (
    UPDATE handraise.texts SET mentioned = greatest(mentioned, counted.base + mention.position)
    FROM counted, unnest(:texts::bytea[], :texts_at::bigint[]) AS mention (hash, position)
    WHERE texts.hash = mention.hash
)
SELECT base, audited, rules, (SELECT count(*) FROM advanced) FROM counted

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

-- The words of a search stand in the content as they are, or it is stored in pieces.
-- name: search
SELECT cursor, session, at, content FROM handraise.items
WHERE cursor > :after AND cursor < :before AND (substr(content, 1, 1) = '\x01' OR (
    convert_from(content, 'UTF8') ILIKE :first AND convert_from(content, 'UTF8') ILIKE :second AND convert_from(content, 'UTF8') ILIKE :third))
ORDER BY cursor DESC LIMIT :limit

-- name: session_search
SELECT cursor, session, at, content FROM handraise.items
WHERE session = :session AND cursor > :after AND cursor < :before AND (substr(content, 1, 1) = '\x01' OR (
    convert_from(content, 'UTF8') ILIKE :first AND convert_from(content, 'UTF8') ILIKE :second AND convert_from(content, 'UTF8') ILIKE :third))
ORDER BY cursor DESC LIMIT :limit

-- name: mark_pruned
UPDATE handraise.feed SET pruned = :up_to WHERE pruned < :up_to

-- name: prune_items
DELETE FROM handraise.items WHERE cursor <= :up_to

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
