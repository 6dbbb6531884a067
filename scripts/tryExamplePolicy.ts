// Prints the report of `tocsin policy try` on a month of 200 hosts, which this script makes: the one in
// docs/policy.md and the README. `node scripts/tryExamplePolicy.ts`
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { Clock, Effect, Redacted } from "effect"
import {
  Admission,
  AgentId,
  CheckId,
  EventId,
  Ingest,
  Instant,
  newEventId,
  notifiers,
  SqliteStorage,
  Tocsin,
} from "tocsin/effect"

const HOSTS = 200
const DAYS = 30
const MINUTE = 60_000
const DAY = 1_440 * MINUTE

/** A generator of equal numbers in each run (mulberry32). */
const makeRandom = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
}

type Status = "ok" | "warning" | "critical"

interface Change {
  readonly at: number
  readonly host: number
  readonly check: string
  readonly status: Status
}

/**
 * Faults as hosts have them: load that passes within minutes, disks that fill for hours and turn critical,
 * services that are down for a while, and a nightly backup that makes a tenth of the hosts slow.
 */
const monthOfChanges = (start: number): ReadonlyArray<Change> => {
  const random = makeRandom(1)
  const changes: Array<Change> = []
  const fault = (host: number, check: string, at: number, minutes: number, ...grades: Array<Status>) => {
    grades.forEach((status, index) => {
      changes.push({ at: at + (minutes * MINUTE * index) / grades.length, host, check, status })
    })
    changes.push({ at: at + minutes * MINUTE, host, check, status: "ok" })
  }
  for (let host = 0; host < HOSTS; host++) {
    const sometime = () => start + random() * (DAYS * DAY - 300 * MINUTE)
    for (let load = 0; load < 6; load++) fault(host, "load", sometime(), 1 + random() * 8, "warning")
    if (random() < 0.3) fault(host, "disk", sometime(), 60 + random() * 240, "warning", "critical")
    if (random() < 0.2) fault(host, "web", sometime(), 2 + random() * 40, "critical")
    for (let day = 0; host % 10 === 0 && day < DAYS; day++)
      fault(host, "latency", start + day * DAY + (60 + random() * 60) * MINUTE, 20, "warning")
  }
  return changes.toSorted((one, other) => one.at - other.at)
}

/** The time at which the history is reported. Nothing sleeps by it. */
let now = 0
const clock: Clock.Clock = {
  currentTimeMillisUnsafe: () => now,
  currentTimeMillis: Effect.sync(() => now),
  currentTimeNanosUnsafe: () => BigInt(Math.round(now)) * 1_000_000n,
  currentTimeNanos: Effect.sync(() => BigInt(Math.round(now)) * 1_000_000n),
  monotonicTimeNanosUnsafe: () => process.hrtime.bigint(),
  monotonicTimeNanos: Effect.sync(() => process.hrtime.bigint()),
  sleep: () => Effect.never,
}

const agentOf = (host: number) => AgentId.make(`web-${host + 1}`)
const keyOf = (host: number) => Redacted.make(`an agent's key of an example, number ${host}`)

const seed = Effect.fnUntraced(function* (start: number) {
  const ingest = yield* Ingest
  const admission = yield* Admission
  now = start
  const features = { push: true, metrics: false }
  const observed_at = yield* Instant.now
  for (let host = 0; host < HOSTS; host++) {
    const heartbeat = { agent_id: agentOf(host), hostname: `web-${host + 1}.example`, features, observed_at }
    yield* ingest.heartbeat(keyOf(host), heartbeat)
  }
  yield* admission.acceptAll({ includeRotation: false })
  for (const { at, check, host, status } of monthOfChanges(start)) {
    now = at
    const result = {
      event_id: EventId.make(newEventId()),
      check_id: CheckId.make(check),
      observed_at: yield* Instant.now,
      status,
      exit_code: status === "ok" ? 0 : status === "warning" ? 1 : 2,
      duration_ms: 20,
      output_truncated: false,
      notifications_enabled: true,
    } as const
    yield* ingest.events(keyOf(host), { agent_id: agentOf(host), events: [result] })
  }
})

const folder = mkdtempSync(join(tmpdir(), "tocsin-example-"))
const start = Math.floor((Date.now() - DAYS * DAY) / DAY) * DAY + DAY
await Effect.runPromise(
  seed(start).pipe(
    Effect.provide(
      Tocsin.services({
        storage: SqliteStorage.layer({ file: join(folder, "tocsin.db") }),
        notifiers: notifiers([{ name: "debug", send: () => undefined }]),
      }),
    ),
    Effect.provideService(Clock.Clock, clock),
  ),
)
const settings = {
  SERVICE_DATA_DIR: folder,
  SERVICE_MESSENGER_URL: "https://chat.example/hook",
  SERVICE_WEBHOOK_URL: "https://pager.example/hook",
  SERVICE_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32).toString("base64")}`,
  SERVICE_NOTIFIERS: "messenger,webhook",
}
const tocsin = ["scripts/bootstrap.mjs", "start", "policy", "try", "docs/policy/try.yaml"]
execFileSync(process.execPath, tocsin, { env: { ...process.env, ...settings }, stdio: "inherit" })
rmSync(folder, { recursive: true })
