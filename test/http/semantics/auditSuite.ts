import { assert } from "@effect/vitest"
import { auditActionNames } from "@tocsin/contract/audit/AuditActions"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import { outboxIdOf, outboxRecord } from "@tocsin/testing/records"
import { start } from "@tocsin/testing/samples"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Effect } from "effect"
import { addOperator, call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { itemsOf, pageOf } from "../client/itemsOf.ts"
import { acceptedAgent, event, pendingAgent, push } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { Tocsin } from "../service/Tocsin.ts"
import { transact } from "@tocsin/testing/transact"

/** The changes of one request, as the audit states them: action, subject and parameters. */
interface Step {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: string
  readonly json?: object
  /** Nothing for a request that changes nothing. */
  readonly rows: ReadonlyArray<readonly [action: string, ...ids: ReadonlyArray<string>]>
  readonly parameters?: object
}

/** Agents, checks, an incident and a failed notification to act on. */
const populated = Effect.fnUntraced(function* (storage: () => Storage["Service"]) {
  for (const name of ["one", "two", "three", "four"]) yield* pendingAgent(name)
  const agent = yield* acceptedAgent("busy")
  const inTheFuture = event({ check_id: "clock", observed_at: "2026-03-01T12:04:00Z" })
  yield* push(agent, inTheFuture, event({ status: "warning", exit_code: 1 }))
  const [incident] = yield* itemsOf("/api/v1/incidents")
  const id = String(incident?.["id"])
  yield* transact(
    storage(),
    // oxlint-disable-next-line eslint/require-yield -- it only writes
    function* (workspace) {
      workspace.outbox.put({
        ...outboxRecord("dead", "x", { state: "failed", event_type: "resolved" }),
        incident_id: id as never,
      })
      const held = { next_attempt_at: undefined, next_evaluation_at: start } as const
      workspace.outbox.put({ ...outboxRecord("held", "x", held), incident_id: id as never })
    },
  )
  return id
})

const NOTIFICATION = outboxIdOf("dead")
const HELD = outboxIdOf("held")

const stepsOn = (incident: string): ReadonlyArray<Step> => {
  const ofIncident = `/ops/v1/incidents/${incident}`
  const operators = "/ops/v1/operators"
  const agents = "/api/v1/agents"
  const ann = `${operators}/ann`
  const integrations = "/ops/v1/integrations"
  const cron = `${integrations}/cron`
  const watches = "/ops/v1/watches"
  const home = `${watches}/home`
  const severity = "warning"
  return [
    { method: "POST", path: `${agents}/one/accept`, rows: [["agent.accepted", "one"]] },
    { method: "POST", path: `${agents}/one/accept`, rows: [] },
    { method: "POST", path: `${agents}/two/block`, rows: [["agent.blocked", "two"]] },
    { method: "DELETE", path: `${agents}/one`, rows: [["agent.deleted", "one"]] },
    { method: "DELETE", path: `${agents}/one`, rows: [] },
    {
      method: "POST",
      path: `${agents}/admission/accept-all`,
      rows: [["agent.accepted", "four", "three"]],
    },
    { method: "POST", path: `${agents}/admission/accept-all`, rows: [] },
    { method: "POST", path: `${agents}/admission/block-all`, rows: [] },
    { method: "POST", path: `${agents}/admission/remove-all`, rows: [] },
    {
      method: "POST",
      path: "/ops/v1/agents/busy/checks/clock/reset-clock",
      rows: [["check.clock_reset", "busy/clock"]],
    },
    { method: "POST", path: "/ops/v1/agents/busy/checks/clock/reset-clock", rows: [] },
    {
      method: "PATCH",
      path: "/ops/v1/checks/busy/clock",
      json: { title: "The clock" },
      rows: [["check.titled", "busy/clock"]],
    },
    { method: "PATCH", path: "/ops/v1/checks/busy/clock", json: { title: "The clock" }, rows: [] },
    {
      method: "PATCH",
      path: "/ops/v1/agents/busy",
      json: { title: "The busy one" },
      rows: [["agent.titled", "busy"]],
    },
    { method: "DELETE", path: "/ops/v1/agents/busy/checks/clock", rows: [["check.deleted", "busy/clock"]] },
    {
      method: "POST",
      path: `/ops/v1/notifiers/outbox/${NOTIFICATION}/replay`,
      rows: [["notification.replayed", NOTIFICATION]],
    },
    { method: "POST", path: `/ops/v1/notifiers/outbox/${NOTIFICATION}/replay`, rows: [] },
    {
      method: "POST",
      path: `/ops/v1/outbox/${HELD}/release`,
      rows: [["notification.released", HELD]],
    },
    { method: "POST", path: `/ops/v1/outbox/${HELD}/release`, rows: [] },
    {
      method: "PUT",
      path: `${ofIncident}/acknowledgement`,
      json: { until: "2026-03-01T20:00:00Z", note: "on it" },
      rows: [["incident.acknowledged", incident]],
      parameters: { until: "2026-03-01T20:00:00.000Z", severity, note: "on it" },
    },
    {
      method: "POST",
      path: "/ops/v1/incidents/acknowledge",
      json: { ids: [incident, "0192a3b4-0000-7000-8000-000000000000"] },
      rows: [["incident.acknowledged", incident]],
    },
    {
      method: "PUT",
      path: `${ofIncident}/acknowledgement`,
      json: { severity: "critical" },
      rows: [],
    },
    {
      method: "DELETE",
      path: `${ofIncident}/acknowledgement`,
      rows: [["incident.acknowledgement_withdrawn", incident]],
    },
    { method: "DELETE", path: `${ofIncident}/acknowledgement`, rows: [] },
    {
      method: "POST",
      path: `${ofIncident}/notes`,
      json: { text: "disk ordered" },
      rows: [["incident.noted", incident]],
      parameters: { text: "disk ordered" },
    },
    {
      method: "POST",
      path: operators,
      json: { name: "ann", role: "read", expires_at: "2099-01-01T00:00:00Z" },
      rows: [["operator.created", "ann"]],
      parameters: { role: "read", expires_at: "2099-01-01T00:00:00.000Z" },
    },
    { method: "POST", path: operators, json: { name: "ann", role: "admin" }, rows: [] },
    {
      method: "PATCH",
      path: ann,
      json: { role: "respond", expires_at: null },
      rows: [["operator.changed", "ann"]],
      parameters: { role: "respond", expires_at: null },
    },
    { method: "PATCH", path: ann, json: { role: "respond" }, rows: [] },
    {
      method: "POST",
      path: `${ann}/rotate`,
      json: { grace: "90m" },
      rows: [["operator.rotated", "ann"]],
      parameters: { grace: "90m" },
    },
    { method: "DELETE", path: ann, rows: [["operator.removed", "ann"]] },
    { method: "DELETE", path: ann, rows: [] },
    {
      method: "POST",
      path: integrations,
      json: { name: "cron", kind: "ping" },
      rows: [["integration.created", "cron"]],
      parameters: { kind: "ping" },
    },
    { method: "POST", path: integrations, json: { name: "cron", kind: "push" }, rows: [] },
    {
      method: "PATCH",
      path: cron,
      json: { options: { max_checks: 3 } },
      rows: [["integration.changed", "cron"]],
    },
    {
      method: "POST",
      path: `${cron}/rotate`,
      json: { grace: "90m" },
      rows: [["integration.rotated", "cron"]],
      parameters: { grace: "90m" },
    },
    { method: "DELETE", path: cron, rows: [["integration.removed", "cron"]] },
    { method: "DELETE", path: cron, rows: [] },
    {
      method: "POST",
      path: watches,
      json: { name: "home", http: { url: "http://home.example/" } },
      rows: [["watch.created", "home"]],
      parameters: { probe: "http" },
    },
    { method: "PATCH", path: home, json: { every: "5m" }, rows: [["watch.changed", "home"]] },
    { method: "PATCH", path: home, json: { is_paused: true }, rows: [["watch.paused", "home"]] },
    { method: "POST", path: `${home}/pause`, json: { for: "0s" }, rows: [["watch.resumed", "home"]] },
    {
      method: "DELETE",
      path: home,
      rows: [
        ["check.deleted", "watches/home"],
        ["watch.removed", "home"],
      ],
    },
    { method: "DELETE", path: home, rows: [] },
    {
      method: "PUT",
      path: `${SECRETS}/phone`,
      json: { values: { url: "https://ntfy.example/ops", token: "a token" } },
      rows: [["secret.stored", "phone"]],
      parameters: { keys: "token, url" },
    },
    { method: "DELETE", path: `${SECRETS}/phone`, rows: [["secret.removed", "phone"]] },
    { method: "DELETE", path: `${SECRETS}/phone`, rows: [] },
    {
      method: "PUT",
      path: LOOPBACK,
      json: { value: true },
      rows: [["setting.changed", "watch_loopback"]],
      parameters: { value: "true" },
    },
    { method: "PUT", path: LOOPBACK, json: { value: true }, rows: [] },
    {
      method: "DELETE",
      path: LOOPBACK,
      rows: [["setting.removed", "watch_loopback"]],
      parameters: { value: "true" },
    },
    { method: "DELETE", path: LOOPBACK, rows: [] },
  ]
}

const SECRETS = "/ops/v1/secrets"
const LOOPBACK = "/ops/v1/settings/watch_loopback"

// Of timers, reports, stored policies, pages, rotas, senders and browsers, which this server does not have:
// test/delivery/timers, test/library/policy, test/processes/storedPolicy, test/http/requests/receivers,
// test/http/requests/push, test/http/requests/invitations, announcementSuite, rotaSuite, nagiosSuite.
const ELSEWHERE = [
  "announcement.created",
  "announcement.updated",
  "announcement.ended",
  "incident.acknowledgement_expired",
  "check.resolved",
  "invitation.created",
  "invitation.removed",
  "override.created",
  "override.ended",
  "policy.replaced",
  "policy.applied",
  "push_key.replaced",
  "receiver.changed",
  "receiver.removed",
  "session.began",
  "session.signed_out",
  "session.ended",
  "subscription.created",
  "subscription.removed",
]

/** The audit over HTTP (docs/rules.md#audit). */
export const auditSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)
  let storage: Storage["Service"] | undefined
  const spoil = (found: Storage["Service"]) => (storage = found)

  scenario(
    "each operation leaves exactly the rows of what it changed, and by whom",
    () =>
      Effect.gen(function* () {
        const incident = yield* populated(() => storage ?? assert.fail("no storage"))
        const token = yield* addOperator("root", "admin")
        const seen = new Set((yield* itemsOf("/ops/v1/audit")).map(({ id }) => id))
        const met = new Set<unknown>()
        const take = Effect.fnUntraced(function* ({ method, path, json, rows, parameters }: Step, n: number) {
          const requestId = `step-${n}`
          const made = { token, headers: { "x-request-id": requestId }, ...(json && { json }) }
          const text = `${method} ${path}: ${(yield* call(method, path, made)).text}`
          const found = (yield* itemsOf("/ops/v1/audit")).filter(({ id }) => !seen.has(id))
          for (const { action, id } of found) {
            seen.add(id)
            met.add(action)
          }
          const shown = found.map(({ action, subjects }) => [
            action,
            ...(subjects as ReadonlyArray<{ readonly id: string }>).map(({ id }) => id),
          ])
          assert.deepStrictEqual<unknown>(shown, rows, text)
          for (const row of found) {
            const by = { actor: "root", via: "api", request_id: requestId }
            assert.deepInclude(row, by, text)
            if (parameters !== undefined) assert.deepInclude(row, { parameters }, text)
          }
        })
        for (const [n, step] of stepsOn(incident).entries()) yield* take(step, n)

        const [blocked] = yield* itemsOf("/api/v1/agents/admission/blacklist")
        const key = String(blocked?.["id"])
        const blacklist = "/api/v1/agents/admission/blacklist"
        yield* take({ method: "DELETE", path: `${blacklist}/${key}`, rows: [["key.unblocked", key]] }, 100)
        yield* take({ method: "DELETE", path: blacklist, rows: [] }, 101)
        yield* pendingAgent("five")
        yield* take(
          { method: "POST", path: "/api/v1/agents/admission/remove-all", rows: [["agent.deleted", "five"]] },
          102,
        )
        yield* pendingAgent("six")
        yield* take(
          { method: "POST", path: "/api/v1/agents/admission/block-all", rows: [["agent.blocked", "six"]] },
          103,
        )

        const silences = "/ops/v1/silences"
        const disks = { matchers: [{ field: "check_id", op: "=", value: "disk" }], comment: "new disks" }
        const made = yield* call("POST", silences, { token, json: { ...disks, for: "1h" } })
        const silence = String((made.body as { readonly id: string }).id)
        for (const { id, action } of yield* itemsOf("/ops/v1/audit?action=silence.created")) {
          seen.add(id)
          met.add(action)
        }
        yield* take(
          {
            method: "PATCH",
            path: `${silences}/${silence}`,
            json: { comment: "newer disks" },
            rows: [["silence.changed", silence]],
          },
          104,
        )
        yield* take(
          { method: "DELETE", path: `${silences}/${silence}`, rows: [["silence.expired", silence]] },
          105,
        )
        const enrolled = yield* call("POST", "/ops/v1/enrolments", { token, json: {} })
        const enrolment = String((enrolled.body as { readonly id: string }).id)
        for (const { id, action } of yield* itemsOf("/ops/v1/audit?action=enrolment.created")) {
          seen.add(id)
          met.add(action)
        }
        yield* take(
          {
            method: "DELETE",
            path: `/ops/v1/enrolments/${enrolment}`,
            rows: [["enrolment.removed", enrolment]],
          },
          106,
        )
        assert.sameMembers<unknown>(
          Array.from(met),
          auditActionNames.filter((name) => !ELSEWHERE.includes(name)),
        )
      }),
    { spoil, secretsKey: "5a".repeat(32) },
  )

  scenario("the list is narrowed by actor, action, subject and time, and read in pages", () =>
    Effect.gen(function* () {
      const { clock, readToken } = yield* Tocsin
      for (const name of ["a", "b", "c"]) yield* acceptedAgent(name)
      clock.advance("1 hour")
      const moment = new Date(clock.currentTimeMillisUnsafe()).toISOString()
      const token = yield* addOperator("root", "admin")
      for (const name of ["a", "b"]) yield* call("DELETE", `/api/v1/agents/${name}`, { token })
      const shown = Effect.fnUntraced(function* (query: string) {
        return (yield* itemsOf(`/ops/v1/audit?${query}`)).map(
          ({ action, subjects }) => `${String(action)} ${(subjects as ReadonlyArray<{ id: string }>)[0]?.id}`,
        )
      })
      const deleted = ["agent.deleted b", "agent.deleted a"]
      const accepted = ["agent.accepted c", "agent.accepted b", "agent.accepted a"]
      assert.deepStrictEqual(yield* shown(""), [...deleted, "operator.created root", ...accepted])
      assert.deepStrictEqual(yield* shown("actor=root"), deleted)
      assert.deepStrictEqual(yield* shown("action=agent.accepted"), accepted)
      assert.deepStrictEqual(yield* shown("subject=a"), ["agent.deleted a", "agent.accepted a"])
      assert.deepStrictEqual(yield* shown(`from=${moment}`), [...deleted, "operator.created root"])
      assert.deepStrictEqual(yield* shown(`to=${moment}&subject=b`), ["agent.accepted b"])

      const first = yield* pageOf("/ops/v1/audit?limit=4")
      const rest = yield* pageOf(`/ops/v1/audit?limit=4&cursor=${first.next_cursor}`)
      assert.lengthOf([...first.items, ...rest.items], 6)
      assert.isNull(rest.next_cursor)
      const back = yield* pageOf(`/ops/v1/audit?limit=4&back=true&cursor=${rest.prev_cursor}`)
      assert.deepStrictEqual(back.items, first.items)
      const foreign = yield* operate("GET", `/ops/v1/audit?actor=x&cursor=${first.next_cursor}`)
      expectError(foreign, 400, "validation")

      for (const query of ["action=agent.admired", "from=yesterday", "actor=", "subject="])
        expectError(yield* operate("GET", `/ops/v1/audit?${query}`), 400, "validation")
      assert.strictEqual((yield* call("GET", "/ops/v1/audit", { token: readToken })).status, 200)
      expectError(yield* call("GET", "/ops/v1/audit", {}), 401, "unauthorized")
    }),
  )
}
