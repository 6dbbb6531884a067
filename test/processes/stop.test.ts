import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Redacted } from "effect"
import { faultyNetwork } from "../postgres/faultyNetwork.ts"
import { type Agent, enroll, eventOf, report } from "./Agent.ts"
import { historyOf, OPERATOR_TOKEN, outboxOf, statusOf } from "./api.ts"
import { isRefused, rawConnection } from "./RawConnection.ts"
import { scratchFolder, scratchPostgres } from "./scratch.ts"
import { secretOf } from "./secrecy.ts"
import { type Environment, type LaunchedProcess, type ServerProcess, startServer } from "./ServerProcess.ts"
import { until } from "./until.ts"
import { type Reaction, startReceiver } from "./WebhookReceiver.ts"

const graceful = { code: 0, signal: null }

/** What a service manager usually gives before it kills. */
const TIME_TO_STOP_MILLIS = 10_000

/** Waits for the end of a process that was told to stop. */
const assertStops = Effect.fnUntraced(function* ({ ended, output }: LaunchedProcess) {
  const start = yield* Clock.currentTimeMillis
  assert.deepStrictEqual(yield* ended, graceful, output.stderr)
  assert.isBelow((yield* Clock.currentTimeMillis) - start, TIME_TO_STOP_MILLIS)
})

/** The rows as they lie on the disk. */
const rowsOf = (folder: string) => {
  const database = new DatabaseSync(join(folder, "data", "tocsin.db"), { readOnly: true })
  const rows = database.prepare("SELECT notifier, state, attempts, next_attempt_at, leased_until FROM outbox").all()
  database.close()
  return rows
}

const requestText = (line: string, headers: Readonly<Record<string, string | number>> = {}): string =>
  [`${line} HTTP/1.1`, "Host: tocsin", ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), "", ""].join("\r\n")

/** What is sent of a batch before and after a pause. */
const splitBatch = ({ agent_id, key }: Agent) => {
  const event = eventOf({ check_id: "disk", status: "critical" })
  const body = JSON.stringify({ agent_id, events: [event] })
  const head = requestText("POST /api/v1/events", { Authorization: `Bearer ${key}`, "Content-Length": body.length })
  return { event, before: head + body.slice(0, 20), after: body.slice(20) }
}

/** Once the server has answered this, it has read what was sent before. */
const untilRead = (server: ServerProcess) => Effect.andThen(statusOf(server, "/api/v1/health"), statusOf(server, "/api/v1/health"))

const untilRefused = ({ port }: ServerProcess) => until("nobody listens any more", isRefused(port))

describe("a server that is told to stop", { timeout: 60_000 }, () => {
  it.live("is not ready first, finishes what it was asked, and closes every connection", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const server = yield* startServer({ cwd, environment: { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN } })
      const { event, before, after } = splitBatch(yield* enroll(server, "web-1"))
      const [batch, ready, idle] = yield* Effect.all([1, 2, 3].map(() => rawConnection(server.port)))
      assert.isDefined(idle)
      yield* idle.write(requestText("GET /api/v1/ready"))
      yield* until("an answer", Effect.sync(() => idle.received().includes("HTTP/1.1 200 OK")))
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
      assert.deepStrictEqual((yield* historyOf(next)).map(({ event_id }) => String(event_id)), [event.event_id])
    }),
  )

  it.live("does not wait longer than it may for clients that never finish", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(() => "hang")
      const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, ...receiver.settings("hooks") }
      const server = yield* startServer({ cwd: yield* scratchFolder, environment })
      const agent = yield* enroll(server, "web-1")
      yield* report(server, agent, { check_id: "disk", status: "critical" })
      const stuck = yield* rawConnection(server.port)
      yield* stuck.write(splitBatch(agent).before)
      yield* until("the notification is being sent", Effect.sync(() => receiver.arrivals.length > 0))
      yield* untilRead(server)
      yield* server.signal("SIGTERM")
      yield* assertStops(server)
    }),
  )
})
