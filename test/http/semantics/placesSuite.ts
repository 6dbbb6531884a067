import { assert } from "@effect/vitest"
import * as NodeHashing from "@tocsin/adapter-crypto/NodeHashing"
import { createClient } from "@tocsin/client/createClient"
import { ExportKind } from "@tocsin/contract/export/Export"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import { evaluateListed } from "@tocsin/core/heart/checks/withdrawChecks"
import { stateMetrics } from "@tocsin/core/heart/health/stateMetrics"
import { incidentOptions } from "@tocsin/core/heart/incidents/incidentOptions"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import { countingIds } from "@tocsin/core/kernel/ports/Ids"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { becomeLate } from "@tocsin/testing/becomeLate"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { transact } from "@tocsin/testing/transact"
import { Clock, Effect, Result } from "effect"
import { call, operate } from "../client/call.ts"
import { acceptedAgent, event, push } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { Tocsin } from "../service/Tocsin.ts"
import { AGENT, contradicting, type Found, pathsOf, SHOWN, walkCalls } from "./shownChecks.ts"

const line = (name: string) => ({ name, id: name, match: [`check_id = ${name}`] })
const lines = Object.keys(SHOWN).map(line)
const PAGES = { pages: { jobs: { title: "Jobs", groups: [{ title: "All", lines }] } } }
const policy = Result.getOrThrow(readPolicy(PAGES, []))

/** The state of each line to readers without a login. A withdrawn check is on none. */
const LINE_STATES: Readonly<Record<string, string>> = {
  backup: "down",
  gone: "no_data",
  held: "down",
  load: "operational",
  mild: "degraded",
  never: "down",
  nightly: "down",
}

/** The availability of each line, in percent: a late or failing check is not available, a withdrawn one nothing. */
const LINE_AVAILABILITY: Readonly<Record<string, number | null>> = {
  backup: 0,
  gone: null,
  held: 0,
  load: 100,
  mild: 0,
  never: 0,
  nightly: 0,
}

interface ShownLine {
  readonly id: string
  readonly state: string
  readonly availability: number | null
  readonly days: ReadonlyArray<{ readonly state: string }>
}
interface ShownPage {
  readonly groups: ReadonlyArray<{ readonly lines: ReadonlyArray<ShownLine> }>
}
interface CheckedLine {
  readonly line: string
  readonly checks: ReadonlyArray<Found>
}

const statesOf = (shown: ReadonlyArray<ShownLine>) =>
  Object.fromEntries(shown.map(({ id, state }) => [id, state]))

/** The lines of the public page, as its readers get them. */
const shownLines = Effect.map(call("GET", "/status/jobs.json"), ({ body }) =>
  (body as ShownPage).groups.flatMap(({ lines: each }) => each),
)

/** The values of checks in each family of `/metrics/checks`. */
const CHECK_FAMILIES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  tocsin_check_info: { backup: 1, held: 1, load: 1, mild: 1, never: 1, nightly: 1 },
  tocsin_check_status: { backup: 0, held: 2, load: 0, mild: 0 },
  tocsin_check_late: { backup: 1, held: 0, load: 0, mild: 1, never: 1, nightly: 1 },
  tocsin_check_last_result_timestamp_seconds: {
    backup: 1_772_366_400,
    held: 1_772_366_400,
    load: 1_772_366_400,
    mild: 1_772_366_400,
  },
  // The service of these tests keeps none.
  tocsin_check_number: {},
}

/** The values of each family of `/metrics` that counts checks or their incidents, by their labels. */
const FAMILIES: Readonly<Record<string, string>> = {
  tocsin_checks: 'status="ok" 3, status="warning" 0, status="critical" 1, status="unknown" 0',
  tocsin_checks_late: 'severity="warning" 1, severity="critical" 2, severity="unknown" 1',
  tocsin_incidents_open: 'severity="warning" 1, severity="critical" 3, severity="unknown" 1',
}

/** The rows that each kind of export has of these checks. */
const EXPORTED: Readonly<Record<ExportKind, ReadonlyArray<string>>> = {
  history: ["backup ok", "gone critical", "held critical", "load ok", "mild ok"],
  incidents: [
    "backup open",
    "gone resolved",
    "held open and held",
    "mild open",
    "never open",
    "nightly open",
  ],
  numbers: [],
}

const rowOf = ({ check_id, held_by: holds, incident_key: key, state, status }: Found): string => {
  const name = typeof check_id === "string" ? check_id : String(key).split("/").at(-1)
  return `${name} ${String(state ?? status)}${Array.isArray(holds) && holds.length > 0 ? " and held" : ""}`
}

/** Lines of metrics, by their family. */
const familiesIn = (text: string): ReadonlyMap<string, ReadonlyArray<string>> => {
  const families = new Map<string, Array<string>>()
  for (const each of text.split("\n")) {
    const [, name] = /^# TYPE (\S+)/.exec(each) ?? []
    if (name !== undefined) families.set(name, [])
    else if (!each.startsWith("#") && each !== "") families.get(/^\w+/.exec(each)?.[0] ?? "")?.push(each)
  }
  return families
}

interface Items {
  readonly items: ReadonlyArray<Found>
}

/** Every place that shows checks of all states at once (docs/rules.md#late-checks), each by its list of what there is. */
export const placesSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  let stored: Storage["Service"] | undefined
  const { scenario } = onStorage(subject)

  const arrange = Effect.gen(function* () {
    const { clock } = yield* Tocsin
    const agent = yield* acceptedAgent(AGENT)
    const failing = { status: "critical", exit_code: 2 } as const
    yield* push(
      agent,
      event({ check_id: "backup" }),
      event({ check_id: "mild" }),
      event({ check_id: "load" }),
      event({ check_id: "held", ...failing }),
      event({ check_id: "gone", ...failing, observed_at: "2026-03-01T11:57:00Z" }),
    )
    const times = { cron: "0 3 * * *", tz: "UTC" }
    const staying = [
      { check_id: "backup", ...times },
      { check_id: "mild", ...times, severity: "warning" },
      { check_id: "never", every: "1m" },
      { check_id: "load" },
      { check_id: "held" },
    ]
    for (const [as_of, ...checks] of [
      ["2026-03-01T11:58:00Z", ...staying, { check_id: "gone" }],
      ["2026-03-01T12:00:00Z", ...staying],
    ]) {
      const json = { complete: true, as_of, checks }
      const declared = yield* call("PUT", `/ops/v1/agents/${AGENT}/expectations`, { token: agent.key, json })
      assert.strictEqual(declared.status, 200, declared.text)
    }
    // A run of a job that began, and never ended.
    const json = { name: "cron", kind: "ping", options: { check: "nightly" } }
    const { key } = (yield* operate("POST", "/ops/v1/integrations", { json })).body as Found
    assert.strictEqual((yield* call("GET", `/in/ping/${String(key)}/start`)).status, 200)
    const { sha256 } = yield* Effect.provide(Hashing, NodeHashing.layer())
    const compiled = compilePolicy(policy, [])
    const incidents = incidentOptions(countingIds(), { current: () => compiled }, defaultRules, { sha256 })
    const storage = stored ?? assert.fail("the service has no storage")
    const agentId = AgentId.make(AGENT)
    const [late, listed] = [
      ["backup", "mild", "never"].map((id) => CheckId.make(id)),
      ["gone", "held", "load"].map((id) => CheckId.make(id)),
    ]
    for (const [agent_id, ids] of [
      [agentId, late],
      [AgentId.make("cron"), [CheckId.make("nightly")]],
    ] as const)
      yield* transact(storage, becomeLate(agent_id, ids, incidents)).pipe(
        Effect.provideService(Clock.Clock, clock),
        Effect.orDie,
      )
    // A page that found its checks before the withdrawal shows them for minutes.
    assert.strictEqual(statesOf(yield* shownLines)["gone"], "down")
    clock.advance("2 minutes")
    const input = { agentId, checkIds: listed, outageEnd: undefined, incidents }
    yield* transact(storage, evaluateListed(input, undefined)).pipe(
      Effect.provideService(Clock.Clock, clock),
      Effect.orDie,
    )
    const matchers = [{ field: "check_id", op: "=", value: "held" }]
    const silence = { matchers, for: "9h", comment: "known" }
    const { body, status, text } = yield* operate("POST", "/ops/v1/silences", { json: silence })
    assert.strictEqual(status, 201, text)
    const { items } = (yield* operate("GET", "/ops/v1/incidents")).body as Items
    return { hold: `silence:${String((body as Found)["id"])}`, incident: String(items[0]?.["id"]) }
  })

  scenario(
    "one check is late, one withdrawn, one silenced in every answer, call, export, metric, page and badge",
    () =>
      Effect.gen(function* () {
        const { hold, incident } = yield* arrange
        for (const path of pathsOf(incident)) {
          const { body, status, text } = yield* operate("GET", path)
          assert.strictEqual(status, 200, `${path}: ${text}`)
          assert.deepStrictEqual(contradicting(body, hold), [], path)
        }

        const { port, uiToken } = yield* Tocsin
        const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, token: uiToken })
        assert.isAbove(yield* Effect.promise(() => walkCalls(client, incident, hold)), 10)

        for (const kind of ExportKind.literals) {
          const span = "from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z"
          const { text } = yield* operate("GET", `/ops/v1/export?kind=${kind}&${span}`)
          const rows = text
            .trimEnd()
            .split("\n")
            .map((each) => JSON.parse(each) as Found)
          assert.deepStrictEqual(contradicting(rows, hold), [], kind)
          const found = rows.filter((row) => !("cursor" in row)).map(rowOf)
          assert.deepStrictEqual(found.toSorted(), EXPORTED[kind], kind)
        }

        const { body: counts } = yield* operate("GET", "/ops/v1/summary")
        const states = { ok: 1, warning: 0, critical: 1, unknown: 0, late: 4, withdrawn: 1 }
        assert.deepInclude(counts as Found, { checks_ok: 3, checks_critical: 1, open_incidents: 5, states })

        const { text: metrics } = yield* operate("GET", "/metrics")
        const ofStates = familiesIn(metrics)
        for (const name of Object.values(stateMetrics).map((each) => each.name))
          if (/check|incident/.test(name)) {
            const found = (ofStates.get(name) ?? []).map((each) =>
              each.slice(name.length).replace(/[{}]/g, ""),
            )
            assert.strictEqual(found.join(", "), FAMILIES[name], name)
          }
        const { text: ofChecks } = yield* operate("GET", "/metrics/checks")
        const families = familiesIn(ofChecks)
        assert.deepStrictEqual(Array.from(families.keys()), Object.keys(CHECK_FAMILIES))
        for (const [name, found] of families) {
          const values = found.map((each) => {
            const [, id = "", value] = /check_id="(\w+)".* (\S+)$/.exec(each) ?? []
            return [id, name.endsWith("seconds") ? Math.floor(Number(value)) : Number(value)] as const
          })
          assert.deepStrictEqual(Object.fromEntries(values), CHECK_FAMILIES[name], name)
        }

        for (const state of Object.keys(states)) {
          const { body } = yield* operate("GET", `/ops/v1/checks?state=${state}&limit=100`)
          const listed = (body as Items).items.map(({ check_id }) => String(check_id)).toSorted()
          const expected = Object.keys(SHOWN).filter((id) => SHOWN[id] === state)
          assert.deepStrictEqual(listed, expected.toSorted(), state)
        }

        const checked = (yield* operate("POST", "/ops/v1/policy/check", { body: JSON.stringify(PAGES) })).body
        const shownBy = (checked as { readonly lines: ReadonlyArray<CheckedLine> }).lines.map((each) => [
          String(each.line),
          each.checks.map(({ check_id }) => String(check_id)),
        ])
        assert.deepStrictEqual(
          Object.fromEntries(shownBy),
          Object.fromEntries(Object.keys(SHOWN).map((id) => [id, id === "gone" ? [] : [id]])),
        )

        assert.deepStrictEqual(statesOf(yield* shownLines), LINE_STATES)
        for (const [id, state] of Object.entries(LINE_STATES))
          assert.include((yield* call("GET", `/status/jobs/${id}.svg`)).text, state.replace("_", " "), id)

        const { clock } = yield* Tocsin
        clock.advance("1 hour")
        const later = yield* shownLines
        assert.deepStrictEqual(statesOf(later), LINE_STATES)
        // The bars of the present day, of which the page knows the whole hour by now.
        for (const { availability, days, id } of later) {
          assert.strictEqual(days.at(-1)?.state, LINE_STATES[id], id)
          assert.strictEqual(availability, LINE_AVAILABILITY[id], id)
        }
        const html = (yield* call("GET", "/status/jobs")).text
        const rows = html.match(/<li><div class="row">.*?<\/div>/gs) ?? []
        const words = rows.map((row) =>
          row
            .replace(/<[^>]*>/g, " ")
            .trim()
            .split(/\s+/)
            .slice(0, 2),
        )
        assert.deepStrictEqual(
          Object.fromEntries(words.map(([id, word]) => [id, word?.toLowerCase()])),
          Object.fromEntries(Object.entries(LINE_STATES).map(([id, state]) => [id, state.split("_")[0]])),
        )
        const { body: availability } = yield* operate("GET", "/ops/v1/availability")
        const { items } = availability as Items
        assert.deepStrictEqual(
          items.map(({ check_id }) => String(check_id)).toSorted(),
          Object.keys(SHOWN).toSorted(),
        )
        for (const { check_id, percent, seconds } of items) {
          const state = SHOWN[String(check_id)]
          assert.strictEqual((seconds as Found)["late"] === 0, state !== "late", String(check_id))
          assert.strictEqual(percent === 100, state === "ok", String(check_id))
          // From the first failure to the withdrawal, and nothing from then on.
          if (state === "withdrawn") assert.strictEqual((seconds as Found)["critical"], 300)
        }
        const span = "from=2026-03-01T12:00:00Z&to=2026-03-01T13:00:00Z"
        const { body: report } = yield* operate("GET", `/ops/v1/report?${span}`)
        const { late, worst } = report as Readonly<Record<string, ReadonlyArray<Found>>>
        assert.deepStrictEqual(late?.map(({ check_id }) => check_id).toSorted(), [
          "backup",
          "mild",
          "never",
          "nightly",
        ])
        assert.strictEqual(worst?.at(-1)?.["check_id"], "load")
      }),
    {
      rules: { policy },
      serves: {
        metrics: { access: { tokens: [], isOpen: false }, version: "1.0.0" },
        checkMetrics: { labels: [] },
      },
      spoil: (storage) => {
        stored = storage
        return storage
      },
    },
  )
}
