import { expect, it } from "@effect/vitest"
import { incidentRecord, memberRecord } from "@tocsin/testing/records"
import { Result } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { nameReceivers } from "../../src/firings/nameReceivers.ts"
import { SEVERITIES } from "../../src/model/Announced.ts"
import { compilePolicy } from "../../src/policy/compilePolicy.ts"
import { readPolicy } from "../../src/policy/readPolicy.ts"

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
