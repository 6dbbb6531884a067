import { assert, describe, it } from "@effect/vitest"
import { hostField, isHost, originOf, withoutBrackets } from "../../src/formats/hosts.ts"

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
    "[::1]",
    "fe80::1%eth0",
    "[FE80::1%2]",
    "fe80::1%br-lan.7",
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
    "::1::",
    "[::1::]",
    "1:2",
    "[::1",
    "::1]",
    "[[::1]]",
    "[shop]",
    "[127.0.0.1]",
    "fe80::1%",
    "fe80::1%a b",
    "fe80::1%eth0]",
    "shop.example%eth0",
    "127.0.0.1%eth0",
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

  it("is the same with brackets and without, and no other text has some", () => {
    const given = ["[::1]", "::1", "[fe80::1%eth0]", "shop.example"]
    assert.deepStrictEqual(given.map(withoutBrackets), ["::1", "::1", "fe80::1%eth0", "shop.example"])
  })

  it.each([
    ["https://shop.example./a", "https://SHOP.example:443/b", true],
    ["http://shop.example.:8080/", "http://shop.example:8080/", true],
    ["https://shop.example./", "http://shop.example./", false],
    ["https://shop.example./", "https://shop.example:8443/", false],
    ["https://shop.example/", "https://www.shop.example/", false],
  ])("of %s and of %s is one origin: %s", (one, other, isOne) => {
    assert.strictEqual(originOf(new URL(one)) === originOf(new URL(other)), isOne)
  })
})
