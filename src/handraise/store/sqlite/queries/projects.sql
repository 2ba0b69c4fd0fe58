-- name: save_project
INSERT INTO projects (id, name, path, options, created_at) VALUES (:id, :name, :path, :options, :created_at)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, path = excluded.path, options = excluded.options, created_at = excluded.created_at

-- name: project
SELECT id, name, path, options, created_at FROM projects
WHERE id = :key OR name = :key OR path = :key
ORDER BY id = :key DESC, name = :key DESC LIMIT 1

-- name: projects
SELECT id, name, path, options, created_at FROM projects ORDER BY name
