#!/bin/sh
# Makes the passwords for compose.yaml, once: one for the database's superuser, one for the hubs.
# Each file can be read only by who needs it: 999 is the database's user, 10001 the hub's.
set -eu
umask 077
folder=${FOLDER:-}
random() { head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'; }

[ -s "$folder/database-secrets/superuser" ] || random >"$folder/database-secrets/superuser"
[ -s "$folder/hub-secrets/password" ] || random >"$folder/hub-secrets/password"
cp "$folder/hub-secrets/password" "$folder/database-secrets/handraise"
chown -R 999 "$folder/database-secrets"
chown -R 10001 "$folder/hub-secrets"
chmod 700 "$folder/database-secrets" "$folder/hub-secrets"
