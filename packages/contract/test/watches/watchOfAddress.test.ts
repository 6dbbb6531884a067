import { assert, describe, it } from "@effect/vitest"
import { isCheckId } from "../../src/formats/Identifiers.ts"
import { addressOfWatch, watchOfAddress } from "../../src/watches/watchOfAddress.ts"

describe("the watch of an address", () => {
  const known: ReadonlyArray<readonly [string, string, object]> = [
    ["https://example.org", "example.org", { http: { url: "https://example.org" } }],
    [
      "http://example.org:81/a/b?c=d",
      "example.org:81_a_b",
      { http: { url: "http://example.org:81/a/b?c=d" } },
    ],
    ["http://[::1]:81/", "::1:81", { http: { url: "http://[::1]:81/" } }],
    ["tcp://db.example.org:5432", "db.example.org:5432", { tcp: { host: "db.example.org", port: 5_432 } }],
    ["tcp://[2001:db8::1]:22", "2001:db8::1:22", { tcp: { host: "2001:db8::1", port: 22 } }],
    ["tls://example.org", "tls:example.org", { tls: { host: "example.org" } }],
    ["tls://example.org:8443", "tls:example.org:8443", { tls: { host: "example.org", port: 8_443 } }],
    ["dns:example.org", "dns:example.org", { dns: { name: "example.org" } }],
    ["ping:example.org", "ping:example.org", { ping: { host: "example.org" } }],
    ["ping:[2001:db8::1]", "ping:2001:db8::1", { ping: { host: "2001:db8::1" } }],
    ["wss://example.org/live?a", "ws:example.org_live", { websocket: { url: "wss://example.org/live?a" } }],
    [`https://example.org/${"ä".repeat(200)}`, "", {}],
  ]
  for (const [address, name, probe] of known)
    it(`reads ${address.slice(0, 40)}`, () => {
      const watch = watchOfAddress(address)
      assert.isTrue(isCheckId(watch?.name), watch?.name)
      if (name !== "") assert.strictEqual(watch?.name, name)
      if (name !== "") assert.deepStrictEqual<object | undefined>(watch?.probe, probe)
      assert.strictEqual(addressOfWatch({ ...watch?.probe }), address)
    })

  it("is none of another text", () => {
    for (const address of [
      "example.org",
      "tcp://db",
      "tcp://db:22/x",
      "tls://",
      "dns:",
      "ping:",
      "ping:-f",
      "ws://me:secret@example.org/",
      "ftp://a",
      "file:///etc",
      "https://me:secret@example.org/",
      "https://example.org/a b",
      "",
    ])
      assert.isUndefined(watchOfAddress(address), address)
  })
})
