import { assert, expect, it } from "@effect/vitest"
import { incidentRecord, memberRecord } from "@tocsin/testing/records"
import { Duration, Result } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { dueByRoutes, nameReceivers } from "../../../src/heart/firings/nameReceivers.ts"
import { SEVERITIES } from "../../../src/heart/model/Announced.ts"
import { compilePolicy } from "../../../src/heart/policy/compilePolicy.ts"
import { readPolicy } from "../../../src/lists/readPolicy.ts"

const NO_ROTAS = { now: Instant.fromMillis(0), firings: [], overrides: [], unusable: new Map() }

it("compares each member once a severity, however many receivers are evaluated", () => {
  const document = readPolicy({ routes: [{ match: ["severity = critical"], to: ["chat"] }] }, ["chat"])
  const policy = compilePolicy(Result.getOrThrow(document), ["chat"])
  let compared = 0
  const match: typeof policy.routes.match = (facts, found) => {
    compared += 1
    policy.routes.match(facts, found)
  }
  const loud = Array.from({ length: 20 }, (_, n) => ({
    member: memberRecord({ incident: "i", agent: `a${n}`, check: "disk" }),
    agent: undefined,
    labels: undefined,
  }))
  const counting = { ...policy, routes: { ...policy.routes, match } }
  const naming = nameReceivers(counting, incidentRecord("i"), loud, () => 0, NO_ROTAS)
  for (let receiver = 0; receiver < 50; receiver++) for (const severity of SEVERITIES) naming?.at(severity)
  expect(compared).toBeLessThanOrEqual(loud.length * SEVERITIES.length)
})

it("counts a delay from a milder severity by the routes that its member had then", () => {
  const routes = [
    { match: ["severity = warning"], to: ["chat"], after: "10m" },
    { match: ["severity = critical"], to: ["chat"], after: "30m" },
  ]
  const policy = compilePolicy(Result.getOrThrow(readPolicy({ routes }, ["chat"])), ["chat"])
  const minute = (count: number) => Instant.fromMillis(count * 60_000)
  const incident = incidentRecord("i", {
    announced: "critical",
    reached_warning_at: minute(0),
    reached_critical_at: minute(5),
  })
  const member = memberRecord({ incident: "i", agent: "a", check: "disk" })
  const naming = nameReceivers(
    policy,
    incident,
    [{ member, agent: undefined, labels: undefined }],
    () => 0,
    NO_ROTAS,
  )
  const [chat] = naming?.named.keys() ?? []
  assert.deepInclude(chat && naming && dueByRoutes(incident, naming, { receiver: chat, now: minute(5) }), {
    at: Instant.plus(minute(0), Duration.minutes(10)),
  })
})
