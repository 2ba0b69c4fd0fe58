-- name: save_session
INSERT INTO handraise.sessions (
    id, project, directory, claude_id, title, created_at, changed_at, phase,
    mode, model, cost_usd, run, ended, stuck_since, forked_from, usage, terminal, dialog, machine
) VALUES (
    :id, :project, :directory, :claude_id, :title, :created_at, :changed_at, :phase,
    :mode, :model, :cost_usd, :run, :ended, :stuck_since, :forked_from, :usage, :terminal, :dialog, :machine
) ON CONFLICT (id) DO UPDATE SET
    project = excluded.project, directory = excluded.directory, claude_id = excluded.claude_id,
    title = excluded.title, created_at = excluded.created_at, changed_at = excluded.changed_at,
    phase = excluded.phase, mode = excluded.mode, model = excluded.model, cost_usd = excluded.cost_usd,
    run = excluded.run, ended = excluded.ended, stuck_since = excluded.stuck_since,
    forked_from = excluded.forked_from, usage = excluded.usage, terminal = excluded.terminal,
    dialog = excluded.dialog, machine = excluded.machine

-- name: session
SELECT
    id, project, directory, claude_id, title, created_at, changed_at, phase,
    mode, model, cost_usd, run, ended, stuck_since, forked_from, usage, terminal, dialog, machine
FROM handraise.sessions WHERE id = :id

-- name: sessions
SELECT
    id, project, directory, claude_id, title, created_at, changed_at, phase,
    mode, model, cost_usd, run, ended, stuck_since, forked_from, usage, terminal, dialog, machine
FROM handraise.sessions ORDER BY created_at DESC, number DESC

-- name: sessions_in_phases
SELECT
    id, project, directory, claude_id, title, created_at, changed_at, phase,
    mode, model, cost_usd, run, ended, stuck_since, forked_from, usage, terminal, dialog, machine
FROM handraise.sessions WHERE phase = ANY (:phases) ORDER BY created_at DESC, number DESC

-- name: advance
INSERT INTO handraise.checkpoints (session, run, "offset", memory)
SELECT session, run, "offset", memory
FROM unnest(:advanced::text[], :runs::bigint[], :offsets::bigint[], :memories::bytea[])
    AS place (session, run, "offset", memory)
ON CONFLICT (session) DO UPDATE SET run = excluded.run, "offset" = excluded."offset", memory = excluded.memory
WHERE (excluded.run, excluded."offset") >= (checkpoints.run, checkpoints."offset")

-- name: checkpoint
SELECT session, run, "offset", memory FROM handraise.checkpoints WHERE session = :session

-- name: last_lines
SELECT session, line FROM handraise.lines

-- name: last_line
SELECT session, line FROM handraise.lines WHERE session = :session

-- name: name_machine_of_sessions
UPDATE handraise.sessions SET machine = :machine WHERE machine = ''

-- name: remove_session
DELETE FROM handraise.sessions
WHERE id = :session AND phase = 'ended'
    AND NOT EXISTS (SELECT 1 FROM handraise.asks WHERE asks.session = sessions.id AND asks.state = 'open')

-- name: remove_items_of_session
DELETE FROM handraise.items WHERE session = :session

-- name: remove_says_of_session
DELETE FROM handraise.says WHERE session = :session

-- name: remove_asks_of_session
DELETE FROM handraise.asks WHERE session = :session

-- name: remove_instructions_of_session
DELETE FROM handraise.instructions WHERE session = :session

-- name: remove_checkpoints_of_session
DELETE FROM handraise.checkpoints WHERE session = :session

-- name: remove_lines_of_session
DELETE FROM handraise.lines WHERE session = :session
