import { afterAll, assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createServer as createTls } from "node:tls"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import { probed, TestServers, unlessOpenssl, withoutOpenssl } from "./probed.ts"

const CERTIFIER = "openssl"

const servers = new TestServers()
const folder = mkdtempSync(join(tmpdir(), "tocsin-agent-"))

afterAll(() => {
  servers.close()
  rmSync(folder, { recursive: true })
})

/** The answer of a server: bytes, text as Latin-1, or a function that writes. */
type Answer = string | Buffer | ((socket: Socket) => void)

/** A server that answers each request by bytes, and the heads of the requests. */
const serving = async (answer: (head: string) => Answer) => {
  const heads: Array<string> = []
  const port = await servers.listen(
    createServer((socket) => {
      let sent = ""
      socket
        .on("error", () => {})
        .on("data", (part) => {
          sent += part.toString("latin1")
          if (!sent.includes("\r\n\r\n")) return
          heads.push(sent)
          const given = answer(sent)
          sent = ""
          if (typeof given === "function") return given(socket)
          socket.write(typeof given === "string" ? Buffer.from(given, "latin1") : given)
          socket.end()
        })
    }),
  )
  return { heads, port, url: `http://127.0.0.1:${port}/` }
}

/** The result of the http probe at a server that answers this. */
const answered = async (answer: Answer, settings: object = {}) => {
  const { url } = await serving(() => answer)
  return await probed("http", { url, wait: "3s", ...settings })
}

const isOk = ({ output, status }: { readonly status: string; readonly output: string }): void =>
  assert.strictEqual(status, "ok", output)

const page = (fields: string, body: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${fields}\r\n`, "latin1"), Buffer.from(body)])

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1")
const GB_MIDDLE = Buffer.from([0xd6, 0xd0, 0xce, 0xc4])
const utf16be = (text: string): Buffer => Buffer.from(text, "utf16le").swap16()

describe("the encoding of a page", () => {
  it.each([
    [
      "a charset in Latin-1",
      "Content-Type: text/html; charset=ISO-8859-1\r\n",
      latin1("Geöffnet"),
      "Geöffnet",
    ],
    ["a quoted charset", 'Content-Type: text/plain;Charset="latin1"\r\n', latin1("Geöffnet"), "Geöffnet"],
    ["gb2312", "content-type: text/html; charset=gb2312\r\n", GB_MIDDLE, "中文"],
    [
      "a byte order mark",
      "Content-Type: text/html; charset=latin1\r\n",
      Buffer.from("\uFEFFGeöffnet"),
      "Geöffnet",
    ],
    ["UTF-16LE with its mark", "", Buffer.from("\uFEFF中文", "utf16le"), "中文"],
    ["UTF-16BE with its mark", "", utf16be("\uFEFF中文"), "中文"],
    ["UTF-16BE by its charset", "Content-Type: text/plain; charset=utf-16be\r\n", utf16be("中文"), "中文"],
    ["<meta charset>", "Content-Type: text/html\r\n", latin1('<META Charset="iso-8859-1">ö!'), "ö!"],
    [
      "<meta http-equiv>",
      "",
      Buffer.concat([
        latin1('<meta http-equiv=Content-Type content="text/html; charset=gb2312">'),
        GB_MIDDLE,
      ]),
      "中文",
    ],
    [
      "XML",
      "Content-Type: application/rss+xml\r\n",
      latin1('<?xml version="1.0" encoding="latin1"?>ö!'),
      "ö!",
    ],
    [
      "the charset before <meta>",
      "Content-Type: text/html; charset=utf-8\r\n",
      "<meta charset=latin1>ö!",
      "ö!",
    ],
    ["a comment", "Content-Type: text/html\r\n", "<!-- <meta charset=latin1> -->ö!", "ö!"],
    ["text that is no markup", "Content-Type: text/plain\r\n", "<meta charset=latin1>ö!", "ö!"],
    ["<meta> of UTF-16", "Content-Type: text/html\r\n", "<meta charset=utf-16>ö!", "ö!"],
    ["no charset", "", "Geöffnet 中文", "Geöffnet 中文"],
    ["an unknown charset", "Content-Type: text/html; charset=x-foo\r\n", "Geöffnet", "Geöffnet"],
    [
      "<meta> behind an unknown charset",
      "Content-Type: text/html; charset=x-foo\r\n",
      latin1("<meta charset=latin1>ö!"),
      "ö!",
    ],
  ])("is read of %s", async (_, fields, body, text) => {
    isOk(await answered(page(fields, body), { text, pattern: text }))
  })

  it.each([
    ["charset=x-foo\r\n", "", " as UTF-8, because its charset x-foo is unknown"],
    ["charset=utf-7\r\n", "", " as UTF-8, because its charset utf-7 is unknown"],
    ["\r\n", "<meta charset=x-foo>", " as UTF-8, because the charset in its markup is unknown"],
  ])("is named where it is unknown: %s%s", async (charset, start, words) => {
    const { output } = await answered(page(`Content-Type: text/html; ${charset}`, `${start}a`), { text: "ö" })
    assert.include(output, `lacks "ö"${words} |`)
  })
})

/** A server whose `/` redirects to an address, and whose other pages show the request. */
const redirecting = (location: (port: number) => string, fields = "") => {
  let port = 0
  return serving((head) =>
    head.includes(" / HTTP/1.1")
      ? `HTTP/1.1 302 Found\r\nLocation: ${location(port)}\r\n${fields}Content-Length: 0\r\n\r\n`
      : `HTTP/1.1 200 OK\r\n\r\n${head}`,
  ).then((server) => {
    port = server.port
    return server
  })
}

describe("the user of an address", () => {
  const BASIC = `Basic ${Buffer.from("u:p€").toString("base64")}`

  it.each([
    ["/in", (_: number) => "/in"],
    ["an absolute address", (port: number) => `http://127.0.0.1:${port}/in`],
    ["an address without a scheme", (port: number) => `//127.0.0.1:${port}/in`],
    ["another notation of the host", (port: number) => `HTTP://0x7f.1:${port}/in`],
  ])("goes along to %s", async (_, location) => {
    const { port } = await redirecting(location)
    isOk(await probed("http", { url: `http://u:p%E2%82%AC@127.0.0.1:${port}/`, text: BASIC }))
  })

  it("goes to no other origin, and comes back with the first one", async () => {
    const first = { port: 0 }
    const other = await serving(
      () => `HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:${first.port}/in\r\n\r\n`,
    )
    const server = await redirecting(() => `http://localhost:${other.port}/x`)
    first.port = server.port
    isOk(
      await probed("http", {
        url: `http://u:p%E2%82%AC@127.0.0.1:${server.port}/`,
        headers: { "X-Token": "t" },
        text: BASIC,
      }),
    )
    assert.notMatch(other.heads.join(""), /authorization|x-token/i)
    assert.lengthOf(other.heads, 1)
  })

  it("of a redirect counts, and yields to a header field", async () => {
    const { port } = await redirecting((at) => `http://a:b@127.0.0.1:${at}/in`)
    const text = `Basic ${Buffer.from("a:b").toString("base64")}`
    isOk(await probed("http", { url: `http://u:p@127.0.0.1:${port}/`, text }))
    const own = { headers: { Authorization: "Bearer t" }, text: "uthorization: Bearer t" }
    isOk(await probed("http", { url: `http://u:p@127.0.0.1:${port}/`, ...own }))
  })
})

describe("the bytes of header fields", () => {
  it.each([
    ["UTF-8", Buffer.from("/straße?ä=中").toString("latin1"), "/stra%C3%9Fe?%C3%A4=%E4%B8%AD"],
    ["Latin-1", "/stra\u00dfe", "/stra%DFe"],
    ["percent signs", "/stra%C3%9Fe%20a", "/stra%C3%9Fe%20a"],
    ["spaces", "/a b", "/a%20b"],
    ["no path", "?a=1", "/?a=1"],
  ])("of Location with %s lead to the address that is meant", async (_, location, path) => {
    const { url } = await redirecting(() => location)
    isOk(await probed("http", { url, text: `GET ${path} HTTP/1.1` }))
  })

  it("of a host are a name of any letters", async () => {
    const { url } = await redirecting(() => Buffer.from("http://hôte.invalid/").toString("latin1"))
    const { output } = await probed("http", { url })
    assert.match(output, /xn--hte-kna\.invalid/, output)
  })

  it("that are no address are named", async () => {
    const { url } = await redirecting(() => "http://[a/")
    const { output } = await probed("http", { url })
    assert.include(output, "redirected to an address that cannot be read: correct its Location")
  })

  it("are sent as UTF-8", async () => {
    const { url } = await redirecting(() => "/in")
    isOk(await probed("http", { url, headers: { "x-token": "ключ ü" }, text: "x-token: ключ ü" }))
  })
})

const fieldsOf = (bytes: number): string => `Set-Cookie: ${"a".repeat(1_000)}\r\n`.repeat(bytes / 1_014)
const OK = "HTTP/1.1 200 OK\r\n"

describe("an answer that browsers read", () => {
  it.each([
    ["17 KiB of fields", `${OK}${fieldsOf(17_408)}\r\nwell`],
    ["250 KiB of fields", `${OK}${fieldsOf(256_000)}Content-Length: 4\r\n\r\nwell`],
    ["one field of 200 KiB", `${OK}A: ${"a".repeat(204_800)}\r\n\r\nwell`],
    ["bare LF", "HTTP/1.1 200 OK\nContent-Length: 4\n\nwell"],
    ["both ends of lines", "HTTP/1.1 200 OK\nContent-Length: 4\r\n\nwell"],
    ["control characters", `${OK}Set-Cookie: a=\u0001\u0002b\u007f\r\nX: \0\r\n\r\nwell`],
    ["equal lengths", `${OK}Content-Length: 4\r\nContent-Length: 4\r\n\r\nwell!`],
    ["a list of equal lengths", `${OK}Content-Length: 4, 4\r\n\r\nwell!`],
    [
      "chunks with extensions",
      `${OK}Transfer-Encoding: chunked\r\n\r\n2;a=b\r\nwe\r\n002\r\nll\r\n0\r\n\r\n`,
    ],
    ["no reason", "HTTP/1.1 200\r\n\r\nwell"],
    ["an empty first line", `\r\n${OK}\r\nwell`],
    ["a folded field", `${OK}X: a\r\n Content-Length: 2\r\n\r\nwell`],
    ["a space before the colon", `${OK}Content-Length : 4\r\nX : a\r\n\r\nwell!`],
    ["lines that are no field", `${OK}X A: a\r\nwell\r\n b\r\n: c\r\n\u00c4: d\r\n\r\nwell`],
    ["interim answers", `HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 100 C\r\n\r\n${OK}\r\nwell`],
    [
      "equal lengths behind an interim answer",
      `HTTP/1.1 103 E\r\n\r\n${OK}Content-Length: 4\r\nContent-Length: 4\r\n\r\nwell!`,
    ],
    ["ten thousand interim answers", `${"HTTP/1.1 100 C\n\n".repeat(10_000)}${OK}\r\nwell`],
  ])("has %s", async (_, answer) => {
    const { output, status } = await answered(answer, { pattern: "^well$" })
    assert.strictEqual(status, "ok", output)
  })

  it.each([
    ["of a length", `Content-Length: 1`, `0\r\n\r\nwell, well`],
    ["of an equal length", `Content-Length: 10\r\nContent-Le`, `ngth: 10\r\n\r\nwell, well!`],
    ["of the end", `Content-Length: 10\r\n\r`, `\nwell, well!`],
    ["of the end after a bare LF", `Content-Length: 10\n`, `\nwell, well!`],
    ["of no field", `well`, ` b\r\nContent-Length: 10\r\n\r\nwell, well!`],
  ])("has arrived in two parts, in the middle %s", async (_, first, second) => {
    const given = (socket: Socket): void => {
      socket.write(`${OK}${first}`)
      setTimeout(() => socket.end(second), 20)
    }
    isOk(await answered(given, { pattern: "^well, well$" }))
  })

  it("has arrived byte by byte", async () => {
    const whole = `\r\n${OK}Content-Length: 4\r\nX : a\r\n\r\nwell`
    const writing = (socket: Socket, at = 0): void => {
      if (at === whole.length) return void socket.end()
      socket.write(whole.slice(at, at + 1), () => setImmediate(() => writing(socket, at + 1)))
    }
    isOk(await answered((socket) => writing(socket.setNoDelay()), { pattern: "^well$" }))
  })

  it.each([
    [
      "300 KiB of fields",
      `${OK}${fieldsOf(307_200)}\r\nwell`,
      "the header fields of the answer are too long",
    ],
    ["an endless line", `${OK}X: ${"a".repeat(300_000)}`, "the header fields of the answer are too long"],
    [
      "different lengths",
      `${OK}Content-Length: 4\r\nContent-Length: 5\r\n\r\nwell`,
      "more than one Content-Length: 4, 5",
    ],
    [
      "chunks and a length",
      `${OK}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwell\r\n0\r\n\r\n`,
      "both Content-Length and Transfer-Encoding",
    ],
    [
      "a length and chunks",
      `${OK}Transfer-Encoding: Chunked\r\nContent-Length: 4\r\n\r\n4\r\nwell\r\n0\r\n\r\n`,
      "both Content-Length and Transfer-Encoding",
    ],
    ["a length in letters", `${OK}Content-Length: four\r\n\r\nwell`, "a Content-Length that is no number"],
    ["a banner", "SSH-2.0-OpenSSH_9.6\r\n\r\n", "the answer is not HTTP: it begins with"],
    ["a page alone", "<html>well</html>\r\n\r\n", "the answer is not HTTP: it begins with"],
    [
      "chunks that are none",
      `${OK}Transfer-Encoding: chunked\r\n\r\nwell\r\n`,
      "was closed within the answer",
    ],
    ["less than its length", `${OK}Content-Length: 5\r\n\r\nwell`, "was closed within the answer"],
    ["no last chunk", `${OK}Transfer-Encoding: chunked\r\n\r\n4\r\nwell\r\n`, "was closed within the answer"],
    ["half a head", `${OK}Content-Length: 5\r\n`, "was closed without an answer"],
    ["nothing", "", "was closed without an answer"],
  ])("has not %s, which is named", async (_, answer, words) => {
    const { output, status } = await answered(answer)
    assert.strictEqual(status, "critical")
    assert.include(output, words)
  })
})

/** A server that redirects to itself until the request has the cookie, with `Set-Cookie: a=1` and these attributes. */
const asking = (attributes: string, { path = "/", cookie = "cookie: a=1\r\n" } = {}) =>
  serving((head) =>
    head.includes(cookie)
      ? `${OK}\r\nwell`
      : `HTTP/1.1 302 Found\r\nLocation: ${path}\r\nSet-Cookie: a=1${attributes}\r\nContent-Length: 0\r\n\r\n`,
  )

describe("a cookie", () => {
  it.each([
    ["", {}],
    ["; Path=/; HttpOnly; SameSite=Lax; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", {}],
    [";PATH=/in", { path: "/in/it" }],
    ["; Path=x", {}],
    ["; Domain=127.0.0.1", {}],
    ["; Domain=.127.0.0.1", {}],
    ["; Expires=Fri, 31 Dec 9999 23:59:59 GMT", {}],
    ["; Expires=someday; Max-Age=soon", {}],
    ["\r\nSet-Cookie: b = 2 ; path=/", { cookie: "cookie: a=1; b = 2\r\n" }],
    ["\r\nSet-Cookie: b=2; path=/in", { cookie: "cookie: b=2; a=1\r\n", path: "/in/" }],
    ['\r\nset-cookie:b="2=2"', { cookie: 'cookie: a=1; b="2=2"\r\n' }],
    ["\u00c3\u00a4", { cookie: "cookie: a=1\u00c3\u00a4\r\n" }],
  ])("with %j comes back to its origin", async (attributes, options) => {
    const { url } = await asking(attributes, options)
    isOk(await probed("http", { url, text: "well" }))
  })

  it.each([
    ["; Max-Age=0", {}],
    ["; Max-Age=-1", {}],
    ["; Expires=Thu, 01 Jan 1970 00:00:00 GMT", {}],
    ["; expires=Thu, 01-Jan-70 00:00:00 GMT", {}],
    ["; Secure", {}],
    ["; Domain=example.org", {}],
    ["; Domain=0.0.1x", {}],
    ["; Path=/in", { path: "/inside" }],
    ["; Path=/in", {}],
    ["\r\nSet-Cookie: a=; Max-Age=0", {}],
    ["\u0001", {}],
    ["a".repeat(5_000), {}],
  ])("with %j does not", async (attributes, options) => {
    const { heads, url } = await asking(attributes, options)
    assert.include((await probed("http", { url })).output, "more than 5 redirects")
    assert.notMatch(heads.join(""), /^cookie:/im)
  })

  it("is replaced and removed by later pages", async () => {
    const set = ["a=1; Path=/", "a=2; Path=/", "a=; Path=/; Max-Age=0"]
    const { heads, url } = await serving(() => {
      const next = set.shift()
      return next === undefined
        ? `${OK}\r\nwell`
        : `HTTP/1.1 302 Found\r\nLocation: /in\r\nSet-Cookie: ${next}\r\n\r\n`
    })
    isOk(await probed("http", { url }))
    const sent = heads.map((head) => /^cookie: (.*)$/im.exec(head)?.[1] ?? "")
    assert.deepStrictEqual(sent, ["", "a=1", "a=2", ""])
  })

  it("stays with its origin and its probe, and joins those of the header fields", async () => {
    const first = { port: 0 }
    const other = await serving(
      () => `HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:${first.port}/end\r\n\r\n`,
    )
    const server = await serving((head) => {
      if (head.includes("GET /end")) return `${OK}\r\n${head}`
      const location = `http://127.0.0.1:${other.port}/back`
      return `HTTP/1.1 302 Found\r\nLocation: ${location}\r\nSet-Cookie: a=2\r\nSet-Cookie: c=3\r\n\r\n`
    })
    first.port = server.port
    const settings = { url: server.url, headers: { Cookie: "a=1; b=x" } }
    isOk(await probed("http", { ...settings, pattern: "^cookie: a=2; b=x; c=3\r?$" }))
    isOk(await probed("http", { ...settings, pattern: "^cookie: a=2; b=x; c=3\r?$" }))
    assert.notMatch(other.heads.join(""), /^cookie:/im)
    assert.notInclude(server.heads[2] ?? "", "c=3")
  })

  it("is one of at most fifty", async () => {
    const many = Array.from({ length: 60 }, (_, index) => `Set-Cookie: n${index}=1\r\n`).join("")
    const { url } = await redirecting(() => "/in", many)
    isOk(await probed("http", { url, pattern: String.raw`^cookie: (n\d+=1; ){49}n49=1\r?$` }))
  })
})

/** Sends a head, and then the same part for as long as it is connected. */
const endless =
  (head: string, part: string, pause = 20) =>
  (socket: Socket): void => {
    socket.write(head, "latin1")
    const timer = setInterval(() => socket.write(part), pause)
    socket.on("close", () => clearInterval(timer))
  }

describe("an endless answer", () => {
  const EVENTS = `${OK}Content-Type: text/event-stream\r\n\r\n`
  const silent = (head: string) => (socket: Socket) => void socket.write(head)

  it.each([
    ["events", endless(EVENTS, "data\n"), {}],
    ["events, with a threshold", endless(EVENTS, "data\n"), { critical: 1 }],
    ["a radio that names a length", endless(`${OK}Content-Length: 999999999\r\n\r\n`, "data\n"), {}],
    ["chunks", endless(`${OK}Transfer-Encoding: chunked\r\n\r\n`, "4\r\nwell\r\n"), {}],
    ["a flood", endless(EVENTS, "a".repeat(500_000), 1), {}],
    // A busy machine needs seconds to search it.
    [
      "a flood that is searched",
      endless(`${EVENTS}well\n`, "a".repeat(500_000), 1),
      { pattern: "^well$", wait: "9s" },
    ],
    ["a head alone", silent(EVENTS), {}],
    ["a head with a length", silent(`${OK}Content-Length: 5\r\n\r\n`), {}],
    ["a status that is wanted", silent("HTTP/1.1 503 Oh\r\n\r\n"), { status: 503 }],
    ["HEAD", silent(`${OK}Content-Length: 5\r\n\r\n`), { method: "HEAD" }],
    ["204", silent("HTTP/1.1 204 No Content\r\n\r\n"), {}],
    ["304", silent("HTTP/1.1 304 Same\r\nContent-Length: 5\r\n\r\n"), { status: 304 }],
    ["a text in its beginning", endless(`${EVENTS}well`, "data\n"), { text: "well" }],
    ["a text in time", endless(EVENTS, "we"), { text: "wewewewe" }],
    [
      "a text in chunks",
      endless(`${OK}Transfer-Encoding: chunked\r\n\r\n`, "4\r\nwell\r\n"),
      { text: "lwel" },
    ],
  ])("is known by its status: %s", async (_, answer, settings) => {
    isOk(await answered(answer, settings))
  })

  it.each([
    [{ status: 200, text: "none" }, `lacks "none" in an answer that has not ended within 1 s`],
    [{ pattern: "^none$" }, "does not match /^none$/ in an answer that has not ended within 1 s"],
    [{ status: 404 }, "CRITICAL - 200 "],
    [{ status: 404, text: "none" }, "CRITICAL - 200 "],
  ])("is critical with %j", async (settings, words) => {
    const { output, status } = await answered(endless(EVENTS, "data\n"), { wait: "1s", ...settings })
    assert.strictEqual(status, "critical")
    assert.include(output, words)
  })

  it("is searched for a pattern as far as it was read in time", async () => {
    // A busy machine needs more than a second to read a line.
    isOk(await answered(endless(EVENTS, "data\n"), { wait: "4s", pattern: "^data$" }))
    const { output } = await answered(silent(EVENTS), { wait: "1s", text: "well" })
    assert.include(output, `lacks "well" in an answer that has not ended within 1 s`)
  })

  it("loses its connection, and has the time of its status", async () => {
    let onClose = () => {}
    const closed = new Promise<void>((resolve) => (onClose = resolve))
    const { output } = await answered((socket) => {
      socket.on("close", onClose)
      endless(EVENTS, "data\n")(socket)
    })
    // Not the 3 s for which the rest was awaited.
    assert.match(output, /time=[0-2]\b/)
    await closed
  }, 60_000)

  it("is none where it ends late", async () => {
    const slow = (socket: Socket): void => {
      socket.write(OK)
      setTimeout(() => socket.end("\r\nwell"), 600)
    }
    assert.match((await answered(slow)).output, /time=(?:0\.[6-9]|[12])/)
    const late = (socket: Socket): void => {
      socket.write(`${OK}\r\nwe`)
      setTimeout(() => socket.end("ll"), 2_300)
    }
    const { output, status } = await answered(late, { critical: 2 })
    assert.strictEqual(status, "critical", output)
  })
})

describe("a compressed page", () => {
  const plain = Buffer.from("all is well")

  it.each([
    ["gzip", gzipSync(plain)],
    ["x-gzip", gzipSync(plain)],
    ["GZIP", gzipSync(plain)],
    ["deflate", deflateSync(plain)],
    ["deflate", deflateRawSync(plain)],
    ["br", brotliCompressSync(plain)],
    ["deflate, gzip", gzipSync(deflateSync(plain))],
    ["identity", plain],
    ["gzip", gzipSync(plain).subarray(0, -6)],
  ])("of %s is searched", async (coding, body) => {
    isOk(await answered(page(`Content-Encoding: ${coding}\r\n`, body), { pattern: "^all is well$" }))
  })

  it("is searched in chunks, and by its charset", async () => {
    const body = gzipSync(latin1("Geöffnet"))
    const fields = "Content-Encoding: gzip\r\nContent-Type: text/html; charset=latin1\r\n"
    isOk(await answered(page(`${fields}Content-Length: ${body.length}\r\n`, body), { text: "Geöffnet" }))
  })

  it("is searched to one MiB, and grows to 16", async () => {
    const zipped = (mib: number) =>
      page("Content-Encoding: gzip\r\n", gzipSync(Buffer.concat([plain, Buffer.alloc(mib * 1_048_576)])))
    const [small, large] = [zipped(15), zipped(17)]
    isOk(await answered(small, { text: "well" }))
    assert.include((await answered(small, { text: "no" })).output, 'lacks "no" in its first MiB |')
    assert.include(
      (await answered(large, { text: "no" })).output,
      'lacks "no" in its compressed form (gzip) |',
    )
    isOk(await answered(large))
  })

  it.each([
    ["gzip", "nonsense", 'lacks "well" in its compressed form (gzip)'],
    ["deflate", "x-nonsense", 'lacks "well" in its compressed form (deflate)'],
    ["br", "nonsense that is none", 'lacks "well" in its compressed form (br)'],
    ["compress", "nonsense", 'lacks "well" in its compressed form (compress)'],
    ["gzip, br", gzipSync(plain), 'lacks "well" in its compressed form (gzip, br)'],
  ])("of %s that is none is named", async (coding, body, words) => {
    const answer = page(`Content-Encoding: ${coding}\r\n`, body)
    assert.include((await answered(answer, { text: "well" })).output, words)
    isOk(await answered(answer))
  })
})

describe.skipIf(withoutOpenssl !== undefined)(`a device that speaks TLS 1.0${unlessOpenssl}`, () => {
  it("is reached where its certificate is not verified", async () => {
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")]
    const args = `req -x509 -newkey rsa:1024 -nodes -days 30 -subj /CN=localhost -keyout ${key} -out ${cert}`
    execFileSync(CERTIFIER, args.split(" "), { stdio: "ignore" })
    const port = await servers.listen(
      createTls(
        {
          key: readFileSync(key),
          cert: readFileSync(cert),
          ciphers: "DEFAULT:@SECLEVEL=0",
          minVersion: "TLSv1",
          maxVersion: "TLSv1",
        },
        (socket) => socket.on("error", () => {}).once("data", () => socket.end(`${OK}\r\nwell`)),
      ),
    )
    const url = `https://127.0.0.1:${port}/`
    isOk(await probed("http", { url, verify: false, text: "well" }))
    assert.strictEqual((await probed("http", { url })).status, "critical")
  })
})
