import type { ExportLine, ExportSpan, TopicsChanged } from "@tocsin/client/Resources"
import type { ProgramAgent } from "@tocsin/reporting/program/ProgramAgent"
import type { AgentCalls } from "./api/AgentCalls.ts"
import type { LocalAgentOptions } from "./api/LocalAgents.ts"
import type { MonitorCalls } from "./api/monitorCalls.ts"
import type { By, Reply } from "./api/Calls.ts"
import type { PolicyOption } from "./policy/givenPolicy.ts"
import type { AnyCallCode } from "./TocsinError.ts"
import type { NodeListener } from "./http/HttpApp.ts"
import type { IncidentNews } from "./live/IncidentFeed.ts"

/**
 * A running monitor. Every method validates its input as the HTTP API does and returns plain data; `Reply`
 * says how it fails. Lists come as pages, or whole with `all`: `for await (const agent of
 * monitor.agents.all())`.
 */
export interface Monitor extends AgentCalls, MonitorCalls, AsyncDisposable {
  /**
   * Calls back with each incident change that this process commits, one after another, and awaits its
   * promise; what a callback throws is logged. Returns a function that ends it. Throws with code `closed`
   * after `close`.
   *
   * A live view: each change at most once, none from before the call, none of other processes on the
   * storage. For a callback more than 1,000 changes behind, the oldest are dropped and counted in `missed`.
   * A notifier misses none: the outbox delivers at least once.
   */
  readonly onIncident: (callback: (change: IncidentNews) => unknown) => () => void
  /**
   * The same as an iterator. It subscribes immediately, and ends by `break`, by its signal or when the
   * monitor closes. After `close` its first `next` rejects with code `closed`.
   *
   * @example
   * ```ts
   * for await (const { type, incident } of monitor.incidentChanges({ signal })) show(type, incident)
   * ```
   */
  readonly incidentChanges: (options?: {
    readonly signal?: AbortSignal | undefined
  }) => AsyncIterableIterator<IncidentNews, undefined>
  /**
   * Yields the names of topics to fetch again, without data: first all, then those that have changed, by any
   * process on the storage. It ends as the iterator of incident changes does. Beyond 100 of these and of the
   * API's streams its first `next` rejects with `rate_limited`.
   *
   * @example
   * ```ts
   * for await (const { topics } of monitor.changes({ signal }))
   *   if (topics.includes("incidents")) show(await monitor.incidents.list({ state: "open" }))
   * ```
   */
  readonly changes: (options?: {
    readonly signal?: AbortSignal | undefined
  }) => AsyncIterableIterator<TopicsChanged, undefined>
  /**
   * Rows of the storage for other systems, with a cursor after each 1,000 and at the end; each piece is read as it is
   * taken. The first `next` of a third at a time rejects with `rate_limited`.
   *
   * @example
   * ```ts
   * for await (const line of monitor.export({ kind: "history", from: "2027-01-01T00:00:00Z", to: "2027-02-01T00:00:00Z" }))
   *   if (!("cursor" in line)) console.log(line)
   * ```
   */
  readonly export: (
    span: ExportSpan,
    options?: { readonly signal?: AbortSignal | undefined },
  ) => AsyncIterableIterator<ExportLine, undefined>

  /**
   * The HTTP API (`/api/v1`, `/ops/v1`, `/openapi.json`, `/docs`) as a web-standard handler, for Hono,
   * Next.js routes, Deno or Bun. If its paths have a prefix, set `basePath`. The host limits slow clients.
   */
  readonly fetch: (request: Request) => Promise<Response>
  /**
   * The same for node:http, Express (`app.use("/monitoring", monitor.node)`) and Fastify. With Express's
   * `next`, paths that are not Tocsin's are passed on. A body that `express.json()` has parsed is taken from
   * `request.body`, within its limit (100 kB): for large batches, mount the monitor first. The host limits
   * slow clients.
   */
  readonly node: NodeListener

  /**
   * Puts another policy in force, as `createMonitor` takes it. Rejects with `validation` and every problem
   * by its path, secrets that no process of this storage can read included, and with `conflict` where a
   * receiver would get more than 100 firings immediately; the policy in force then stays. `confirm` permits
   * both: receivers without their secrets are then unavailable, and what is for them waits.
   *
   * @example
   * ```ts
   * await monitor.setPolicy({ routes: [{ match: ["severity = critical"], to: ["pager"] }] })
   * ```
   */
  readonly setPolicy: (
    policy: PolicyOption,
    options?: By & { readonly confirm?: boolean | undefined },
  ) => Reply<void, AnyCallCode | "validation" | "conflict">

  /**
   * An agent of this process, registered and accepted. It sends its heartbeats, reports and runs checks;
   * Tocsin notices when the process stops. Rejects with `conflict` where another agent waits to be accepted
   * under this ID.
   *
   * @example
   * ```ts
   * const shop = await monitor.agent("shop")
   * shop.check("orders", { every: "1m" }, async () => `${await countOrders()} orders`)
   * shop.report("deploy", "ok", "version 7")
   * ```
   */
  readonly agent: (agentId: string, options?: LocalAgentOptions) => Promise<ProgramAgent>

  /**
   * Stops: refuses new calls, waits up to 5 s for those under way, up to 4 s more for notifications being
   * sent (the next process sends unfinished ones again) and up to 5 s for callbacks of `onIncident`, and
   * closes the storage. It does not wait for a callback or a notifier that calls it. Safe to call more than once.
   */
  readonly close: () => Promise<void>
}
