import { assert } from "@effect/vitest"
import * as NodeHashing from "@tocsin/adapter-crypto/NodeHashing"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import { incidentOptions } from "@tocsin/core/heart/incidents/incidentOptions"
import { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import { countingIds } from "@tocsin/core/kernel/ports/Ids"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { evaluateListed } from "@tocsin/core/heart/checks/withdrawChecks"
import { transact } from "@tocsin/testing/transact"
import { Clock, Effect, Result } from "effect"
import { becomeLate } from "@tocsin/testing/becomeLate"
import { call, operate } from "../client/call.ts"
import { acceptedAgent, event, push } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { Tocsin } from "../service/Tocsin.ts"
import { AGENT, type Found, objectsIn, pathsOf } from "./shownChecks.ts"

const line = (name: string) => ({ name, id: name, match: [`check_id = ${name}`] })
const policy = Result.getOrThrow(
  readPolicy(
    {
      pages: {
        jobs: { title: "Jobs", groups: [{ title: "All", lines: ["backup", "load", "mild"].map(line) }] },
      },
    },
    [],
  ),
)

interface Items {
  readonly items: ReadonlyArray<Found>
}

/**
 * Late, silenced and withdrawn checks as time passes (docs/rules.md#late-checks). `placesSuite.ts` walks through all that
 * shows them but the console (`test/console/shown.test.ts`) and the command (`test/cli/late.test.ts`).
 */
export const lateSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  let stored: Storage["Service"] | undefined
  const { scenario } = onStorage(subject)

  const incidentsOf = Effect.fnUntraced(function* () {
    const { sha256 } = yield* Effect.provide(Hashing, NodeHashing.layer())
    const compiled = compilePolicy(policy, [])
    return incidentOptions(countingIds(), { current: () => compiled }, defaultRules, { sha256 })
  })
  /** `load` is ok, `backup`, `mild` and `never` are late, the last one without a result. */
  const arrange = Effect.gen(function* () {
    const agent = yield* acceptedAgent(AGENT)
    yield* push(
      agent,
      event({ check_id: "backup" }),
      event({ check_id: "mild" }),
      event({ check_id: "load" }),
    )
    const times = { cron: "0 3 * * *", tz: "UTC" }
    const checks = [
      { check_id: "backup", ...times },
      { check_id: "mild", ...times, severity: "warning" },
      { check_id: "never", every: "1m" },
    ]
    const declared = yield* call("PUT", `/ops/v1/agents/${AGENT}/expectations`, {
      token: agent.key,
      json: { checks },
    })
    assert.strictEqual(declared.status, 200, declared.text)
    const options = yield* incidentsOf()
    const ids = checks.map(({ check_id }) => CheckId.make(check_id))
    const storage = stored ?? assert.fail("the service has no storage")
    const { clock } = yield* Tocsin
    yield* transact(storage, becomeLate(AgentId.make(AGENT), ids, options)).pipe(
      Effect.provideService(Clock.Clock, clock),
      Effect.orDie,
    )
    return agent
  })
  const listed = (query: string) =>
    Effect.map(operate("GET", `/ops/v1/checks?${query}`), ({ body }) =>
      (body as Items).items.map(({ check_id, state }) => `${String(check_id)} ${String(state)}`),
    )

  scenario(
    "a late check is late wherever it is shown, and ok nowhere, until its next result",
    () =>
      Effect.gen(function* () {
        const agent = yield* arrange
        assert.deepStrictEqual(yield* listed(""), ["backup late", "load ok", "mild late"])
        assert.deepStrictEqual(yield* listed("state=late"), ["backup late", "mild late", "never late"])
        assert.deepStrictEqual(yield* listed("is_overdue=true"), yield* listed("state=late"))
        assert.deepStrictEqual(yield* listed("state=ok"), ["load ok"])
        assert.deepStrictEqual(yield* listed("state=critical"), [])
        assert.deepStrictEqual(yield* listed("state=ok&is_overdue=true"), [])
        assert.deepStrictEqual(yield* listed("status=ok&state=late"), ["backup late", "mild late"])
        assert.strictEqual((yield* operate("GET", "/ops/v1/checks?state=overdue")).status, 400)

        const { body: incidents } = yield* operate("GET", "/ops/v1/incidents")
        const { body: counts } = yield* operate("GET", "/ops/v1/summary")
        const states = { ok: 1, warning: 0, critical: 0, unknown: 0, late: 3, withdrawn: 0 }
        assert.deepInclude(counts as Found, { checks_ok: 3, states })
        const { body: why } = yield* operate("GET", `/ops/v1/explain?agent_id=${AGENT}&check_id=backup`)
        const { check, reasons } = why as { readonly check: Found; readonly reasons: ReadonlyArray<string> }
        assert.deepInclude(check, { state: "late", status: "ok", late_severity: "critical" })
        assert.match(reasons[0] ?? "", /^It is late: nothing since .*, expected by .* UTC\.$/)

        const summaries = (incidents as Items).items.map((each) => String(each["summary"]))
        const [expected, since] = [", expected by [-\\d]{10} [:\\d]{8} UTC$", "late: nothing since "]
        assert.lengthOf(
          summaries.filter((text) => new RegExp(`^${since}.*${expected}`).test(text)),
          2,
        )
        assert.lengthOf(
          summaries.filter((text) => new RegExp(`^late: never: never reported${expected}`).test(text)),
          1,
        )

        const page = (yield* call("GET", "/status/jobs.json")).body as {
          readonly groups: ReadonlyArray<{ readonly lines: ReadonlyArray<Found> }>
        }
        const shown = page.groups[0]?.lines.map(({ id: name, state }) => `${String(name)} ${String(state)}`)
        assert.deepStrictEqual(shown, ["backup down", "load operational", "mild degraded"])
        assert.include((yield* call("GET", "/status/jobs/backup.svg")).text, "down")

        const { clock } = yield* Tocsin
        clock.advance("1 hour")
        yield* push(agent, event({ check_id: "load", observed_at: "2026-03-01T13:00:00Z" }))
        const { body: availability } = yield* operate("GET", "/ops/v1/availability")
        const late = (availability as Items).items.map((each) => [each["check_id"], each["percent"]])
        assert.deepStrictEqual(late.slice(1), [
          ["load", 100],
          ["mild", (availability as Items).items[2]?.["percent"]],
          ["never", 0],
        ])
        for (const each of (availability as Items).items)
          assert.strictEqual((each["seconds"] as Found)["late"], each["check_id"] === "load" ? 0 : 3_600)

        yield* push(
          agent,
          event({ check_id: "backup", status: "warning", observed_at: "2026-03-01T13:00:00Z" }),
        )
        assert.deepStrictEqual(yield* listed(""), ["backup warning", "load ok", "mild late"])
      }),
    {
      rules: { policy },
      spoil: (storage) => {
        stored = storage
        return storage
      },
    },
  )

  scenario(
    "a silenced check is silenced wherever it or its incident is shown, and fails all the same",
    () =>
      Effect.gen(function* () {
        const agent = yield* acceptedAgent(AGENT)
        yield* push(agent, event({ check_id: "backup", status: "critical", exit_code: 2 }))
        const matchers = [{ field: "check_id", op: "=", value: "backup" }]
        const json = { matchers, for: "1h", comment: "known" }
        const made = yield* operate("POST", "/ops/v1/silences", { json })
        assert.strictEqual(made.status, 201, made.text)
        const hold = `silence:${String((made.body as Found)["id"])}`
        const [incident] = ((yield* operate("GET", "/ops/v1/incidents")).body as Items).items
        assert.deepInclude(incident, { state: "open", held_by: [hold] })
        for (const path of pathsOf(String(incident?.["id"]))) {
          const { body, status, text } = yield* operate("GET", path)
          assert.strictEqual(status, 200, `${path}: ${text}`)
          const forgotten = objectsIn(body).filter(
            (each) => "held_by" in each && !(each["held_by"] as ReadonlyArray<string>).includes(hold),
          )
          assert.deepStrictEqual(forgotten, [], path)
          // A silence holds messages. It hides no failure.
          const shown = objectsIn(body).filter(
            (each) => each["check_id"] === "backup" && "state" in each && "exit_code" in each,
          )
          for (const each of shown) assert.strictEqual(each["state"], "critical", path)
          for (const each of shown.filter((one) => "late_severity" in one))
            assert.deepStrictEqual(each["held_by"], [hold], path)
        }
        const holds = Effect.map(operate("GET", "/ops/v1/checks"), ({ body }) =>
          (body as Items).items.map((each) => [each["check_id"], each["held_by"]]),
        )
        yield* push(agent, event({ check_id: "load" }))
        assert.deepStrictEqual(yield* holds, [
          ["backup", [hold]],
          ["load", []],
        ])
        const { body: counts } = yield* operate("GET", "/ops/v1/summary")
        const states = { ok: 1, warning: 0, critical: 1, unknown: 0, late: 0, withdrawn: 0 }
        assert.deepInclude(counts as Found, { open_incidents: 1, states })
        assert.include((yield* call("GET", "/status/jobs.json")).text, '"down"')
        yield* operate("DELETE", `/ops/v1/silences/${hold.slice("silence:".length)}`)
        assert.deepStrictEqual(yield* holds, [
          ["backup", []],
          ["load", []],
        ])
      }),
    { rules: { policy } },
  )

  scenario(
    "a withdrawn check is withdrawn wherever it is shown, fails nowhere, and is on no public page",
    () =>
      Effect.gen(function* () {
        const agent = yield* acceptedAgent(AGENT)
        const declare = (json: object) =>
          call("PUT", `/ops/v1/agents/${AGENT}/expectations`, { token: agent.key, json })
        const listing = (as_of: string, ...checks: ReadonlyArray<object>) =>
          declare({ complete: true, as_of, checks })
        const failing = { check_id: "backup", status: "critical", exit_code: 2 } as const
        const [load, gone] = [{ check_id: "load" }, { check_id: "backup" }]
        assert.strictEqual((yield* declare({ checks: [load] })).status, 400)
        assert.strictEqual((yield* declare({ checks: [], as_of: "2026-03-01T12:00:00Z" })).status, 400)
        yield* push(
          agent,
          event({ check_id: "load" }),
          event({ ...failing, observed_at: "2026-03-01T11:57:00Z" }),
        )
        assert.strictEqual((yield* listing("2026-03-01T11:58:00Z", load, gone)).status, 200)
        assert.strictEqual((yield* listing("2026-03-01T12:00:00Z", load)).status, 200)
        // One of before the newest.
        assert.strictEqual((yield* listing("2026-03-01T11:59:00Z")).status, 200)
        assert.deepStrictEqual(yield* listed(""), ["backup critical", "load ok"])
        const { clock } = yield* Tocsin
        clock.advance("2 minutes")
        const storage = stored ?? assert.fail("the service has no storage")
        const input = {
          agentId: AgentId.make(AGENT),
          checkIds: [CheckId.make("backup"), CheckId.make("load")],
          outageEnd: undefined,
          incidents: yield* incidentsOf(),
        }
        yield* transact(storage, evaluateListed(input, undefined)).pipe(
          Effect.provideService(Clock.Clock, clock),
          Effect.orDie,
        )
        assert.deepStrictEqual(yield* listed(""), ["backup withdrawn", "load ok"])
        assert.deepStrictEqual(yield* listed("state=withdrawn"), ["backup withdrawn"])
        assert.deepStrictEqual(yield* listed("state=critical"), [])
        assert.deepStrictEqual(yield* listed("status=critical"), ["backup withdrawn"])
        const { body: incidents } = yield* operate("GET", "/ops/v1/incidents")
        const [incident] = (incidents as Items).items
        assert.deepInclude(incident, { state: "resolved" })
        for (const path of pathsOf(String(incident?.["id"]))) {
          const { body, status, text } = yield* operate("GET", path)
          assert.strictEqual(status, 200, `${path}: ${text}`)
          const shown = objectsIn(body).filter(
            (each) =>
              each["check_id"] === "backup" &&
              "status" in each &&
              !("event_id" in each) &&
              each["state"] !== "withdrawn",
          )
          assert.deepStrictEqual(shown, [], path)
        }
        const { body: counts } = yield* operate("GET", "/ops/v1/summary")
        const states = { ok: 1, warning: 0, critical: 0, unknown: 0, late: 0, withdrawn: 1 }
        assert.deepInclude(counts as Found, { checks_ok: 1, checks_critical: 0, open_incidents: 0, states })
        const { body: why } = yield* operate("GET", `/ops/v1/explain?agent_id=${AGENT}&check_id=backup`)
        const { check, reasons } = why as { readonly check: Found; readonly reasons: ReadonlyArray<string> }
        assert.deepInclude(check, { state: "withdrawn", status: "critical", expected_at: null })
        assert.match(reasons[0] ?? "", /^Its agent no longer runs it/)
        assert.notInclude((yield* call("GET", "/status/jobs.json")).text, '"down"')

        clock.advance("1 hour")
        const span = "from=2026-03-01T12:10:00Z&to=2026-03-01T12:50:00Z"
        const unknownFor = operate("GET", `/ops/v1/availability?match=check_id+%3D+backup&${span}`).pipe(
          Effect.map(({ body }) => ((body as Items).items[0]?.["seconds"] as Found | undefined)?.["no_data"]),
        )
        assert.strictEqual(yield* unknownFor, 2_400)

        yield* push(agent, event({ ...failing, observed_at: "2026-03-01T11:59:30Z" }))
        assert.deepStrictEqual(yield* listed("state=withdrawn"), ["backup withdrawn"])
        yield* push(agent, event({ ...failing, observed_at: "2026-03-01T13:01:00Z" }))
        assert.deepStrictEqual(yield* listed(""), ["backup critical", "load ok"])
        const { body: again } = yield* operate("GET", "/ops/v1/incidents?state=open")
        assert.lengthOf((again as Items).items, 1)
        assert.strictEqual(yield* unknownFor, 2_400)
      }),
    {
      rules: { policy },
      spoil: (storage) => {
        stored = storage
        return storage
      },
    },
  )
}
