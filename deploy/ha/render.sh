#!/usr/bin/env bash
# Fills the templates beside it with the variables of a file: `render.sh cluster.env FOLDER`. A variable without a value
# is an error.
set -euo pipefail
templates=$(dirname "$(readlink -f "$0")")
set -a
# shellcheck source=/dev/null
. "$(readlink -f "$1")"
set +a
umask 077
mkdir -p "$2"
for name in etcd.yml patroni.yml haproxy.cfg pgbouncer.ini pgbouncer.users database.sql; do
    variables=$({ grep -o '\${[A-Z0-9_]*}' "$templates/$name" || true; } | sort -u)
    for variable in $variables; do
        variable=${variable:2:-1}
        [ -n "${!variable-}" ] || { echo "$1: $variable has no value, and $name needs it" >&2; exit 1; }
    done
    # Only these: a dollar sign in a template may have another meaning.
    envsubst "$(tr '\n' ' ' <<<"$variables")" <"$templates/$name" >"$2/$name"
done
