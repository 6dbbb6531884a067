import { assert, describe, it } from "@effect/vitest"
import { createClient, type TocsinClientError } from "@tocsin/client"
import type { Calls } from "@tocsin/client/TocsinClient"
import { Effect, Result } from "effect"
import { errorBody, faultyServer, healthy, type Manner, SUMMARY } from "./FaultyServer.ts"
import { courseOf } from "./SteppedAttempts.ts"

const HEARTBEAT = {
  agent_id: "web-1",
  observed_at: "2026-01-31T08:30:00Z",
  hostname: "web-1.example",
  features: { push: true, metrics: false },
}
const EVENT = {
  event_id: "01890a5d-ac96-774b-bcce-b302099a8057",
  check_id: "disk",
  observed_at: "2026-01-31T08:30:00Z",
  status: "ok",
  exit_code: 0,
  duration_ms: 1,
} as const
const CHECK = { agent_id: "web-1", check_id: "disk" }
const ID = "01890a5d-ac96-774b-bcce-b302099a8057"
const SILENCE = {
  matchers: [{ field: "check_id", op: "=", value: "disk" }],
  for: "1h",
  comment: "new disks",
} as const

const unavailable: Manner = { status: 503 }
const asking = (retryAfter: string, date?: string): Manner => ({
  status: 503,
  headers: { "retry-after": retryAfter, ...(date !== undefined && { date }) },
})

const summary = (client: Calls) => client.summary()
const codeOf = <A>(outcome: Result.Result<A, TocsinClientError>) =>
  Result.isFailure(outcome) ? outcome.failure.code : "none"

describe("a call that is safe to repeat", () => {
  it.effect("is repeated after pauses that double", () =>
    Effect.gen(function* () {
      const server = yield* faultyServer(unavailable, { status: 502 }, { status: 500 }, healthy)
      const { outcome, beganAt } = yield* courseOf(server, summary)
      assert.deepStrictEqual(outcome, Result.succeed(SUMMARY))
      assert.deepStrictEqual(beganAt, [0, 500, 1_500, 3_500])
    }),
  )

  it.effect("waits half as long where chance has it so", () =>
    Effect.gen(function* () {
      const server = yield* faultyServer(unavailable, unavailable, unavailable, healthy)
      const { beganAt } = yield* courseOf(server, summary, { random: 0 })
      assert.deepStrictEqual(beganAt, [0, 250, 750, 1_750])
    }),
  )

  it.effect("is repeated after a connection that was cut, before the answer or in its middle", () =>
    Effect.gen(function* () {
      const server = yield* faultyServer("cut", "cut half-way", healthy)
      const { outcome, beganAt } = yield* courseOf(server, summary)
      assert.deepStrictEqual(outcome, Result.succeed(SUMMARY))
      assert.deepStrictEqual(beganAt, [0, 500, 1_500])
    }),
  )

  it.effect("is repeated after an answer that does not come, or does not end, in time", () =>
    Effect.gen(function* () {
      const server = yield* faultyServer("silent", "silent half-way", healthy)
      const { outcome, beganAt } = yield* courseOf(server, summary, { timeout: "2s", moveOn: true })
      assert.deepStrictEqual(outcome, Result.succeed(SUMMARY))
      assert.deepStrictEqual(beganAt, [0, 2_500, 5_500])
      assert.strictEqual(server.givenUp(), 2)
    }),
  )

  it.effect("is not repeated before the seconds that the answer asks for", () =>
    Effect.gen(function* () {
      const server = yield* faultyServer(asking("7"), healthy)
      const { beganAt } = yield* courseOf(server, summary, { random: 0 })
      assert.deepStrictEqual(beganAt, [0, 7_000])
    }),
  )

  it.effect("is repeated up to a fifth later, so that not all come back at once", () =>
    Effect.gen(function* () {
      const server = yield* faultyServer(asking("10"), healthy)
      const { beganAt } = yield* courseOf(server, summary, { random: 1 })
      assert.deepStrictEqual(beganAt, [0, 12_000])
    }),
  )

  it.effect("takes what the answer asks for by date from the answer's own clock", () =>
    Effect.gen(function* () {
      // The server's clock is years away from the client's.
      const server = yield* faultyServer(
        asking("Wed, 05 Feb 2020 10:00:30 GMT", "Wed, 05 Feb 2020 10:00:10 GMT"),
        // Asks for the past: the usual pause counts.
        asking("Wed, 05 Feb 2020 10:00:00 GMT", "Wed, 05 Feb 2020 10:00:10 GMT"),
        // Asks in no form that there is.
        asking("soon"),
        healthy,
      )
      const { beganAt } = yield* courseOf(server, summary, { random: 0 })
      assert.deepStrictEqual(beganAt, [0, 20_000, 20_500, 21_500])
    }),
  )

  it.effect("is given up after so many times", () =>
    Effect.gen(function* () {
      const server = yield* faultyServer(unavailable)
      const { outcome, beganAt } = yield* courseOf(server, summary, { retries: { times: 2 } })
      assert.strictEqual(codeOf(outcome), "unavailable")
      assert.deepStrictEqual(beganAt, [0, 500, 1_500])
    }),
  )

  it.effect("is given up at once where the pause would outlast the time that there is", () =>
    Effect.gen(function* () {
      const server = yield* faultyServer(asking("120"))
      const { outcome, endedAt } = yield* courseOf(server, summary)
      assert.strictEqual(endedAt, 0)
      assert.isTrue(Result.isFailure(outcome))
      if (Result.isFailure(outcome)) assert.strictEqual(outcome.failure.retryAfterSeconds, 120)
    }),
  )

  it.effect("is given up when the time for all attempts is over, in the middle of one", () =>
    Effect.gen(function* () {
      const server = yield* faultyServer(unavailable, "silent")
      const { outcome, beganAt, endedAt } = yield* courseOf(server, summary, {
        timeout: "10s",
        retries: { within: "4s" },
        moveOn: true,
      })
      assert.strictEqual(codeOf(outcome), "timeout")
      assert.deepStrictEqual(beganAt, [0, 500])
      assert.strictEqual(endedAt, 4_000)
    }),
  )

  it.effect("is not repeated where that is switched off", () =>
    Effect.gen(function* () {
      const server = yield* faultyServer(unavailable)
      const { beganAt } = yield* courseOf(server, summary, { retries: false })
      assert.deepStrictEqual(beganAt, [0])
    }),
  )

  for (const status of [408, 425, 429, 500, 502, 503, 504]) {
    it.effect(`is repeated after ${status}`, () =>
      Effect.gen(function* () {
        const server = yield* faultyServer({ status }, healthy)
        const { outcome } = yield* courseOf(server, summary)
        assert.deepStrictEqual(outcome, Result.succeed(SUMMARY))
      }),
    )
  }

  for (const status of [301, 307, 400, 401, 403, 404, 409, 413, 418, 501, 505]) {
    it.effect(`is not repeated after ${status}`, () =>
      Effect.gen(function* () {
        const server = yield* faultyServer({ status, headers: { location: "/elsewhere" } })
        yield* courseOf(server, summary)
        assert.strictEqual(server.arrivals.length, 1)
      }),
    )
  }

  it.effect("is not repeated after an answer that makes no sense", () =>
    Effect.gen(function* () {
      const server = yield* faultyServer({ status: 200, body: '{"agents_online":' })
      const { outcome } = yield* courseOf(server, summary)
      assert.strictEqual(codeOf(outcome), "unexpected_answer")
      assert.strictEqual(server.arrivals.length, 1)
    }),
  )
})

const page = { limit: 1 }
const SPAN = { from: "2026-03-01T00:00:00.000Z", to: "2026-03-02T00:00:00.000Z" }

/** Every call there is, and whether repeating it is safe. */
const calls: Readonly<
  Record<
    string,
    readonly [repeats: boolean, call: (client: Calls) => Effect.Effect<unknown, TocsinClientError>]
  >
> = {
  heartbeat: [true, (client) => client.heartbeat(HEARTBEAT)],
  events: [true, (client) => client.events({ agent_id: "web-1", events: [EVENT] })],
  expectations: [true, (client) => client.expectations("web-1", { checks: [] })],
  "agents.list": [true, (client) => client.agents.list(page)],
  "agents.download": [true, (client) => client.agents.download()],
  "agents.find.list": [true, (client) => client.agents.find.list(page)],
  "agents.title": [true, (client) => client.agents.title("web-1", { title: "Web" })],
  "agents.get": [true, (client) => client.agents.get("web-1")],
  "agents.accept": [false, (client) => client.agents.accept("web-1")],
  "agents.block": [false, (client) => client.agents.block("web-1")],
  "agents.remove": [false, (client) => client.agents.remove("web-1")],
  "agents.acceptAll": [false, (client) => client.agents.acceptAll()],
  "agents.blockAll": [false, (client) => client.agents.blockAll()],
  "agents.removeAll": [false, (client) => client.agents.removeAll()],
  "blacklist.list": [true, (client) => client.blacklist.list(page)],
  "blacklist.remove": [false, (client) => client.blacklist.remove("0".repeat(64))],
  "blacklist.removeAll": [false, (client) => client.blacklist.removeAll()],
  "checks.list": [true, (client) => client.checks.list(page)],
  "checks.expected.list": [true, (client) => client.checks.expected.list(page)],
  "checks.availability.list": [true, (client) => client.checks.availability.list(page)],
  "checks.report": [true, (client) => client.checks.report(SPAN)],
  "checks.explain": [true, (client) => client.checks.explain(CHECK)],
  "checks.resetClock": [true, (client) => client.checks.resetClock(CHECK)],
  "checks.resolve": [true, (client) => client.checks.resolve(CHECK)],
  "checks.remove": [true, (client) => client.checks.remove(CHECK)],
  "checks.title": [true, (client) => client.checks.title(CHECK, { title: "Disk" })],
  "numbers.series": [true, (client) => client.numbers.series(CHECK)],
  "numbers.read": [true, (client) => client.numbers.read(CHECK)],
  "history.list": [true, (client) => client.history.list(page)],
  "incidents.list": [true, (client) => client.incidents.list(page)],
  "incidents.get": [true, (client) => client.incidents.get(ID)],
  "incidents.trace": [true, (client) => client.incidents.trace(ID)],
  "incidents.acknowledge": [true, (client) => client.incidents.acknowledge(ID, {})],
  "incidents.acknowledgeAll": [true, (client) => client.incidents.acknowledgeAll({ ids: [ID] })],
  "incidents.withdraw": [true, (client) => client.incidents.withdraw(ID)],
  "incidents.note": [true, (client) => client.incidents.note(ID, { text: "seen" })],
  "outbox.list": [true, (client) => client.outbox.list(page)],
  "incidents.withHolds.list": [true, (client) => client.incidents.withHolds.list(page)],
  "outbox.withHolds.list": [true, (client) => client.outbox.withHolds.list(page)],
  "outbox.release": [true, (client) => client.outbox.release(ID)],
  "outbox.replay": [true, (client) => client.outbox.replay(ID)],
  "notifiers.test": [false, (client) => client.notifiers.test("debug")],
  me: [true, (client) => client.me()],
  "policy.get": [true, (client) => client.policy.get()],
  "policy.schema": [true, (client) => client.policy.schema()],
  "policy.versions": [true, (client) => client.policy.versions()],
  "policy.patch": [
    true,
    (client) => client.policy.patch([{ op: "add", path: "/routes", value: [] }], { "if-match": "none" }),
  ],
  "policy.putReceiver": [
    true,
    (client) => client.policy.putReceiver("chat", { receiver: { kind: "debug" } }, { "if-match": "none" }),
  ],
  "policy.tryReceiver": [
    false,
    (client) =>
      client.policy.tryReceiver("chat", {
        receiver: { kind: "debug" },
        values: { url: "https://a.example" },
      }),
  ],
  "policy.removeReceiver": [true, (client) => client.policy.removeReceiver("chat", { "if-match": "none" })],
  "policy.apply": [true, (client) => client.policy.apply("routes: []")],
  "watches.try": [false, (client) => client.watches.try({ tcp: { host: "example.org", port: 25 } })],
  "policy.try": [false, (client) => client.policy.try("routes: []")],
  "policy.check": [true, (client) => client.policy.check("routes: []")],
  "secrets.list": [true, (client) => client.secrets.list()],
  "secrets.put": [true, (client) => client.secrets.put("phone", { values: { url: "http://a/" } })],
  "secrets.remove": [true, (client) => client.secrets.remove("phone")],
  "settings.list": [true, (client) => client.settings.list()],
  "settings.set": [true, (client) => client.settings.set("watch_loopback", { value: true })],
  "settings.remove": [true, (client) => client.settings.remove("watch_loopback")],
  "windows.list": [true, (client) => client.windows.list()],
  "audit.list": [true, (client) => client.audit.list(page)],
  enrol: [true, (client) => client.enrol("a", { token: "t" })],
  "operators.invite": [true, (client) => client.operators.invite("ann", {})],
  "operators.invitations": [true, (client) => client.operators.invitations("ann")],
  "operators.removeInvitation": [
    true,
    (client) => client.operators.removeInvitation({ name: "ann", id: "0".repeat(32) }),
  ],
  "sessions.list": [true, (client) => client.sessions.list(page)],
  "sessions.end": [true, (client) => client.sessions.end("0".repeat(32))],
  "sessions.signOut": [true, (client) => client.sessions.signOut()],
  "push.list": [true, (client) => client.push.list(page)],
  "push.get": [true, (client) => client.push.get()],
  "push.replaceKey": [true, (client) => client.push.replaceKey()],
  "push.test": [false, (client) => client.push.test("0".repeat(32))],
  "push.remove": [true, (client) => client.push.remove("0".repeat(32))],
  "enrolments.list": [true, (client) => client.enrolments.list(page)],
  "enrolments.create": [true, (client) => client.enrolments.create({})],
  "enrolments.remove": [true, (client) => client.enrolments.remove("0".repeat(32))],
  "watches.list": [true, (client) => client.watches.list(page)],
  "watches.get": [true, (client) => client.watches.get("home")],
  "watches.places": [true, (client) => client.watches.places()],
  "watches.create": [
    true,
    (client) => client.watches.create({ name: "home", http: { url: "http://home/" } }),
  ],
  "watches.change": [true, (client) => client.watches.change("home", { every: "5m" })],
  "watches.pause": [true, (client) => client.watches.pause("home", { for: "1h" })],
  "watches.remove": [true, (client) => client.watches.remove("home")],
  "integrations.list": [true, (client) => client.integrations.list(page)],
  "integrations.get": [true, (client) => client.integrations.get("cron")],
  "integrations.create": [true, (client) => client.integrations.create({ name: "cron", kind: "ping" })],
  "integrations.change": [true, (client) => client.integrations.change("cron", { options: {} })],
  "integrations.rotate": [true, (client) => client.integrations.rotate("cron", {})],
  "integrations.remove": [true, (client) => client.integrations.remove("cron")],
  "integrations.mails": [true, (client) => client.integrations.mails("nas")],
  "integrations.tryMail": [false, (client) => client.integrations.tryMail("nas", { id: ID })],
  "operators.list": [true, (client) => client.operators.list(page)],
  "operators.create": [true, (client) => client.operators.create({ name: "ann", role: "read" })],
  "operators.change": [true, (client) => client.operators.change("ann", { role: "admin" })],
  "operators.rotate": [true, (client) => client.operators.rotate("ann", {})],
  "operators.remove": [true, (client) => client.operators.remove("ann")],
  "rotas.list": [true, (client) => client.rotas.list()],
  "rotas.get": [true, (client) => client.rotas.get("primary", { from: "2026-12-07T09:00:00Z" })],
  "rotas.overrides.list": [true, (client) => client.rotas.overrides.list("primary")],
  "rotas.overrides.create": [
    true,
    (client) => client.rotas.overrides.create("primary", { to: "2026-12-08T09:00:00Z", receivers: ["bob"] }),
  ],
  "rotas.overrides.end": [true, (client) => client.rotas.overrides.end({ name: "primary", id: ID })],
  "announcements.list": [true, (client) => client.announcements.list(page)],
  "announcements.create": [
    true,
    (client) => client.announcements.create({ page: "shop", kind: "notice", title: "Hello", text: "World" }),
  ],
  "announcements.update": [true, (client) => client.announcements.update(ID, { text: "Better" })],
  "announcements.end": [true, (client) => client.announcements.end(ID)],
  "silences.list": [true, (client) => client.silences.list(page)],
  "silences.get": [true, (client) => client.silences.get(ID)],
  "silences.create": [true, (client) => client.silences.create(SILENCE)],
  "silences.change": [true, (client) => client.silences.change(ID, { comment: "new disks" })],
  "silences.expire": [true, (client) => client.silences.expire(ID)],
  summary: [true, summary],
  overview: [true, (client) => client.overview()],
  // Probes read the current state.
  health: [false, (client) => client.health()],
  isReady: [false, (client) => client.isReady()],
}

describe("a test message", () => {
  const test = (client: Calls) => client.notifiers.test("debug")

  for (const [name, options, millis] of [
    ["has longer than its receiver", {}, 20_000],
    ["has as long as the program says", { timeout: "5s" }, 5_000],
  ] as const)
    it.effect(name, () =>
      Effect.gen(function* () {
        const server = yield* faultyServer("silent")
        const { outcome, endedAt } = yield* courseOf(server, test, { ...options, moveOn: true })
        assert.strictEqual(codeOf(outcome), "timeout")
        assert.strictEqual(endedAt, millis)
      }),
    )
})

describe("a call that must not be repeated is sent once", () => {
  for (const [name, [repeats, call]] of Object.entries(calls)) {
    it.effect(`${name} is ${repeats ? "repeated" : "not repeated"}`, () =>
      Effect.gen(function* () {
        const busy = { status: 500, headers: { "retry-after": "1" }, body: errorBody("internal") }
        const server = yield* faultyServer(busy, "cut", busy)
        const { beganAt } = yield* courseOf(server, call, { retries: { times: 1 } })
        assert.strictEqual(beganAt.length, repeats ? 2 : 1)
        assert.strictEqual(server.arrivals.length, beganAt.length)
        // The service carries out an act once by its key.
        assert.strictEqual(new Set(server.arrivals.map(({ headers }) => headers["idempotency-key"])).size, 1)
      }),
    )
  }

  it("leaves out no call", () => {
    const client = createClient({ baseUrl: "http://127.0.0.1" })
    // A whole list is read by calls of its pages; changes come over one connection after another, and exports over one.
    const isStream = (name: string) => name === "changes" || name === "export"
    const names = namesOf(client).filter((name) => !name.endsWith(".all") && !isStream(name))
    assert.deepStrictEqual(Object.keys(calls).toSorted(), names.toSorted())
  })
})

const namesOf = (group: object): ReadonlyArray<string> =>
  Object.entries(group).flatMap(([name, member]) =>
    typeof member === "function" ? [name] : namesOf(member).map((inner) => `${name}.${inner}`),
  )
