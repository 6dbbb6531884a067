import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import type { Calls } from "./calls/Calls.ts"
import type { ClientOptions } from "./options/ClientOptions.ts"
import type { Client } from "./promises/Client.ts"
import { listing, run } from "./promises/run.ts"
import { TocsinClient } from "./TocsinClient.ts"

/** {@link ClientOptions}, and what sends. */
export interface PromiseClientOptions extends ClientOptions {
  /** Sends instead of the runtime's own fetch: for tests, proxies, agents of a runtime. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/**
 * Makes a client of the API, for browsers, Node and whatever else has `fetch`. It holds no connection of its own, so there is
 * nothing to close. Throws a `TocsinClientError` with code `options` for options that it cannot take; sends nothing yet.
 *
 * @example
 * ```ts
 * const client = createClient({ baseUrl: "https://monitoring.example", token })
 * for await (const incident of client.incidents.all({ state: "open" })) console.log(incident.summary)
 * ```
 *
 * @example An agent
 * ```ts
 * const client = createClient({ baseUrl: "https://monitoring.example", agentKey })
 * const { accepted } = await client.heartbeat({
 *   agent_id: "web-1",
 *   observed_at: new Date().toISOString(),
 *   hostname: "web-1.example",
 *   features: { push: true, metrics: false },
 * })
 * ```
 */
export const createClient = (options: PromiseClientOptions): Client => {
  const sending =
    options?.fetch === undefined
      ? FetchHttpClient.layer
      : Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, options.fetch))
  return asPromises(Effect.runSync(Effect.provide(TocsinClient.make(options), sending)))
}

const asPromises = (calls: Calls): Client => ({
  heartbeat: (request, options) => run(calls.heartbeat(request), options),
  events: (request, options) => run(calls.events(request), options),
  agents: {
    ...listing(calls.agents.list),
    get: (agentId, options) => run(calls.agents.get(agentId), options),
    accept: (agentId, options) => run(calls.agents.accept(agentId), options),
    block: (agentId, options) => run(calls.agents.block(agentId), options),
    remove: (agentId, options) => run(calls.agents.remove(agentId), options),
    acceptAll: (parameters, options) => run(calls.agents.acceptAll(parameters), options),
    blockAll: (options) => run(calls.agents.blockAll(), options),
    removeAll: (options) => run(calls.agents.removeAll(), options),
  },
  blacklist: {
    ...listing(calls.blacklist.list),
    remove: (id, options) => run(calls.blacklist.remove(id), options),
    removeAll: (options) => run(calls.blacklist.removeAll(), options),
  },
  checks: {
    ...listing(calls.checks.list),
    explain: (check, options) => run(calls.checks.explain(check), options),
    resetClock: (check, options) => run(calls.checks.resetClock(check), options),
    remove: (check, options) => run(calls.checks.remove(check), options),
  },
  history: listing(calls.history.list),
  incidents: {
    ...listing(calls.incidents.list),
    get: (id, options) => run(calls.incidents.get(id), options),
  },
  outbox: {
    ...listing(calls.outbox.list),
    replay: (id, options) => run(calls.outbox.replay(id), options),
  },
  notifiers: { test: (notifier, options) => run(calls.notifiers.test(notifier), options) },
  summary: (options) => run(calls.summary(), options),
  health: (options) => run(calls.health(), options),
  isReady: (options) => run(calls.isReady(), options),
})
