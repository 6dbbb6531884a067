import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { MAX_BODY_BYTES } from "@tocsin/adapter-http/request/RequestBody"
import { definitions } from "@tocsin/server/settings/Settings"
import { proxyKinds, publishedText, SITE } from "./Proxy.ts"

const MIB = 1_048_576
/** How long Tocsin keeps an idle connection (packages/adapter-http/src/NodeServer.ts). */
const KEPT_SECONDS = 65

const pathOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const page = readFileSync(pathOf("docs/install/proxies.md"), "utf8")
const textOf = (file: string): string => {
  const kind = proxyKinds.find((candidate) => candidate.file === file)
  return kind === undefined ? assert.fail(`no proxy of ${file}`) : publishedText(kind)
}
const numberIn = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? Number.NaN)

// Properties that show without the programs themselves; proxies.test.ts runs them where they are.
describe("the configurations of proxies", () => {
  it("are all run by tests and named on the page", () => {
    const files = readdirSync(pathOf("deploy/proxies"))
    assert.sameMembers(
      files,
      proxyKinds.map(({ file }) => file),
    )
    for (const file of files) assert.include(page, `deploy/proxies/${file}`)
  })

  it("name existing settings and the default port", () => {
    for (const text of [page, ...proxyKinds.map(publishedText)]) {
      for (const [name] of text.matchAll(/SERVICE_[A-Z_]+[A-Z]/g)) assert.property(definitions, name)
    }
    for (const kind of proxyKinds) {
      assert.include(publishedText(kind), `127.0.0.1:${definitions.SERVICE_PORT.fallback}`)
      assert.include(publishedText(kind), "SERVICE_TRUST_PROXY=1")
      assert.include(publishedText(kind), SITE)
    }
  })

  it("close idle connections before Tocsin does", () => {
    assert.isBelow(numberIn(textOf("nginx.conf"), /keepalive_timeout (\d+)s/), KEPT_SECONDS)
    assert.isBelow(numberIn(textOf("Caddyfile"), /keepalive (\d+)s/), KEPT_SECONDS)
  })

  it("takes two servers by the command of the page on scaling", () => {
    const scaling = readFileSync(pathOf("docs/scaling.md"), "utf8")
    const script = /sed -i '([^']+)' \/etc\/nginx\/conf\.d/.exec(scaling)?.[1] ?? assert.fail("no command")
    const text = execFileSync("sed", [script], { input: textOf("nginx.conf"), encoding: "utf8" })
    const upstream = /upstream tocsin \{([^}]*)\}/.exec(text)?.[1] ?? ""
    assert.deepStrictEqual(
      Array.from(upstream.matchAll(/^ {4}(?:server|hash) (.*);$/gm), ([, value]) => value),
      ["$remote_addr consistent", "127.0.0.1:8081", "127.0.0.1:8082"],
    )
  })

  it("allow larger bodies than Tocsin, so that it answers itself", () => {
    assert.isAbove(numberIn(textOf("nginx.conf"), /client_max_body_size (\d+)m/) * MIB, MAX_BODY_BYTES)
    assert.isAtLeast(numberIn(textOf("nginx.conf"), /client_body_buffer_size (\d+)m/) * MIB, MAX_BODY_BYTES)
    assert.notMatch(textOf("Caddyfile"), /request_body/)
  })

  it("set HSTS, restrict metrics to this machine, and forward the needed headers", () => {
    for (const kind of proxyKinds) {
      assert.match(publishedText(kind), /Strict-Transport-Security "max-age=31536000"/)
      assert.match(publishedText(kind), /127\.0\.0\.1;?\s+(?:allow )?::1/)
    }
    for (const field of ["X-Forwarded-For", "X-Request-Id", "Host", "Connection"]) {
      assert.match(textOf("nginx.conf"), new RegExp(`proxy_set_header ${field} `))
    }
  })
})
