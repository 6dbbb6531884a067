import {
  AgentBlocked,
  AgentNotAccepted,
  KeyConflict,
  RateLimited,
} from "@tocsin/core/heart/admission/AdmissionErrors"
import type { AcceptedResponse, EventBatchAcceptedResponse } from "@tocsin/contract/v1/Responses"
import { defaultRules, RuleSettings } from "@tocsin/core/kernel/ports/RuleSettings"
import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import type { Ingest } from "@tocsin/core/heart/usecases/Ingest"
import type { BuiltPage, PublicPages } from "@tocsin/core/features/publicPages/PublicPages"
import { Context, Duration, Effect, Layer, Logger, Option, Redacted, References, Tracer } from "effect"
import { HttpServer, HttpServerRequest } from "effect/http"
import * as ApiServer from "../../src/HttpServer.ts"
import { FailureLogInterval } from "../../src/response/FailureLog.ts"
import { type Stubs, stubServices, unlimitedBodies } from "../TestServer.ts"

type Service = Ingest["Service"]

/** A server, and what it has done. */
export interface Way {
  readonly port: number
  /** Its log, one JSON text a line. */
  readonly logs: Array<string>
  /** How many requests came to the use case by the API, and how many directly. */
  readonly taken: { byApi: number; directly: number }
  /** The spans that it has begun, if it has a tracer. */
  readonly spans: Array<Tracer.NativeSpan>
}

const message = "what to do: größer, ✓"

/** The endings of both use cases, by the agent's name. */
const endings: Readonly<Record<string, Effect.Effect<never, AgentBlocked | StorageError>>> = {
  blocked: Effect.fail(new AgentBlocked({ message })),
  unavailable: Effect.fail(new StorageError({ reason: "unavailable", message: "postgres is away" })),
  dying: Effect.die(new Error("a secret cause")),
  throwing: Effect.suspend(() => {
    throw new Error("a secret cause")
  }),
}

const heartbeatEndings: Readonly<Record<string, Effect.Effect<never, KeyConflict | RateLimited>>> = {
  limited: Effect.fail(new RateLimited({ message, retryAfterSeconds: 7 })),
  superseded: Effect.fail(new KeyConflict({ reason: "superseded_key", message })),
}

const eventsEndings: Readonly<Record<string, Effect.Effect<never, AgentNotAccepted>>> = {
  unaccepted: Effect.fail(new AgentNotAccepted({ message })),
}

/** The names of agents whose requests end in some special way. */
export const SPECIAL = [endings, heartbeatEndings, eventsEndings, { slow: 0, conflicting: 0 }].flatMap(
  Object.keys,
)

const countedBy =
  (taken: Way["taken"]) =>
  <A, E>(name: string, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.flatMap(Effect.serviceOption(HttpServerRequest.HttpServerRequest), (request) => {
      if (Option.isSome(request)) taken.byApi += 1
      else taken.directly += 1
      return name === "slow" ? Effect.andThen(Effect.yieldNow, effect) : effect
    })

const ingest = (taken: Way["taken"]): Service => {
  const counted = countedBy(taken)
  const heartbeat: Service["heartbeat"] = (key, { agent_id: id }, { address, process = "none" } = {}) => {
    // So that all are seen outside.
    const conflict = new KeyConflict({
      reason: "superseded_key",
      message: `${address} ${Redacted.value(key)} ${process}`,
    })
    const usual = id === "conflicting" ? Effect.fail(conflict) : Effect.succeed({ accepted: id !== "slow" })
    return counted<AcceptedResponse, AgentBlocked | KeyConflict | RateLimited | StorageError>(
      id,
      endings[id] ?? heartbeatEndings[id] ?? usual,
    )
  }
  const events: Service["events"] = (_key, { agent_id: id, events: { length, 0: first } }) => {
    const reply = { accepted: length, deduplicated: first?.duration_ms ?? 0 }
    return counted<EventBatchAcceptedResponse, AgentBlocked | AgentNotAccepted | StorageError>(
      id,
      endings[id] ?? eventsEndings[id] ?? Effect.succeed(reply),
    )
  }
  return {
    bodies: unlimitedBodies,
    expectations: () => Effect.die("no request of this test declares checks"),
    enrol: () => Effect.die("no request of this test enrols"),
    heartbeat,
    beat: (key, request, { clock: _, ...source }, resume) => {
      const called = heartbeat(key, request, source)
      resume(request.agent_id === "slow" ? called : Effect.runSyncExit(called))
      return () => {}
    },
    events,
    batch: (key, request, _clock, resume) => {
      const called = events(key, request)
      resume(request.agent_id === "slow" ? called : Effect.runSyncExit(called))
      return () => {}
    },
  }
}

const AT = "2026-12-07T10:00:00.000Z"

/** A page, of many bytes if they are not compressed. */
const pageOf = (name: string, texts: number): BuiltPage => {
  const shown = { name: "Größe", id: "shop", state: "down", availability: 99.9, days: [] } as const
  const announcement = { id: name, kind: "incident", title: "t", state: "open", starts_at: AT } as const
  const more = { text: "text ".repeat(1_000), lines: [], ends_at: null, updates: [] }
  return {
    name,
    tz: "UTC",
    isOutdated: false,
    lang: "en",
    feed: [],
    body: {
      title: name,
      state: "down",
      as_of: AT,
      groups: [{ title: "g", lines: [shown] }],
      announcements: Array.from({ length: texts }, () => ({ ...announcement, ...more })),
    },
  }
}

/** The pages of both servers: `unread` was never read. */
const BUILT = new Map([
  ["usual", pageOf("usual", 0)],
  ["large", pageOf("large", 20)],
])

/** The names of pages, and one of none. */
export const PAGES = [...BUILT.keys(), "unread", "unknown"]

const pages = (taken: Way["taken"]): Partial<PublicPages["Service"]> => ({
  find: (name) =>
    countedBy(taken)(
      "slow",
      Effect.succeed(BUILT.get(name) ?? (name === "unread" ? { unreadyIn: "en" } : "unknown")),
    ),
})

const way = Effect.fnUntraced(function* (stubs: Stubs, isTraced: boolean) {
  const logs: Array<string> = []
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    },
  })
  const taken = { byApi: 0, directly: 0 }
  const server = ApiServer.layerWithOperations({
    host: "127.0.0.1",
    port: 0,
    operatorTokens: [Redacted.make("operator-token")],
    trustedHops: 1,
  }).pipe(
    Layer.provide([stubServices({ ...stubs, ingest: ingest(taken), pages: pages(taken) })]),
    Layer.provide(Logger.layer([Logger.map(Logger.formatJson, (line) => void logs.push(line))])),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, "Debug")),
    // Lines that stand for several requests depend on when these came.
    Layer.provide(Layer.succeed(FailureLogInterval, Duration.zero)),
    Layer.provide(isTraced ? Layer.succeed(Tracer.Tracer, tracer) : Layer.empty),
    // Two answers are the same only if what came before does not count.
    Layer.provide(
      Layer.succeed(RuleSettings, { ...defaultRules, failedAuthenticationRate: { perMinute: 0, burst: 0 } }),
    ),
  )
  const context = yield* Layer.build(Layer.fresh(server))
  const { address } = Context.get(context, HttpServer.HttpServer)
  const port = "port" in address ? address.port : 0
  const made: Way = { port, logs, taken, spans }
  return made
})

/** Two equal servers, one of which has a tracer. */
export class TwoWays extends Context.Service<TwoWays, { readonly untraced: Way; readonly traced: Way }>()(
  "@tocsin/adapter-http/test/TwoWays",
) {
  static readonly layer = (stubs: Stubs = {}) =>
    Layer.effect(
      TwoWays,
      Effect.all({
        untraced: way(stubs, false),
        traced: way(stubs, true),
      }),
    )
}
