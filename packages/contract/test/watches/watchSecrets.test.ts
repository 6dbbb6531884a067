import { assert, describe, it } from "@effect/vitest"
import type { StoredProbe } from "../../src/watches/WatchProbe.ts"
import {
  haveSameOrigin,
  secretNames,
  secretsOf,
  withoutSecrets,
  withSecrets,
} from "../../src/watches/watchSecrets.ts"

describe("the secrets of a probe", () => {
  const http: NonNullable<StoredProbe["http"]> = { url: "https://a/", method: "POST" }
  const secrets = { headers: { "x-k": "v" }, auth: { bearer: "t" }, body: { a: 1 } }

  it("are taken out and put back", () => {
    const probe = { http: { ...http, ...secrets } }
    assert.deepStrictEqual(secretsOf(probe), secrets)
    assert.deepStrictEqual<unknown>(withoutSecrets(probe), { http })
    assert.deepStrictEqual<unknown>(withSecrets({ http }, secrets), probe)
    assert.deepStrictEqual(secretNames(secrets), ["headers.x-k", "auth", "body"])
    assert.isUndefined(secretsOf({ http }))
  })

  it("have no body where the method sends none", () => {
    const asking: StoredProbe = { http: { url: "https://a/" } }
    assert.notProperty(withSecrets(asking, secrets).http, "body")
  })

  it.each([
    ["https://a/", "https://A:443/b?c", true],
    ["https://a/", "https://a:0443", true],
    ["http://a/", "http://a:80", true],
    ["https://a/", "http://a/", false],
    ["https://a/", "https://a.b/", false],
    ["https://a/", "https://a:444/", false],
    ["https://[::1]:8/", "https://[::1]/", false],
    ["https://[::1]:443/", "https://[::1]/", true],
  ])("of %s are those of %s: %s", (a, b, isSame) => {
    assert.strictEqual(haveSameOrigin({ http: { url: a } }, { http: { url: b } }), isSame)
    assert.isFalse(haveSameOrigin({ http: { url: a } }, {}))
  })
})
