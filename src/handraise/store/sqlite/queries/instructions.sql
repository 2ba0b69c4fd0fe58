-- name: give_instruction
INSERT INTO instructions (
    id, machine, session, kind, value, words, "by", source, at, state, reason, result, epoch, settled_at, mentioned
) VALUES (
    :id, :machine, :session, :kind, :value, :words, :by, :source, :at, :state, :reason, :result, :epoch,
    :settled_at, :mentioned
) ON CONFLICT DO NOTHING

-- name: take_instruction
UPDATE instructions SET state = 'taken', epoch = :epoch WHERE id = :id AND state = 'waiting'

-- name: settle_instruction
UPDATE instructions SET
    state = :state, reason = :reason, result = :result, settled_at = :settled_at, mentioned = :mentioned
WHERE id = :id AND (state = 'waiting' OR (state = 'taken' AND :state <> 'withdrawn'))
RETURNING id, machine, session, kind, value, words, "by", source, at, state, reason, result, epoch, settled_at

-- name: instruction
SELECT id, machine, session, kind, value, words, "by", source, at, state, reason, result, epoch, settled_at
FROM instructions WHERE id = :id

-- name: instructions
SELECT id, machine, session, kind, value, words, "by", source, at, state, reason, result, epoch, settled_at
FROM instructions
WHERE (:machine IS NULL OR machine = :machine) AND (:session IS NULL OR session = :session)
    AND (settled_at IS NULL OR NOT :unsettled)
ORDER BY number

-- name: prune_instructions
DELETE FROM instructions WHERE mentioned <= :up_to AND settled_at IS NOT NULL
