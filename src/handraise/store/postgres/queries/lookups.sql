-- Nothing comes back if the machine is away or unknown.
-- name: ask_lookup
INSERT INTO handraise.lookups (id, machine, asker, question, until)
SELECT :id, id, :asker, :question, handraise.clock() + :microseconds
FROM handraise.machines WHERE id = :machine AND away_since IS NULL
ON CONFLICT (id) DO UPDATE SET until = excluded.until
RETURNING id

-- Each is taken once, and only by the hub that has the machine. What nobody took or read in time goes, too.
-- name: take_lookups
WITH overdue AS (
    DELETE FROM handraise.lookups WHERE until < handraise.clock()
), unread AS (
    DELETE FROM handraise.lookup_pieces WHERE until < handraise.clock()
), taken AS (
    DELETE FROM handraise.lookups
    WHERE id IN (
        SELECT id FROM handraise.lookups WHERE machine = :machine AND until >= handraise.clock()
        ORDER BY number LIMIT :most FOR UPDATE SKIP LOCKED
    ) AND EXISTS (SELECT 1 FROM handraise.machines WHERE id = :machine AND epoch = :epoch::bigint)
    RETURNING number, id, asker, question, until - handraise.clock() AS time_left
)
SELECT id, asker, question, time_left FROM taken ORDER BY number

-- name: withdraw_lookup
DELETE FROM handraise.lookups WHERE id = :id RETURNING id

-- name: add_piece
INSERT INTO handraise.lookup_pieces (lookup, number, is_last, content, until)
VALUES (:lookup, :number, :is_last, :content, handraise.clock() + :microseconds) ON CONFLICT DO NOTHING

-- name: take_pieces
WITH taken AS (
    DELETE FROM handraise.lookup_pieces WHERE lookup = :lookup AND number < :before RETURNING number, is_last, content
)
SELECT number, is_last, content FROM taken ORDER BY number
