import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Duration, Effect, Redacted, Schedule, Schema } from "effect"
import { alertRouter } from "../../src/alertrouter/alertRouter.ts"
import { firing } from "../notifications.ts"
import { lacking, programPath } from "../../../../scripts/programs.mjs"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

const binary = programPath("prometheus-alertmanager")

const CONFIG = "route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n"

const listening = (server: ChildProcess): Effect.Effect<string, Error> =>
  Effect.callback((resume) => {
    let log = ""
    server.stderr?.on("data", (chunk) => {
      log += String(chunk)
      const address = /msg="Listening on" address=(\S+)/.exec(log)?.[1]
      if (address !== undefined) resume(Effect.succeed(`http://${address}`))
    })
    server.on("error", (error) => resume(Effect.fail(error)))
    server.on("exit", () => resume(Effect.fail(new Error(`Alertmanager did not start:\n${log}`))))
  })

/** An Alertmanager without receivers, removed with its files when the scope closes. */
const startAlertmanager = (command: string) =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "tocsin-alertmanager-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true })),
    )
    writeFileSync(join(folder, "config.yml"), CONFIG)
    const server = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(
          command,
          [
            `--config.file=${join(folder, "config.yml")}`,
            `--storage.path=${join(folder, "data")}`,
            "--web.listen-address=127.0.0.1:0",
            "--cluster.listen-address=",
          ],
          { stdio: ["ignore", "ignore", "pipe"] },
        ),
      ),
      (child) =>
        Effect.callback<void>((resume) => {
          child.removeAllListeners("exit").on("exit", () => resume(Effect.void))
          if (child.exitCode !== null || !child.kill("SIGKILL")) resume(Effect.void)
        }),
    )
    return yield* listening(server)
  })

const GettableAlerts = Schema.Array(
  Schema.Struct({
    labels: Schema.Record(Schema.String, Schema.String),
    annotations: Schema.Record(Schema.String, Schema.String),
    status: Schema.Struct({ state: Schema.String }),
  }),
)

const activeAlerts = (origin: string) =>
  Effect.tryPromise(() => fetch(`${origin}/api/v2/alerts`).then((answer) => answer.json())).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(GettableAlerts)),
  )

/** Alertmanager lists new alerts with a delay. */
const becoming = (origin: string, count: number) =>
  activeAlerts(origin).pipe(
    Effect.filterOrFail(
      (alerts) => alerts.length === count && alerts.every(({ status }) => status.state === "active"),
    ),
    Effect.retry(Schedule.spaced("50 millis")),
    Effect.timeout("10 seconds"),
  )

const scenario = (command: string) =>
  Effect.gen(function* () {
    const origin = yield* startAlertmanager(command)
    const router = yield* alertRouter({
      url: Redacted.make(origin),
      timeout: Duration.seconds(15),
      denyPrivateTargets: false,
    })
    const now = yield* Instant.now
    const incident = { ...firing.incident, opened_at: Instant.minus(now, Duration.minutes(10)) }
    const notification = { ...firing, summary: "Öl & 😀 <b>", incident }
    const alert = {
      receiver: "alert_router",
      incident_id: incident.id,
      severity: "critical",
      next_at: now,
      leased_until: now,
    } as const

    assert.deepStrictEqual(yield* router.send(notification), { outcome: "delivered" })
    const [listed] = yield* becoming(origin, 1)
    assert.strictEqual(listed?.labels["alertname"], "disk")
    assert.strictEqual(listed?.annotations["summary"], "Öl & 😀 <b>")

    const ended_at = Instant.minus(now, Duration.minutes(1))
    const resend = router.resend ?? (() => assert.fail("no resend"))
    assert.deepStrictEqual(yield* resend([{ alert: { ...alert, ended_at }, incident }]), {
      outcome: "delivered",
    })
    yield* becoming(origin, 0)

    assert.deepStrictEqual(yield* resend([{ alert: { ...alert, ended_at: undefined }, incident }]), {
      outcome: "delivered",
    })
    yield* becoming(origin, 1)

    const over = { ...incident, resolved_at: yield* Instant.now }
    assert.deepStrictEqual(yield* router.send({ ...notification, event_type: "resolved", incident: over }), {
      outcome: "delivered",
    })
    yield* becoming(origin, 0)

    assert.deepStrictEqual(yield* router.test, { status: 200, result: { outcome: "delivered" } })
    const [test] = yield* becoming(origin, 1)
    assert.strictEqual(test?.labels["alertname"], "TocsinTest")
  })

describe("a real Alertmanager", () => {
  const reason = skippedFor(lacking("prometheus-alertmanager"))
  it.live.skipIf(binary === undefined)(`has what fires, until it ends${reason}`, () => scenario(binary ?? ""))
})
