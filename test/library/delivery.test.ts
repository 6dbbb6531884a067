import { assert, describe, it } from "@effect/vitest"
import {
  createMonitor,
  type CustomNotifier,
  type LogEntry,
  memory,
  type Notification,
  TocsinError,
} from "tocsin"
import { createTestMonitor } from "tocsin/testing"
import { collect, enroll, heartbeatOf, keyOf, resultOf, send, until } from "./requests.ts"

const lazy = { staleAfter: "2d", deadAfter: "3d" } as const

describe("a notifier of one's own", () => {
  it("is given plain data", async () => {
    const given: Array<Notification> = []
    await using monitor = await createTestMonitor({
      notifiers: [{ name: "pager", send: (notification) => void given.push(notification) }],
    })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical", { output: "97% used\nmore of it" }))
    await monitor.settle()
    const [first] = given
    assert.deepStrictEqual(first, {
      id: first?.id ?? "",
      notifier: "pager",
      event_type: "firing",
      severity: "critical",
      summary: "97% used",
      text: first?.text ?? "",
      created_at: "2026-01-01T00:00:00.000Z",
      attempt: 1,
      receiver: "pager",
      cause: "opened",
      firing_for_seconds: 0,
      incident: {
        id: first?.incident.id ?? "",
        incident_key: "a/disk",
        agent_id: "a",
        check_id: "disk",
        opened_by: { agent_id: "a", check_id: "disk" },
        opened_at: "2026-01-01T00:00:00.000Z",
        members: 1,
      },
      details: {
        labels: {},
        output: "97% used\nmore of it",
        since: "2026-01-01T00:00:00.000Z",
        duration_seconds: 0.001,
      },
    })
    assert.match(first?.text ?? "", /^CRITICAL: a\/disk\n97% used\n/)
    assert.deepStrictEqual(JSON.parse(JSON.stringify(first)), first)
    assert.deepStrictEqual(
      monitor.notifications.map(({ notifier, text }) => [notifier, text]),
      [["debug", first?.text ?? ""]],
    )
  })

  it("is given the error of a failed backup, and of an alert instance, description and source", async () => {
    await using monitor = await createTestMonitor()
    const { key: ping } = await monitor.integrations.create({ name: "jobs", kind: "ping" })
    const log = `${"pg_dump: dumping a table\n".repeat(500)}pg_dump: error: disk full\nexiting`
    const report = (path: string, body: string) =>
      monitor.fetch(new Request(`http://localhost/in/${path}`, { method: "POST", body }))
    await report(`ping/${ping}/backup/1`, log)
    const { key: alerts } = await monitor.integrations.create({ name: "prometheus", kind: "alertmanager" })
    const source = "http://prom:9090/graph?g0.expr=up&g0.tab=1"
    const alert = {
      labels: { alertname: "Down", instance: "api-3:9090" },
      annotations: { summary: "api-3 is down", description: "No scrape for 5 min." },
      generatorURL: source,
    }
    await report(`alertmanager/${alerts}/api/v2/alerts`, JSON.stringify([alert]))
    await monitor.settle()
    const [backup, down] = monitor.notifications
    assert.strictEqual(backup?.summary, "exit 1: pg_dump: error: disk full")
    assert.match(backup?.details?.output ?? "", /\npg_dump: error: disk full\nexiting$/)
    assert.isTrue(backup?.details?.output_is_end)
    const { since: _, ...details } = down?.details ?? assert.fail()
    assert.deepStrictEqual(details, {
      labels: alert.labels,
      output: "api-3 is down\nNo scrape for 5 min.",
      source,
    })
    await using without = await createTestMonitor({ messageDetails: false })
    await enroll(without, "a")
    await send(without, "a", resultOf("critical"))
    await without.settle()
    assert.deepStrictEqual(
      without.notifications.map(({ details: shown }) => shown),
      [undefined],
    )
  })

  it("is given a link to the incident at publicUrl, as a webhook is", async () => {
    const links: Array<Notification["links"]> = []
    await using monitor = await createTestMonitor({
      publicUrl: "https://tocsin.example/monitoring/",
      notifiers: [{ name: "pager", send: (notification) => void links.push(notification.links) }],
    })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical"))
    await monitor.settle()
    const [open] = (await monitor.incidents.list()).items
    assert.deepStrictEqual(links, [{ incident: `https://tocsin.example/monitoring/#/incidents/${open?.id}` }])
  })

  it("is tried again with the same id until it works, in order, by the schedule", async () => {
    const tries: Array<string> = []
    const ids = new Set<string>()
    let failures = 3
    const flaky: CustomNotifier = {
      name: "pager",
      send: async ({ id, event_type, attempt }) => {
        ids.add(id)
        tries.push(`${event_type} ${attempt}`)
        failures -= 1
        if (failures >= 0) throw new Error("postgres://user:s3cret@host is away")
      },
    }
    const logged: Array<LogEntry> = []
    await using monitor = await createTestMonitor({
      ...lazy,
      notifiers: [flaky],
      log: (entry) => logged.push(entry),
    })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical"))
    await monitor.settle()
    await send(monitor, "a", resultOf("ok"))
    assert.deepStrictEqual(tries, ["firing 1"])
    const [item] = (await collect(monitor.outbox.all({ state: "retry" }))).filter(
      (one) => one.notifier === "pager",
    )
    assert.strictEqual(item?.last_error, "The notifier pager failed; the log has the cause.")
    assert.match(logged.find(({ level }) => level === "warn")?.cause ?? "", /is away/)
    await monitor.advance("6s")
    assert.deepStrictEqual(tries, ["firing 1", "firing 2"])
    await monitor.advance("36s")
    assert.deepStrictEqual(tries, ["firing 1", "firing 2", "firing 3"])
    await monitor.advance("3m")
    assert.deepStrictEqual(tries, ["firing 1", "firing 2", "firing 3", "firing 4", "resolved 1"])
    assert.strictEqual(ids.size, 2)
  })

  it("that rejects with what cannot be read is tried again, and the log names it", async () => {
    const unreadable = new Proxy(new Error("no"), {
      get: () => {
        throw new Error("s3cret-of-the-pager")
      },
    })
    const logged: Array<LogEntry> = []
    await using monitor = await createTestMonitor({
      ...lazy,
      notifiers: [
        { name: "pager", secrets: ["s3cret-of-the-pager"], send: () => Promise.reject(unreadable) },
      ],
      log: (entry) => logged.push(entry),
    })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical"))
    await monitor.settle()
    const [item] = (await collect(monitor.outbox.all({ state: "retry" }))).filter(
      (one) => one.notifier === "pager",
    )
    assert.strictEqual(item?.last_error, "The notifier pager failed; the log has the cause.")
    const failure = logged.find(({ message }) => message === "the notifier pager failed")
    assert.match(failure?.cause ?? "", /something was thrown that cannot be shown/)
    assert.notInclude(JSON.stringify(logged), "s3cret")
  })

  it("is given up within a day, as a dead letter", async () => {
    let tries = 0
    const dead: CustomNotifier = {
      name: "pager",
      send: () => {
        tries += 1
        throw new Error("never")
      },
    }
    await using monitor = await createTestMonitor({ ...lazy, notifiers: [dead] })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical"))
    await monitor.advance("25h")
    const [item] = (await collect(monitor.outbox.all({ state: "failed" }))).filter(
      (one) => one.notifier === "pager",
    )
    assert.isAtLeast(tries, 10)
    assert.strictEqual(item?.attempts, tries)
  })

  it("has its time, and a signal that tells when it is over", async () => {
    const reasons: Array<boolean> = []
    const stuck: CustomNotifier = {
      name: "pager",
      send: (_notification, { signal }) =>
        new Promise(() => signal.addEventListener("abort", () => reasons.push(signal.aborted))),
    }
    await using monitor = await createTestMonitor({ ...lazy, notifiers: [stuck], deliveryLease: "9s" })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical"))
    await monitor.advance("5s")
    assert.deepStrictEqual(reasons, [])
    await monitor.advance("2s")
    assert.deepStrictEqual(reasons, [true])
    const [item] = (await collect(monitor.outbox.all({ state: "retry" }))).filter(
      (one) => one.notifier === "pager",
    )
    assert.strictEqual(item?.last_error, "The receiver did not answer within 6s.")
  })

  // Some HTTP servers replace the platform's class for all tests of a process.
  const failed = new Response("no", { status: 500 })
  it.each([
    ["a failed Response", () => failed, `an object of ${failed.constructor.name} with status 500`],
    ["a number", () => 500, "500"],
    ["null", () => null, "null"],
    ["a text", () => "delivered", "a string"],
    ["a misspelt outcome", () => ({ outcome: "defered", error: "busy" }), 'the outcome "defered"'],
    ["no outcome", () => Object.create(null), "an object"],
  ])("that resolves with %s has not delivered, and the log says so by its name", async (_, answer, shown) => {
    const logged: Array<LogEntry> = []
    await using monitor = await createTestMonitor({
      ...lazy,
      // Plain JavaScript can return anything.
      notifiers: [{ name: "pager", send: answer as CustomNotifier["send"], test: answer as () => void }],
      log: (entry) => logged.push(entry),
    })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical"))
    await monitor.settle()
    const [item] = (await collect(monitor.outbox.all({ state: "retry" }))).filter(
      ({ notifier }) => notifier === "pager",
    )
    assert.strictEqual(
      item?.last_error,
      "The notifier pager returned no valid outcome; the log has the details.",
    )
    assert.deepStrictEqual(
      logged.filter(({ level }) => level === "warn").map(({ message }) => message),
      [
        `the notifier pager returned ${shown}; return nothing, or an outcome of "delivered", "deferred" or "refused"; it counts as deferred`,
        'the receiver pager does not take notifications: fix the cause, then call monitor.notifiers.test("pager")',
      ],
    )
    assert.strictEqual((await monitor.notifiers.test("pager")).outcome, "deferred")
  })

  it("that blocks the process is named in the log", async () => {
    const logged: Array<LogEntry> = []
    const blocking = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_050)
    await using monitor = await createTestMonitor({
      ...lazy,
      notifiers: [{ name: "pager", send: () => {}, test: blocking }],
      log: (entry) => logged.push(entry),
    })
    assert.strictEqual((await monitor.notifiers.test("pager")).outcome, "delivered")
    assert.match(
      logged.map(({ message }) => message).join(),
      /^the notifier pager blocked this process for 1\.\d s/,
    )
  })

  it("may leave out a reason, and a pause that is no number of seconds is logged and does not count", async () => {
    const logged: Array<string> = []
    const answers: ReadonlyArray<unknown> = [
      { outcome: "deferred", retryAfterSeconds: Number.NaN },
      { outcome: "deferred", error: 5, retryAfterSeconds: -3600 },
      { outcome: "deferred", error: "", retryAfterSeconds: "900" },
      { outcome: "refused" },
    ]
    let attempts = 0
    // Plain JavaScript can return anything.
    const send_ = (() => answers[attempts++]) as CustomNotifier["send"]
    await using monitor = await createTestMonitor({
      ...lazy,
      notifiers: [{ name: "pager", send: send_ }],
      log: ({ message }) => logged.push(message),
    })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical"))
    await monitor.advance("6s")
    await monitor.advance("36s")
    await monitor.advance("3m")
    const [item] = (await collect(monitor.outbox.all({ state: "failed" }))).filter(
      ({ notifier }) => notifier === "pager",
    )
    assert.strictEqual(attempts, 4)
    assert.strictEqual(item?.last_error, "The notifier pager gave no reason.")
    assert.deepStrictEqual(
      logged
        .filter((message) => message.startsWith("in a result of the notifier pager, "))
        .map((message) => message.slice(35)),
      [
        "retryAfterSeconds must be a number from 0, and is NaN; the pause is the usual one",
        "error must be a string, and is a number; it is left out",
        "retryAfterSeconds must be a number from 0, and is a negative number; the pause is the usual one",
        "retryAfterSeconds must be a number from 0, and is of the type string; the pause is the usual one",
      ],
    )
  })

  it("shows none of its secrets, in no list, answer or log, and logs what it threw with its fields", async () => {
    const secrets = ["syt_s3cret/token", "syt_s3cret/token-of-another", "PASSW0RD-1"]
    const long = `${"x".repeat(505)}syt_s3cret/token`
    const address = "https://bot:PASSW0RD-1@host/syt_s3cret%2Ftoken"
    const cause = Object.assign(new TypeError('"syt_s3cret/token" is invalid'), { PASSW0RD: secrets[2] })
    const answers: ReadonlyArray<() => unknown> = [
      () => ({ outcome: "deferred", error: "The token syt_s3cret/token-of-another is old." }),
      () => ({ outcome: "deferred", error: long }),
      () => ({ outcome: `deferred ${long.slice(450)}` }),
      () => Promise.reject(new Error(`cannot reach ${address}\n at 9:00`, { cause })),
      () => Object.defineProperty({}, "outcome", { get: () => assert.fail(address) }),
      () => ({ outcome: "refused", error: "The password PASSW0RD-1 is wrong." }),
    ]
    let attempts = 0
    // Plain JavaScript can return anything.
    const answer = (() => answers[attempts++ % answers.length]?.()) as () => void
    const logged: Array<LogEntry> = []
    const pager: CustomNotifier = { name: "pager", secrets, send: answer, test: answer }
    await using monitor = await createTestMonitor({
      ...lazy,
      notifiers: [pager],
      log: (entry) => logged.push(entry),
    })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical"))
    const seen: Array<unknown> = []
    const items = async () =>
      (await collect(monitor.outbox.all())).filter(({ notifier }) => notifier === "pager")
    for (const pause of ["1s", "6s", "36s", "3m", "6m", "20m"] as const) {
      await monitor.advance(pause)
      seen.push((await items()).map(({ last_error }) => last_error))
    }
    for (const _ of answers) seen.push(await monitor.notifiers.test("pager"))
    assert.strictEqual(attempts, 2 * answers.length)
    assert.deepStrictEqual(seen.slice(0, 2).flat(), ["The token *** is old.", `${"x".repeat(505)}***`])
    const shown = JSON.stringify([seen, logged])
    for (const secret of ["s3cret", "PASSW0RD-1"]) assert.notInclude(shown, secret)
    const [{ id } = assert.fail()] = await items()
    const [, thrown] = logged.filter(({ level }) => level === "warn")
    assert.deepStrictEqual(thrown?.fields, { notifier: "pager", id, attempt: 3 })
    assert.include(
      logged.map((entry) => entry.cause).join("\n"),
      "Error: cannot reach https://bot:***@host/***\n at 9:00",
    )
  })

  it.each([[["1234567"]], [["12345678", 5]], [["       12345678".slice(0, 12)]], ["12345678"], [null]])(
    "with the secrets %j is refused",
    async (secrets) => {
      const pager = { name: "pager", secrets, send: () => {} }
      // Plain JavaScript can give anything.
      const refusal = await createTestMonitor({ notifiers: [pager as never] }).catch(
        (error: unknown) => error,
      )
      assert.instanceOf(refusal, TocsinError)
      assert.include(
        refusal.message,
        "notifiers[0].secrets must be an array of texts, each of 8 characters or more",
      )
      assert.notInclude(refusal.message, "1234567")
    },
  )

  it.each([
    [
      { send: () => {}, secret: ["s3cret-token"] },
      "notifiers[0].secret is not an option; did you mean secrets?",
    ],
    [{ sent: () => {} }, "notifiers[0].sent is not an option; did you mean send?"],
    [{ send: () => {}, test: 5 }, "notifiers[0].test must be a function, or absent"],
  ])("with a wrong field is refused: %j", async (fields, problem) => {
    const pager = { name: "pager", ...fields }
    // Plain JavaScript can give anything.
    const refusal = await createTestMonitor({ notifiers: [pager as never] }).catch((error: unknown) => error)
    assert.instanceOf(refusal, TocsinError)
    assert.include(refusal.message, problem)
    assert.notInclude(refusal.message, "s3cret")
  })

  it("may be an instance of a class, with a state", async () => {
    class Pager {
      readonly name = "pager"
      readonly sent: Array<string> = []
      send({ text }: Notification) {
        this.sent.push(text)
      }
    }
    const pager = new Pager()
    await using monitor = await createTestMonitor({ notifiers: [pager] })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical"))
    await monitor.settle()
    assert.strictEqual(pager.sent.length, 1)
  })

  it("is named in the log for a misspelt field of a result", async () => {
    const logged: Array<string> = []
    const result = { outcome: "deferred", eror: "Busy.", retryAfterSecond: 5 }
    await using monitor = await createTestMonitor({
      // Plain JavaScript can return anything.
      notifiers: [{ name: "pager", send: () => result as never }],
      log: ({ message }) => logged.push(message),
    })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical"))
    await monitor.settle()
    assert.include(logged, "in a result of the notifier pager, eror is not an option; did you mean error?")
    assert.include(
      logged,
      "in a result of the notifier pager, retryAfterSecond is not an option; did you mean retryAfterSeconds?",
    )
  })

  it("is not asked where delivery is switched off, and its items wait", async () => {
    await using monitor = await createTestMonitor({ ...lazy, delivery: false })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical"))
    await monitor.advance("10m")
    assert.deepStrictEqual(monitor.notifications, [])
    assert.strictEqual((await monitor.outbox.list({ state: "pending" })).items.length, 1)
  })
})

describe("close", () => {
  it("finishes what is being sent, answers what was asked, and then takes nothing", async () => {
    let finish = () => {}
    const sending = new Promise<void>((resolve) => {
      finish = resolve
    })
    let hasBegun = false
    const monitor = await createMonitor({
      storage: memory(),
      log: false,
      notifiers: [
        {
          name: "pager",
          send: async () => {
            hasBegun = true
            await sending
          },
        },
      ],
    })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical"))
    await until(() => hasBegun)
    const asked = monitor.summary()
    let isClosed = false
    const closing = monitor.close().then(() => {
      isClosed = true
    })
    assert.strictEqual((await asked).checks_critical, 1)
    const late = await monitor.summary().outcome()
    assert.isTrue(!late.ok && late.error.code === "closed")
    assert.strictEqual((await monitor.fetch(new Request("http://host/api/v1/health"))).status, 503)
    assert.isFalse(await monitor.isReady())
    for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve))
    assert.isFalse(isClosed)
    finish()
    await closing
    assert.isTrue(isClosed)
    await monitor.close()
  })

  it("does not wait for a receiver that never answers", async () => {
    let isAborted = false
    const monitor = await createMonitor({
      storage: memory(),
      log: false,
      notifiers: [
        {
          name: "pager",
          send: (_notification, { signal }) =>
            new Promise(() => signal.addEventListener("abort", () => (isAborted = true))),
        },
      ],
    })
    await enroll(monitor, "a")
    await send(monitor, "a", resultOf("critical"))
    await until(async () => (await collect(monitor.outbox.all()))[0]?.state === "sending")
    await monitor.close()
    assert.isTrue(isAborted)
  })
})

describe("a test monitor", () => {
  const scenario = async () => {
    await using monitor = await createTestMonitor({ startAt: "2026-03-01T10:00:00Z" })
    const seen: Array<unknown> = [monitor.now()]
    await monitor.heartbeat(keyOf("a"), heartbeatOf("a", { observed_at: monitor.now() }))
    await monitor.agents.acceptAll()
    const event_id = "01900000-0000-7000-8000-000000000001"
    await send(monitor, "a", resultOf("critical", { event_id, observed_at: monitor.now() }))
    await monitor.advance("10m")
    seen.push(monitor.now(), monitor.notifications, await collect(monitor.incidents.all()))
    return seen
  }

  it("tells the same scenario every time", async () => {
    const [first, second] = [await scenario(), await scenario()]
    assert.deepStrictEqual(first, second)
    assert.deepStrictEqual([first[0], first[1]], ["2026-03-01T10:00:00.000Z", "2026-03-01T10:10:00.000Z"])
  })

  it("moves its clock forward only, by a length of time", async () => {
    await using monitor = await createTestMonitor()
    const began = monitor.now()
    const wrong: ReadonlyArray<unknown> = [-1, "-5 minutes", Number.NaN, Infinity, "soon", undefined, null]
    for (const time of wrong) {
      // Plain JavaScript can give anything.
      const given = await monitor.advance(time as number).catch((error: TocsinError) => error)
      assert.instanceOf(given, TocsinError, String(time))
      assert.strictEqual(given.code, "options")
      assert.match(given.message, /^advance takes a duration such as 90s, 8h or 7d, from 0s/)
      assert.strictEqual(monitor.now(), began)
    }
    await monitor.advance(0)
    assert.strictEqual(monitor.now(), began)
  })

  it("goes on in turn where it is moved twice at once", async () => {
    await using monitor = await createTestMonitor()
    await Promise.all([monitor.advance("2h"), monitor.advance("1h")])
    assert.strictEqual(monitor.now(), "2026-01-01T03:00:00.000Z")
  })

  it("shows agents as they go silent, and removes what outlived its retention", async () => {
    await using monitor = await createTestMonitor({ retention: { incidents: "1h", outbox: false } })
    await enroll(monitor, "a")
    const statusAfter = async (time: Parameters<typeof monitor.advance>[0]) => {
      await monitor.advance(time)
      return (await monitor.agents.get("a")).status
    }
    assert.strictEqual(await statusAfter("119s"), "alive")
    assert.strictEqual(await statusAfter("1s"), "stale")
    assert.strictEqual(await statusAfter(180_000), "dead")
    await monitor.advance("15s")
    assert.strictEqual((await monitor.summary()).open_incidents, 1)
    await monitor.heartbeat(keyOf("a"), heartbeatOf("a", { observed_at: monitor.now() }))
    await monitor.agents.remove("a")
    await monitor.advance("3h")
    assert.deepStrictEqual((await monitor.incidents.list()).items, [])
    assert.strictEqual((await monitor.outbox.list()).items.length, 2)
  })
})
