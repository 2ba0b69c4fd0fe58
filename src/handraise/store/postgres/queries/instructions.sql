-- name: give_instruction
INSERT INTO handraise.instructions (
    id, machine, session, kind, value, words, "by", source, at, state, reason, result, epoch, settled_at, mentioned
) VALUES (
    :id, :machine, :session, :kind, :value, :words, :by, :source, :at, :state, :reason, :result, :epoch, :settled_at, 0
) ON CONFLICT DO NOTHING

-- name: take_instruction
UPDATE handraise.instructions SET state = 'taken', epoch = :epoch WHERE id = :id AND state = 'waiting'

-- name: settle_instruction
UPDATE handraise.instructions SET state = :state, reason = :reason, result = :result, settled_at = :settled_at
WHERE id = :id AND (state = 'waiting' OR (state = 'taken' AND :state <> 'withdrawn'))
RETURNING id, machine, session, kind, value, words, "by", source, at, state, reason, result, epoch, settled_at

-- name: instruction
SELECT id, machine, session, kind, value, words, "by", source, at, state, reason, result, epoch, settled_at
FROM handraise.instructions WHERE id = :id

-- As with asks, each statement names the one condition to start from.
-- name: instructions_unsettled
SELECT id, machine, session, kind, value, words, "by", source, at, state, reason, result, epoch, settled_at
FROM handraise.instructions
WHERE settled_at IS NULL
    AND (:machine::text IS NULL OR machine = :machine) AND (:session::text IS NULL OR session = :session)
ORDER BY number

-- name: instructions_of_session
SELECT id, machine, session, kind, value, words, "by", source, at, state, reason, result, epoch, settled_at
FROM handraise.instructions
WHERE session = :session AND (:machine::text IS NULL OR machine = :machine)
ORDER BY number

-- name: instructions
SELECT id, machine, session, kind, value, words, "by", source, at, state, reason, result, epoch, settled_at
FROM handraise.instructions
WHERE :machine::text IS NULL OR machine = :machine
ORDER BY number

-- name: prune_instructions
DELETE FROM handraise.instructions WHERE mentioned <= :up_to AND settled_at IS NOT NULL
