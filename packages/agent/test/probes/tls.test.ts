import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import dns from "node:dns"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer as createHttps } from "node:https"
import { createServer, type LookupFunction } from "node:net"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import {
  createSecureContext,
  createServer as createTls,
  getCACertificates,
  type TlsOptions,
  TLSSocket,
} from "node:tls"
import { httpTransport } from "../../src/sending/httpTransport.ts"
import { configured, opensslIn, probed, TestServers, unlessOpenssl, withoutOpenssl } from "./probed.ts"

const folder = mkdtempSync(join(tmpdir(), "tocsin-tls-"))
const at = (name: string): string => join(folder, name)
const read = (name: string): string => readFileSync(at(name), "utf8")
const servers = new TestServers()

/** Not every system finds a name of its hosts file that ends with a dot. */
const { lookup } = dns
const withoutDot: LookupFunction = (name, options, found) =>
  lookup(name.replace(/\.$/, "").replace(/^.*\.test$/, "localhost"), options, found)

const openssl = opensslIn(folder)

/** The words of a server that begins without TLS. */
type Dialogue = (line: string) => { readonly say: string; readonly begins?: boolean } | undefined

const DIALOGUES: Readonly<Record<"smtp" | "imap" | "pop3", Dialogue>> = {
  smtp: (line) =>
    line === ""
      ? { say: "220-mail.example\r\n220 ready\r\n" }
      : line === `EHLO ${/\w\.\w/.test(hostname()) ? hostname() : "[127.0.0.1]"}`
        ? { say: "250-mail.example\r\n250-STARTTLS\r\n250 HELP\r\n" }
        : { say: "220 begin\r\n", begins: true },
  imap: (line) =>
    line === ""
      ? { say: "* OK ready\r\n" }
      : { say: "* CAPABILITY IMAP4rev2\r\nt OK begin\r\n", begins: line === "t STARTTLS" },
  pop3: (line) =>
    line === "" ? { say: "+OK ready\r\n" } : { say: "+OK begin\r\n", begins: line === "STLS" },
}

/** A server of a dialogue, which ends in TLS. */
const serve = async (dialogue: Dialogue): Promise<number> =>
  await servers.listen(
    createServer((socket) => {
      const answer = (line: string): void => {
        const said = dialogue(line)
        if (said === undefined) return void socket.end()
        socket.write(said.say)
        if (said.begins !== true) return
        socket.removeAllListeners("data")
        const secured = new TLSSocket(socket, {
          isServer: true,
          key: read("server.key"),
          cert: read("server.pem"),
        })
        secured.on("error", () => {})
      }
      socket.on("error", () => {}).on("data", (sent) => answer(sent.toString().trim()))
      answer("")
    }),
  )

const ports = { https: 0, tls: 0, named: 0 }
/** The names that clients asked the server at `named` for, and the hosts of their requests. */
const asked = { names: new Set<string>(), hosts: new Set<string | undefined>() }

beforeAll(async () => {
  dns.lookup = Object.assign(withoutDot, lookup)
  if (withoutOpenssl !== undefined) return
  const key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout"
  // It ends last, also where the clock turns to the next second before the others are made.
  openssl(`req -x509 -days 31 -subj /CN=root ${key} root.key -out root.pem`)
  writeFileSync(at("names"), "subjectAltName=DNS:localhost,DNS:xn--mnchen-3ya.example,IP:127.0.0.1")
  for (const name of ["server", "client", "other"]) {
    openssl(`req -new -subj /CN=${name} ${key} ${name}.key -out ${name}.request`)
    openssl(
      `x509 -req -in ${name}.request -CA root.pem -CAkey root.key -set_serial 2 -days 30 -extfile names -out ${name}.pem`,
    )
  }
  const authority = "basicConstraints=critical,CA:TRUE"
  writeFileSync(at("authority"), authority)
  writeFileSync(at("constraint"), `${authority}\nnameConstraints=critical,permitted;DNS:other.test`)
  writeFileSync(at("wildcards"), "subjectAltName=DNS:f*.site.test,DNS:*.whole.test")
  for (const [name, by, extensions] of [
    ["middle", "root", "authority"],
    ["below", "middle", "names"],
    ["constrained", "root", "constraint"],
    ["outside", "constrained", "names"],
    ["digest", "root", "names"],
    ["short", "root", "names"],
    ["part", "root", "wildcards"],
  ]) {
    const own = name === "short" ? "-newkey rsa:1024 -nodes -keyout" : key
    const digest = name === "digest" ? "-sha1" : "-sha256"
    openssl(`req -new -subj /CN=${name} ${own} ${name}.key -out ${name}.request`)
    openssl(
      `x509 -req -in ${name}.request -CA ${by}.pem -CAkey ${by}.key ${digest} -set_serial 3 -days 30 -extfile ${extensions} -out ${name}.pem`,
    )
  }
  openssl("pkcs8 -topk8 -in client.key -passout pass:secret -out locked.key")
  // As some editors write files, which then were put together.
  writeFileSync(at("bundle.pem"), `\uFEFF${read("client.pem")}\uFEFF${read("client.key")}`)
  writeFileSync(at("marked.pem"), `\uFEFF${read("other.pem").trimEnd()}${read("root.pem")}`)
  writeFileSync(at("joined.pem"), `${read("other.pem").trimEnd()}\uFEFF${read("root.pem")}`)
  const own = { key: read("server.key"), cert: read("server.pem") }
  ports.https = await servers.listen(
    createHttps(
      { ...own, ca: read("root.pem"), requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        const socket = request.socket as TLSSocket
        response.end(
          socket.authorized ? `hello ${String(socket.getPeerCertificate().subject.CN)}` : "hello stranger",
        )
      },
    ),
  )
  ports.tls = await servers.listen(createTls(own))
  const SNICallback: TlsOptions["SNICallback"] = (name, give) => {
    asked.names.add(name)
    give(null, createSecureContext(own))
  }
  ports.named = await servers.listen(
    // Without a name that it knows, it shows a certificate that no client trusts.
    createHttps({ key: read("root.key"), cert: read("root.pem"), SNICallback }, (request, response) => {
      asked.hosts.add(request.headers.host)
      response.end("hello")
    }),
  )
})

afterAll(() => {
  dns.lookup = lookup
  servers.close()
  rmSync(folder, { recursive: true })
})

describe.skipIf(withoutOpenssl !== undefined)(`a probe over TLS${unlessOpenssl}`, () => {
  it("trusts the authorities of ca in place of those of Node.js", async () => {
    const target = { host: "127.0.0.1", port: ports.tls, name: "localhost" }
    const url = `https://127.0.0.1:${ports.https}/`
    assert.strictEqual((await probed("tls", target)).status, "critical")
    for (const ca of [at("root.pem"), at("marked.pem"), at("joined.pem")])
      assert.strictEqual((await probed("tls", { ...target, ca })).status, "ok")
    assert.strictEqual((await probed("tls", { ...target, ca: at("other.pem") })).status, "critical")
    assert.strictEqual((await probed("http", { url })).status, "critical")
    const found = await probed("http", { url, ca: at("root.pem"), text: "hello stranger" })
    assert.strictEqual(found.status, "ok", found.output)
  })

  it.each([
    ["an authority below a root", "middle.pem", ["below.pem"]],
    ["an authority below a root, which the server shows", "middle.pem", ["below.pem", "middle.pem"]],
    ["the certificate of the server", "below.pem", ["below.pem", "middle.pem"]],
  ])("trusts in ca %s", async (_, ca, shown) => {
    const cert = shown.map(read).join("")
    const port = await servers.listen(
      createHttps({ key: read("below.key"), cert }, (_request, response) => void response.end("hello")),
    )
    const url = `https://localhost:${port}/`
    for (const [name, settings] of [
      ["tls", { host: "localhost", port }],
      ["tcp", { host: "localhost", port, tls: true }],
      ["http", { url, text: "hello" }],
    ] as const) {
      const found = await probed(name, { ...settings, ca: at(ca) })
      assert.strictEqual(found.status, "ok", found.output)
      assert.strictEqual((await probed(name, { ...settings, ca: at("other.pem") })).status, "critical")
    }
    // As ca_file of the configuration.
    const transport = httpTransport({ ca: read(ca) })
    const { body } = await transport.send({
      kind: "heartbeat",
      agentId: "a",
      key: "key",
      body: "{}",
      server: url,
    })
    assert.strictEqual(body, "hello")
    transport.close()
  })

  /** The words of the three probes at a server that shows these certificates. */
  const allAt = async (shown: ReadonlyArray<string>, host: string) => {
    const [own = ""] = shown
    const files = { key: read(`${own}.key`), cert: shown.map((one) => read(`${one}.pem`)).join("") }
    // Only servers that are old themselves show such certificates.
    const old = { ...files, ciphers: "DEFAULT:@SECLEVEL=0" }
    const port = await servers.listen(createHttps(old, (_request, response) => void response.end("hello")))
    const found = [
      await probed("tls", { host, port, ca: at("root.pem") }),
      await probed("tcp", { host, port, tls: true, ca: at("root.pem") }),
      await probed("http", { url: `https://${host}:${port}/`, ca: at("root.pem") }),
    ]
    return found.map(({ output }) => (/^\w+ (?:OK|CRITICAL - \S+ (.*?)(?: \| .*)?$)/.exec(output) ?? [])[1])
  }

  it.each([
    [["outside", "constrained"], "an authority may not issue its names (permitted subtree violation)"],
    [["short"], "the key of its certificate is too short (EE certificate key too weak)"],
    [["digest"], "it is signed by an old digest, such as SHA-1 (CA signature digest algorithm too weak)"],
  ])("says in words why %j is not trusted", async (shown, words) => {
    assert.deepStrictEqual(await allAt(shown, "localhost"), [words, words, words])
  })

  it("takes a wildcard for a whole label, as browsers do", async () => {
    const why =
      "Hostname/IP does not match certificate's altnames: Host: foo.site.test. is not in the cert's altnames: DNS:f*.site.test, DNS:*.whole.test"
    assert.deepStrictEqual(await allAt(["part"], "foo.site.test"), [why, why, why])
    assert.deepStrictEqual(await allAt(["part"], "foo.whole.test"), [undefined, undefined, undefined])
  })

  it("gives no advice that is about Node.js", async () => {
    const { output } = await probed("http", { url: `https://127.0.0.1:${ports.https}/` })
    assert.match(output, /^HTTP CRITICAL - \S+ (?:unable to|self-signed) [a-z ]+$/)
  })

  it.each([
    ["tls", { host: "localhost." }, "localhost"],
    ["tls", { host: "LOCALHOST" }, "localhost"],
    ["tls", { host: "127.0.0.1", name: "localhost." }, "localhost"],
    ["tls", { host: "127.0.0.1", name: "MÜNCHEN.example" }, "xn--mnchen-3ya.example"],
    ["tls", { host: "127.0.0.1", name: "münchen。example." }, "xn--mnchen-3ya.example"],
    ["tcp", { host: "localhost.", tls: true }, "localhost"],
    ["http", { url: "https://localhost.:PORT/" }, "localhost"],
    ["http", { url: "https://LocalHost.:PORT/", verify: false }, "localhost"],
  ] as const)("of %s with %j asks for the name %s", async (name, settings, expected) => {
    asked.names.clear()
    asked.hosts.clear()
    const target =
      "url" in settings
        ? { ...settings, url: settings.url.replace("PORT", String(ports.named)) }
        : { ...settings, port: ports.named }
    const found = await probed(name, { ...target, ca: at("root.pem") })
    assert.strictEqual(found.status, "ok", found.output)
    assert.deepStrictEqual([...asked.names], [expected])
    assert.deepStrictEqual([...asked.hosts], name === "http" ? [`${expected}:${ports.named}`] : [])
  })

  it.skipIf(getCACertificates("system").length === 0)("trusts the authorities of the system", async () => {
    const target = { host: "127.0.0.1", port: ports.tls, ca: "system" }
    const { output } = await probed("tls", target)
    assert.match(output, /^TLS CRITICAL - \S+ unable to /)
    assert.strictEqual((await probed("tls", { ...target, verify: false })).status, "ok")
  })

  it("shows its certificate", async () => {
    const settings = { url: `https://127.0.0.1:${ports.https}/`, ca: at("root.pem"), text: "hello client" }
    for (const shown of [{ cert: at("client.pem"), key: at("client.key") }, { cert: at("bundle.pem") }])
      assert.strictEqual((await probed("http", { ...settings, ...shown })).status, "ok")
  })

  it("exchanges texts with a trusted server only", async () => {
    const request = { send: "GET / HTTP/1.0\r\n\r\n", expect: "hello stranger" }
    const target = { host: "localhost", port: ports.https, tls: true, ...request }
    const ca = at("root.pem")
    assert.strictEqual((await probed("tcp", { ...target, ca })).status, "ok")
    const shown = { ca, cert: at("bundle.pem"), expect: "hello client" }
    assert.strictEqual((await probed("tcp", { ...target, ...shown })).status, "ok")
    const { status, output } = await probed("tcp", target)
    assert.strictEqual(status, "critical")
    assert.match(output, /^TCP CRITICAL - localhost:\d+: self-signed certificate/)
    assert.strictEqual((await probed("tcp", { ...target, tls: false, wait: "1s" })).status, "critical")
  })

  it("waits no longer for TLS than for a text, and ends at its deadline", async () => {
    const mute = { host: "127.0.0.1", port: await servers.listen(createServer(() => {})), tls: true }
    const { output } = await probed("tcp", { ...mute, wait: "1s" })
    assert.match(output, /no answer within 1 s$/)
    const late = await probed("tcp", mute, { timeoutMillis: 200 })
    assert.strictEqual(late.output, "timed out after 0.2 s")
  })

  it("takes what TLS needs with TLS only", () => {
    const settings = { host: "a", port: 1, ca: "root.pem" }
    assert.throws(() => configured("tcp", settings, folder), /^ca needs tls: true$/)
    assert.doesNotThrow(() => configured("tcp", { ...settings, tls: true }, folder))
  })

  it.each<[object, RegExp]>([
    [{ ca: "none.pem" }, /^ca cannot be read \(ENOENT\)$/],
    [{ ca: "client.key" }, /^ca must be a file of PEM certificates$/],
    [{ cert: "client.pem" }, /^cert needs key: name the file of its private key$/],
    [{ key: "client.key" }, /^key needs cert: name the file of its certificate$/],
    [{ cert: "client.pem", key: "other.key" }, /^key does not belong to the certificate in cert$/],
    [
      { cert: "client.pem", key: "locked.key" },
      /^key must be a private key in PEM that no password encrypts$/,
    ],
    [{ cert: "client.pem", key: "client.pem" }, /^key must be a private key/],
  ])("refuses %j when the configuration is read", (settings, problem) => {
    assert.throws(() => configured("tls", { host: "a", ...settings }, folder), problem)
    assert.throws(() => configured("http", { url: "https://a", ...settings }, folder), problem)
  })

  it("prints paths and no key", () => {
    const { settings } = configured("tls", { host: "a", cert: "bundle.pem" }, folder)
    assert.strictEqual(JSON.stringify(settings), JSON.stringify({ host: "a", cert: at("bundle.pem") }))
  })
})

describe.skipIf(withoutOpenssl !== undefined)(`the tls probe with starttls${unlessOpenssl}`, () => {
  it.each(["smtp", "imap", "pop3"] as const)("asks a server of %s to begin TLS", async (protocol) => {
    const port = await serve(DIALOGUES[protocol])
    const { status, output } = await probed("tls", {
      host: "127.0.0.1",
      port,
      starttls: protocol,
      name: "localhost",
      ca: at("root.pem"),
    })
    assert.strictEqual(status, "ok", output)
    assert.match(output, /certificate valid for \d+ days, .* \| days=[.\d]+d;10:;3:$/)
  })

  it.each<[string, Dialogue, RegExp]>([
    [
      "refuses",
      (line) => ({ say: line === "" ? "220 a\r\n" : line.startsWith("EHLO") ? "250 a\r\n" : "502 no\r\n" }),
      /STARTTLS was answered "502 no"$/,
    ],
    [
      "speaks another protocol",
      () => ({ say: "SSH-2.0-a\r\n220x\r\n554 no\r\n" }),
      /it was answered "554 no"$/,
    ],
    [
      "closes the connection",
      (line) => (line === "" ? { say: "220 a\r\n" } : undefined),
      /it closed the connection before TLS$/,
    ],
    [
      "sends more in one part with its last reply",
      (line) => ({
        say: line === "STARTTLS" ? "220 go\r\n250 injected\r\n" : line === "" ? "220 a\r\n" : "250 a\r\n",
      }),
      /it sent more before TLS began$/,
    ],
    [
      "sends a reply without an end",
      (line) => ({ say: line === "" ? "220-a\r\n".repeat(20_000) : "" }),
      /its reply to the connection does not end$/,
    ],
    [
      "begins no TLS",
      (line) => ({
        say: line === "" || line === "STARTTLS" ? "220 a\r\n" : line.startsWith("EHLO") ? "250 a\r\n" : "",
      }),
      /no answer within 1 s$/,
    ],
    [
      "closes the connection in place of TLS",
      (line) =>
        line === "" || line === "STARTTLS"
          ? { say: "220 a\r\n" }
          : line.startsWith("EHLO")
            ? { say: "250 a\r\n" }
            : undefined,
      /disconnected before secure TLS connection was established$/,
    ],
    ["says nothing", () => ({ say: "" }), /no answer within 1 s$/],
  ])("is critical where the server %s", async (_, dialogue, words) => {
    const port = await serve(dialogue)
    const { status, output } = await probed("tls", { host: "127.0.0.1", port, starttls: "smtp", wait: "1s" })
    assert.strictEqual(status, "critical")
    assert.match(output, words)
  })
})
