import type { Answer, RequestKind, Verdict } from "./Answer.ts"
import { nextDue } from "./Schedule.ts"

/** The server's latest answer about the key. */
export type Admission = "unknown" | "accepted" | "pending" | "blocked" | "conflict" | "unauthorized"

/** Where the agent is in talking to its servers. All times are steady milliseconds. */
export interface Submission {
  readonly admission: Admission
  /** Rounds through all servers that failed since the last answer. */
  readonly failures: number
  /** No request before this. */
  readonly notBefore: number
  readonly heartbeatDue: number
  readonly declarationDue: number
  /** Events in the next batch: halved while the server refuses one of them, or the link is too slow. */
  readonly batchLimit: number
  /** The server to ask, by its place in the configuration. */
  readonly server: number
  /** When to begin with the first server again. */
  readonly firstServerDue: number
}

const MAX_BATCH_EVENTS = 200
const HEARTBEAT_MILLIS = 60_000
/** Five batches a second while there is a backlog. */
const BETWEEN_BATCHES_MILLIS = 200
/**
 * A batch that took longer makes the next ones no larger, and smaller if it had no answer: a third of
 * the time that a transport allows, so that twice as many events fit.
 */
const SLOW_MILLIS = 5_000
const BLOCKED_MILLIS = 600_000
/** A server that was restored or upgraded may not know the schedule; an equal one changes nothing. */
const DECLARATION_MILLIS = 3_600_000
/** A program between may refuse declarations alone, which must not keep heartbeats back. */
const DECLARATION_RETRY_MILLIS = 60_000
/** After another answer to a declaration, the server does not know the schedule. */
const SETTLES_DECLARATION: ReadonlySet<Verdict> = new Set(["taken", "missing", "invalid"])
/** For a refusal that only a person can end. */
const LOUD_MILLIS = 300_000
const MILLIS_PER_SECOND = 1_000
/**
 * Within how many seconds each further retry is made. Few in the first minute, so that a fleet does
 * not double its steady rate when the server returns, and soon enough after a short outage.
 */
const WINDOWS = [1, 10, 40, 80, 160, 300]
/** Before the first answer a caller may wait for the agent to register. */
const FIRST_WINDOWS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]
const FIRST_SERVER_MILLIS = 300_000

const maySend = ({ admission }: Submission): boolean => admission === "accepted" || admission === "unknown"

export const initialSubmission = (now: number): Submission => ({
  admission: "unknown",
  failures: 0,
  notBefore: now,
  heartbeatDue: now,
  declarationDue: now,
  batchLimit: MAX_BATCH_EVENTS,
  server: 0,
  firstServerDue: now + FIRST_SERVER_MILLIS,
})

/** Without the pause between batches. What the server asked for, and a wait for a retry, remain. */
export const hurried = (state: Submission, now: number): Submission => ({
  ...state,
  notBefore:
    state.failures === 0 && maySend(state)
      ? Math.min(state.notBefore, Math.max(now, state.notBefore - BETWEEN_BATCHES_MILLIS))
      : state.notBefore,
})

export interface Waiting {
  /** When the waiting results should be sent; `undefined` without any. */
  readonly eventsDue: number | undefined
  /** Whether there is a schedule to declare. */
  readonly hasSchedule: boolean
}

/** The next step: a request now, or nothing before a time. */
export type NextStep =
  | { readonly kind: RequestKind; readonly server: number; readonly limit: number }
  | { readonly kind: "wait"; readonly until: number }

/** The next step. The first request is a heartbeat; then the schedule, then results. */
export const nextStep = (state: Submission, waiting: Waiting, now: number): NextStep => {
  const server = now >= state.firstServerDue ? 0 : state.server
  const request = (kind: RequestKind): NextStep => ({ kind, server, limit: state.batchLimit })
  const events = maySend(state) ? waiting.eventsDue : undefined
  const declaration = state.admission === "accepted" && waiting.hasSchedule ? state.declarationDue : undefined
  // Where only heartbeats fail, results must not wait for them.
  const isFirst = state.admission === "unknown" && state.failures === 0
  const dues = [state.heartbeatDue, events, declaration].filter((due) => due !== undefined)
  const until = Math.max(state.notBefore, Math.min(...dues))
  if (now < until) return { kind: "wait", until }
  if (isFirst && now >= state.heartbeatDue) return request("heartbeat")
  const isDeclarationDue = declaration !== undefined && now >= declaration
  // Routes compare the labels of a check from its first result on.
  if (isDeclarationDue && state.failures === 0) return request("declaration")
  if (events !== undefined && now >= events) return request("events")
  if (isDeclarationDue) return request("declaration")
  return request("heartbeat")
}

export type Deed = "remove" | "reject" | "keep"

interface Answered {
  readonly state: Submission
  readonly deed: Deed
}

interface Made {
  readonly kind: RequestKind
  readonly server: number
  /** Events in the batch; 0 in a heartbeat. */
  readonly events: number
  readonly now: number
  readonly tookMillis: number
}

/** Where there are several servers and one fails, the next is asked without a wait. */
interface Around {
  readonly servers: number
  /** From 0 to 1. */
  readonly random: () => number
}

/** How long an answer of each kind leaves the server alone; `retry` backs off with jitter. */
type Pause = "none" | "retry" | "loud" | "blocked" | "heartbeat"

/** By verdict: what it says about the key, and how long to wait. The deed of a batch is below. */
const MOVES: Readonly<Record<Verdict, { readonly admission?: Admission; readonly pause: Pause }>> = {
  taken: { admission: "accepted", pause: "none" },
  pending: { admission: "pending", pause: "heartbeat" },
  notAccepted: { admission: "pending", pause: "heartbeat" },
  blocked: { admission: "blocked", pause: "blocked" },
  conflict: { admission: "conflict", pause: "loud" },
  unauthorized: { admission: "unauthorized", pause: "loud" },
  throttled: { pause: "retry" },
  invalid: { pause: "none" },
  missing: { pause: "retry" },
  faulty: { pause: "retry" },
}

/** The state after an answer: a pure function of the table above and of the batch's size. */
export const afterAnswer = (before: Submission, made: Made, answer: Answer, around: Around): Answered => {
  const { state, deed } = answered(withServer(before, made), made, answer, around)
  return { state: { ...state, declarationDue: nextDeclaration(state, made, answer) }, deed }
}

const answered = (state: Submission, made: Made, answer: Answer, around: Around): Answered => {
  const { verdict } = answer
  if (verdict === "invalid" && made.kind === "events") return narrowed(state, made)
  // A later version of the server may not know how to declare; a batch that has no place is a wrong address.
  if (made.kind === "declaration" && (verdict === "missing" || verdict === "invalid")) {
    return { state: { ...state, failures: 0, notBefore: made.now }, deed: "keep" }
  }
  const move = MOVES[verdict]
  const admission = move.admission ?? state.admission
  if (move.pause === "retry") return { state: retried(state, made, answer, around), deed: "keep" }
  const pause = verdict === "invalid" ? "loud" : move.pause
  const isTaken = verdict === "taken"
  const next: Submission = {
    ...state,
    admission,
    failures: 0,
    ...duesAfter({ ...state, admission }, made, pause),
    ...(isTaken && made.tookMillis <= SLOW_MILLIS && widened(state, made)),
  }
  return { state: next, deed: isTaken && made.kind === "events" ? "remove" : "keep" }
}

const nextDeclaration = (
  { admission, declarationDue }: Submission,
  made: Made,
  { keepsLabels = false, verdict }: Answer,
): number => {
  // A server that no longer accepts the key has forgotten the schedule with the agent.
  if (admission !== "accepted") return made.now
  if (made.kind !== "declaration") return declarationDue
  const isSettled = SETTLES_DECLARATION.has(verdict) && !keepsLabels
  return made.now + (isSettled ? DECLARATION_MILLIS : DECLARATION_RETRY_MILLIS)
}

const withServer = (state: Submission, { server, now }: Made): Submission =>
  now >= state.firstServerDue
    ? { ...state, server, firstServerDue: now + FIRST_SERVER_MILLIS }
    : { ...state, server }

/** A heartbeat keeps its phase: after an outage a fleet must not send them all together. */
const nextHeartbeat = (due: number, now: number): number => nextDue(due, HEARTBEAT_MILLIS, now)

const duesAfter = (
  state: Submission,
  { kind, now }: Made,
  pause: Exclude<Pause, "retry">,
): Pick<Submission, "notBefore" | "heartbeatDue"> => {
  if (pause === "blocked") return { notBefore: now + BLOCKED_MILLIS, heartbeatDue: now + BLOCKED_MILLIS }
  if (pause === "loud") {
    // A heartbeat that the server cannot read must not keep results back.
    return kind === "heartbeat" && maySend(state)
      ? { notBefore: now, heartbeatDue: now + LOUD_MILLIS }
      : { notBefore: now + LOUD_MILLIS, heartbeatDue: now + LOUD_MILLIS }
  }
  // A batch that ends an outage is a sign of life, so the missed heartbeats need not follow it.
  const isEndOfOutage = pause === "none" && state.failures > 0
  const heartbeatDue =
    kind === "heartbeat" || isEndOfOutage ? nextHeartbeat(state.heartbeatDue, now) : state.heartbeatDue
  return { notBefore: kind === "events" ? now + BETWEEN_BATCHES_MILLIS : now, heartbeatDue }
}

/** A batch that was not full says nothing about larger ones. */
const widened = ({ batchLimit }: Submission, { events }: Made): Pick<Submission, "batchLimit"> => ({
  batchLimit: Math.max(batchLimit, Math.min(MAX_BATCH_EVENTS, events * 2)),
})

/** Halves the batch until the refused event is alone. */
const narrowed = (before: Submission, { events, now }: Made): Answered => {
  const state = { ...before, failures: 0, notBefore: now + BETWEEN_BATCHES_MILLIS }
  if (events <= 1) return { state, deed: "reject" }
  return { state: { ...state, batchLimit: Math.ceil(events / 2) }, deed: "keep" }
}

/** The same batch would not pass a slow link the next time either. */
const shortened = (state: Submission, { events, tookMillis }: Made): Submission =>
  events > 0 && tookMillis > SLOW_MILLIS ? { ...state, batchLimit: Math.ceil(events / 2) } : state

const retried = (before: Submission, made: Made, answer: Answer, around: Around): Submission => {
  const { kind, now } = made
  const state = answer.verdict === "faulty" ? shortened(before, made) : before
  const server = (state.server + 1) % around.servers
  if (server !== 0 && answer.verdict === "faulty") return { ...state, server, notBefore: now }
  const isFirst = state.admission === "unknown"
  const windows = isFirst ? FIRST_WINDOWS : WINDOWS
  const window = (windows[Math.min(state.failures, windows.length - 1)] ?? 1) * MILLIS_PER_SECOND
  const wait = Math.max(window * around.random(), answer.retryAfterMillis ?? 0)
  const notBefore = now + wait
  // A heartbeat is sent where nothing waits: after one retry, the next is due as ever.
  const isLeft = kind === "heartbeat" && !isFirst && state.failures > 0
  const heartbeatDue = isLeft ? nextHeartbeat(state.heartbeatDue, now) : state.heartbeatDue
  return { ...state, server, failures: state.failures + 1, notBefore, heartbeatDue }
}

/** Logged when nothing is refused any more. */
export const ACCEPTS = "the server accepts what is sent"

/** The line that the log gets for an answer, with what a person can do about it. */
export const explainAnswer = (
  kind: RequestKind,
  { verdict, message }: Answer,
  { admission }: Submission,
  fingerprint: () => string,
): string => {
  // An older server may not know schedules.
  if (verdict === "taken" || (verdict === "missing" && kind === "declaration")) return ACCEPTS
  if (verdict === "pending" || verdict === "notAccepted") {
    return `the server has not accepted this agent's key yet: compare the fingerprint ${fingerprint()} and accept it`
  }
  if (admission === "blocked") return `the server has blocked this agent's key ${fingerprint()}: ${message}`
  if (verdict === "conflict") {
    return `another key has this agent's ID, or this key another ID: ${message}; this key is ${fingerprint()}`
  }
  if (verdict === "unauthorized") return `the server does not take this agent's key: ${message}`
  if (verdict === "missing") return `results wait: the path in the address of the server is wrong: ${message}`
  return `${kind === "declaration" ? "the schedule of the checks waits" : "results wait"}: ${message}`
}
