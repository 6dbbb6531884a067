import { assert, describe, it } from "@effect/vitest"
import type { Watch } from "@tocsin/client"
import { labelsIn, labelsField, probeOf, textsOf, watchOf } from "../../../src/features/watches/watchForm.ts"

const page = { http: { url: "https://shop.example/" } }
const jsonOf = (json: string) => {
  const { http } = probeOf(page, { json })
  return http?.expect && "json" in http.expect ? http.expect.json : undefined
}

describe("the form of a watch", () => {
  it.each<readonly [string, Readonly<Record<string, unknown>>]>([
    ["/queue: < 100", { "/queue": "< 100" }],
    ["/queue: <100", { "/queue": "< 100" }],
    ["/queue < 100", { "/queue": "< 100" }],
    ["/queue:>=-1.5", { "/queue": ">= -1.5" }],
    ["queue.items[0]: != 3", { "/queue/items/0": "!= 3" }],
    ["data.0.state.12: ok", { "/data/0/state/12": "ok" }],
    ["$.status: !=ok", { "/status": "!= ok" }],
    ["/status: ok", { "/status": "ok" }],
    ['/status: "ok"', { "/status": "ok" }],
    ['/status: "exists"', { "/status": "= exists" }],
    ['/status: "5"', { "/status": "5" }],
    ["/status: == ok", { "/status": "= ok" }],
    ["/status: = exists", { "/status": "= exists" }],
    ["/status: ~ o*", { "/status": "~ o*" }],
    ["/a: 5\n\n /b : true\n/c: null", { "/a": 5, "/b": true, "/c": null }],
    ["/n: == 5", { "/n": 5 }],
  ])("reads %j", (json, value) => {
    assert.deepStrictEqual(jsonOf(json), value)
    const shown = textsOf({ http: { ...page.http, expect: { json: value } } } as unknown as Watch)
    assert.deepStrictEqual(jsonOf(shown["json"] ?? ""), value)
  })

  it.each([
    ["/queue", /^Write one in each line: \/queue: < 100\. A colon or a value is missing in \/queue$/],
    ["/queue: < ten", /^< ten compares with no number/],
    ["queue[*].length: 5", /^"queue\[\*\]\.length" is no place in a JSON/],
  ])("refuses %j", (json, message) => {
    assert.throws(() => jsonOf(json), message)
  })

  it.each([{ "/a b": 5 }, { "/a": " b " }, { "/a": "b\nc" }])(
    "keeps %j while nobody edits its lines",
    (json) => {
      const http = { ...page.http, expect: { json } }
      const texts = { json: textsOf({ http } as unknown as Watch)["json"]?.trim() ?? "" }
      const kept = probeOf(page, { ...texts, method: "HEAD" }, { http }).http?.expect
      assert.deepInclude(kept, { json })
    },
  )

  it.each([
    ["127.0.0.1:18472", "tcp://127.0.0.1:18472", "ping:127.0.0.1"],
    ["shop.example.org", "tcp://shop.example.org:PORT", "ping:shop.example.org"],
    ["shop.example.org/cart", "tcp://shop.example.org:PORT", "ping:shop.example.org"],
  ])("offers for %s what it takes", (address, port, host) => {
    assert.throws(
      () => watchOf(address),
      `https://${address} or http://${address} is a page, ${port} a port, ${host} a host.`,
    )
    for (const offered of [`https://${address}`, port.replace("PORT", "1"), host]) watchOf(offered)
  })

  it("takes labels with commas or lines between them", () => {
    assert.deepStrictEqual(labelsIn(" team=shop,env = production \nnote="), {
      team: "shop",
      env: "production",
      note: "",
    })
    assert.deepStrictEqual(labelsIn(labelsField({ team: "shop", env: "a=b" }).initial), {
      team: "shop",
      env: "a=b",
    })
    assert.throws(() => labelsIn("team"), "Labels must be such as team=shop: team lacks a value.")
  })

  it.each([
    [{ note: "a, b=c" }],
    [{ note: "a, b" }],
    [{ note: " lead", team: "shop" }],
    [{ note: "trail ", "a.b": "\u00a0" }],
    [{ note: "one\ntwo\r\u2028three" }],
    [{ note: '"quoted"', path: "C:\\temp, D:\\" }],
    [{ note: 'say "a, b"', size: '5" disk', pair: '="x' }],
    [{ note: '"', rest: "" }],
  ])("keeps %j, also where another label is added", (labels) => {
    const { initial } = labelsField(labels)
    assert.notInclude(initial, "\n")
    assert.strictEqual(labelsIn(initial, labels), labels)
    assert.deepStrictEqual(labelsIn(`${initial}, env=test`, labels), { ...labels, env: "test" })
    assert.deepStrictEqual(labelsIn(`env=test\n${initial}`), { env: "test", ...labels })
  })

  it.each([
    ['note="a, b" , env=test', { note: "a, b", env: "test" }],
    ['note="a\\q"', { note: '"a\\q"' }],
    ['note="a" b', { note: '"a" b' }],
  ])("reads the quotes of %j", (text, labels) => {
    assert.deepStrictEqual(labelsIn(text), labels)
  })

  it("takes a certificate that nobody trusts where there is one", () => {
    const texts = { verify: "false" }
    assert.isFalse(probeOf(page, texts).http?.verify)
    assert.isFalse(probeOf({ tls: { host: "a.example" } }, texts).tls?.verify)
    assert.isFalse(probeOf({ websocket: { url: "wss://a.example/" } }, texts).websocket?.verify)
    assert.isUndefined(
      probeOf(page, { verify: "true" }, { http: { ...page.http, verify: false } }).http?.verify,
    )
    assert.strictEqual(
      textsOf({ http: { ...page.http, verify: false } } as unknown as Watch)["verify"],
      "false",
    )
  })
})
