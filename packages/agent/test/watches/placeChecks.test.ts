import { assert, describe, it } from "@effect/vitest"
import { watchOptions } from "@tocsin/contract/watches/watchOptions"
import * as fc from "fast-check"
import { createSocket } from "node:dgram"
import { createServer, type RequestListener } from "node:http"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { systemClock } from "../../src/clock/Clock.ts"
import { judge } from "../../src/probes/Probe.ts"
import { placeChecks, placeOutput, placeTargets } from "../../src/watches/placeChecks.ts"
import { type PlaceRules, reachedBy } from "../../src/watches/PlaceRules.ts"
import { readWatch } from "../../src/watches/readWatch.ts"

const PUBLIC: PlaceRules = { allow: ["public"], writes: false }
const PAGE = { url: "https://93.184.216.34/" }
const REQUIRED: Readonly<Record<string, object>> = {
  http: PAGE,
  tcp: { host: "93.184.216.34", port: 1 },
  tls: { host: "93.184.216.34" },
  dns: { name: "shop.example" },
  ping: { host: "93.184.216.34" },
  websocket: { url: "wss://93.184.216.34/" },
}
const watch = (probe: object, more: object = {}) => ({
  name: "page",
  every: "1m",
  confirm: { bad: 2, good: 1 },
  ...probe,
  ...more,
})

const resultOf = async (given: object, rules = PUBLIC) => {
  const check = placeChecks([given], rules).get("watch:page")
  assert.isDefined(check)
  if (check.work.kind !== "probe") throw new Error("no probe")
  const { probe } = check.work
  const found = await probe.run({ clock: systemClock, signal: AbortSignal.timeout(10_000) })
  const { output, status } = judge(probe.name, found)
  return `${status}: ${placeOutput(check, output)}`
}

describe("a place refuses, without a packet,", () => {
  it.each<[watch: object, reason: RegExp]>([
    [watch({}), /exactly one probe/],
    [watch({ http: PAGE, tcp: { host: "93.184.216.34", port: 1 } }), /exactly one probe/],
    [watch({ command: ["id"] }), /exactly one probe/],
    [watch({ shell: "id" }), /exactly one probe/],
    [watch({ file: { path: "/etc/shadow" } }), /exactly one probe/],
    [watch({ unix: { path: "/run/x.sock" } }), /exactly one probe/],
    [watch({ http: PAGE }, { env: {} }), /exactly one probe/],
    [watch({ http: { ...PAGE, socket: "/run/docker.sock" } }), /http\.socket is no option/],
    [watch({ http: { ...PAGE, ca_file: "/etc/passwd" } }), /http\.ca_file is no option/],
    [watch({ http: { ...PAGE, pattern: "(a+)+" } }), /http\.pattern is no option/],
    [watch({ tcp: { host: "93.184.216.34", port: 1, tls: true } }), /tcp\.tls is no option/],
    [watch({ http: { url: "https://a:b@93.184.216.34/" } }), /must not contain a user/],
    [watch({ http: PAGE }, { every: "9s" }), /every must be at least 10s/],
    [watch({ http: PAGE }, { every: 60 }), /every must be at least 10s/],
    [watch({ http: { ...PAGE, timeout: "1h" } }), /http\.timeout must be .* from 1s to 30s/],
    [watch({ http: PAGE }, { secrets: ["headers.x-key", "auth"] }), /did not come \(headers\.x-key, auth\)/],
    [watch({ http: { ...PAGE, method: "POST" } }), /http\.method needs place\.writes/],
    [watch({ http: { ...PAGE, method: "POST", body: "x" } }), /http\.body needs place\.writes/],
    [watch({ http: { ...PAGE, method: "DELETE" } }), /http\.method needs place\.writes/],
    [watch({ tcp: { host: "93.184.216.34", port: 1, send: "x" } }), /tcp\.send needs place\.writes/],
    [watch({ websocket: { url: "wss://93.184.216.34/", send: "x" } }), /websocket\.send needs/],
    [watch({ http: { url: "http://10.0.0.1/" } }), /10\.0\.0\.1 may not be reached/],
    [watch({ http: { url: "http://127.1/" } }), /127\.0\.0\.1 may not be reached/],
    [watch({ http: { url: "http://2130706433/" } }), /127\.0\.0\.1 may not be reached/],
    [watch({ http: { url: "http://[::ffff:a9fe:a9fe]/" } }), /may not be reached/],
    [watch({ tcp: { host: "127.1", port: 1 } }), /127\.1 may not be reached/],
    [watch({ tls: { host: "::1", port: 1 } }), /::1 may not be reached/],
    [watch({ websocket: { url: "ws://10.0.0.1/" } }), /10\.0\.0\.1 may not be reached/],
    [watch({ ping: { host: "10.0.0.1" } }), /10\.0\.0\.1 may not be reached/],
    [watch({ ping: { host: "localhost" } }), /localhost may not be reached/],
    [
      watch({ dns: { name: "shop.example", servers: ["10.0.0.53:5353"] } }),
      /10\.0\.0\.53 may not be reached/,
    ],
  ])("%j", async (given, reason) => {
    assert.match(await resultOf(given), reason)
    assert.match(await resultOf(given), /^unknown: \w+ UNKNOWN - /)
  })

  it("resolves only names of its patterns unless public is allowed", async () => {
    const rules: PlaceRules = { allow: ["*.shop.example"], writes: false }
    assert.match(
      await resultOf(watch({ dns: { name: "db.bank.example" } }), rules),
      /db\.bank\.example may not/,
    )
  })

  it("is the 201st watch by its name", () => {
    const items = Array.from({ length: 201 }, (_, n) => watch({ http: PAGE }, { name: `w${1_000 - n}` }))
    const checks = placeChecks(items, PUBLIC)
    assert.strictEqual(checks.size, 201)
    const names = [...checks].flatMap(([id, { work }]) =>
      work.kind === "probe" && work.probe.name === "place" ? [id] : [],
    )
    assert.deepStrictEqual(names, ["watch:w999"])
  })

  it("is whatever stands in place of an option, and never fails itself", () => {
    const kinds = Object.entries(watchOptions)
    const odd = fc.oneof(fc.constantFrom(null, true, "", -1, [null], { a: null }), fc.jsonValue())
    const option = fc.constantFrom(...kinds.flatMap(([kind, names]) => names.map((name) => ({ kind, name }))))
    fc.assert(
      fc.property(option, odd, odd, ({ kind, name }, value, other) => {
        const probe = { [kind]: { ...REQUIRED[kind], [name]: value } }
        for (const given of [watch(probe), watch(probe, { secrets: other }), watch({ [kind]: other })])
          assert.strictEqual(placeChecks([given, other], { allow: ["public"], writes: true }).size, 1)
      }),
      { numRuns: 2_000 },
    )
  })

  it("is a name that no check can have", () => {
    assert.strictEqual(placeChecks([watch({ http: PAGE }, { name: "a b" }), null, 7], PUBLIC).size, 0)
  })
})

/** A server at an address, which counts what reaches it. */
const counting = async (host: string, port = 0, page?: RequestListener) => {
  const reached: Array<string> = []
  const server = createServer(page)
  server.on("connection", () => void reached.push(host))
  server.listen(port, host)
  await once(server, "listening")
  const bound = server.address()
  return {
    reached,
    port: typeof bound === "object" && bound !== null ? bound.port : 0,
    close: () => server.close(),
  }
}

describe("a place reaches nothing that it may not and", () => {
  it("gets no connection and no packet, by whichever probe", async () => {
    const { close, port, reached } = await counting("127.0.0.1")
    const names = createSocket("udp4").bind(port, "127.0.0.1")
    names.on("message", () => void reached.push("a question"))
    await once(names, "listening")
    const at = { host: "127.0.0.1", port }
    try {
      for (const probe of [
        { http: { url: `http://127.0.0.1:${port}/` } },
        { http: { url: `http://localhost:${port}/` } },
        { tcp: at },
        { tcp: { ...at, host: "localhost" } },
        { tls: at },
        { websocket: { url: `ws://127.0.0.1:${port}/` } },
        { dns: { name: "shop.example", servers: [`127.0.0.1:${port}`] } },
      ])
        assert.match(await resultOf(watch(probe)), /^unknown: .*may not be reached/, JSON.stringify(probe))
      assert.deepStrictEqual(reached, [])
    } finally {
      close()
      names.close()
    }
  })

  it("gets none by a redirect", async () => {
    const away = await counting("127.0.0.2")
    const first = await counting("127.0.0.1", 0, (_, response) =>
      response.writeHead(302, { location: `http://127.0.0.2:${away.port}/` }).end(),
    )
    try {
      const rules = { allow: ["127.0.0.1"], writes: true }
      const page = watch({ http: { url: `http://127.0.0.1:${first.port}/` } })
      assert.match(await resultOf(page, rules), /^unknown: .*127\.0\.0\.2 may not be reached/)
      assert.deepStrictEqual([first.reached, away.reached], [["127.0.0.1"], []])
    } finally {
      first.close()
      away.close()
    }
  })

  it("gets none by a name that resolves to other addresses, then or later", async () => {
    const own = await counting("127.0.0.1")
    const other = await counting("127.0.0.2", own.port)
    let asked = 0
    const resolve = (
      _: string,
      __: object,
      callback: (error: null, found: ReadonlyArray<object>) => void,
    ) => {
      asked += 1
      const found = asked === 1 ? ["127.0.0.2", "127.0.0.1"] : ["127.0.0.2"]
      callback(
        null,
        found.map((address) => ({ address, family: 4 })),
      )
    }
    const read = readWatch("tcp", { host: "rebound.example", port: own.port })
    if ("problem" in read) throw new Error(read.problem)
    try {
      const run = async () => {
        // Called as `dns.lookup` is with `all`.
        const { targets } = placeTargets(reachedBy({ allow: ["127.0.0.1"] }), resolve as never)
        const signal = AbortSignal.timeout(10_000)
        return judge("tcp", await read.probe.run({ clock: systemClock, signal, targets })).status
      }
      assert.deepStrictEqual([await run(), asked], ["ok", 1])
      assert.strictEqual(await run(), "critical")
      assert.deepStrictEqual([own.reached, other.reached], [["127.0.0.1"], []])
    } finally {
      own.close()
      other.close()
    }
  })
})

/** Looks names up as `dns.lookup` does with `all`. */
const resolving = (...addresses: ReadonlyArray<string>) =>
  ((_: string, __: object, callback: (error: null, found: ReadonlyArray<object>) => void) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    )) as never

describe("a place that is given a name", () => {
  it("pings an address that it may reach, and starts no ping where there is none", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tocsin-ping-"))
    const [log, path] = [join(folder, "log"), process.env["PATH"]]
    writeFileSync(join(folder, "ping"), `#!/bin/sh\necho "$@" >> ${log}\n`, { mode: 0o755 })
    const read = readWatch("ping", { host: "rebound.example", count: 1 })
    if ("problem" in read) throw new Error(read.problem)
    process.env["PATH"] = folder
    try {
      for (const addresses of [["127.0.0.2", "127.0.0.1"], ["127.0.0.2"]]) {
        const { targets } = placeTargets(reachedBy({ allow: ["127.0.0.1"] }), resolving(...addresses))
        await read.probe.run({ clock: systemClock, signal: AbortSignal.timeout(10_000), targets })
      }
      assert.strictEqual(readFileSync(log, "utf8"), "-c 1 127.0.0.1\n")
    } finally {
      process.env["PATH"] = path
      rmSync(folder, { recursive: true })
    }
  })

  it.each([
    ["127.0.0.1", /^ok: DNS OK - shop\.example A 127\.0\.0\.1 /],
    ["10.9.8.7", /^unknown: DNS UNKNOWN - the name leads to an address that may not be reached/],
  ])("shows the record %s of a name server only if it may reach it", async (address, said) => {
    const names = createSocket("udp4").bind(0, "127.0.0.1")
    await once(names, "listening")
    names.on("message", (question, { port, address: asker }) => {
      const end = question.indexOf(0, 12) + 5
      const head = Buffer.from(question.subarray(0, 12))
      // An answer of one record and nothing else.
      head.writeUInt16BE(0x8180, 2)
      head.writeUInt16BE(1, 6)
      head.writeUInt32BE(0, 8)
      const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split(".").map(Number)]
      names.send(Buffer.concat([head, question.subarray(12, end), Buffer.from(record)]), port, asker)
    })
    const probe = { dns: { name: "shop.example", servers: [`127.0.0.1:${names.address().port}`] } }
    try {
      const rules = { allow: ["public", "127.0.0.1"], writes: false }
      const result = await resultOf(watch(probe), rules)
      assert.match(result, said)
      assert.strictEqual(result.includes(address), address === "127.0.0.1")
    } finally {
      names.close()
    }
  })
})

describe("a probe of a place", () => {
  it("has no secret in its output, and follows no redirect to what it may not reach", async () => {
    const server = createServer(({ url }, response) => {
      if (url === "/away") response.writeHead(302, { location: "http://127.0.0.2:9/" }).end()
      else response.writeHead(404, { location: "x" }).end("no")
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const bound = server.address()
    const port = typeof bound === "object" ? bound?.port : 0
    const rules: PlaceRules = { allow: ["127.0.0.1"], writes: true }
    const page = (path: string, more: object = {}) =>
      watch({ http: { url: `http://127.0.0.1:${port}${path}`, ...more } })
    try {
      const secret = { headers: { "x-key": "top-secret" } }
      assert.match(
        await resultOf(page("/top-secret", secret), rules),
        /^critical: HTTP CRITICAL - 404 .*\*\*\*/,
      )
      assert.match(
        await resultOf(page("/away"), rules),
        /^unknown: HTTP UNKNOWN - 127\.0\.0\.2 may not be reached/,
      )
      assert.match(await resultOf(page("/", { method: "POST", body: "x" }), rules), /^critical: .* 404/)
    } finally {
      server.close()
    }
  })
})
