import { Effect, Schedule } from "effect"
import { BenchFailure } from "../BenchFailure.ts"
import type { Tocsin } from "../processes/tocsin.ts"
import { callApi, isLimited } from "./callApi.ts"
import { heartbeatBody, resultsBody } from "./bodies.ts"
import { agentId, EVENTS_PER_BATCH } from "./Load.ts"
import { Stamp } from "./Stamp.ts"

const AT_ONCE = 8
/** As many as in the cases of results. */
const STORM_CONNECTIONS = 32

const post = (port: number, path: string, token: string, body?: string) =>
  callApi({ method: "POST", port, path, token, body })

/** `first` is the number of the agent of the first key. */
const each = (
  keys: ReadonlyArray<string>,
  send: (key: string, index: number) => Effect.Effect<string, BenchFailure>,
  first = 0,
) => Effect.forEach(keys, (key, index) => send(key, first + index), { concurrency: AT_ONCE, discard: true })

const variables = (index: number) => {
  const stamp = new Stamp()
  stamp.advance()
  const [time, micros, idPrefix] = [stamp.time, stamp.micros, stamp.idPrefix].map(String)
  return { agentId: agentId(index), time: time ?? "", micros: micros ?? "", idPrefix: idPrefix ?? "" }
}

/** A server takes a mebibyte a second of keys that are not accepted: a hundred thousand take some minutes. */
const WHILE_LIMITED = { schedule: Schedule.spaced("1 second"), while: isLimited, times: 600 }

/** Registers the agents and accepts them. */
export const admit = Effect.fnUntraced(function* (
  { port, token }: Pick<Tocsin, "port" | "token">,
  keys: ReadonlyArray<string>,
  first?: number,
) {
  const beat = (key: string, index: number) =>
    Effect.retry(post(port, "/api/v1/heartbeat", key, heartbeatBody(variables(index))), WHILE_LIMITED)
  yield* each(keys, beat, first)
  yield* post(port, "/api/v1/agents/admission/accept-all", token)
})

/**
 * Registers the agents, accepts them, and sends a first `ok` of each check, so that what follows is
 * not a first result.
 */
export const enrol = (server: Tocsin, keys: ReadonlyArray<string>) =>
  Effect.andThen(admit(server, keys), recover(server, keys))

/** Every check of every agent is `ok`. */
export const recover = ({ port }: Tocsin, keys: ReadonlyArray<string>) =>
  each(keys, (key, index) => post(port, "/api/v1/events", key, resultsBody(variables(index), "ok")))

/** Further agents, from the number `first` on, whose checks all become critical: an incident each. */
export const enrolFailing = ({ port, token }: Tocsin, keys: ReadonlyArray<string>, first: number) => {
  const fail = (key: string, index: number) =>
    post(port, "/api/v1/events", key, resultsBody(variables(index), "critical"))
  return Effect.andThen(admit({ port, token }, keys, first), each(keys, fail, first))
}

/** Creates silences. */
export const silence = ({ port, token }: Tocsin, bodies: ReadonlyArray<string>) =>
  Effect.forEach(bodies, (body) => post(port, "/ops/v1/silences", token, body), { discard: true })

/** Every check of every agent becomes critical: one batch each, due over so many seconds. */
export const storm = ({ port }: Tocsin, keys: ReadonlyArray<string>, overSeconds = 0) => {
  const start = performance.now()
  const dueIn = (index: number) => start + (overSeconds * 1000 * index) / keys.length - performance.now()
  return Effect.forEach(
    keys,
    (key, index) =>
      Effect.suspend(() => Effect.sleep(Math.max(0, dueIn(index)))).pipe(
        Effect.andThen(
          Effect.suspend(() => post(port, "/api/v1/events", key, resultsBody(variables(index), "critical"))),
        ),
        Effect.filterOrFail(
          (answer) => JSON.parse(answer).accepted === EVENTS_PER_BATCH,
          (answer) => new BenchFailure({ message: `a batch was answered with ${answer}` }),
        ),
      ),
    {
      concurrency: STORM_CONNECTIONS,
      discard: true,
    },
  )
}
