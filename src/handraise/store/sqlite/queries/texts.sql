-- name: keep_text
INSERT INTO texts (hash, content, mentioned) VALUES (:hash, :content, :mentioned)
ON CONFLICT (hash) DO UPDATE SET mentioned = max(mentioned, excluded.mentioned)

-- name: use_text
INSERT INTO ask_texts (ask, hash) VALUES (:ask, :hash) ON CONFLICT DO NOTHING

-- name: text
SELECT content FROM texts WHERE hash = :hash

-- name: prune_ask_texts
DELETE FROM ask_texts WHERE NOT EXISTS (SELECT 1 FROM asks WHERE asks.id = ask_texts.ask)

-- Keep the texts of asks that stay, even if no recent item refers to them.
-- name: prune_texts
DELETE FROM texts
WHERE mentioned <= :up_to AND NOT EXISTS (SELECT 1 FROM ask_texts WHERE ask_texts.hash = texts.hash)
