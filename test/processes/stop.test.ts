import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Redacted } from "effect"
import { faultyNetwork } from "../postgres/faultyNetwork.ts"
import { type Agent, enroll, eventOf, push, report } from "./Agent.ts"
import { historyOf, OPERATOR_TOKEN, outboxOf, statusOf } from "./api.ts"
import { isRefused, rawConnection } from "./RawConnection.ts"
import { scratchFolder, scratchPostgres } from "./scratch.ts"
import type { Environment } from "./secrecy.ts"
import { type LaunchedProcess, type ServerProcess, startServer } from "./ServerProcess.ts"
import { until } from "./until.ts"
import { type Reaction, startReceiver } from "./WebhookReceiver.ts"

const graceful = { code: 0, signal: null }

/** The shortest usual patience before a stopping server is killed: that of Kubernetes. */
const TIME_TO_STOP_MILLIS = 30_000

/** How long the server waits for requests that do not end. */
const DRAIN_LIMIT_MILLIS = 5_000

/** Waits for the end of a process that shuts down. */
const assertStops = Effect.fnUntraced(function* ({ ended, output }: LaunchedProcess, end = graceful) {
  const start = yield* Clock.currentTimeMillis
  assert.deepStrictEqual(yield* ended, end, output.stderr)
  assert.isBelow((yield* Clock.currentTimeMillis) - start, TIME_TO_STOP_MILLIS)
})

/** The outbox as it lies on the disk; the server keeps instants in microseconds. */
const rowsOf = (folder: string) => {
  const database = new DatabaseSync(join(folder, "data", "tocsin.db"), { readOnly: true })
  const rows = database
    .prepare("SELECT state, attempts, coalesce(next_attempt_at <= ?, 0) AS isDue FROM outbox")
    .all(Date.now() * 1000)
  database.close()
  return rows.map((row) => ({ ...row }))
}

/** A server that sends its one notification to a receiver at this moment. */
const sending = Effect.fnUntraced(function* (reaction: Reaction, changes: Environment = {}) {
  const control = { reaction }
  const receiver = Object.assign(control, yield* startReceiver(() => control.reaction))
  const cwd = yield* scratchFolder
  const environment = {
    SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
    SERVICE_NOTIFIERS: "webhook",
    ...receiver.settings("hooks"),
    ...changes,
  }
  const server = yield* startServer({ cwd, environment })
  const agent = yield* enroll(server, "web-1")
  yield* report(server, agent, { check_id: "disk", status: "critical" })
  yield* until(
    "the notification is being sent",
    Effect.sync(() => receiver.arrivals.length > 0),
  )
  return { server, agent, receiver, cwd, environment }
})

const requestText = (line: string, headers: Readonly<Record<string, string | number>> = {}): string =>
  [
    `${line} HTTP/1.1`,
    "Host: tocsin",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    "",
  ].join("\r\n")

/** The parts of a batch before and after a pause. */
const splitBatch = ({ agent_id, key }: Agent) => {
  const event = eventOf({ check_id: "disk", status: "critical" })
  const body = JSON.stringify({ agent_id, events: [event] })
  const head = requestText("POST /api/v1/events", {
    Authorization: `Bearer ${key}`,
    "Content-Length": body.length,
  })
  return { event, before: head + body.slice(0, 20), after: body.slice(20) }
}

/** When the server has answered this, it has read everything sent before. */
const untilRead = (server: ServerProcess) =>
  Effect.andThen(statusOf(server, "/api/v1/health"), statusOf(server, "/api/v1/health"))

const untilRefused = ({ port }: ServerProcess) => until("nothing listens", isRefused(port))

describe.concurrent("a server that shuts down", () => {
  it.live("opens no debugger on SIGUSR1", () =>
    Effect.gen(function* () {
      const server = yield* startServer({
        cwd: yield* scratchFolder,
        environment: { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN },
      })
      yield* server.signal("SIGUSR1")
      // It answers after the signal.
      assert.strictEqual(yield* statusOf(server, "/api/v1/health"), 200)
      yield* server.signal("SIGTERM")
      yield* assertStops(server)
      assert.notInclude(server.output.stderr, "Debugger")
    }),
  )

  it.live("first is not ready, then finishes its requests and closes every connection", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const server = yield* startServer({ cwd, environment: { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN } })
      const { event, before, after } = splitBatch(yield* enroll(server, "web-1"))
      const batch = yield* rawConnection(server.port)
      const ready = yield* rawConnection(server.port)
      const idle = yield* rawConnection(server.port)
      yield* idle.write(requestText("GET /api/v1/ready"))
      yield* until(
        "an answer",
        Effect.sync(() => idle.received().includes("HTTP/1.1 200 OK")),
      )
      yield* batch.write(before)
      yield* ready.write("GET /api/v1/ready HTTP/1.1\r\nHost: tocsin\r\n")
      yield* untilRead(server)
      yield* server.signal("SIGTERM")
      yield* untilRefused(server)
      assert.notInclude(yield* idle.closed, "503")
      yield* ready.write("\r\n")
      const unready = yield* ready.closed
      assert.match(unready, /^HTTP\/1\.1 503 .*\r\n/)
      assert.match(unready, /\r\nConnection: close\r\n/i)
      assert.match(unready, /"code":"not_ready"/)
      yield* batch.write(after)
      const accepted = yield* batch.closed
      assert.match(accepted, /^HTTP\/1\.1 202 .*\r\n/)
      assert.match(accepted, /\r\nConnection: close\r\n/i)
      assert.match(accepted, /{"accepted":1,"deduplicated":0}$/)
      yield* assertStops(server)
      const next = yield* startServer({ cwd, environment: { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN } })
      assert.deepStrictEqual(
        (yield* historyOf(next)).map(({ event_id }) => String(event_id)),
        [event.event_id],
      )
    }),
  )

  it.live("finishes its requests, though SIGHUP arrives meanwhile", () =>
    Effect.gen(function* () {
      const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN }
      const server = yield* startServer({ cwd: yield* scratchFolder, environment })
      const { before, after } = splitBatch(yield* enroll(server, "web-1"))
      const batch = yield* rawConnection(server.port)
      yield* batch.write(before)
      yield* untilRead(server)
      yield* server.signal("SIGTERM")
      yield* untilRefused(server)
      yield* server.signal("SIGHUP")
      yield* batch.write(after)
      assert.match(yield* batch.closed, /^HTTP\/1\.1 202 .*\r\n/)
      yield* assertStops(server)
    }),
  )

  it.live("ends streams, and does not wait for their clients", () =>
    Effect.gen(function* () {
      const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN }
      const server = yield* startServer({ cwd: yield* scratchFolder, environment })
      const stream = yield* rawConnection(server.port)
      yield* stream.write(requestText("GET /ops/v1/stream", { Authorization: `Bearer ${OPERATOR_TOKEN}` }))
      yield* until(
        "the stream is open",
        Effect.sync(() => stream.received().includes(": open")),
      )
      const start = yield* Clock.currentTimeMillis
      yield* server.signal("SIGTERM")
      // The last chunk is there: the stream has ended, and was not cut off.
      assert.match(yield* stream.closed, /\r\n0\r\n\r\n$/)
      yield* assertStops(server)
      assert.isBelow((yield* Clock.currentTimeMillis) - start, DRAIN_LIMIT_MILLIS)
    }),
  )

  it.live("does not wait longer than its limit for clients and receivers that hang", () =>
    Effect.gen(function* () {
      const { server, agent } = yield* sending("hang")
      const stuck = yield* rawConnection(server.port)
      yield* stuck.write(splitBatch(agent).before)
      yield* untilRead(server)
      yield* server.signal("SIGTERM")
      yield* assertStops(server)
    }),
  )

  it.live("finishes running attempts", () =>
    Effect.gen(function* () {
      const { server, receiver, cwd } = yield* sending({ status: 204, afterMillis: 1_500 })
      yield* server.signal("SIGINT")
      yield* assertStops(server)
      assert.deepStrictEqual(
        receiver.arrivals.map(({ answered }) => answered),
        [204],
      )
      assert.deepStrictEqual(rowsOf(cwd), [{ state: "sent", attempts: 1, isDue: 0 }])
    }),
  )

  it.live("releases attempts that hang, and the next start delivers them immediately", () =>
    Effect.gen(function* () {
      const { server, receiver, cwd, environment } = yield* sending("hang")
      // One press of Ctrl-C can reach a process twice, from the terminal and from npm.
      yield* Effect.andThen(server.signal("SIGTERM"), server.signal("SIGTERM"))
      yield* assertStops(server)
      assert.deepStrictEqual(rowsOf(cwd), [{ state: "retry", attempts: 1, isDue: 1 }])
      receiver.reaction = { status: 200 }
      const next = yield* startServer({ cwd, environment })
      yield* until(
        "it is delivered",
        Effect.map(outboxOf(next), ([item]) => item?.state === "sent"),
      )
      const [first, second, ...others] = receiver.arrivals
      assert.deepStrictEqual([second?.id, others], [first?.id, []])
      assert.deepStrictEqual(yield* next.stop, graceful)
    }),
  )

  it.live("ends immediately on a second signal", () =>
    Effect.gen(function* () {
      const { server, cwd } = yield* sending("hang")
      yield* server.signal("SIGTERM")
      yield* untilRefused(server)
      // A request within this time is the same one by another path.
      yield* Effect.sleep("600 millis")
      assert.deepInclude(rowsOf(cwd), { state: "sending", attempts: 1, isDue: 0 })
      yield* server.signal("SIGTERM")
      // One signal ends it with 0, after the attempts.
      assert.deepInclude(yield* server.ended, { code: 1 })
    }),
  )

  it.live("stops in time and logs it when PostgreSQL does not answer", () =>
    Effect.gen(function* () {
      const network = yield* faultyNetwork((yield* scratchPostgres).url)
      const { server, agent } = yield* sending("hang", { DATABASE_URL: Redacted.value(network.url) })
      yield* network.holdReplies
      yield* Effect.forkScoped(push(server, agent, [eventOf({ check_id: "load", status: "critical" })]))
      yield* until(
        "it is not ready",
        Effect.map(statusOf(server, "/api/v1/ready"), (status) => status === 503),
      )
      yield* server.signal("SIGTERM")
      yield* assertStops(server, { code: 1, signal: null })
      assert.match(server.output.stderr, /\nTocsin did not shut down in time and was stopped; [^\n]*\n$/)
    }),
  )

  it.live("stops in time while PostgreSQL is down", () =>
    Effect.gen(function* () {
      const { url, away } = yield* scratchPostgres
      const { server } = yield* sending("hang", { DATABASE_URL: Redacted.value(url) })
      yield* away
      yield* until(
        "it is not ready",
        Effect.map(statusOf(server, "/api/v1/ready"), (status) => status === 503),
      )
      yield* server.signal("SIGTERM")
      yield* assertStops(server)
    }),
  )
})
