-- The usage limits of the account, as this session's Claude reported them last.
ALTER TABLE sessions ADD COLUMN usage TEXT
