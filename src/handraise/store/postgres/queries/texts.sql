-- A known text is locked, so that nobody prunes it before it is mentioned.
-- name: keep_text
INSERT INTO handraise.texts (hash, content, mentioned) VALUES (:hash, :content, 0)
ON CONFLICT (hash) DO UPDATE SET mentioned = texts.mentioned

-- name: use_text
INSERT INTO handraise.ask_texts (ask, hash) VALUES (:ask, :hash) ON CONFLICT DO NOTHING

-- name: texts
SELECT hash, content FROM handraise.texts WHERE hash = ANY (:hashes)

-- name: prune_ask_texts
DELETE FROM handraise.ask_texts WHERE NOT EXISTS (SELECT 1 FROM handraise.asks WHERE asks.id = ask_texts.ask)

-- Keep the texts of asks that stay, even if no recent item refers to them.
-- name: prune_texts
DELETE FROM handraise.texts
WHERE mentioned <= :up_to AND NOT EXISTS (SELECT 1 FROM handraise.ask_texts WHERE ask_texts.hash = texts.hash)
