#!/bin/sh
# Runs once, when the database is created: a role that owns its own database and nothing else.
set -eu
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres <<'SQL'
\set password `cat "${SECRETS:-/secrets}/handraise"`
CREATE ROLE handraise LOGIN PASSWORD :'password';
CREATE DATABASE handraise OWNER handraise;
REVOKE ALL ON DATABASE handraise FROM PUBLIC;
SQL
