import { afterAll, assert, beforeAll, describe, it as plainIt, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { connect, createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { TLSSocket } from "node:tls"
import { fileURLToPath } from "node:url"
import { readDatabaseUrl } from "../../src/client/databaseUrl.ts"
import { toStorageError } from "../../src/toStorageError.ts"
import { lacking } from "../../../../scripts/programs.mjs"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { testsFrom } from "@tocsin/testing/testsFrom"

const folder = mkdtempSync(join(tmpdir(), "tocsin-pg-tls-"))
const at = (name: string): string => join(folder, name)
const CERTIFIER = "openssl"
const withoutOpenssl = lacking("openssl")
const openssl = (args: string): void =>
  void execFileSync(CERTIFIER, args.split(" "), { cwd: folder, stdio: "ignore" })

beforeAll(() => {
  if (withoutOpenssl !== undefined) return
  const ec = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -keyout"
  openssl(`req -x509 -subj /CN=root ${ec} root.key -out root.pem`)
  openssl(`req -x509 -subj /CN=me ${ec} client.key -out client.pem`)
  openssl(
    `req -x509 -subj /CN=db.example -addext subjectAltName=DNS:db.example ${ec} server.key -out server.pem`,
  )
  openssl("pkcs8 -topk8 -in client.key -passout pass:secret -out locked.key")
  openssl("pkey -in client.key -outform DER -out key.der")
  openssl("x509 -in client.pem -outform DER -out cert.der")
  openssl("req -x509 -subj /CN=weak -newkey rsa:512 -nodes -days 30 -keyout weak.key -out weak.pem")
  writeFileSync(
    at("both.pem"),
    readFileSync(at("client.pem"), "utf8") + readFileSync(at("client.key"), "utf8"),
  )
  writeFileSync(at("damaged.pem"), readFileSync(at("root.pem"), "utf8").replace(/\n.{8}/, "\n!!!!!!!!"))
  writeFileSync(at("empty.pem"), "")
  // As editors of Windows write files, and as two of these are put together.
  const mark = "\uFEFF"
  for (const name of ["client.pem", "client.key"])
    writeFileSync(at(`marked.${name}`), mark + readFileSync(at(name), "utf8"))
  const [client, root] = ["client.pem", "root.pem"].map((name) => readFileSync(at(name), "utf8"))
  writeFileSync(at("marked.root.pem"), `${mark}${client}${mark}${root?.trimEnd()}${client}`)
  writeFileSync(at("joined.root.pem"), `${client?.trimEnd()}${mark}${root}`)
})
afterAll(() => rmSync(folder, { recursive: true }))

/** An address with parameters, in which `@name` is a file of the folder. */
const address = (query: string, front = "postgres://me:pa55word@db.example/t") =>
  Redacted.make(
    `${front}?${query.replaceAll(/@([\w.]+)/g, (_, name: string) => encodeURIComponent(at(name)))}`,
  )

/** Each fault of an address, and the words of its refusal. */
const REFUSED = [
  ["sslcert=@client.pem&sslkey=@root.key", /sslkey does not belong to the certificate in sslcert/],
  [
    "sslcert=@client.pem&sslkey=@locked.key",
    /the key of sslkey is encrypted: name its password in sslpassword/,
  ],
  ["sslcert=@client.pem&sslkey=@locked.key&sslpassword=wrong", /the key of sslkey is encrypted/],
  ["sslcert=@client.pem&sslkey=@key.der", /the file of sslkey has no key in PEM/],
  ["sslcert=@cert.der&sslkey=@client.key", /the file of sslcert has no certificate in PEM/],
  [
    "sslcert=@weak.pem&sslkey=@weak.key",
    /OpenSSL refuses the files of sslcert, sslkey \(ERR_SSL_EE_KEY_TOO_SMALL\)/,
  ],
  ["sslcert=@client.pem", /sslcert needs sslkey/],
  ["sslkey=@client.key", /sslkey needs sslcert/],
  ["sslmode=verify-full&sslrootcert=@damaged.pem", /certificate 1 in the file of sslrootcert is damaged/],
  ["sslmode=verify-full&sslrootcert=@empty.pem", /the file of sslrootcert has no certificate in PEM/],
  ["sslrootcert=@nowhere.pem", /the file of sslrootcert cannot be read \(ENOENT\)/],
  ["sslmode=prefer&sslrootcert=system", /sslrootcert=system needs sslmode=verify-full/],
  ["sslmode=on", /sslmode has an unknown value: write one of disable, /],
  ["ssl=yes", /ssl has an unknown value/],
  ["ssl=true&sslmode=disable", /ssl and sslmode contradict each other/],
  ["sslmode=require&sslmode=disable", /sslmode stands twice/],
  ["sslMode=verify-full", /sslMode is not read: did you mean sslmode\?/],
  ["SSL=true", /SSL is not read: did you mean ssl\?/],
  ["channel_binding=require", /channel_binding may only be disable or prefer here/],
  ["gssencmode=require", /gssencmode may only be/],
  ["sslnegotiation=direct", /sslnegotiation may only be postgres/],
  ["require_auth=scram-sha-256", /require_auth is not read/],
  ["ssl_min_protocol_version=TLSv1.3", /ssl_min_protocol_version is not read/],
  ["schema=monitoring", /schema is not read: write options=-csearch_path%3DNAME/],
  ["search_path=a", /search_path is not read: write options=/],
  ["pgbouncer=true", /pgbouncer is not read: remove it/],
  ["pa55word%2F%40x=1", /a parameter is not read/],
] as const

/** Each address that asks for TLS or not, and how. */
const TAKEN = [
  ["", "plain"],
  ["sslmode=disable", "plain"],
  ["ssl=false", "plain"],
  ["ssl=0&sslmode=disable", "plain"],
  ["ssl=true", "verified"],
  ["ssl=1", "verified"],
  ["ssl=require&sslmode=require", "verified"],
  ["ssl=verify-full", "verified"],
  ["ssl=no-verify", "encrypted"],
  ["sslmode=require&channel_binding=prefer&gssencmode=disable&keepalives=1", "verified"],
  ["sslmode=verify-full", "verified"],
  ["sslmode=verify-full&sslrootcert=system", "verified"],
  ["sslrootcert=@root.pem", "verified"],
  ["sslrootcert=@root.pem&sslmode=disable", "plain"],
  ["sslmode=verify-ca", "of the authority"],
  ["sslmode=prefer", "encrypted if offered"],
  ["sslmode=allow", "encrypted if offered"],
  ["sslmode=prefer&sslrootcert=@root.pem", "of the authority if offered"],
  ["sslmode=no-verify", "encrypted"],
  ["sslcert=@client.pem&sslkey=@client.key&sslmode=require", "verified"],
  ["sslcert=@client.pem&sslkey=@locked.key&sslpassword=secret", "verified"],
  ["sslcert=@both.pem", "verified"],
  ["sslcert=@marked.client.pem&sslkey=@marked.client.key&sslrootcert=@marked.root.pem", "verified"],
  ["sslcert=@client.pem&sslkey=@client.key&sslrootcert=@joined.root.pem", "verified"],
  ["sslmode=require&host=/run/postgresql", "plain"],
] as const

describe.skipIf(withoutOpenssl !== undefined)("TLS in the database's URL", () => {
  for (const [query, words] of REFUSED)
    plainIt.effect(`is refused before the first connection: ${query}`, () =>
      Effect.gen(function* () {
        const { message } = toStorageError(yield* Effect.flip(readDatabaseUrl(address(query))))
        assert.match(message, words)
        assert.notInclude(message, "pa55word")
        assert.notInclude(message, folder)
      }),
    )

  for (const [query, how] of TAKEN)
    plainIt.effect(`is ${how}: ${query}`, () =>
      Effect.gen(function* () {
        const [server] = (yield* readDatabaseUrl(address(query))).servers
        const { isOptional, ssl } = server ?? assert.fail()
        const kind = () => {
          if (ssl === false) return "plain"
          if (ssl.rejectUnauthorized === false) return "encrypted"
          return ssl.checkServerIdentity === undefined ? "verified" : "of the authority"
        }
        assert.strictEqual(kind() + (isOptional ? " if offered" : ""), how)
        if (ssl !== false) assert.deepStrictEqual([ssl.host, ssl.servername], ["db.example", "db.example"])
      }),
    )

  plainIt("names the runtime that keeps a file from the program", () => {
    const script = `
      import { readDatabaseUrl } from "@tocsin/adapter-pg/client/databaseUrl"
      import { Effect, Redacted } from "effect"
      const read = readDatabaseUrl(Redacted.make("postgres:///t?sslrootcert=/etc/hostname"))
      console.log((await Effect.runPromise(Effect.flip(read))).message)`
    const root = fileURLToPath(new URL("../../../..", import.meta.url))
    const args = ["--permission", `--allow-fs-read=${root}`, "--input-type=module", "--eval", script]
    const { stdout } = spawnSync(process.execPath, args, { cwd: join(root, "test"), encoding: "utf8" })
    assert.match(stdout, /the runtime keeps the file of sslrootcert from this program: grant it/)
  })

  plainIt.effect("names the host that stands in the certificate, and connects to hostaddr", () =>
    Effect.gen(function* () {
      const url = Redacted.make(
        "postgres:///t?host=a.example,b.example&hostaddr=10.0.0.1,::1&sslmode=verify-full",
      )
      const { servers } = yield* readDatabaseUrl(url)
      assert.deepStrictEqual(
        servers.map(({ host, ssl }) => [host, ssl !== false && ssl.servername]),
        [
          ["10.0.0.1", "a.example"],
          ["::1", "b.example"],
        ],
      )
    }),
  )
})

/** How PostgreSQL 15 refuses a user of whom pg_hba.conf has a line of `hostnossl` alone. */
const refusal = (() => {
  const fields = [
    "SFATAL",
    "VFATAL",
    "C28000",
    "Mno pg_hba.conf entry, SSL encryption",
    "RClientAuthentication",
  ]
  const body = Buffer.from(`${fields.join("\0")}\0\0`)
  const head = Buffer.from("E\0\0\0\0")
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
})()

/** A front that speaks TLS before a server of PostgreSQL without it, or plain text, and may let in by the latter alone. */
const secured = (upstream: URL, isForNone = false): Server =>
  createServer((socket) => {
    socket.on("error", () => {})
    socket.once("data", (first) => {
      // A request for TLS has eight bytes.
      if (first.length > 8) {
        const server = connect(Number(upstream.port), upstream.hostname)
        for (const one of [socket, server])
          one.on("error", () => [socket, server].forEach((end) => end.destroy()))
        server.write(first)
        socket.pipe(server).pipe(socket)
        return
      }
      socket.write("S")
      const inside = new TLSSocket(socket, {
        isServer: true,
        key: readFileSync(at("server.key")),
        cert: readFileSync(at("server.pem")),
      })
      if (isForNone) return void inside.on("error", () => {}).once("data", () => inside.end(refusal))
      const server = connect(Number(upstream.port), upstream.hostname)
      for (const one of [inside, server])
        one.on("error", () => [inside, server].forEach((end) => end.destroy()))
      inside.pipe(server).pipe(inside)
    })
  })

/** Opens a front of a server until the scope closes. Gives its address. */
const openFront = Effect.fnUntraced(function* (url: Redacted.Redacted, isForNone = false) {
  const own = new URL(Redacted.value(url))
  const front = yield* Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = secured(own, isForNone)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close()),
  )
  const bound = front.address()
  const port = typeof bound === "object" ? String(bound?.port) : assert.fail()
  return Object.assign(new URL(own), { hostname: "127.0.0.1", port, search: "" }).href
})

layer(ScratchPostgres.layer)("a server that offers TLS", (it) => {
  const test = testsFrom(ScratchPostgres, it.effect)
  const untrusted =
    /certificate of PostgreSQL's server is not trusted: name the file of its authority in sslrootcert/
  const attempts = [
    ["sslmode=prefer", undefined],
    ["sslmode=no-verify", undefined],
    ["sslmode=verify-ca&sslrootcert=@server.pem", undefined],
    ["sslmode=verify-full&sslrootcert=@server.pem", /names another host than the database URL/],
    ["sslmode=verify-full&sslrootcert=@server.pem&host=db.example&hostaddr=127.0.0.1", undefined],
    ["sslmode=require", untrusted],
    ["ssl=true", untrusted],
    ["sslmode=prefer&sslrootcert=@root.pem", untrusted],
  ] as const
  for (const [query, refusal] of attempts)
    test(`${refusal === undefined ? "is used" : "is refused in words"} with ${query}`, function* ({
      replica,
      url,
    }) {
      if (withoutOpenssl !== undefined) return
      const { sql } = yield* replica({ url: address(query, yield* openFront(url)) })
      const asked = sql<{ one: number }>`SELECT 1 AS one`
      if (refusal === undefined) assert.deepStrictEqual(yield* asked, [{ one: 1 }])
      else assert.match(toStorageError(yield* Effect.flip(asked)).message, refusal)
    })

  for (const [mode, words] of [
    ["prefer", undefined],
    ["no-verify", /^pg_hba.conf of PostgreSQL does not let this user and database in from here/],
  ] as const)
    test(`and lets its user in by plain text alone: with sslmode=${mode}`, function* ({ replica, url }) {
      if (withoutOpenssl !== undefined) return
      const { sql } = yield* replica({ url: address(`sslmode=${mode}`, yield* openFront(url, true)) })
      const asked = sql<{ one: number }>`SELECT 1 AS one`
      if (words === undefined) assert.deepStrictEqual(yield* asked, [{ one: 1 }])
      else assert.match(toStorageError(yield* Effect.flip(asked)).message, words)
    })

  test("is not needed with sslmode=prefer", function* ({ replica, url }) {
    const { sql } = yield* replica({ url: Redacted.make(`${Redacted.value(url)}?sslmode=prefer`) })
    for (const _ of [1, 2]) assert.deepStrictEqual(yield* sql`SELECT 1 AS one`, [{ one: 1 }])
  })
})
