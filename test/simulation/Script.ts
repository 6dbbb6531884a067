import type { CheckResultEvent } from "@tocsin/contract/v1/Requests"
import { AgentId, CheckId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { Arbitrary } from "effect"
import { boolean, integer, oneOf, type Weighted, weighted } from "../properties/arbitraries.ts"
import { eventId } from "@tocsin/testing/samples"

/** The agents of every script; all are enrolled at its start. */
export const AGENTS = ["db", "web-1", "web-2"].map((name) => AgentId.make(name))

/** A result in a script. */
interface ScriptedResult {
  readonly check: number
  readonly status: CheckStatus
  readonly exitCode: number
  /** Checks that name it share an incident. */
  readonly key: string | undefined
  readonly isLoud: boolean
  /** Seconds that the agent's clock is off by. */
  readonly skew: number
  readonly output: string | undefined
  /** Whether it has the id of the result before it. */
  readonly isRepeated: boolean
}

/** The next step. */
export type Step =
  | { readonly step: "wait"; readonly millis: number }
  | { readonly step: "heartbeat"; readonly agent: number; readonly team?: string }
  | { readonly step: "results"; readonly agent: number; readonly results: ReadonlyArray<ScriptedResult> }
  | { readonly step: "acknowledge"; readonly key: string; readonly seconds: number }
  | { readonly step: "withdraw"; readonly key: string }
  | {
      readonly step: "add"
      readonly silence: string
      readonly match: string
      /** Seconds until it starts. */
      readonly delay: number
      readonly seconds: number
    }
  | { readonly step: "extend"; readonly silence: string; readonly seconds: number }
  | { readonly step: "expire"; readonly silence: string }

const result: Arbitrary.Arbitrary<ScriptedResult> = Arbitrary.all({
  check: integer(0, 2),
  status: oneOf<CheckStatus>("ok", "warning", "critical", "unknown"),
  exitCode: integer(0, 1),
  key: oneOf<string | undefined>(undefined, undefined, "shared", "db/0"),
  isLoud: weighted([4, oneOf(true)], [1, boolean]),
  skew: weighted([5, oneOf(0)], [1, integer(-30, 30)]),
  output: oneOf(undefined, "all is well", "no space left\non /var", ""),
  isRepeated: weighted([8, oneOf(false)], [1, boolean]),
})

const requests: readonly [Weighted<Step>, ...ReadonlyArray<Weighted<Step>>] = [
  [
    3,
    Arbitrary.map(oneOf(1, 250, 3_000, 5_000, 29_999, 31_000, 47_123), (millis) => ({
      step: "wait",
      millis,
    })),
  ],
  [2, Arbitrary.map(integer(0, 2), (agent) => ({ step: "heartbeat", agent }))],
  [
    6,
    Arbitrary.map(
      Arbitrary.all({
        agent: integer(0, 2),
        results: Arbitrary.array(result, { minLength: 1, maxLength: 4 }),
      }),
      (batch) => ({ step: "results", ...batch }),
    ),
  ],
]

const key = oneOf("shared", "db/0", "db/1", "web-1/0", "web-2/@heartbeat")

const silence = oneOf("move", "upgrade")

const log: ReadonlyArray<Weighted<Step>> = [
  [
    2,
    Arbitrary.map(Arbitrary.all({ key, seconds: oneOf(1, 30, 61) }), (act) => ({
      step: "acknowledge",
      ...act,
    })),
  ],
  [1, Arbitrary.map(key, (named) => ({ step: "withdraw", key: named }))],
  [
    2,
    Arbitrary.map(
      Arbitrary.all({
        silence,
        match: oneOf("check_id = 0", "agent_id glob web-*", "incident_key = shared", "hostname glob db*"),
        delay: oneOf(0, 0, 4, 30),
        seconds: oneOf(1, 20, 61, 400),
      }),
      (act) => ({ step: "add", ...act }),
    ),
  ],
  [
    1,
    Arbitrary.map(Arbitrary.all({ silence, seconds: oneOf(3, 45) }), (act) => ({ step: "extend", ...act })),
  ],
  [1, Arbitrary.map(silence, (named) => ({ step: "expire", silence: named }))],
]

/** Steps in the life of a service. */
export const script: Arbitrary.Arbitrary<ReadonlyArray<Step>> = Arbitrary.array(weighted(...requests), {
  minLength: 1,
  maxLength: 30,
})

/** The same, with acts of people. */
export const scriptWithActs: Arbitrary.Arbitrary<ReadonlyArray<Step>> = Arbitrary.array(
  weighted(...requests, ...log),
  { minLength: 1, maxLength: 30 },
)

/** Turns scripted results into events of that instant, with IDs that continue from call to call. */
export const eventMaker = () => {
  let made = 0
  return (now: Instant.Instant, results: ReadonlyArray<ScriptedResult>): ReadonlyArray<CheckResultEvent> =>
    results.map((scripted) => {
      if (!scripted.isRepeated || made === 0) made += 1
      return {
        event_id: eventId(made),
        check_id: CheckId.make(String(scripted.check)),
        observed_at: Instant.fromMicros(now + BigInt(scripted.skew) * 1_000_000n),
        status: scripted.status,
        exit_code: scripted.exitCode,
        duration_ms: 3,
        output_truncated: false,
        notifications_enabled: scripted.isLoud,
        ...(scripted.output !== undefined && { output: scripted.output }),
        ...(scripted.key !== undefined && { incident_key: IncidentKey.make(scripted.key) }),
      }
    })
}
