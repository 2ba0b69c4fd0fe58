-- What people decided about what a directory brings.
CREATE TABLE trust (
    directory TEXT PRIMARY KEY,
    trust TEXT NOT NULL
) STRICT;
