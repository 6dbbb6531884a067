import { Readiness } from "@tocsin/core/heart/health/Readiness"
import { TestAdvice } from "@tocsin/core/heart/notifications/attemptItems"
import { roleOf } from "@tocsin/core/heart/operators/tokens"
import { Hashing } from "@tocsin/core/kernel/ports/Hashing"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import * as RandomIds from "@tocsin/adapter-crypto/RandomIds"
import { StateConflict } from "@tocsin/core/kernel/engine/OperationErrors"
import { policyFollower } from "@tocsin/core/lists/policyFollower"
import { delivering, following } from "@tocsin/core/lists/services"
import * as Housekeeping from "@tocsin/core/lists/Housekeeping"
import { PublicPages } from "@tocsin/core/features/publicPages/PublicPages"
import { PepperChanged } from "@tocsin/core/heart/admission/verifyPepper"
import { Cause, Context, Effect, Exit, Layer, Scope } from "effect"
import { agentCalls, refusalOf } from "./api/AgentCalls.ts"
import { LocalAgents } from "./api/LocalAgents.ts"
import { Activity, Calls, causeToTocsinError, closed } from "./api/Calls.ts"
import { monitorCalls } from "./api/monitorCalls.ts"
import { fetchHandler, HttpApp, nodeListener } from "./http/HttpApp.ts"
import { exportLines } from "./live/exportLines.ts"
import { IncidentCallbacks, LiveChanges, topicChanges } from "./live/LiveChanges.ts"
import { IncidentFeed, type IncidentNews, toIncidentNews } from "./live/IncidentFeed.ts"
import { CurrentCallbacks, ProgramCallbacks } from "./live/ProgramCallbacks.ts"
import * as Tocsin from "./layers/Tocsin.ts"
import type { Monitor } from "./Monitor.ts"
import { logLayer } from "./options/log.ts"
import type { MonitorOptions } from "./options/MonitorOptions.ts"
import { replacePolicy } from "./policy/givenPolicy.ts"
import { ownPolicySource } from "./policy/ownPolicySource.ts"
import { readOptions, type ReadOptions } from "./options/readOptions.ts"
import { TocsinError } from "./TocsinError.ts"

type MonitorServices = Tocsin.TocsinServices | HttpApp

const STORED = "the policy is stored: change it with policy.apply or PUT /ops/v1/policy"
const NO_CALLBACK = "onIncident takes a function, which it calls with each change"
const CALLBACK_FAILED = "a callback of onIncident failed; it is called again with the next change"

/** The time for calls and requests under way, and then for callbacks, once the monitor closes. */
const FINISH_WITHIN_MILLIS = 5_000

/**
 * Starts a monitor in this process, which it keeps alive until it is closed. Rejects with a
 * {@link TocsinError} of code `options`, `storage` or `pepper_changed`.
 *
 * @example
 * ```ts
 * import { createMonitor, slack, sqlite } from "tocsin"
 *
 * const monitor = await createMonitor({
 *   storage: sqlite("monitoring.db"),
 *   notifiers: [slack({ url: process.env.SLACK_URL ?? "" })],
 *   staleAfter: "1m",
 * })
 * ```
 */
export const createMonitor = async (options: MonitorOptions): Promise<Monitor> => {
  const read = readOptions(options)
  const { services, scope } = await start(read, logLayer(options.log))
  return assemble(read, services, scope)
}

/** A program with a monitor has no commands. */
const testAdvice = Layer.succeed(TestAdvice, (receiver) => `call monitor.notifiers.test("${receiver}")`)

/** The services of a monitor. Tests replace parts of the options. */
export const start = async (
  { tocsin, http, delivers, keepsHouse, stored, watchdog }: ReadOptions,
  log: Layer.Layer<never>,
): Promise<{ readonly services: Context.Context<MonitorServices>; readonly scope: Scope.Closeable }> => {
  const services =
    stored === undefined
      ? Tocsin.services(tocsin)
      : Layer.unwrap(
          Effect.map(ownPolicySource(stored), (policySource) => Tocsin.services({ ...tocsin, policySource })),
        ).pipe(Layer.provide(tocsin.ids ?? RandomIds.layer))
  const layer = Layer.mergeAll(
    HttpApp.layer(http),
    stored === undefined ? Layer.empty : policyFollower,
    following,
    delivers ? delivering : Layer.empty,
    keepsHouse ? Housekeeping.layer : Layer.empty,
    watchdog === undefined ? Layer.empty : Tocsin.watchdog(watchdog),
  ).pipe(
    Layer.provideMerge(services),
    Layer.provideMerge(Layer.sync(CurrentCallbacks, () => new ProgramCallbacks())),
    Layer.provideMerge(log),
    Layer.provide(testAdvice),
  )
  const scope = Scope.makeUnsafe()
  const built = await Effect.runPromiseExit(Layer.buildWithScope(layer, scope))
  if (Exit.isSuccess(built)) return { services: built.value, scope }
  await Effect.runPromise(Scope.close(scope, built))
  throw startError(built.cause)
}

const OTHER_PEPPER =
  "keyPepper is another than when this storage was first used, so that no agent key would be known; give the former one (or none, if there was none)"

const startError = (cause: Cause.Cause<TocsinError | StorageError | PepperChanged>): TocsinError =>
  causeToTocsinError(
    Cause.map(cause, (error) =>
      error instanceof PepperChanged ? new TocsinError("pepper_changed", OTHER_PEPPER) : error,
    ),
  )

/** The monitor on running services. */
export const assemble = (
  { http, stored, surroundings }: ReadOptions,
  services: Context.Context<MonitorServices>,
  scope: Scope.Closeable,
): Monitor => {
  const activity = new Activity()
  const calls = new Calls(services, activity)
  const feed = Context.get(services, IncidentFeed)
  const app = Context.get(services, HttpApp)
  const isClosed = () => calls.isClosed
  const news = Effect.map(feed.subscribe, ({ take }) => Effect.map(take, toIncidentNews))
  const subscribe = (signal?: AbortSignal) => new LiveChanges(news, signal)
  const callbacks = new IncidentCallbacks(subscribe, Context.get(services, CurrentCallbacks), (cause) =>
    Effect.runForkWith(services)(Effect.logError(CALLBACK_FAILED, cause)),
  )
  const close = once(callbacks.leave, async () => {
    // The last reports of agents are calls, too.
    const reported = agents.close()
    if (reported !== undefined) await reported
    calls.close()
    await Effect.runPromiseWith(services)(Effect.flatMap(Readiness, ({ drain }) => drain))
    await activity.idle(FINISH_WITHIN_MILLIS)
    calls.interrupt()
    // Callbacks still get the changes that were committed before.
    await Promise.all([
      Effect.runPromise(Scope.close(scope, Exit.void)),
      callbacks.finish(FINISH_WITHIN_MILLIS),
    ])
  })
  const ofApi = {
    ...agentCalls(
      calls,
      services,
      roleOf(Context.get(services, Hashing).sha256, {
        reader: http.readTokens ?? [],
        operator: http.operatorTokens,
      }),
    ),
    ...monitorCalls(calls, services),
  }
  const agents = new LocalAgents(ofApi, services)
  return {
    ...ofApi,
    agent: agents.open,
    setPolicy: (policy, options) =>
      calls.reply(
        stored === undefined
          ? replacePolicy({ policy, options }, surroundings, services, scope)
          : Effect.fail(new StateConflict({ message: STORED })),
      ),
    ...iterators(services, isClosed, subscribe),
    onIncident: (callback, ...further: ReadonlyArray<unknown>) => {
      const refusal = calls.isClosed ? closed() : refusalOf(further)
      if (refusal !== undefined) throw refusal
      if (typeof callback !== "function") throw new TocsinError("validation", NO_CALLBACK)
      return callbacks.add(callback)
    },
    fetch: fetchHandler({ web: app.web, isClosed, activity }),
    node: nodeListener({
      ...app,
      basePath: http.basePath,
      hasMetrics: http.metrics !== undefined,
      hasConsole: http.pages !== undefined,
      hasPage: Context.get(services, PublicPages).has,
      isClosed,
      activity,
    }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

const iterators = (
  services: Context.Context<MonitorServices>,
  isClosed: () => boolean,
  incidentChanges: (signal?: AbortSignal) => AsyncIterableIterator<IncidentNews, undefined>,
): Pick<Monitor, "changes" | "export" | "incidentChanges"> => ({
  changes: (...given: ReadonlyArray<unknown>) =>
    watch(given, isClosed(), (signal) => new LiveChanges(topicChanges(services), signal)),
  export: (span, ...given: ReadonlyArray<unknown>) =>
    watch(given, isClosed(), (signal) => new LiveChanges(exportLines(services, span), signal)),
  incidentChanges: (...given: ReadonlyArray<unknown>) => watch(given, isClosed(), incidentChanges),
})

const watch = <Change>(
  given: ReadonlyArray<unknown>,
  isClosed: boolean,
  open: (signal?: AbortSignal) => AsyncIterableIterator<Change, undefined>,
) => {
  const refusal = isClosed ? closed() : refusalOf(given, ["signal"])
  // By its type, it has this option alone.
  const [options] = given as [{ readonly signal?: AbortSignal }?]
  return refusal === undefined
    ? open(options?.signal)
    : new LiveChanges<Change>(Effect.succeed(Effect.fail(refusal)))
}

/** Runs once. A function of the program that calls it is not waited for. */
const once = (leave: () => void, run: () => Promise<void>): (() => Promise<void>) => {
  let running: Promise<void> | undefined
  return () => {
    leave()
    return (running ??= run())
  }
}
