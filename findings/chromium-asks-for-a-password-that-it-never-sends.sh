#!/usr/bin/env bash
# Chromium 156.0.8078.108 (Debian packages chromium and chromium-common =156.0.8078.108-1~deb12u1; their libraries must be
# there, as after `apt-get install chromium`), driven by playwright-core 1.65.1 (npm).
#
# A page behind a proxy with `WWW-Authenticate: Basic` calls its own origin with fetch and a header `Authorization` of its
# own, such as a bearer token, with the default `credentials: "same-origin"`. At the 401, Chromium asks the reader for a
# password, and sends the page's own header again in place of what was typed; at the next 401 it asks again, without end,
# although the same password has let the page itself through. The call never settles while the reader answers. With
# `credentials: "omit"` there is no question, and the call has its 401.
#
# Expected: by the Fetch standard (HTTP-network-or-cache fetch, 401 and `includeCredentials`), what the reader types is
# used for the next attempt; or, as for a header that the page set, no question at all.
#
# Seen:
#   omit         questions 0, the proxy saw: Bearer; status 401
#   same-origin  questions 5, the proxy saw: Bearer Bearer Bearer Bearer Bearer; status 401
# (Here the reader types the right password four times, and cancels at the fifth question.)
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
version=156.0.8078.108-1~deb12u1
apt-get download -qq "chromium=$version" "chromium-common=$version" 2>/dev/null
for package in ./*.deb; do dpkg -x "$package" .; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund playwright-core@1.65.1 >/dev/null
cat >ask.cjs <<'JS'
const { createServer } = require("node:http")
const { chromium } = require("playwright-core")
const PERSON = { username: "person", password: "right" }
const BASIC = `Basic ${Buffer.from("person:right").toString("base64")}`
const MOST = 5
const main = async () => {
  let seen = []
  const proxy = createServer(({ headers, url }, response) => {
    const { authorization = "" } = headers
    if (url === "/call") seen.push(authorization.split(" ")[0])
    if (authorization === BASIC) return response.writeHead(200, { "content-type": "text/html" }).end("<title>in</title>")
    response.writeHead(401, { "www-authenticate": 'Basic realm="proxy"' }).end()
  })
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve))
  const args = ["--no-sandbox"]
  const browser = await chromium.launch({ executablePath: `${process.cwd()}/usr/lib/chromium/chromium`, args })
  const context = await browser.newContext()
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  await devtools.send("Fetch.enable", { handleAuthRequests: true })
  let questions = 0
  devtools.on("Fetch.requestPaused", ({ requestId }) => devtools.send("Fetch.continueRequest", { requestId }))
  devtools.on("Fetch.authRequired", ({ requestId }) => {
    questions += 1
    const authChallengeResponse =
      questions < MOST ? { response: "ProvideCredentials", ...PERSON } : { response: "CancelAuth" }
    void devtools.send("Fetch.continueWithAuth", { requestId, authChallengeResponse })
  })
  // The password of the page itself is right, and is kept.
  await page.goto(`http://127.0.0.1:${proxy.address().port}/`)
  for (const credentials of ["omit", "same-origin"]) {
    questions = 0
    seen = []
    const status = await page.evaluate(
      (how) => fetch("/call", { headers: { authorization: "Bearer token" }, credentials: how }).then((a) => a.status),
      credentials,
    )
    console.log(`${credentials.padEnd(12)} questions ${questions}, the proxy saw: ${seen.join(" ")}; status ${status}`)
  }
  await browser.close()
  proxy.close()
  proxy.closeAllConnections()
}
main()
JS
node ask.cjs | tee seen.txt
diff seen.txt - <<'TXT'
omit         questions 0, the proxy saw: Bearer; status 401
same-origin  questions 5, the proxy saw: Bearer Bearer Bearer Bearer Bearer; status 401
TXT
echo "The behaviour is as described."
