import { gunzipSync } from "node:zlib"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { createMonitor, memory, type Monitor } from "tocsin"

let monitor: Monitor

beforeAll(async () => {
  monitor = await createMonitor({ storage: memory(), basePath: "/monitoring", log: false })
  return () => monitor.close()
})

const HOST = "https://any.example"

const get = async (url: string, headers: Readonly<Record<string, string>> = {}) => {
  const response = await monitor.fetch(new Request(new URL(url, HOST), { headers }))
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const PAGE = "/monitoring/docs"

/** The files that a page loads. */
const loadedBy = (html: string): ReadonlyArray<string> =>
  Array.from(html.matchAll(/<(?:script|link|img)[^>]+(?:src|href)="([^"]+)"/g), ([, url = ""]) => url)

const at = (url: string): URL => new URL(url, HOST + PAGE)

describe("the page at /docs", () => {
  it("loads only files of its own origin, under any base path", async () => {
    const page = await get(PAGE)
    assert.strictEqual(page.status, 200)
    assert.strictEqual(page.headers.get("content-type"), "text/html; charset=utf-8")
    const loaded = loadedBy(page.text).filter((url) => url !== "data:,")
    assert.lengthOf(loaded, 2)
    for (const url of loaded) {
      assert.isTrue(at(url).href.startsWith(`${HOST}${PAGE}/`), url)
      const file = await get(at(url).href)
      assert.strictEqual(file.status, 200, url)
      assert.match(file.headers.get("content-type") ?? "", /^text\/(javascript|css); charset=utf-8$/)
    }
  })

  it("allows no content from other origins and no inline content", async () => {
    const { headers, text } = await get(PAGE)
    const policy = (headers.get("content-security-policy") ?? "")
      .split("; ")
      .map((directive) => directive.split(" "))
    assert.deepStrictEqual(policy[0], ["default-src", "'none'"])
    const sources = policy.flatMap(([, ...allowed]) => allowed)
    assert.sameMembers(Array.from(new Set(sources)), ["'none'", "'self'", "data:"])
    assert.deepStrictEqual(
      policy.filter(([, ...allowed]) => allowed.includes("data:")).map(([directive]) => directive),
      ["img-src"],
    )
    assert.notMatch(text, /<script(?![^>]*\ssrc=)|<style| on\w+=| style=/)
  })

  it("has a style sheet that loads nothing", async () => {
    const { text } = await get(PAGE)
    const sheet = loadedBy(text).find((url) => url.includes(".css")) ?? assert.fail("there is none")
    const css = (await get(at(sheet).href)).text
    assert.isAbove(css.length, 100_000)
    const urls = Array.from(css.matchAll(/url\(\s*["']?([^"')]{1,40})/g), ([, url = ""]) => url)
    assert.deepStrictEqual(
      urls.filter((url) => !url.startsWith("data:")),
      [],
    )
    assert.notInclude(css, "@import")
  })

  it("has a script that starts the viewer without an external validator", async () => {
    const { text } = await get(PAGE)
    const script = loadedBy(text).find((url) => url.includes(".js")) ?? assert.fail("there is none")
    const { text: code, headers } = await get(at(script).href)
    assert.include(code, "SwaggerUIBundle=")
    // The last assignment counts: our code starts.
    const start = code.slice(code.lastIndexOf("window.onload"))
    assert.include(start, "SwaggerUIBundle({")
    assert.include(start, "validatorUrl: null")
    assert.match(code.slice(0, 200), /Apache License 2\.0/)
    assert.strictEqual(headers.get("cache-control"), "public, max-age=31536000, immutable")
  })

  it("offers both documents", async () => {
    const { text } = await get(PAGE)
    const offered = Array.from(text.matchAll(/data-document="([^"]+)"/g), ([, url = ""]) => url)
    const titles = await Promise.all(
      offered.map(async (url) => JSON.parse((await get(at(url).href)).text).info.title),
    )
    assert.deepStrictEqual(titles, ["Tocsin", "Tocsin operations"])
  })

  it("is cached by ETag, and compressed for clients that accept it", async () => {
    const { text } = await get(PAGE)
    for (const url of [PAGE, "/monitoring/openapi.json", ...loadedBy(text).slice(1)]) {
      const plain = await get(at(url).href)
      const compressed = await monitor.fetch(
        new Request(at(url), { headers: { "accept-encoding": "br, gzip" } }),
      )
      assert.strictEqual(compressed.headers.get("content-encoding"), "gzip")
      assert.match(compressed.headers.get("vary") ?? "", /accept-encoding/i)
      const bytes = Buffer.from(await compressed.arrayBuffer())
      assert.strictEqual(gunzipSync(bytes).toString(), plain.text)
      const etag = plain.headers.get("etag") ?? assert.fail("there is no ETag")
      const again = await get(at(url).href, { "if-none-match": `"other", ${etag}` })
      assert.deepStrictEqual([again.status, again.text], [304, ""])
      const refusing = await get(at(url).href, { "accept-encoding": "gzip;q=0" })
      assert.strictEqual(refusing.headers.get("content-encoding"), null)
    }
  })
})

describe("a document", () => {
  it.each([
    ["/monitoring/openapi.json", "/monitoring/api/v1/health"],
    ["/monitoring/ops/v1/openapi.json", "/monitoring/ops/v1/explain"],
  ])("%s names the server of the API beside it", async (path, expected) => {
    const { servers, paths } = JSON.parse((await get(path)).text)
    const base = new URL(servers[0].url, HOST + path).href.replace(/\/$/, "")
    const known = Object.keys(paths).map((found) => base + found)
    assert.include(known, HOST + expected)
    assert.notStrictEqual((await get(HOST + expected)).status, 404)
  })
})
