#!/usr/bin/env bash
# pgpool-II 4.3.5 (Debian 12: pgpool2 4.3.5-1+deb12u1), before PostgreSQL 15 with a streaming standby, as Debian has both.
#
# With load_balance_mode = on, a SELECT of a table is answered by a standby, while
# `SELECT pg_is_in_recovery()` on the same connections is always answered by the primary: a function that is volatile
# counts as a write, and pg_is_in_recovery() is volatile. So a client that asks each connection whether its server is a
# standby, as libpq's target_session_attrs=read-write and many pools do, hears "no" and still reads what is behind.
# pg_postmaster_start_time() is stable, and shows it.
#
# Expected: a connection on which pg_is_in_recovery() is false reads from the primary
# (https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNECT-TARGET-SESSION-ATTRS). The rule is in
# https://www.pgpool.net/docs/43/en/html/runtime-config-load-balancing.html under write_function_list.
#
# Seen:
#   pg_is_in_recovery() on 20 connections: f
#   servers that answer pg_postmaster_start_time(): 2
#   rows of a table while replay is paused: 0 1
set -euo pipefail
work=$(mktemp -d)
chmod 755 "$work"
cd "$work"
user() { setpriv --reuid=nobody --regid=nogroup --clear-groups env HOME="$work" LD_LIBRARY_PATH="$libraries" "$@"; }
end() {
  [ ! -s run/pgpool.pid ] || kill "$(tr -d "\0" <run/pgpool.pid)" 2>/dev/null || true
  for data in b a; do user "$bin/pg_ctl" -D "$work/run/$data" -m immediate stop >/dev/null 2>&1 || true; done
  rm -rf "$work"
}
mkdir packages run
chmod 777 run
(cd packages && apt-get download -q pgpool2=4.3.5-1+deb12u1 libpgpool2=4.3.5-1+deb12u1 postgresql-15 postgresql-client-15 libpq5 >/dev/null 2>&1)
for package in packages/*.deb; do dpkg -x "$package" "$work"; done
libraries=$work/usr/lib/x86_64-linux-gnu
bin=$work/usr/lib/postgresql/15/bin
trap end EXIT
user "$bin/initdb" -A trust -U postgres -D "$work/run/a" >/dev/null
user "$bin/pg_ctl" -D "$work/run/a" -o "-p 25431 -k $work/run" -l "$work/run/a.log" -w start >/dev/null
user "$bin/pg_basebackup" -h 127.0.0.1 -p 25431 -U postgres -D "$work/run/b" -R -c fast
user "$bin/pg_ctl" -D "$work/run/b" -o "-p 25432 -k $work/run" -l "$work/run/b.log" -w start >/dev/null
cat >run/pgpool.conf <<CONF
listen_addresses = '127.0.0.1'
port = 25433
pcp_port = 25434
socket_dir = '$work/run'
pcp_socket_dir = '$work/run'
backend_clustering_mode = 'streaming_replication'
load_balance_mode = on
backend_hostname0 = '127.0.0.1'
backend_port0 = 25431
backend_weight0 = 1
backend_hostname1 = '127.0.0.1'
backend_port1 = 25432
backend_weight1 = 1
sr_check_user = 'postgres'
sr_check_database = 'postgres'
pid_file_name = '$work/run/pgpool.pid'
CONF
touch run/pool_hba.conf run/pcp.conf
user "$work/usr/sbin/pgpool" -n -f "$work/run/pgpool.conf" -F "$work/run/pcp.conf" -a "$work/run/pool_hba.conf" >run/pgpool.log 2>&1 &
ask() { user "$bin/psql" -h 127.0.0.1 -p "$1" -U postgres -d postgres -Atqc "$2"; }
until ask 25433 "SELECT 1" >/dev/null 2>&1; do sleep 0.2; done
ask 25431 "CREATE TABLE t (n int)"
until [ "$(ask 25432 "SELECT to_regclass('t')")" = t ]; do sleep 0.2; done
ask 25432 "SELECT pg_wal_replay_pause()" >/dev/null
ask 25431 "INSERT INTO t VALUES (1)"
many() { for _ in $(seq 20); do ask 25433 "$1"; done | sort -u; }
{
  echo "pg_is_in_recovery() on 20 connections: $(many "SELECT pg_is_in_recovery()" | paste -sd' ')"
  echo "servers that answer pg_postmaster_start_time(): $(many "SELECT pg_postmaster_start_time()" | wc -l)"
  echo "rows of a table while replay is paused: $(many "SELECT count(*) FROM t" | paste -sd' ')"
} | tee seen.txt
diff seen.txt - <<'TXT'
pg_is_in_recovery() on 20 connections: f
servers that answer pg_postmaster_start_time(): 2
rows of a table while replay is paused: 0 1
TXT
echo "The behaviour is as described."
