import type { AdmissionCalls } from "./api/AdmissionCalls.ts"
import type { AgentCalls } from "./api/AgentCalls.ts"
import type { OperationCalls } from "./api/OperationCalls.ts"
import type {
  CheckListParameters,
  HistoryParameters,
  IncidentListParameters,
  OutboxListParameters,
  Unpaged,
} from "@tocsin/client/Parameters"
import type { QueryCalls } from "./api/QueryCalls.ts"
import type {
  CheckState,
  Incident,
  NotificationOutboxItem,
  StoredCheckResultEvent,
} from "@tocsin/client/Resources"
import type { NodeListener } from "./http/nodeListener.ts"
import type { IncidentNews } from "./incidents/IncidentNews.ts"

type All<Item> = AsyncGenerator<Item, void, undefined>

/**
 * A running monitor. Every method checks its input as the HTTP API does, with the same words, and gives plain data: see
 * `Reply` for how it fails. Lists come as pages, or whole with `all`: `for await (const agent of monitor.agents.all())`.
 */
export interface Monitor extends AgentCalls, AdmissionCalls, AsyncDisposable {
  /** The present states of checks. */
  readonly checks: {
    /** One page, by agent_id and check_id. */
    readonly list: QueryCalls["checks"]
    readonly all: (parameters?: Unpaged<CheckListParameters>) => All<CheckState>
    /** Why a check is in the state it is in. */
    readonly explain: OperationCalls["explain"]
    /** Releases a check that an agent's clock in the future froze. */
    readonly resetClock: OperationCalls["resetClock"]
    /** Deletes a check that its agent no longer runs, with its history; it leaves its incident. */
    readonly remove: OperationCalls["removeCheck"]
  }
  /** Results that changed their check. */
  readonly history: {
    /** One page, newest first. */
    readonly list: QueryCalls["history"]
    readonly all: (parameters?: Unpaged<HistoryParameters>) => All<StoredCheckResultEvent>
  }
  readonly incidents: {
    /** One page; open first, worst first, newest first, unless asked for otherwise. */
    readonly list: QueryCalls["incidents"]
    readonly all: (parameters?: Unpaged<IncidentListParameters>) => All<Incident>
    /** One incident with its members, its story and its notifications. */
    readonly get: OperationCalls["incident"]
  }
  /** Notifications, on their way and done. */
  readonly outbox: {
    /** One page; latest changed first unless asked for otherwise. */
    readonly list: QueryCalls["outbox"]
    readonly all: (parameters?: Unpaged<OutboxListParameters>) => All<NotificationOutboxItem>
    /** Gives a failed notification another life, under the same id. */
    readonly replay: OperationCalls["replay"]
  }
  readonly notifiers: {
    /** Sends a test message now through the notifier of this name, and tells what its receiver said. */
    readonly test: OperationCalls["testNotifier"]
  }
  /** Counts of agents, checks and open incidents; cheap to poll. */
  readonly summary: QueryCalls["summary"]

  /**
   * Calls back with each change of an incident that this process commits, one after another: a promise that the callback
   * returns is awaited first, and what it throws is logged. Returns what ends it. Throws with code `closed` after `close`.
   *
   * A live view, as `incidentChanges` is: nothing from before, nothing that other processes on the same storage commit, at
   * most once each; and where the callback is more than 1,000 changes behind, the oldest are dropped and counted in
   * `missed`. For what must not be missed use a notifier, which the outbox serves at least once.
   */
  readonly onIncident: (callback: (change: IncidentNews) => unknown) => () => void
  /**
   * The same as an iterator, which subscribes immediately and ends by `break`, by its signal or when the monitor closes.
   * After `close` its first `next` rejects with code `closed`.
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
   * The HTTP API (`/api/v1`, `/ops/v1`, `/openapi.json`, `/docs`) as a web-standard handler, for Hono, Next.js routes, Deno or Bun.
   * Where the path that it gets has a prefix, set `basePath`. Limits on slow clients are the host's.
   */
  readonly fetch: (request: Request) => Promise<Response>
  /**
   * The same for node:http, Express (`app.use(monitor.node)`, `app.use("/monitoring", monitor.node)`) and what else has
   * Node's request and response. With Express's `next`, paths that are not Tocsin's are passed on. A body that
   * `express.json()` has parsed is taken from `request.body`; its limit (100 kB by default) then counts instead of ours, so
   * mount the monitor first where batches are large. Limits on slow clients are the host's.
   */
  readonly node: NodeListener

  /**
   * Stops: nothing new is taken, calls and requests under way have 5 s to end, notifications being sent 4 s more (what is
   * not finished then is sent again by the next process), callbacks of `onIncident` 5 s, and the storage is closed. No
   * callback is called afterwards. Safe to call more than once.
   */
  readonly close: () => Promise<void>
}
