import { assert, describe, it } from "@effect/vitest"
import { clientAddress, clientOf } from "../../src/request/clientAddress.ts"

const addressOf = (trustedHops: number, forwardedFor?: string): string | undefined =>
  clientAddress({ peer: "192.0.2.1", forwardedFor }, trustedHops)

describe("the client's address", () => {
  it.each([
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::FFFF:c000:207", "192.0.2.7"],
    ["0:0:0:0:0:ffff:192.0.2.7", "192.0.2.7"],
    ["::1:ffff:192.0.2.7", "0:0:0:0::/64"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0DB8:1:2::", "2001:db8:1:2::/64"],
    ["2001:db8::6", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["1:2:3::192.0.2.7", "1:2:3:0::/64"],
  ])("%s counts as %s", (address, client) => {
    assert.strictEqual(clientOf(address), client)
  })

  it("is that of the connection unless a proxy is trusted", () => {
    assert.strictEqual(addressOf(0, "198.51.100.9"), "192.0.2.1")
    assert.strictEqual(addressOf(1), "192.0.2.1")
  })

  it("is so many from the end of X-Forwarded-For as proxies are trusted", () => {
    const forwarded = "203.0.113.3, 203.0.113.2,203.0.113.1"
    assert.strictEqual(addressOf(1, forwarded), "203.0.113.1")
    assert.strictEqual(addressOf(2, forwarded), "203.0.113.2")
    assert.strictEqual(addressOf(9, forwarded), "203.0.113.3")
  })

  it.each([
    ["203.0.113.1:80", "203.0.113.1"],
    ["[2001:db8:1:2::7]:443", "2001:db8:1:2::/64"],
    ["[2001:db8:1:2::7]", "2001:db8:1:2::/64"],
    ["[::ffff:203.0.113.1]:443", "203.0.113.1"],
  ])("is without its port where a proxy adds that: %s", (entry, client) => {
    assert.strictEqual(addressOf(1, `198.51.100.9:1, ${entry}`), client)
    assert.strictEqual(addressOf(2, `${entry},198.51.100.9:1`), client)
  })

  it("is that of the connection where a proxy wrote none", () => {
    for (const odd of ["", "unknown", "203.0.113.1,", "203.0.113.1:", "[203.0.113.1", "[]:80", "host:80"]) {
      assert.strictEqual(addressOf(1, odd), "192.0.2.1", odd)
    }
  })
})
