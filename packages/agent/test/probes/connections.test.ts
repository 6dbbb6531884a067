import dns, { type LookupAddress } from "node:dns"
import { once } from "node:events"
import { createServer } from "node:http"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { startSlowServer } from "@tocsin/test/processes/slowServer"
import { httpTransport } from "../../src/sending/httpTransport.ts"
import { probed, type ProbeName, TestServers } from "./probed.ts"

const { lookup } = dns
/** The addresses of each name; any other name is its own address. */
const NAMES: Readonly<Record<string, ReadonlyArray<string>>> = {
  "shop.example": ["127.0.0.1"],
  "shop.example.": ["127.0.0.1"],
  "swallowed-first.example": ["127.0.0.1", "127.0.0.2"],
  "refused-last.example": ["127.0.0.1", "::1"],
  "refused-first.example": ["::1", "127.0.0.1"],
  "swallowed-twice.example": ["127.0.0.1", "::ffff:127.0.0.1"],
}

/** The one form of `lookup` that sockets use. */
const fake = (name: string, _: object, found: (error: null, all: ReadonlyArray<LookupAddress>) => void) => {
  const all = NAMES[name] ?? [name]
  process.nextTick(() =>
    found(
      null,
      all.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    ),
  )
}

const sentTo = async (server: string): Promise<number> => {
  const transport = httpTransport({})
  try {
    return (await transport.send({ kind: "heartbeat", agentId: "a", key: "k", body: "{}", server })).status
  } finally {
    transport.close()
  }
}

describe("a name with several addresses", () => {
  beforeAll(() => {
    dns.lookup = Object.assign(fake, lookup)
  })
  afterAll(() => {
    dns.lookup = lookup
  })

  it.each(["refused-first.example", "refused-last.example"])(
    "is reached over a link that takes three seconds to connect: %s",
    async (name) => {
      const server = await startSlowServer()
      setTimeout(server.resume, 2_700)
      try {
        const [tcp, http, sent] = await Promise.all([
          probed("tcp", { host: name, port: server.port, wait: "9s" }),
          probed("http", { url: `http://${name}:${server.port}/`, wait: "9s" }),
          sentTo(`http://${name}:${server.port}`),
        ])
        assert.deepStrictEqual([tcp.status, http.status, sent], ["ok", "ok", 200])
      } finally {
        server.end()
      }
    },
    20_000,
  )

  it("has one origin with a dot at its end and without", async () => {
    const seen: Array<string | undefined> = []
    const server = createServer(({ headers, url }, response) => {
      seen.push(headers["x-key"]?.toString())
      const location = `http://shop.example:${port}/next`
      if (url === "/next") response.end()
      else response.writeHead(307, { location }).end()
    })
    const servers = new TestServers()
    const port = await servers.listen(server)
    try {
      const settings = { url: `http://shop.example.:${port}/`, headers: { "x-key": "secret" } }
      const sent = { ...settings, method: "POST", body: "b" }
      for (const one of [settings, sent]) assert.include((await probed("http", one)).output, "HTTP OK")
      assert.deepStrictEqual(seen, ["secret", "secret", "secret", "secret"])
    } finally {
      servers.close()
    }
  })

  it("is found at IPv6, in brackets or with a zone", async () => {
    const server = createServer().listen(0, "::1")
    try {
      await once(server, "listening")
      const bound = server.address()
      const port = typeof bound === "object" ? bound?.port : 0
      for (const host of ["::1", "[::1]", "::1%lo", "[::1%lo]"]) {
        assert.include((await probed("tcp", { host, port })).output, "TCP OK")
        const { output } = await probed("tls", { host, name: host, port, wait: "1s" })
        assert.include(output, "TLS CRITICAL - ::1")
      }
    } finally {
      server.close()
    }
  })

  describe("of which some answer nothing", () => {
    let silent: Awaited<ReturnType<typeof startSlowServer>>
    const server = createServer((_, response) => response.end("{}"))
    beforeAll(async () => {
      silent = await startSlowServer()
      server.listen(silent.port, "127.0.0.2")
      await once(server, "listening")
    })
    afterAll(() => {
      silent.end()
      server.close()
    })

    it("is reached at another one at once", async () => {
      const host = "swallowed-first.example"
      const begun = performance.now()
      const [tcp, http, sent] = await Promise.all([
        probed("tcp", { host, port: silent.port }),
        probed("http", { url: `http://${host}:${silent.port}/` }),
        sentTo(`http://${host}:${silent.port}`),
      ])
      assert.deepStrictEqual([tcp.status, http.status, sent], ["ok", "ok", 200])
      assert.isBelow(performance.now() - begun, 2_000)
    })

    it.each(["refused-first.example", "refused-last.example", "swallowed-twice.example"])(
      "is critical when the wait is over, not before: %s",
      async (host) => {
        const target = { host, port: silent.port, wait: "3s" }
        const url = `http://${host}:${silent.port}/`
        const probes: ReadonlyArray<readonly [ProbeName, object]> = [
          ["tcp", target],
          ["tcp", { ...target, tls: true }],
          ["tls", target],
          ["tls", { ...target, starttls: "smtp" }],
          ["http", { url, wait: "3s" }],
          ["http", { url: url.replace("http:", "https:"), wait: "3s" }],
        ]
        const found = await Promise.all(probes.map(([name, settings]) => probed(name, settings)))
        for (const { output } of found) assert.match(output, / CRITICAL - .*: no answer within 3 s$/)
      },
      20_000,
    )
  })
})
