-- How far each journal was read, under the name that the code uses.
ALTER TABLE places RENAME TO checkpoints
