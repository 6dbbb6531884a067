import { assert, describe, it } from "@effect/vitest"
import { type RequestKindName, requestKindNames } from "@tocsin/contract/integrations/integrationKinds"
import { Effect, Fiber, Redacted } from "effect"
import { AT_LENGTH } from "../properties/atLength.ts"
import { monitPost } from "../fuzz/senders.ts"
import { addIntegration, call, OPERATOR_TOKEN, operate } from "./api.ts"
import { scratchFolder, scratchPostgres } from "./scratch.ts"
import { type ServerProcess, startServer } from "./ServerProcess.ts"
import type { Environment } from "./secrecy.ts"
import { until } from "./until.ts"

/** How many reports of each kind a life acknowledges before it ends in the middle of others. */
const REPORTS_A_LIFE = 15
const LIVES = AT_LENGTH ? 2 : 1

/** A request that reports a check, by the kind of its sender. */
const REQUESTS: Readonly<
  Record<RequestKindName, (check: string) => readonly [method: string, path: string, body?: object | string]>
> = {
  ping: (check) => ["GET", `/${check}/fail`],
  push: (check) => ["GET", `/${check}?status=down`],
  alertmanager: (check) => ["POST", "/api/v2/alerts", [{ labels: { alertname: check } }]],
  webhook: (check) => ["POST", "", { version: "4", alerts: [{ labels: { alertname: check } }] }],
  icinga: (check) => [
    "POST",
    `/v1/actions/process-check-result?host=${check}`,
    { exit_status: 1, plugin_output: "down" },
  ],
  nrdp: (check) => [
    "GET",
    `/?cmd=submitcheck&json=${encodeURIComponent(JSON.stringify({ checkresults: [{ hostname: check, state: 1 }] }))}`,
  ],
  sentry: (check) => ["GET", `/api/1/cron/${check}?status=error`],
  monit: (check) => ["POST", "/collector", monitPost(check, 512)],
  pagerduty: (check) => [
    "POST",
    "/v2/enqueue",
    { event_action: "trigger", dedup_key: check, payload: { summary: "bad" } },
  ],
  opsgenie: (check) => ["POST", "/v2/alerts", { alias: check, message: "bad" }],
}

interface Sender {
  readonly kind: RequestKindName
  readonly key: string
  readonly acknowledged: Array<string>
}

const senderOf = Effect.fnUntraced(function* (server: ServerProcess, kind: RequestKindName) {
  const key = yield* addIntegration(server, { name: kind, kind })
  return { kind, key, acknowledged: [] } satisfies Sender
})

/** Reports one check after another until the server ends. */
const reportOn = Effect.fnUntraced(function* (server: ServerProcess, sender: Sender, life: number) {
  for (let n = 0; ; n++) {
    const check = `check-${life}-${n}`
    const [method, path, body] = REQUESTS[sender.kind](check)
    const { status, text } = yield* call(
      server,
      method,
      `/in/${sender.kind}/${sender.key}${path}`,
      typeof body === "string" ? { text: body } : { json: body },
    )
    assert.isBelow(status, 300, text)
    sender.acknowledged.push(check)
  }
})

const checksOf = Effect.fnUntraced(function* (server: ServerProcess, kind: RequestKindName) {
  const { text } = yield* operate(server, "GET", `/ops/v1/checks?agent_id=${kind}&limit=500`)
  const { items } = JSON.parse(text) as { readonly items: ReadonlyArray<{ readonly check_id: string }> }
  return items.map(({ check_id }) => check_id.replace(/\.[0-9a-f]{12}$|:host$|^db1:/, ""))
})

const survives = Effect.fnUntraced(function* (storage: Environment) {
  const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, ...storage }
  const start = startServer({ cwd: yield* scratchFolder, environment })
  let server = yield* start
  const senders: ReadonlyArray<Sender> = yield* Effect.forEach(requestKindNames, (kind) =>
    senderOf(server, kind),
  )
  for (let life = 1; life <= LIVES; life++) {
    const load = yield* Effect.forkScoped(
      Effect.forEach(senders, (sender) => Effect.exit(reportOn(server, sender, life)), {
        concurrency: "unbounded",
      }),
    )
    const isEnough = () => senders.every(({ acknowledged }) => acknowledged.length >= life * REPORTS_A_LIFE)
    yield* until("enough is acknowledged", Effect.sync(isEnough))
    yield* server.kill
    for (const exit of yield* Fiber.join(load)) assert.match(String(exit), /Unanswered/)
    server = yield* start
    for (const { acknowledged, kind } of senders)
      assert.includeMembers(yield* checksOf(server, kind), acknowledged, kind)
  }
})

describe.concurrent("a server that is killed keeps the reports of senders that it acknowledged", () => {
  it.live("on SQLite", () => Effect.suspend(() => survives({})))
  it.live("on PostgreSQL", () =>
    Effect.flatMap(scratchPostgres, ({ url }) => survives({ DATABASE_URL: Redacted.value(url) })),
  )
})
