import type { DurationOption } from "@tocsin/contract/formats/durationMillis"
import type { Admission } from "../agent/Submission.ts"
import type { CheckStatus } from "../agent/CheckReport.ts"

/** Further fields of a report. */
export interface ReportOptions {
  /** Groups checks of several agents into one incident. */
  readonly incidentKey?: string | undefined
  /** `false` keeps incidents and sends no notifications. */
  readonly notificationsEnabled?: boolean | undefined
  /** How long the check took. 0 unless given. */
  readonly durationMillis?: number | undefined
}

/** How a check runs. */
export interface CheckOptions extends Omit<ReportOptions, "durationMillis"> {
  /** How often it runs, at least 1 s. The server expects a result as often. */
  readonly every: DurationOption
  /** When a run ends as `unknown`. 30 s unless given. */
  readonly timeout?: DurationOption | undefined
  /** Up to 32 labels, which matchers of policies and silences compare before those of the agent. */
  readonly labels?: Readonly<Record<string, string>> | undefined
}

/** A check's finding: `ok` with a text, or an explicit status. */
export type Finding = string | void | { readonly status: CheckStatus; readonly text?: string }

/** Looks at something. What it throws is `critical`. The signal aborts at the time limit. */
export type CheckFunction = (signal: AbortSignal) => Finding | Promise<Finding>

/** How an agent is. */
export interface ProgramAgentState {
  /** The server's latest answer about the key. */
  readonly admission: Admission
  /** Reports that wait, and those in the request under way. */
  readonly queued: number
  readonly inFlight: number
  readonly delivered: number
  /** Refused by the server for good. */
  readonly rejected: number
  /** Lost: more than 1,000 waited, or the agent closed before the server took them. */
  readonly dropped: number
}

/**
 * An agent inside a program. It sends a heartbeat a minute, keeps up to 1,000 reports in memory while
 * the server is unreachable, and sends them in order, once. It keeps the process alive until it is
 * closed.
 */
export interface ProgramAgent extends AsyncDisposable {
  readonly agentId: string
  /**
   * Reports a result of a check. It returns immediately, and never fails because of the server.
   * Throws where the server would refuse the report. After `close`, it counts as dropped.
   *
   * @example
   * ```ts
   * shop.report("orders", "critical", "no order for an hour")
   * ```
   */
  readonly report: (checkId: string, status: CheckStatus, text?: string, options?: ReportOptions) => void
  /**
   * Runs a check now and then as often as `every` says, and reports what it finds. A run that has
   * not ended is not started again. The server notices when the check stops. Returns a function
   * that ends it.
   *
   * @example
   * ```ts
   * shop.check("orders", { every: "1m" }, async () => {
   *   const { waiting } = await countOrders()
   *   return { status: waiting > 100 ? "warning" : "ok", text: `${waiting} orders wait` }
   * })
   * ```
   */
  readonly check: (checkId: string, options: CheckOptions, run: CheckFunction) => () => void
  /** How the agent is, and what became of its reports. */
  readonly state: () => ProgramAgentState
  /**
   * Ends the checks, asks once more whether the agent was accepted if it was not, and sends what waits, for up to
   * 5 s. What the server has not taken by then is
   * lost and counted as dropped. Safe to call more than once. Resolves with the counts of all reports
   * since the agent was made.
   */
  readonly close: () => Promise<Pick<ProgramAgentState, "delivered" | "dropped">>
}
