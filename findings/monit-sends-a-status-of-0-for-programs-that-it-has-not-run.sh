#!/usr/bin/env bash
# Monit 5.33.0 (Debian package monit =1:5.33.0-1), `set mmonit`, its messages to M/Monit.
#
# The first message after a start has `<status>0</status>` for every program that Monit has not run yet, also for one
# that fails each time. Only `<monitor>2</monitor>` tells that the test has not ended. Each message says
# `encoding="ISO-8859-1"`, and has the bytes of a program's output as they are, such as UTF-8.
#
# Expected: a status of 0 is that of a test that has passed; a reader of XML that decodes by the declaration shows the
# text as it was written.
#
# Seen, of a program that writes "é" and ends with 3 each time:
#   status 0, monitor 2
#   status 2097152, monitor 1, output "Ã©" as the declaration reads it, "é" as UTF-8
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${sink:-}" "${monit:-}" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq "monit=1:5.33.0-1" 2>/dev/null
dpkg -x ./monit_*.deb .
cat >sink.cjs <<'JS'
const { createServer } = require("node:http")
const { appendFileSync, writeFileSync } = require("node:fs")
const server = createServer((request, response) => {
  const parts = []
  request.on("data", (part) => parts.push(part)).on("end", () => {
    const body = Buffer.concat(parts)
    const [, status, monitor] = /<service name="bad">.*?<status>(\d+)<\/status>.*?<monitor>(\d)<\/monitor>/.exec(body.toString("latin1")) ?? []
    const place = /<program>.*?<output><!\[CDATA\[(.*?)\]\]>/.exec(body.toString("latin1"))
    const isLatin = body.toString("latin1").startsWith('<?xml version="1.0" encoding="ISO-8859-1"?>')
    const utf8 = place === null ? "" : Buffer.from(place[1], "latin1").toString("utf8")
    const output = place === null ? "" : `, output "${isLatin ? place[1] : utf8}" as the declaration reads it, "${utf8}" as UTF-8`
    appendFileSync("seen", `status ${status}, monitor ${monitor}${output}\n`)
    response.end()
  })
})
server.listen(0, "127.0.0.1", () => writeFileSync("port", String(server.address().port)))
JS
node sink.cjs &
sink=$!
until [ -s port ]; do sleep 0.1; done
printf '#!/bin/sh\necho "\303\251"\nexit 3\n' >bad.sh
chmod 755 bad.sh
cat >monitrc <<END
set daemon 1
set pidfile $work/pid
set idfile $work/id
set statefile $work/state
set mmonit http://u:p@127.0.0.1:$(cat port)/collector and register without credentials
check program bad with path "$work/bad.sh"
  if status != 0 then alert
END
chmod 600 monitrc
usr/bin/monit -c monitrc -I >/dev/null 2>&1 &
monit=$!
for _ in $(seq 200); do
  grep -q output seen 2>/dev/null && break
  sleep 0.1
done
first=$(head -1 seen)
later=$(grep -m1 output seen)
echo "$first"
echo "$later"
[ "$first" = "status 0, monitor 2" ]
[ "$later" = 'status 2097152, monitor 1, output "Ã©" as the declaration reads it, "é" as UTF-8' ]
