import { assert, describe, it } from "@effect/vitest"
import { hostField, isHost } from "../src/hosts.ts"

describe("a host", () => {
  it.each([
    "shop",
    "shop.example",
    "shop.example.",
    "Shop.Example",
    "münchen.example",
    "MÜNCHEN.example.",
    "xn--mnchen-3ya.example",
    "例え。テスト",
    "_dmarc.shop-1.example",
    "my_host",
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "2130706433",
    "::1",
    "2001:DB8::1",
    "::ffff:127.0.0.1",
    `${"a".repeat(63)}.example`,
  ])("may be %s", (text) => assert.isTrue(isHost(text)))

  it.each([
    "",
    ".",
    "a b",
    "shop.example:443",
    "https://shop.example",
    "shop.example/health",
    "user@shop.example",
    "shop..example",
    ".shop.example",
    "256.1.1.1",
    "1.2.3.4.5",
    "[::1]",
    "::1::",
    "1:2",
    "fe80::1%eth0",
    "%6cocalhost",
    "a\nb",
    `${"a".repeat(64)}.example`,
    `${"a.".repeat(127)}aa`,
  ])("is not %j", (text) => assert.isFalse(isHost(text)))

  it.each([
    ["https://Shop.example./a", "shop.example"],
    ["https://shop.example.:8443/", "shop.example:8443"],
    ["https://münchen.example.:443/", "xn--mnchen-3ya.example"],
    ["http://[::1]:80/", "[::1]"],
    ["http://127.0.0.1.:81/", "127.0.0.1:81"],
  ])("of %s is %s in a request", (address, expected) => {
    assert.strictEqual(hostField(new URL(address)), expected)
  })
})
