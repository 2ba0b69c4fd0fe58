-- name: save_session
INSERT INTO sessions (
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

-- Writes no index. Most updates change nothing that an index has.
-- name: update_session
UPDATE sessions SET
    project = :project, directory = :directory, claude_id = :claude_id, title = :title, changed_at = :changed_at,
    mode = :mode, model = :model, cost_usd = :cost_usd, run = :run, ended = :ended, stuck_since = :stuck_since,
    forked_from = :forked_from, usage = :usage, terminal = :terminal, dialog = :dialog
WHERE id = :id AND created_at = :created_at AND phase = :phase AND machine = :machine

-- name: session
SELECT
    id, project, directory, claude_id, title, created_at, changed_at, phase,
    mode, model, cost_usd, run, ended, stuck_since, forked_from, usage, terminal, dialog, machine
FROM sessions WHERE id = :id

-- name: sessions
SELECT
    id, project, directory, claude_id, title, created_at, changed_at, phase,
    mode, model, cost_usd, run, ended, stuck_since, forked_from, usage, terminal, dialog, machine
FROM sessions ORDER BY created_at DESC, rowid DESC

-- name: sessions_in_phases
SELECT
    id, project, directory, claude_id, title, created_at, changed_at, phase,
    mode, model, cost_usd, run, ended, stuck_since, forked_from, usage, terminal, dialog, machine
FROM sessions WHERE phase IN (SELECT value FROM json_each(:phases)) ORDER BY created_at DESC, rowid DESC

-- name: advance
INSERT INTO checkpoints (session, run, "offset", memory) VALUES (:session, :run, :offset, :memory)
ON CONFLICT (session) DO UPDATE SET run = excluded.run, "offset" = excluded."offset", memory = excluded.memory
WHERE (excluded.run, excluded."offset") >= (checkpoints.run, checkpoints."offset")

-- name: checkpoint
SELECT session, run, "offset", memory FROM checkpoints WHERE session = :session

-- name: save_line
INSERT INTO lines (session, line) VALUES (?, ?) ON CONFLICT (session) DO UPDATE SET line = excluded.line

-- name: last_lines
SELECT session, line FROM lines

-- name: last_line
SELECT session, line FROM lines WHERE session = :session

-- name: name_machine_of_sessions
UPDATE sessions SET machine = :machine WHERE machine = ''

-- name: remove_session
DELETE FROM sessions
WHERE id = :session AND phase = 'ended'
    AND NOT EXISTS (SELECT 1 FROM asks WHERE asks.session = sessions.id AND asks.state = 'open')

-- name: remove_items_of_session
DELETE FROM items WHERE session = :session

-- name: remove_says_of_session
DELETE FROM says WHERE session = :session

-- name: remove_asks_of_session
DELETE FROM asks WHERE session = :session

-- name: remove_instructions_of_session
DELETE FROM instructions WHERE session = :session

-- name: remove_checkpoints_of_session
DELETE FROM checkpoints WHERE session = :session

-- name: remove_lines_of_session
DELETE FROM lines WHERE session = :session
