-- name: save_project
INSERT INTO handraise.projects (id, name, options, created_at) VALUES (:id, :name, :options, :created_at)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, options = excluded.options, created_at = excluded.created_at

-- name: remove_places
DELETE FROM handraise.places WHERE project = :project

-- name: save_place
INSERT INTO handraise.places (project, machine, path) VALUES (:project, :machine, :path)

-- name: name_machine_of_places
UPDATE handraise.places SET machine = :machine WHERE machine = ''

-- name: project
SELECT projects.id, name, coalesce(here.path, ''), options, created_at
FROM handraise.projects
LEFT JOIN handraise.places AS here ON here.project = projects.id AND here.machine = :machine
WHERE projects.id = :key OR name = :key OR here.path = :key
ORDER BY projects.id = :key DESC, name = :key DESC LIMIT 1

-- name: projects
SELECT projects.id, name, coalesce(here.path, ''), options, created_at
FROM handraise.projects
LEFT JOIN handraise.places AS here ON here.project = projects.id AND here.machine = :machine
ORDER BY name

-- name: places_elsewhere
SELECT project, machine, path FROM handraise.places
WHERE project = ANY (:projects) AND machine <> :machine ORDER BY machine

-- name: remove_project
DELETE FROM handraise.projects
WHERE id = :id
    AND NOT EXISTS (SELECT 1 FROM handraise.sessions WHERE sessions.project = projects.id AND sessions.phase <> 'ended')
