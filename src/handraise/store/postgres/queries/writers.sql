-- The lock on the machine's row makes a claim wait for this batch, and this batch for a claim. Checkpoints are locked in
-- one order, so that two hubs never wait for each other there.
-- name: begin_batch
WITH receipt AS (
    INSERT INTO handraise.writers (id, number, at) VALUES (:writer, :number, handraise.clock())
    ON CONFLICT (id) DO UPDATE SET number = excluded.number, at = excluded.at
), locked AS MATERIALIZED (
    SELECT session, run, "offset" FROM handraise.checkpoints
    WHERE session = ANY (:sessions::text[]) ORDER BY session FOR UPDATE
)
SELECT
    (SELECT epoch FROM handraise.machines WHERE id = :machine FOR KEY SHARE),
    ARRAY(SELECT session FROM locked), ARRAY(SELECT run FROM locked), ARRAY(SELECT "offset" FROM locked)

-- There before the first batch, so that whoever asks for it waits for a batch that is still being committed.
-- name: keep_receipt
INSERT INTO handraise.writers (id, number, at) VALUES (:writer, 0, handraise.clock()) ON CONFLICT (id) DO NOTHING

-- name: receipt
SELECT number FROM handraise.writers WHERE id = :writer FOR UPDATE

-- Without waiting for anyone.
-- name: seen_receipt
SELECT number FROM handraise.writers WHERE id = :writer

-- name: remove_receipt
DELETE FROM handraise.writers WHERE id = :writer

-- name: remove_old_receipts
DELETE FROM handraise.writers WHERE at < handraise.clock() - :age

-- Connections of this writer that the server has not given up yet: they may hold locks.
-- name: end_lost_connections
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = :name AND pid <> pg_backend_pid() AND datname = current_database()

-- name: notify
SELECT pg_notify(channel, payload) FROM unnest(:channels::text[], :payloads::text[]) AS message (channel, payload)

-- name: channels
SELECT pg_listening_channels()

-- name: time
SELECT handraise.clock()
