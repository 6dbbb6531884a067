import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import {
  createMonitor,
  isTocsinError,
  keyValue,
  memory,
  type Monitor,
  postgres,
  slack,
  sqlite,
  telegram,
  TocsinError,
  webhook,
} from "tocsin"
import { Ids, MemoryStorage, notifiers as notifiersLayer, type RuleOptions, Tocsin } from "tocsin/effect"
import { givenMillis } from "@tocsin/contract/formats/durationMillis"
import { Cause, Duration, Effect, Exit, Layer } from "effect"
import { enroll, heartbeatOf, keyOf, resultOf, send } from "./requests.ts"

const folder = mkdtempSync(join(tmpdir(), "tocsin-errors-"))
afterAll(() => rmSync(folder, { recursive: true }))

const TOKEN = "operators-token"
const quiet = { log: false } as const

const failureOf = async (call: Promise<unknown>): Promise<TocsinError> => {
  try {
    await call
  } catch (error) {
    if (isTocsinError(error)) return error
    throw error
  }
  throw new Error("it did not fail")
}

/** The HTTP API's answer to a request. */
const overHttp = async (monitor: Monitor, path: string, key: string, body?: unknown) => {
  const response = await monitor.fetch(
    new Request(`http://host${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${key}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  )
  const { error } = (await response.json()) as { error?: { code: string; message: string } }
  return [error?.code, error?.message]
}

describe("the library and HTTP refuse the same calls, in the same words", () => {
  const odd = "\0"
  const heartbeats: ReadonlyArray<[string, unknown]> = [
    ["a missing field", { ...heartbeatOf("a"), hostname: undefined }],
    ["an unknown field", { ...heartbeatOf("a"), colour: "red" }],
    ["an id with a space", heartbeatOf("a b")],
    ["an offset", heartbeatOf("a", { observed_at: "2026-01-01T00:00:00+01:00" })],
    ["a secret-like label", heartbeatOf("a", { labels: { password: "x" } })],
    ["a control character", heartbeatOf("a", { hostname: odd })],
    ["an array", []],
    ["null", null],
  ]
  it.each(heartbeats)("heartbeat: %s", async (_name, body) => {
    await using monitor = await createMonitor({ ...quiet, storage: memory() })
    const error = await failureOf(monitor.heartbeat(keyOf("a"), body as never))
    assert.deepStrictEqual(
      [error.code, error.message],
      await overHttp(monitor, "/api/v1/heartbeat", keyOf("a"), body),
    )
  })

  it.each<[string, unknown]>([
    ["no events", { agent_id: "a", events: [] }],
    ["201 events", { agent_id: "a", events: Array.from({ length: 201 }, () => resultOf("ok")) }],
    ["an id of version 4", { agent_id: "a", events: [resultOf("ok", { event_id: crypto.randomUUID() })] }],
    ["a long output", { agent_id: "a", events: [resultOf("ok", { output: "ä".repeat(4_097) })] }],
    ["a fraction", { agent_id: "a", events: [resultOf("ok", { exit_code: 1.5 })] }],
  ])("events: %s", async (_name, body) => {
    await using monitor = await createMonitor({ ...quiet, storage: memory() })
    const error = await failureOf(monitor.events(keyOf("a"), body as never))
    assert.deepStrictEqual(
      [error.code, error.message],
      await overHttp(monitor, "/api/v1/events", keyOf("a"), body),
    )
  })

  it.each<[string, (monitor: Monitor) => Promise<unknown>, string]>([
    ["a limit of 0", (m) => m.agents.list({ limit: 0 }), "/api/v1/agents?limit=0"],
    ["a limit of 1.5", (m) => m.checks.list({ limit: 1.5 }), "/api/v1/checks?limit=1.5"],
    ["a limit of 501", (m) => m.history.list({ limit: 501 }), "/api/v1/events/query?limit=501"],
    ["an unknown state", (m) => m.incidents.list({ state: "x" as never }), "/api/v1/incidents?state=x"],
    ["an empty cursor", (m) => m.outbox.list({ cursor: "" }), "/api/v1/notifiers/outbox?cursor="],
    ["a foreign cursor", (m) => m.outbox.list({ cursor: "abc" }), "/api/v1/notifiers/outbox?cursor=abc"],
    ["an odd id", (m) => m.agents.get("a b"), "/api/v1/agents/a%20b"],
    ["an odd incident", (m) => m.incidents.get("x"), "/ops/v1/incidents/x"],
    [
      "an odd check",
      (m) => m.checks.explain({ agent_id: "a", check_id: "" }),
      "/ops/v1/explain?agent_id=a&check_id=",
    ],
  ])("parameters: %s", async (_name, call, path) => {
    await using monitor = await createMonitor({ ...quiet, storage: memory(), operatorTokens: [TOKEN] })
    const error = await failureOf(call(monitor))
    assert.deepStrictEqual([error.code, error.message], await overHttp(monitor, path, TOKEN))
  })
})

const MEANT_BY = "bye is not an option; did you mean by?"
const MEANT_SIGNAL = "singal is not an option; did you mean signal?"

/** Calls as plain JavaScript does, which sees no types. */
const plainly = async (call: unknown, ...given: ReadonlyArray<unknown>): Promise<unknown> =>
  (call as (...given: ReadonlyArray<unknown>) => unknown)(...given)

const firstOf = async (iterating: Promise<unknown>) => {
  // It is an iterator.
  for await (const item of (await iterating) as AsyncIterable<unknown>) return item
  return undefined
}

describe("unknown parameters", () => {
  const misspelt = { stat: "open" } as object
  it.each<[string, (monitor: Monitor) => Promise<unknown>, string]>([
    ["of a list", (monitor) => monitor.incidents.list(misspelt), "stat is not a known field"],
    ["of a walk", (monitor) => monitor.incidents.all(misspelt).next(), "stat is not a known field"],
    [
      "of a check's name",
      (monitor) => monitor.checks.explain({ agent_id: "a", check_id: "b", ...misspelt }),
      "stat is not a known field",
    ],
    ["of a call", (monitor) => monitor.agents.acceptAll(misspelt), "stat is not a known field"],
    [
      "that name who acts, of a read",
      (monitor) => monitor.agents.list({ by: "ann" } as object),
      "by is not a known field",
    ],
    [
      "of a heartbeat",
      (monitor) => monitor.heartbeat(keyOf("a"), heartbeatOf("a"), { adress: "::1" } as object),
      "adress is not an option; did you mean address?",
    ],
    [
      "of events",
      (monitor) => plainly(monitor.events, keyOf("a"), { agent_id: "a", events: [] }, { address: "::1" }),
      "address is not an option: this call takes none",
    ],
    ["of an act", (monitor) => plainly(monitor.agents.accept, "w", { bye: "ann" }), MEANT_BY],
    ["of an act on a row", (monitor) => plainly(monitor.blacklist.remove, "w", { bye: "ann" }), MEANT_BY],
    ["of an act on all", (monitor) => plainly(monitor.agents.blockAll, { bye: "ann" }), MEANT_BY],
    ["beside who acts", (monitor) => plainly(monitor.agents.block, "w", { by: "ann", bye: "eva" }), MEANT_BY],
    [
      "of an act with a body",
      (monitor) => plainly(monitor.watches.pause, "w", { until: null }, { note: "ann" }),
      "note is not an option: it takes by",
    ],
    [
      "without a name",
      (monitor) => plainly(monitor.agents.accept, "w", "ann"),
      '"ann" is an argument too many',
    ],
    [
      "of a read",
      (monitor) => plainly(monitor.agents.get, "w", { signal: undefined }),
      "signal is not an option: this call takes none",
    ],
    [
      "of a read without arguments",
      (monitor) => plainly(monitor.summary, { fresh: true }),
      "fresh is not an option: this call takes none",
    ],
    [
      "behind those of a walk",
      (monitor) => firstOf(plainly(monitor.agents.all, {}, { limit: 1 })),
      "limit is not an option: this call takes none",
    ],
    [
      "of a test message",
      (monitor) => plainly(monitor.notifiers.test, "pager", { by: "ann" }),
      "by is not an option: this call takes none",
    ],
    [
      "of a policy",
      (monitor) => plainly(monitor.setPolicy, {}, { confrm: true }),
      "confrm is not a known field",
    ],
    [
      "of a policy's text",
      (monitor) => plainly(monitor.policy.apply, "{}", { confrm: true }),
      "confrm is not an option; did you mean confirm?",
    ],
    ["of a stream", (monitor) => firstOf(plainly(monitor.changes, { singal: 1 })), MEANT_SIGNAL],
    ["of incidents", (monitor) => firstOf(plainly(monitor.incidentChanges, { singal: 1 })), MEANT_SIGNAL],
    [
      "of a callback",
      (monitor) => plainly(monitor.onIncident, () => {}, { signal: 1 }),
      "signal is not an option: this call takes none",
    ],
  ])("%s are refused", async (_name, call, message) => {
    await using monitor = await createMonitor({ ...quiet, storage: memory() })
    const error = await failureOf(call(monitor))
    assert.deepStrictEqual([error.code, error.message], ["validation", message])
  })
})

describe("errors", () => {
  it("tell what to do in terms of the library", async () => {
    await using monitor = await createMonitor({ ...quiet, storage: memory() })
    const id = "01900000-0000-7000-8000-000000000001"
    const messages = [
      await failureOf(monitor.agents.get("nobody")),
      await failureOf(monitor.incidents.get(id)),
      await failureOf(monitor.outbox.replay(id)),
      await failureOf(monitor.outbox.release(id)),
      await failureOf(monitor.integrations.get("nobody")),
      await failureOf(monitor.watches.get("nobody")),
      await failureOf(monitor.notifiers.test("pager")),
    ].map(({ code, message }) => `${code}: ${message}`)
    assert.deepStrictEqual(messages, [
      "not_found: no agent has this agent_id; list agents with monitor.agents.list()",
      "not_found: no incident has this id; list incidents with monitor.incidents.list()",
      'not_found: no outbox item has this id; list failed items with monitor.outbox.list({ state: "failed" })',
      "not_found: no outbox item has this id; list held items with monitor.outbox.withHolds.list({ held: true })",
      "not_found: no integration has this name; list integrations with monitor.integrations.list()",
      "not_found: no watch has this name; list watches with monitor.watches.list()",
      "not_found: there is no notifier of this name; give it to createMonitor first",
    ])
    await enroll(monitor, "a")
    const noCheck = await failureOf(monitor.checks.explain({ agent_id: "a", check_id: "x" }))
    assert.match(noCheck.message, /monitor\.checks\.list/)
  })

  it("name what an agent's key is refused for", async () => {
    await using monitor = await createMonitor({
      ...quiet,
      storage: memory(),
      operatorTokens: [TOKEN],
      readTokens: ["reads"],
    })
    const codeOf = async (call: Promise<unknown>) => (await failureOf(call)).code
    for (const key of ["", "two words", "x".repeat(513), TOKEN, "reads", undefined as never])
      assert.strictEqual(await codeOf(monitor.heartbeat(key, heartbeatOf("a"))), "unauthorized")
    assert.strictEqual(await codeOf(send(monitor, "a", resultOf("ok"))), "agent_not_accepted")
    await enroll(monitor, "a")
    assert.strictEqual(await codeOf(monitor.heartbeat(keyOf("a"), heartbeatOf("b"))), "conflict")
  })

  it("tell when to come back", async () => {
    await using monitor = await createMonitor({
      ...quiet,
      storage: memory(),
      heartbeatRate: { perMinute: 1, burst: 1 },
      registrationRate: { perMinute: 60, burst: 1 },
    })
    await monitor.heartbeat(keyOf("a"), heartbeatOf("a"), { address: "192.0.2.1" })
    const again = await failureOf(monitor.heartbeat(keyOf("a"), heartbeatOf("a")))
    assert.deepStrictEqual([again.code, again.retryAfterSeconds], ["rate_limited", 60])
    const other = await failureOf(monitor.heartbeat(keyOf("b"), heartbeatOf("b"), { address: "192.0.2.1" }))
    assert.deepStrictEqual([other.code, other.retryAfterSeconds], ["rate_limited", 1])
    await monitor.heartbeat(keyOf("c"), heartbeatOf("c"), { address: "192.0.2.2" })
  })

  it("are values for who asks for the outcome, and nobody is told of a rejection that nobody handles", async () => {
    const unhandled: Array<unknown> = []
    const note = (reason: unknown) => void unhandled.push(reason)
    process.on("unhandledRejection", note)
    await using monitor = await createMonitor({ ...quiet, storage: memory() })
    const outcome = await monitor.agents.get("nobody").outcome()
    assert.isFalse(outcome.ok)
    if (!outcome.ok) assert.strictEqual(outcome.error.code, "not_found")
    const fine = await monitor.summary().outcome()
    assert.isTrue(fine.ok)
    await new Promise((resolve) => setImmediate(resolve))
    process.off("unhandledRejection", note)
    assert.deepStrictEqual(unhandled, [])
  })

  it("tell how the storage failed, and go away with it", async () => {
    let isAway = false
    const write = async () => {
      if (isAway) throw new Error("the disk failed")
    }
    const storage = keyValue({ name: "a store", open: async () => ({ load: () => [], write }) })
    await using monitor = await createMonitor({ ...quiet, storage, housekeeping: false })
    isAway = true
    const error = await failureOf(monitor.heartbeat(keyOf("a"), heartbeatOf("a")))
    assert.deepStrictEqual([error.code, error.reason], ["storage", "unavailable"])
    assert.strictEqual(String(error.cause), "Error: the disk failed")
    isAway = false
    await monitor.heartbeat(keyOf("a"), heartbeatOf("a"))
  })

  it("are known by a mark, not by their class alone", () => {
    const error = new TocsinError("closed", "x")
    assert.instanceOf(error, Error)
    assert.isTrue(isTocsinError(error))
    assert.isFalse(isTocsinError(new Error("x")))
    assert.isFalse(isTocsinError(null))
    assert.strictEqual(String(error), "TocsinError: x")
  })
})

describe("a start", () => {
  it("tells of all bad options at once", async () => {
    const options = {
      storage: "memory",
      staleafter: 1,
      staleAfter: "5 apples",
      deadAfter: "1m",
      heartbeatRate: { perMinute: 0, burst: 1 },
      maxPendingAgents: -1,
      operatorTokens: ["two words"],
      acceptFingerprints: ["xyz"],
      basePath: "monitoring/",
      retention: { history: 0, hist: "1d" },
      watchdog: { url: "https://heartbeat.example", intervall: "1m" },
      metrics: { token: "x", tokens: ["y"] },
      publicUrl: "https://user:s3cret@tocsin.example",
      log: console,
      delivery: "yes",
      deliveryConcurrency: null,
      numbersSeries: 1.5,
      notifiers: [
        { name: "Pager", send: () => {} },
        { name: "alert_router", send: () => {} },
        {},
        5,
        null,
        webhook({ url: "nowhere", secret: "x!", uri: 1 } as never),
        webhook(undefined as never),
        telegram({} as never),
        slack({ url: "gopher://s3cret" }),
        telegram({ token: "t", chat: "1" }),
      ],
    }
    const error = await failureOf(createMonitor(options as never))
    assert.strictEqual(error.code, "options")
    assert.deepStrictEqual(
      error.message.split("\n").map((line) => line.split(" ")[0]),
      [
        "staleafter",
        "storage",
        "operatorTokens",
        "basePath",
        "metrics.tokens",
        "staleAfter",
        "heartbeatRate.perMinute",
        "maxPendingAgents",
        "acceptFingerprints",
        "retention.hist",
        "retention.history",
        "numbersSeries",
        "delivery",
        "watchdog.intervall",
        "deliveryConcurrency",
        "publicUrl",
        "log",
        "deadAfter",
        "notifiers[0].name",
        "notifiers[1].name",
        "notifiers[2]",
        "notifiers[3]",
        "notifiers[4]",
        "notifiers[5].uri",
        "notifiers[5].url",
        "notifiers[5].secret",
        "notifiers[6].url",
        "notifiers[6].secret",
        "notifiers[6]",
        "notifiers[7].token",
        "notifiers[7].chat",
        "notifiers[8].url",
        "notifiers[8]",
        "notifiers[9]",
      ],
    )
    assert.notMatch(error.message, /two words|s3cret|nowhere/)
    assert.include(error.message, "staleafter is not an option; did you mean staleAfter?")
    assert.include(error.message, "retention.hist is not an option; did you mean history?")
    assert.include(error.message, "watchdog.intervall is not an option; did you mean interval?")
    assert.include(
      error.message,
      "notifiers[8] slack(…) has the same name as notifiers[7] telegram(…); give one of them another by its option name",
    )
    assert.strictEqual((await failureOf(createMonitor(undefined as never))).code, "options")
  })

  it("refuses an address of PostgreSQL by its parameter, before it connects", async () => {
    const storage = postgres("postgres://me:s3cret@127.0.0.1:1/t?sslcert=/nowhere/own.pem&sslmode=require")
    const error = await failureOf(createMonitor({ ...quiet, storage }))
    assert.deepStrictEqual(
      [error.code, error.message],
      [
        "storage",
        "The database URL cannot be used: the file of sslcert cannot be read (ENOENT): correct its path, or let Tocsin's user read it",
      ],
    )
  })

  it.each([
    "file:monitoring.db",
    "sqlite:monitoring.db",
    "sqlite:///monitoring.db",
    "jdbc:sqlite:monitoring.db",
  ])("refuses an address as the path of SQLite: %s", async (address) => {
    const { code, message } = await failureOf(createMonitor({ ...quiet, storage: sqlite(address) }))
    assert.deepStrictEqual(
      [code, message],
      [
        "options",
        "storage: sqlite(file) takes a path, not an address: write monitoring.db, or fileURLToPath(new URL(…))",
      ],
    )
  })

  it.each([
    [{ policy: null }, "policy must be an object"],
    [{ notifiers: null }, "notifiers must be an array"],
    [{ notifiers: [slack("https://hooks.example/x" as never)] }, "notifiers[0] must be an object of options"],
  ])("refuses an option of another type: %j", async (options, message) => {
    const error = await failureOf(createMonitor({ ...quiet, storage: memory(), ...options } as never))
    assert.deepStrictEqual([error.code, error.message], ["options", message])
  })

  it.each([
    [{ staleAfter: 1_999 }, "staleAfter must be 2 seconds or longer"],
    [
      { staleAfter: "1s", deadAfter: "1s" },
      "staleAfter must be 2 seconds or longer\ndeadAfter must be 2 seconds or longer\n" +
        "deadAfter must be longer than staleAfter",
    ],
    [{ staleAfter: "1m", deadAfter: "1m" }, "deadAfter must be longer than staleAfter"],
    [{ deadAfter: "119s" }, "deadAfter must be longer than staleAfter"],
    [{ acknowledgedFor: "8d" }, "acknowledgedFor must not be longer than longestAcknowledgement"],
  ] as const)("is refused for rules that contradict each other: %j", async (thresholds, message) => {
    const error = await failureOf(createMonitor({ ...quiet, storage: memory(), ...thresholds }))
    assert.deepStrictEqual([error.code, error.message], ["options", message])
    const durations = Object.entries(thresholds).map(([name, time]) => [
      name,
      Duration.millis(givenMillis(time) ?? 0),
    ])
    const rules: Partial<RuleOptions> = Object.fromEntries(durations)
    const layer = Tocsin.services({ storage: MemoryStorage.layer, rules })
    const exit = await Effect.runPromiseExit(Effect.scoped(Layer.build(layer)))
    assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", message)
  })

  it("is refused for times that no storage can hold", async () => {
    const longest = "36500d"
    const tooLong = 36_500 * 86_400_000 + 1
    const names = ["deadAfter", "longestSilence", "deliveryLease", "storageTimeout"]
    const all = (time: unknown) => Object.fromEntries(names.map((name) => [name, time]))
    const error = await failureOf(
      createMonitor({ ...quiet, storage: memory(), ...all(tooLong), retention: { audit: 1e300 } }),
    )
    assert.deepStrictEqual(
      error.message.split("\n").map((line) => line.split(",")[0]),
      [
        "deadAfter must be a duration such as 90s",
        "longestSilence must be a duration such as 90s",
        "retention.audit must be a duration such as 90s",
        "deliveryLease must be a duration such as 90s",
        "storageTimeout must be a duration such as 90s",
      ],
    )
    await using monitor = await createMonitor({ ...quiet, storage: memory(), ...all(longest) })
    assert.isTrue(await monitor.isReady())
  })

  it.each<[unknown, string]>([
    [sqlite(undefined as never), "storage: sqlite(file) takes the path of the database's file"],
    [sqlite("a\0b"), "storage: sqlite(file) takes the path of the database's file"],
    [{ layer: "memory" }, "storage must be memory()"],
    [postgres(5 as never), "storage: postgres(url) takes an address such as postgres://"],
    [
      keyValue({} as never),
      "storage: keyValue: name must be a string that is not empty\nstorage: keyValue: open must be",
    ],
    [keyValue(undefined as never), "storage: keyValue: name must be a string"],
    [
      keyValue({ name: "x", opens: async () => {} } as never),
      "storage: keyValue: opens is not an option; did you mean open?",
    ],
  ])("is refused for a storage of nothing: %#", async (storage, message) => {
    const error = await failureOf(createMonitor({ ...quiet, storage: storage as never }))
    assert.strictEqual(error.code, "options")
    assert.isTrue(error.message.startsWith(message), error.message)
  })

  it("is refused for a key-value store without its functions", async () => {
    for (const store of [undefined, null, {}, { load: () => [] }]) {
      const storage = keyValue({ name: "a store", open: async () => store as never })
      const error = await failureOf(createMonitor({ ...quiet, storage }))
      assert.deepStrictEqual(
        [error.code, error.message],
        ["storage", "open of a store must resolve with a store: an object with load and write"],
      )
    }
  })

  it("is not refused for a key-value store that opens and loads without a promise", async () => {
    const kept = new Map<string, string | undefined>()
    // Functions that a caller without types may pass.
    const open = () => ({ load: () => [], write: keep }) as never
    const keep = async (changes: ReadonlyMap<string, string | undefined>) => {
      for (const [key, value] of changes) kept.set(key, value)
    }
    await using monitor = await createMonitor({ ...quiet, storage: keyValue({ name: "a store", open }) })
    await enroll(monitor, "a")
    assert.isAbove(kept.size, 0)
  })

  it("of a test monitor names the places of its own options", async () => {
    const { createTestMonitor } = await import("tocsin/testing")
    for (const notifiers of [[5], "pager", [webhook({} as never)]]) {
      const error = await failureOf(createTestMonitor({ notifiers: notifiers as never }))
      assert.strictEqual(error.code, "options")
      assert.match(error.message, /^notifiers(\[0\])?/)
    }
  })

  it("as a layer of notifiers is refused for the same reasons", async () => {
    const layer = notifiersLayer([slack({ url: "x" }), telegram({} as never)]).pipe(
      Layer.provide(
        Layer.succeed(Ids, {
          uuidV7: () => assert.fail("nothing is made"),
          secret: () => assert.fail("nothing is made"),
        }),
      ),
    )
    const exit = await Effect.runPromiseExit(Effect.scoped(Layer.build(layer)))
    const text = Exit.isFailure(exit) ? Cause.pretty(exit.cause) : ""
    for (const place of ["notifiers[0].url", "notifiers[1].token", "notifiers[1].chat"])
      assert.include(text, place)
  })

  it("is refused for notifiers that cannot be made, with no secret in what is said", async () => {
    const notifiers = [
      webhook({ url: "https://example.org", secret: "not base64!" }),
      slack({ url: "gopher://s3cret" }),
      telegram({ name: "family", token: "", chat: "1" }),
    ]
    const error = await failureOf(createMonitor({ ...quiet, storage: memory(), notifiers }))
    assert.strictEqual(error.code, "options")
    assert.lengthOf(error.message.split("\n"), 3)
    assert.notMatch(error.message, /s3cret|not base64!/)
    assert.match(error.message, /^notifiers\[0\]\.secret must/)
  })

  it("is refused for two notifiers of one name", async () => {
    const notifiers = [slack({ url: "https://example.org" }), telegram({ token: "t", chat: "1" })]
    const error = await failureOf(createMonitor({ ...quiet, storage: memory(), notifiers }))
    assert.strictEqual(
      error.message,
      "notifiers[1] telegram(…) has the same name as notifiers[0] slack(…); give one of them another by its option name",
    )
  })

  it("is refused for another pepper, and for a file that is no database", async () => {
    const file = join(folder, "peppered.db")
    await (await createMonitor({ ...quiet, storage: sqlite(file), keyPepper: "one" })).close()
    const other = await failureOf(createMonitor({ ...quiet, storage: sqlite(file), keyPepper: "two" }))
    assert.deepStrictEqual([other.code, /keyPepper/.test(other.message)], ["pepper_changed", true])
    const none = join(folder, "letter.db")
    writeFileSync(none, "Dear database, ".repeat(100))
    const letter = await failureOf(createMonitor({ ...quiet, storage: sqlite(none) }))
    assert.deepStrictEqual([letter.code, letter.reason], ["storage", "damaged"])
  })
})
