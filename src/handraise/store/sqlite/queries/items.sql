-- name: add_item
INSERT INTO items (cursor, session, at, content) VALUES (?, ?, ?, ?)

-- name: cursors
SELECT pruned, max(pruned, coalesce((SELECT max(cursor) FROM items), 0)) FROM feed

-- name: items_after
SELECT cursor, session, at, content FROM items
WHERE cursor > :after AND cursor < :before
ORDER BY cursor LIMIT :limit

-- name: items_before
SELECT cursor, session, at, content FROM items
WHERE cursor < :before
ORDER BY cursor DESC LIMIT :limit

-- name: session_items_after
SELECT cursor, session, at, content FROM items
WHERE session = :session AND cursor > :after AND cursor < :before
ORDER BY cursor LIMIT :limit

-- name: session_items_before
SELECT cursor, session, at, content FROM items
WHERE session = :session AND cursor < :before
ORDER BY cursor DESC LIMIT :limit

-- The words of a search stand in the content as they are, or it is stored in pieces.
-- name: search
SELECT cursor, session, at, content FROM items
WHERE cursor > :after AND cursor < :before AND (substr(content, 1, 1) = x'01' OR (
    CAST(content AS TEXT) LIKE :first AND CAST(content AS TEXT) LIKE :second AND CAST(content AS TEXT) LIKE :third))
ORDER BY cursor DESC LIMIT :limit

-- name: session_search
SELECT cursor, session, at, content FROM items
WHERE session = :session AND cursor > :after AND cursor < :before AND (substr(content, 1, 1) = x'01' OR (
    CAST(content AS TEXT) LIKE :first AND CAST(content AS TEXT) LIKE :second AND CAST(content AS TEXT) LIKE :third))
ORDER BY cursor DESC LIMIT :limit

-- name: mark_pruned
UPDATE feed SET pruned = :up_to WHERE pruned < :up_to

-- name: prune_items
DELETE FROM items WHERE cursor <= :up_to
