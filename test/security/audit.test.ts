import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { auditDependencies } from "../../scripts/auditDependencies.ts"

const advisory = {
  id: 1,
  url: "https://example.org",
  title: "bad",
  severity: "high",
  vulnerable_versions: "*",
}

/** Audits against a registry that knows these advisories; without any, it refuses to answer. */
const auditWith = async (advisories?: object) => {
  const registry = createServer((request, response) => {
    request.resume().on("end", () => {
      const isAsked = advisories !== undefined && request.url?.endsWith("/advisories/bulk") === true
      response.writeHead(isAsked ? 200 : 405, { "content-type": "application/json" })
      response.end(JSON.stringify(isAsked ? advisories : {}))
    })
  }).listen(0, "127.0.0.1")
  await once(registry, "listening")
  try {
    return await auditDependencies(`http://127.0.0.1:${(registry.address() as AddressInfo).port}`)
  } finally {
    registry.close()
  }
}

describe("the audit of dependencies", () => {
  it("fails for a package in a bundle, and not for one that only tests use", async () => {
    const { passed, output } = await auditWith({ preact: [advisory], "axe-core": [advisory] })
    assert.isFalse(passed)
    assert.match(output, /^preact: a vulnerability of severity high$/m)
    assert.notInclude(output, "axe-core")
  })

  it("is left out when the registry gives no answer", async () => {
    const { passed, output } = await auditWith()
    assert.isTrue(passed)
    assert.match(output, /^left out: 405 /)
  })
})
