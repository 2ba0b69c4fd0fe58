-- name: open_ask
INSERT INTO asks (
    id, session, project, kind, body, tool, reference, tool_use, request, opened_at,
    asker, agent, why, expires_at, state, settlement, late, delivered_at, mentioned, machine
) VALUES (
    :id, :session, :project, :kind, :body, :tool, :reference, :tool_use, :request, :opened_at,
    :asker, :agent, :why, :expires_at, :state, :settlement, :late, :delivered_at, :mentioned, :machine
) ON CONFLICT DO NOTHING

-- name: settle_ask
UPDATE asks SET state = :state, settlement = :settlement, late = :late, mentioned = :mentioned
WHERE id = :id AND state = 'open'
RETURNING
    id, session, project, kind, body, tool, reference, tool_use, request, opened_at,
    asker, agent, why, expires_at, settlement, late, delivered_at, machine

-- name: record_late
UPDATE asks SET late = :late, mentioned = :mentioned
WHERE id = :id AND state = 'expired' AND late IS NULL
RETURNING
    id, session, project, kind, body, tool, reference, tool_use, request, opened_at,
    asker, agent, why, expires_at, settlement, late, delivered_at, machine

-- name: hold_ask
UPDATE asks SET machine = :machine
WHERE id = :id AND state = 'open' AND session IS NULL AND machine <> :machine
RETURNING
    id, session, project, kind, body, tool, reference, tool_use, request, opened_at,
    asker, agent, why, expires_at, settlement, late, delivered_at, machine

-- name: deliver_ask
UPDATE asks SET delivered_at = :at, mentioned = :mentioned
WHERE id = :id AND delivered_at IS NULL AND state IN ('answered', 'expired')
RETURNING session

-- Keep answers that a running session has not received yet, however old.
-- name: prune_asks
DELETE FROM asks
WHERE mentioned <= :up_to AND state <> 'open' AND NOT (
    state <> 'withdrawn' AND delivered_at IS NULL
    AND EXISTS (SELECT 1 FROM sessions WHERE sessions.id = asks.session AND sessions.phase <> 'ended')
)

-- name: ask
SELECT
    id, session, project, kind, body, tool, reference, tool_use, request, opened_at,
    asker, agent, why, expires_at, settlement, late, delivered_at, machine
FROM asks WHERE id = :id

-- The optional filters hide the indexes from the planner, so each statement names the one condition to start from.
-- name: asks
SELECT
    id, session, project, kind, body, tool, reference, tool_use, request, opened_at,
    asker, agent, why, expires_at, settlement, late, delivered_at, machine
FROM asks
WHERE number > :after AND number < :before AND (:kind IS NULL OR kind = :kind)
ORDER BY number LIMIT :limit

-- name: asks_newest
SELECT
    id, session, project, kind, body, tool, reference, tool_use, request, opened_at,
    asker, agent, why, expires_at, settlement, late, delivered_at, machine
FROM asks
WHERE number > :after AND number < :before AND (:kind IS NULL OR kind = :kind)
ORDER BY number DESC LIMIT :limit

-- name: asks_in_state
SELECT
    id, session, project, kind, body, tool, reference, tool_use, request, opened_at,
    asker, agent, why, expires_at, settlement, late, delivered_at, machine
FROM asks
WHERE state = :state AND number > :after AND number < :before AND (:kind IS NULL OR kind = :kind)
ORDER BY number LIMIT :limit

-- name: asks_in_state_newest
SELECT
    id, session, project, kind, body, tool, reference, tool_use, request, opened_at,
    asker, agent, why, expires_at, settlement, late, delivered_at, machine
FROM asks
WHERE state = :state AND number > :after AND number < :before AND (:kind IS NULL OR kind = :kind)
ORDER BY number DESC LIMIT :limit

-- name: asks_of_session
SELECT
    id, session, project, kind, body, tool, reference, tool_use, request, opened_at,
    asker, agent, why, expires_at, settlement, late, delivered_at, machine
FROM asks
WHERE session = :session AND number > :after AND number < :before
    AND (:state IS NULL OR state = :state) AND (:kind IS NULL OR kind = :kind)
ORDER BY number LIMIT :limit

-- name: asks_of_session_newest
SELECT
    id, session, project, kind, body, tool, reference, tool_use, request, opened_at,
    asker, agent, why, expires_at, settlement, late, delivered_at, machine
FROM asks
WHERE session = :session AND number > :after AND number < :before
    AND (:state IS NULL OR state = :state) AND (:kind IS NULL OR kind = :kind)
ORDER BY number DESC LIMIT :limit

-- Without the hint the planner goes through every ask that was ever answered.
-- name: asks_undelivered
SELECT
    id, session, project, kind, body, tool, reference, tool_use, request, opened_at,
    asker, agent, why, expires_at, settlement, late, delivered_at, machine
FROM asks INDEXED BY asks_undelivered
WHERE delivered_at IS NULL AND state IN ('answered', 'expired')
    AND (:session IS NULL OR session = :session) AND (:state IS NULL OR state = :state)
    AND (:kind IS NULL OR kind = :kind)
ORDER BY number LIMIT :limit

-- name: ask_number
SELECT number FROM asks WHERE id = :id

-- name: open_asks
SELECT session, count(*) FROM asks WHERE state = 'open' AND session IS NOT NULL GROUP BY session

-- name: name_machine_of_asks
UPDATE asks SET machine = :machine WHERE machine = ''
