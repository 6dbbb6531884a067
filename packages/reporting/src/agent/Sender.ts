import type { HeartbeatRequest } from "@tocsin/contract/v1/Requests"
import { type ExpectedCheckText, Schedule } from "./Schedule.ts"
import { type Clock, clockOffset, correctedNow, markOf, type TimeMark } from "./ServerTime.ts"
import type { OutgoingResult, ResultQueue } from "./ResultQueue.ts"
import {
  ACCEPTS,
  type Admission,
  afterAnswer,
  type Deed,
  explainAnswer,
  hurried,
  initialSubmission,
  nextStep,
  type Submission,
  type Waiting,
} from "./Submission.ts"
import { type Answer, judge, noAnswer, type RequestKind, type Transport, type Verdict } from "./Answer.ts"

/** The content of heartbeats and declarations: it follows the configuration. */
export interface Statements {
  readonly agentId: string
  readonly servers: ReadonlyArray<string>
  readonly heartbeat: Omit<typeof HeartbeatRequest.Encoded, "agent_id" | "observed_at">
  /** The checks that the server expects; none where their declaration is left to others. */
  readonly expected: ReadonlyArray<ExpectedCheckText> | undefined
  /** Whether they are all checks of the agent. */
  readonly isList?: boolean
}

/** The agent's key, and the one that replaces it once the server has accepted it. */
export interface Keys {
  readonly current: () => string
  readonly next: () => string | undefined
  readonly promote: () => void
  /** Forgets a replacement that an operator blocked. */
  readonly discard: (next: string) => void
  readonly fingerprintOf: (key: string) => string
}

export interface SenderOptions<Result extends OutgoingResult = OutgoingResult> {
  readonly queue: ResultQueue<Result>
  readonly keys: Keys
  readonly transport: Transport
  readonly clock: Clock
  /** Identifies this process, so that the server notices two agents with one key; each start has another. */
  readonly process?: string | undefined
  /** Identifies the boot of this host: a mark of another one says nothing. */
  readonly boot: string
  /** The server's time mark from before this start. */
  readonly mark?: TimeMark | undefined
  /** From 0 to 1. */
  readonly random: () => number
  readonly log: (message: string) => void
}

const MAX_BATCH_BYTES = 900 * 1_024
/** A repeat can wait for others; a change cannot. */
const REPEATS_GATHER_MILLIS = 10_000
/** Results that could not be read are asked for again after this time. */
const UNREADABLE_MILLIS = 1_000
/**
 * The server's answers about the former key while a replacement can be registered or accepted. One
 * that is pending itself goes first: the server takes one new key of an agent, whose fingerprint
 * operators compare.
 */
const ASKS_FOR_NEXT: ReadonlySet<Verdict> = new Set(["taken", "conflict", "blocked"])
const REFUSALS: ReadonlySet<Verdict> = new Set(["conflict", "unauthorized", "invalid", "blocked"])

/** Sends what the queue holds, one request at a time, and a heartbeat a minute. */
export class Sender<Result extends OutgoingResult = OutgoingResult> {
  readonly #options: SenderOptions<Result>
  #statements: Statements
  #state: Submission
  #mark: TimeMark | undefined
  #repeatsSince: number | undefined
  #unreadableUntil = 0
  /** The last line that was logged about each: the server may refuse one of them alone. */
  readonly #lastSaid = { results: "", schedule: ACCEPTS }
  #schedule: Schedule
  /** The last line that was logged about the replacement key. */
  #saidOfKey = ""

  constructor(options: SenderOptions<Result>, statements: Statements) {
    this.#options = options
    this.#statements = statements
    this.#schedule = new Schedule(statements.expected ?? [], statements.isList)
    this.#state = initialSubmission(options.clock.steady())
    this.#mark = options.mark
  }

  /** The server's last word about its time. */
  get mark(): TimeMark | undefined {
    return this.#mark
  }

  /** The time that results state. */
  now(): number {
    return correctedNow(this.#mark, this.#options.clock)
  }

  /** How far the wall clock is ahead of the server's, in milliseconds. */
  get offset(): number | undefined {
    return clockOffset(this.#mark, this.#options.clock)
  }

  /** The server's latest answer about the key. */
  get admission(): Admission {
    return this.#state.admission
  }

  /** Drops the pause after the last batch, but none that the server asked for. */
  hurry(): void {
    this.#state = hurried(this.#state, this.#options.clock.steady())
  }

  /** Takes another configuration: the schedule is declared again. */
  restate(statements: Statements): void {
    this.#statements = statements
    this.#schedule = new Schedule(statements.expected ?? [], statements.isList)
    const now = this.#options.clock.steady()
    // An operator who corrects an address does not wait for the next retry.
    const dues = { notBefore: now, heartbeatDue: now, declarationDue: now }
    this.#state = { ...this.#state, server: 0, failures: 0, ...dues }
  }

  /** Makes the next request if one is due. Returns when to call again, in steady milliseconds. */
  async step(): Promise<number> {
    const { clock } = this.#options
    const step = nextStep(this.#state, this.#waiting(), clock.steady())
    if (step.kind === "wait") return step.until
    const server = Math.min(step.server, this.#statements.servers.length - 1)
    const batch = step.kind === "events" ? this.#options.queue.take(step.limit, MAX_BATCH_BYTES) : []
    if (step.kind === "events" && batch.length === 0) {
      this.#repeatsSince = undefined
      // Meanwhile heartbeats go on.
      this.#unreadableUntil = clock.steady() + UNREADABLE_MILLIS
      return clock.steady()
    }
    const schedule = this.#schedule
    const begun = clock.steady()
    const answer = await this.#request(step.kind, server, batch)
    const now = clock.steady()
    const made = { kind: step.kind, server, events: batch.length, now, tookMillis: now - begun }
    const around = { servers: this.#statements.servers.length, random: this.#options.random }
    const { state, deed } = afterAnswer(this.#state, made, answer, around)
    const isNarrowed = step.kind === "declaration" && schedule.learn(answer)
    if (schedule !== this.#schedule) {
      // It was restated meanwhile: the answer says nothing about the servers that it has now.
      this.#state = { ...this.#state, admission: state.admission, batchLimit: state.batchLimit }
    } else {
      if (!isNarrowed || schedule.refused(answer) !== "") this.#report(step.kind, answer, state)
      this.#state = isNarrowed ? { ...state, declarationDue: made.now } : state
    }
    this.#carryOut(answer, batch, deed)
    return clock.steady()
  }

  #waiting(): Waiting {
    const now = this.#options.clock.steady()
    const { queue } = this.#options
    const isBacklog = queue.size() > 0
    if (!isBacklog) this.#repeatsSince = undefined
    else this.#repeatsSince ??= now
    const isUrgent = isBacklog && (this.#state.failures > 0 || queue.hasChange())
    const gathered = this.#repeatsSince === undefined ? undefined : this.#repeatsSince + REPEATS_GATHER_MILLIS
    const eventsDue = isUrgent ? now : gathered
    return {
      eventsDue: eventsDue === undefined ? undefined : Math.max(eventsDue, this.#unreadableUntil),
      hasSchedule: this.#statements.expected !== undefined,
    }
  }

  #carryOut(answer: Answer, batch: ReadonlyArray<Result>, deed: Deed): void {
    const { queue } = this.#options
    if (deed === "remove") {
      queue.acknowledge(batch)
      // More may wait: then it has waited long enough.
      if (queue.size() === 0) this.#repeatsSince = undefined
    }
    const [refused] = batch
    if (deed === "reject" && refused !== undefined) {
      this.#options.log(`the server refuses a result of ${refused.checkId} for good: ${answer.message}`)
      queue.reject(refused, answer.message)
    }
    if (deed === "keep") queue.putBack(batch)
  }

  /** Sends a heartbeat with the replacement key too while a rotation waits. A fault of its file stops no heartbeat. */
  async #request(kind: RequestKind, server: number, batch: ReadonlyArray<OutgoingResult>): Promise<Answer> {
    const { keys } = this.#options
    const answer = await this.#send(kind, server, keys.current(), batch)
    if (kind !== "heartbeat" || !ASKS_FOR_NEXT.has(answer.verdict)) return answer
    let replaced: Answer | undefined
    try {
      const next = keys.next()
      if (next === undefined) return answer
      replaced = await this.#send(kind, server, next, batch)
      const { verdict, message } = replaced
      const named = `the new key ${keys.fingerprintOf(next)}`
      if (verdict === "blocked") keys.discard(next)
      if (verdict === "taken") keys.promote()
      if (verdict === "taken") this.#sayOfKey(`the server accepted ${named}; it replaces the former one`)
      else if (!REFUSALS.has(verdict)) this.#sayOfKey("")
      else this.#sayOfKey(`the former key stays in use: the server refuses ${named}: ${message}`)
    } catch (error) {
      const used = replaced?.verdict === "taken" ? "new key is" : "former key stays"
      this.#sayOfKey(`the ${used} in use: ${error instanceof Error ? error.message : String(error)}`)
    }
    return replaced?.verdict === "taken" ? replaced : answer
  }

  #hasReplacement(): boolean {
    try {
      return this.#options.keys.next() !== undefined
    } catch {
      // The heartbeat says what is wrong with its file.
      return false
    }
  }

  #sayOfKey(said: string): void {
    if (said !== "" && said !== this.#saidOfKey) this.#options.log(said)
    this.#saidOfKey = said
  }

  async #send(
    kind: RequestKind,
    server: number,
    key: string,
    batch: ReadonlyArray<OutgoingResult>,
  ): Promise<Answer> {
    const { transport, clock, process } = this.#options
    const { agentId, servers } = this.#statements
    const base = servers[server] ?? ""
    const begun = clock.sinceBoot()
    try {
      const answer = await transport.send({
        kind,
        server: base,
        agentId,
        key,
        body: this.#bodyOf(kind, batch),
        ...(kind === "heartbeat" && { process }),
      })
      const judged = judge(answer, kind, clock.wall())
      this.#learnTime(judged.date, begun)
      return judged
    } catch (error) {
      return noAnswer(
        `no answer from ${base}: ${error instanceof Error ? error.message || error.name : String(error)}`,
      )
    }
  }

  #bodyOf(kind: RequestKind, batch: ReadonlyArray<OutgoingResult>): string {
    const { agentId, heartbeat } = this.#statements
    if (kind === "declaration") return this.#schedule.declaration(this.now())
    if (kind === "events") {
      return `{"agent_id":${JSON.stringify(agentId)},"events":[${batch.map(({ body }) => body).join(",")}]}`
    }
    return JSON.stringify({
      agent_id: agentId,
      observed_at: new Date(this.now()).toISOString(),
      ...heartbeat,
    })
  }

  #learnTime(date: string | undefined, begun: number): void {
    if (date === undefined) return
    const { clock, boot, queue } = this.#options
    const sinceBoot = clock.sinceBoot()
    const mark = markOf(date, { sinceBoot, tookMillis: sinceBoot - begun, boot })
    if (mark === undefined) return
    this.#mark = mark
    queue.setNote("time_mark", JSON.stringify(mark))
  }

  /** Logs what changed, and every refusal that needs a person. */
  #report(kind: RequestKind, answer: Answer, next: Submission): void {
    const { queue, log, keys } = this.#options
    queue.setNote("admission", next.admission)
    queue.setNote("last_answer", JSON.stringify({ at: new Date(this.now()).toISOString(), kind, ...answer }))
    const refused = this.#schedule.refused(answer)
    if (kind === "declaration") queue.setNote("declaration_refused", refused)
    // An operator has accepted the replacement: the next heartbeat takes it, and says so.
    if (answer.verdict === "notAccepted" && this.#hasReplacement()) return
    const said =
      kind === "declaration" && refused !== ""
        ? `the server refuses the schedule of the checks: ${refused}`
        : explainAnswer(kind, answer, next, () => keys.fingerprintOf(keys.current()))
    const subject = kind === "declaration" ? "schedule" : "results"
    const isKnown = said === this.#lastSaid[subject]
    if (isKnown && answer.verdict !== "conflict" && answer.verdict !== "unauthorized") return
    this.#lastSaid[subject] = said
    log(said)
  }
}
