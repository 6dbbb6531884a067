import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer as createHttp } from "node:http"
import { createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TLSSocket } from "node:tls"
import { lacking } from "../../../../scripts/programs.mjs"
import { configured, opensslIn, probed, TestServers, unlessOpenssl, withoutOpenssl } from "./probed.ts"

const servers = new TestServers()
const folder = mkdtempSync(join(tmpdir(), "tocsin-conditions-"))
const read = (name: string): string => readFileSync(join(folder, name), "utf8")
let url = ""
/** The requests that the server got. */
const requests: Array<{ readonly url: string | undefined; readonly headers: object; readonly body: string }> =
  []

beforeAll(async () => {
  if (withoutOpenssl === undefined)
    opensslIn(folder)(
      "req -x509 -days 90 -subj /CN=localhost -addext subjectAltName=DNS:localhost -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout server.key -out server.pem",
    )
  const server = createHttp((request, response) => {
    let body = ""
    request
      .on("data", (part: Buffer) => (body += part.toString()))
      .on("end", () => {
        requests.push({ url: request.url, headers: request.headers, body })
        response.setHeader("X-Part", ["a", "b"])
        if (request.url === "/away")
          return response.writeHead(307, { location: `http://localhost:${new URL(url).port}/x` }).end()
        if (request.url === "/moved") return response.writeHead(302, { location: "/x" }).end()
        return response.end('{"status":"degraded","queue":{"length":7}}')
      })
  })
  url = `http://127.0.0.1:${await servers.listen(server)}`
})

afterAll(() => {
  servers.close()
  rmSync(folder, { recursive: true })
})

const page = (settings: object) => probed("http", { url: `${url}/health`, wait: "5s", ...settings })

describe("the http probe with conditions", () => {
  it.each<readonly [object, string, RegExp]>([
    [{ expect: { json: { "/queue/length": "< 10" }, header: { "x-part": "a, b" } } }, "ok", / OK - 200 /],
    [
      { expect: { json: { "/status": "ok" } } },
      "critical",
      /: json \/status is "degraded" and must be "ok" \|/,
    ],
    [{ expect: { warning: { json: { "/status": "ok" } } } }, "warning", /^HTTP WARNING - \S+: json \/status/],
    // The first one only, and the time last.
    [
      { expect: { text: "x", json: { "/status": "ok" } }, time: { critical: "1ms" } },
      "critical",
      /^HTTP CRITICAL - \S+ lacks "x" \|/,
    ],
    [
      { expect: { warning: { text: "x" } }, time: { critical: "1ms" } },
      "critical",
      /^HTTP CRITICAL - 200 \S+ in [\d.]+ s \|/,
    ],
    [{ expect: { status: ["300-399"] } }, "critical", /^HTTP CRITICAL - 200 /],
    [{ url: "/moved", expect: { status: ["300-399"] } }, "ok", / OK - 302 /],
  ])("judges %j", async ({ url: path = "/health", ...settings }: { url?: string }, expected, words) => {
    const { output, status } = await probed("http", { url: url + path, wait: "5s", ...settings })
    assert.strictEqual(status, expected, output)
    assert.match(output, words)
  })

  it("sends a body as JSON, and credentials", async () => {
    requests.length = 0
    await page({ method: "PUT", body: { a: [1] }, auth: { basic: { user: "jö", password: "p" } } })
    await page({ method: "POST", body: [1], headers: { "Content-Type": "x/y" }, auth: { bearer: "t0ken" } })
    assert.deepInclude(requests[0]?.headers, {
      "content-type": "application/json",
      authorization: `Basic ${Buffer.from("jö:p").toString("base64")}`,
    })
    assert.strictEqual(requests[0]?.body, '{"a":[1]}')
    assert.deepInclude(requests[1]?.headers, { "content-type": "x/y", authorization: "Bearer t0ken" })
  })

  it.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("sends the whole body by %s", async (method) => {
    requests.length = 0
    const { output, status } = await page({ method, body: "päge" })
    assert.strictEqual(status, "ok", output)
    assert.deepStrictEqual(
      requests.map(({ body }) => body),
      ["päge"],
    )
  })

  it("sends no body and no credentials to another origin", async () => {
    requests.length = 0
    const { output, status } = await page({ url: `${url}/away`, method: "PATCH", body: "s3cret" })
    assert.strictEqual(status, "critical", output)
    assert.strictEqual(requests.length, 1)
    await page({ url: `${url}/away`, auth: { bearer: "t0ken" } })
    assert.notProperty(requests[2]?.headers, "authorization")
  })

  it.each<readonly [object, RegExp]>([
    [{ expect: { json: { "/a": [] } } }, /^expect\.json\.\/a must be a text, a number, true, false or null$/],
    [{ expect: { other: 1 } }, /^expect\.other is unknown/],
    [{ expect: { warning: { warning: {} } } }, /^expect\.warning\.warning is unknown/],
    [
      { expect: { json: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`/${n}`, 1])) } },
      /^expect\.json must have at most 20/,
    ],
    [{ method: "POST", body: "x".repeat(8_193) }, /^body must have at most 8192 bytes$/],
    [{ auth: { bearer: "a\nb" } }, /^auth\.bearer must not contain control characters$/],
    [{ auth: { basic: { user: "a" } } }, /^auth\.basic must have password$/],
    [{ time: { critical: "0ms" } }, /^time\.critical must be a duration/],
  ])("refuses %j", (settings, problem) => {
    assert.throws(() => configured("http", { url, ...settings }), problem)
  })
})

describe("the tcp probe", () => {
  const saying = (bytes: Buffer | string) =>
    servers.listen(createServer((socket) => socket.on("error", () => {}).end(bytes)))

  it("shows what came in place of the expected text", async () => {
    const port = await saying("220 mail.example\r\n")
    const { output, status } = await probed("tcp", { host: "127.0.0.1", port, expect: "SSH-" })
    assert.strictEqual(status, "critical")
    assert.match(output, /: closed without "SSH-": it sent "220 mail\.example"$/)
  })

  it("shows what came until its time was over", async () => {
    const open = createServer((socket) => socket.on("error", () => {}).write("220 mail.example\r\n"))
    const port = await servers.listen(open)
    const { output } = await probed("tcp", { host: "127.0.0.1", port, expect: "SSH-", wait: "1s" })
    assert.match(output, /: no answer within 1 s: it sent "220 mail\.example"$/)
  })

  it("looks at the first 64 KiB", async () => {
    const port = await saying(Buffer.concat([Buffer.alloc(65_534, "x"), Buffer.from("end")]))
    assert.strictEqual((await probed("tcp", { host: "127.0.0.1", port, expect: "xe" })).status, "ok")
    const { output } = await probed("tcp", { host: "127.0.0.1", port, expect: "end" })
    assert.match(output, /: sent 64 KiB without "end": it sent "x+…"$/)
  })
})

/** The words of servers before TLS in November 2026, each turn a part of what the client sent and the answer. */
const SPOKEN: Readonly<Record<string, ReadonlyArray<readonly [string, Buffer | string]>>> = {
  // vsftpd 3.0.3
  ftp: [
    ["", "220 (vsFTPd 3.0.3)\r\n"],
    ["AUTH TLS\r\n", "234 Proceed with negotiation.\r\n"],
  ],
  // Prosody 0.12.3
  xmpp: [
    [
      "to='localhost'",
      "<?xml version='1.0'?><stream:stream xml:lang='en' version='1.0' xmlns:stream='http://etherx.jabber.org/streams' xmlns='jabber:client' id='9b8747ed' from='localhost'><stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'><required/></starttls></stream:features>",
    ],
    ["<starttls", "<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"],
  ],
  // PostgreSQL 15
  postgres: [["\u0000\u0000\u0000\u0008\u0004\u00d2\u0016\u002f", "S"]],
  // MariaDB 10.11.19, which says no more before TLS
  mysql: [
    [
      "",
      Buffer.from(
        "ZAAAAAo1LjUuNS0xMC4xMS4xOS1NYXJpYURCLTArZGViMTJ1MQAEAAAAZ3EjVF9hRyMA/v8tAgD/gRUAAAAAAAAdAAAAdEMuXWsjZ18qTzFGAG15c3FsX25hdGl2ZV9wYXNzd29yZAA=",
        "base64",
      ),
    ],
    ["\u0020\u0000\u0000\u0001", ""],
  ],
  // OpenLDAP 2.5.13
  ldap: [["1.3.6.1.4.1.1466.20037", Buffer.from("300c02010178070a010004000400", "hex")]],
}

/** A server that says this, then `more`, and begins TLS. */
const speaking = (protocol: string, more = "", turns = SPOKEN[protocol] ?? []) =>
  servers.listen(
    createServer((socket) => {
      let [at, sent] = [0, ""]
      const begin = (rest: string): void => {
        socket.removeAllListeners("data").pause()
        socket.unshift(Buffer.from(rest, "latin1"))
        const own = { isServer: true, key: read("server.key"), cert: read("server.pem") }
        new TLSSocket(socket, own).on("error", () => {})
      }
      const answer = (): void => {
        const [wanted, said = ""] = turns[at] ?? []
        if (wanted === undefined || !sent.includes(wanted)) return
        // The request of MySQL has no answer, so TLS may follow it in the same part.
        const rest = said === "" ? sent.slice(36) : ""
        ;[at, sent] = [at + 1, ""]
        const isLast = turns.slice(at).every(([, next]) => next === "")
        const all = Buffer.concat([Buffer.from(said), Buffer.from(isLast && said !== "" ? more : "")])
        if (all.length > 0) socket.write(all)
        if (at === turns.length) begin(rest)
        else if (turns[at]?.[0] === "") answer()
      }
      socket
        .on("error", () => {})
        .on("data", (part) => {
          sent += part.toString("latin1")
          answer()
        })
      answer()
    }),
  )

describe.skipIf(withoutOpenssl !== undefined)(`the tls probe with starttls${unlessOpenssl}`, () => {
  const asking = async (protocol: string, port: number) =>
    await probed("tls", {
      host: "127.0.0.1",
      port,
      starttls: protocol,
      name: "localhost",
      verify: false,
      wait: "3s",
    })

  it.each(Object.keys(SPOKEN))("begins TLS with a server of %s", async (protocol) => {
    const { output, status } = await asking(protocol, await speaking(protocol))
    assert.strictEqual(status, "ok", output)
  })

  it.each(Object.keys(SPOKEN))("takes no byte between the consent of %s and TLS", async (protocol) => {
    const { output, status } = await asking(protocol, await speaking(protocol, "x"))
    assert.strictEqual(status, "critical")
    assert.match(output, /it sent more before TLS began$/)
  })

  it.each<readonly [string, Buffer | string, RegExp]>([
    ["postgres", "N", /the server offers no TLS$/],
    ["postgres", "HTTP/1.1 400 Bad Request\r\n", /the answer is not that of PostgreSQL$/],
    [
      "ldap",
      Buffer.from("300c02010178070a013404000400", "hex"),
      /the server refuses TLS \(LDAP result 52\)$/,
    ],
    ["ldap", "HTTP/1.1 400 Bad Request\r\n", /not that of LDAP|within 3 s$/],
    ["mysql", Buffer.from("0d000000ff6904486f737420626c6f636b6564", "hex"), /was answered|within 3 s/],
    ["xmpp", "<stream:stream><stream:features><sm/></stream:features>", /the server offers no TLS$/],
    ["ftp", "220 a\r\n500 no\r\n", /AUTH TLS was answered "500 no"$/],
  ])("says why %s has none", async (protocol, said, words) => {
    const isFirst = ["mysql", "ftp"].includes(protocol)
    const port = await servers.listen(
      createServer((socket) => {
        socket.on("error", () => {})
        if (isFirst) socket.write(said)
        else socket.once("data", () => socket.write(said))
      }),
    )
    const { output, status } = await asking(protocol, port)
    assert.strictEqual(status, "critical")
    assert.match(output, words)
  })
})

const withoutPing = lacking("ping")

describe.skipIf(withoutPing !== undefined)(
  `the ping probe${withoutPing === undefined ? "" : ` (skipped: ${withoutPing})`}`,
  () => {
    it("sends packets by the system's program", async () => {
      const { output, status } = await probed("ping", {
        host: "localhost",
        count: 1,
        time: { warning: "5s" },
      })
      assert.strictEqual(status, "ok", output)
      assert.match(
        output,
        /^PING OK - localhost answered 1 of 1 in \d\.\d{3} s on average \| loss=0%;;@100: time=[\d.]+s;5$/,
      )
    })

    it("says what is missing where the program is", async () => {
      const path = process.env["PATH"]
      process.env["PATH"] = folder
      try {
        const { output, status } = await probed("ping", { host: "127.0.0.1", count: 1 })
        assert.strictEqual(status, "unknown")
        assert.match(output, /there is no program ping here: install it/)
      } finally {
        process.env["PATH"] = path
      }
    })

    it("is critical where nothing answers", async () => {
      // The broadcast address: no program may ping it without asking for that.
      const { output, status } = await probed("ping", { host: "255.255.255.255", count: 1, wait: "2s" })
      assert.notStrictEqual(status, "ok", output)
    })
  },
)

/** A server of WebSockets that sends these frames; `accept` in place of the right key. */
const socketServer = (frames: ReadonlyArray<Buffer>, accept?: string) => {
  const got: Array<Buffer> = []
  const server = createHttp().on("upgrade", (request, socket: Socket) => {
    const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
    const right = createHash("sha1").update(key).digest("base64")
    socket
      .on("error", () => {})
      .on("data", (part) => {
        got.push(part)
        for (const one of got.length === 1 ? frames : []) socket.write(one)
      })
    socket.write(
      Buffer.concat([
        Buffer.from(
          `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept ?? right}\r\n\r\n`,
        ),
      ]),
    )
  })
  return { got, listening: servers.listen(server) }
}

const frame = (opcode: number, text: string, isLast = true) =>
  Buffer.concat([Buffer.from([(isLast ? 0x80 : 0) | opcode, text.length]), Buffer.from(text)])

describe("the websocket probe", () => {
  it.each<readonly [string, ReadonlyArray<Buffer>, string, RegExp]>([
    ["a message", [frame(1, "hello world")], "ok", /opened, with "world" in /],
    [
      "a message in parts, around a ping",
      [frame(1, "wo", false), frame(9, "a"), frame(0, "rld")],
      "ok",
      /opened/,
    ],
    ["a binary message", [frame(2, "world"), frame(8, "")], "critical", /closed without "world"$/],
    [
      "another message",
      [frame(1, "bye"), frame(8, "")],
      "critical",
      /closed without "world": it sent "bye"$/,
    ],
  ])("waits for a text: %s", async (_, frames, expected, words) => {
    const { got, listening } = socketServer(frames)
    const at = `ws://127.0.0.1:${await listening}/live`
    const { output, status } = await probed("websocket", { url: at, send: "hi", expect: "world", wait: "3s" })
    assert.strictEqual(status, expected, output)
    assert.match(output, words)
    assert.strictEqual(got[0]?.[0], 0x81)
    assert.strictEqual(got[0]?.[1], 0x82)
  })

  it("is critical without the right handshake", async () => {
    const wrong = socketServer([], "nonsense")
    const wrongly = await probed("websocket", { url: `ws://127.0.0.1:${await wrong.listening}/` })
    assert.match(wrongly.output, /CRITICAL.*wrong Sec-WebSocket-Accept$/)
    const plainly = await probed("websocket", { url: `${url.replace("http", "ws")}/health` })
    assert.match(plainly.output, /CRITICAL.*answered 200, not as a WebSocket$/)
  })
})
