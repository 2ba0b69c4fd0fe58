-- name: save_project
INSERT INTO projects (id, name, options, created_at) VALUES (:id, :name, :options, :created_at)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, options = excluded.options, created_at = excluded.created_at

-- name: remove_places
DELETE FROM places WHERE project = :project

-- name: save_place
INSERT INTO places (project, machine, path) VALUES (:project, :machine, :path)

-- name: name_machine_of_places
UPDATE places SET machine = :machine WHERE machine = ''

-- name: project
SELECT
    id, name, coalesce(here.path, ''), options, created_at,
    (
        SELECT json_group_array(json_object('machine', machine, 'path', path) ORDER BY machine)
        FROM places WHERE project = id AND machine <> :machine
    )
FROM projects LEFT JOIN places AS here ON here.project = id AND here.machine = :machine
WHERE id = :key OR name = :key OR here.path = :key
ORDER BY id = :key DESC, name = :key DESC LIMIT 1

-- name: projects
SELECT
    id, name, coalesce(here.path, ''), options, created_at,
    (
        SELECT json_group_array(json_object('machine', machine, 'path', path) ORDER BY machine)
        FROM places WHERE project = id AND machine <> :machine
    )
FROM projects LEFT JOIN places AS here ON here.project = id AND here.machine = :machine
ORDER BY name

-- name: remove_project
DELETE FROM projects
WHERE id = :id
    AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.project = projects.id AND sessions.phase <> 'ended')
