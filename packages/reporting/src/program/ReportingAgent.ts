import type { HeartbeatRequest } from "@tocsin/contract/v1/Requests"
import { EXIT_CODES } from "@tocsin/contract/checks/exitCodes"
import { isCheckId, isIncidentKey } from "@tocsin/contract/formats/Identifiers"
import { givenExpected, givenMillis } from "@tocsin/contract/formats/durationMillis"
import { isLabels } from "@tocsin/contract/labels/Labels"
import { unknownOptions } from "@tocsin/contract/formats/nearestName"
import { acceptedPeriod, type ExpectedCheckText, nextDue } from "../agent/Schedule.ts"
import { type Keys, Sender, type Statements } from "../agent/Sender.ts"
import type { CheckReport, CheckStatus } from "../agent/CheckReport.ts"
import type {
  ProgramAgent,
  ProgramAgentState,
  CheckFunction,
  CheckOptions,
  Finding,
  ReportOptions,
} from "./ProgramAgent.ts"
import { MemoryQueue } from "./MemoryQueue.ts"
import { type Platform, within } from "./Platform.ts"

export interface Identity {
  readonly agentId: string
  /** In the order in which to try them. */
  readonly servers: ReadonlyArray<string>
  readonly key: string
  readonly fingerprint: Promise<string>
  readonly heartbeat: Omit<typeof HeartbeatRequest.Encoded, "agent_id" | "observed_at">
}

const EVERY = { min: 1_000 }
const DEFAULT_TIMEOUT_MILLIS = 30_000
const CLOSE_MILLIS = 5_000
const AFTER_DEFECT_MILLIS = 1_000

type Outcome = Pick<CheckReport, "status" | "exitCode" | "output">

const outcomeOf = (status: CheckStatus, output: string): Outcome => ({
  status,
  exitCode: EXIT_CODES[status],
  output,
})

const found = (finding: Finding): Outcome => {
  if (typeof finding !== "object" || finding === null)
    return outcomeOf("ok", typeof finding === "string" ? finding : "")
  const { status, text = "" } = finding
  if (Object.hasOwn(EXIT_CODES, status)) return outcomeOf(status, String(text))
  const allowed = "return ok, warning, critical or unknown"
  return outcomeOf("unknown", `the check returned the status ${String(status)}; ${allowed}`)
}

const failed = (error: unknown): Outcome =>
  outcomeOf("critical", error instanceof Error ? error.message || error.name : String(error))

const TIMED_OUT = 124

const timedOut = (output: string): Outcome => ({ ...outcomeOf("unknown", output), exitCode: TIMED_OUT })

const seconds = (millis: number): string => `${Math.round(millis / 100) / 10} s`

interface ProgramCheck {
  readonly everyMillis: number
  readonly timeoutMillis: number
  readonly run: CheckFunction
  readonly report: (outcome: Outcome & Pick<CheckReport, "durationMillis">) => void
}

/** Runs a check now, and at each deadline until the signal ends it. */
export const runCheck = async (
  { everyMillis, timeoutMillis, run, report }: ProgramCheck,
  { clock, sleep }: Pick<Platform, "clock" | "sleep">,
  ending: AbortSignal,
): Promise<void> => {
  let runningSince: number | undefined
  const runOnce = async (): Promise<void> => {
    const since = clock.steady()
    runningSince = since
    const limit = new AbortController()
    const signal = AbortSignal.any([ending, limit.signal])
    const outcome = (async () => found(await run(signal)))()
      .catch(failed)
      .finally(() => (runningSince = undefined))
    const waiting = new AbortController()
    const late = sleep(timeoutMillis, AbortSignal.any([ending, waiting.signal])).then(() => undefined)
    const first = await Promise.race([outcome, late])
    waiting.abort()
    if (ending.aborted) return
    const words = `timed out after ${seconds(timeoutMillis)}`
    if (first === undefined) limit.abort(new Error(words))
    report({ ...(first ?? timedOut(words)), durationMillis: clock.steady() - since })
  }
  for (let due = clock.steady(); !ending.aborted;) {
    if (runningSince === undefined) await runOnce()
    // Without this the check would look as if it had not been due.
    else {
      const durationMillis = clock.steady() - runningSince
      report({ ...timedOut(`still running after ${seconds(durationMillis)}`), durationMillis })
    }
    due = nextDue(due, everyMillis, clock.steady())
    await sleep(due - clock.steady(), ending)
  }
}

/** {@link ProgramAgent} over any transport: the reports wait in memory, and the daemon's sender sends them. */
export class ReportingAgent implements ProgramAgent {
  readonly agentId: string
  readonly #identity: Identity
  readonly #surroundings: Platform
  readonly #refuse: (message: string) => Error
  readonly #queue = new MemoryQueue()
  readonly #ending = new AbortController()
  /** The declarations of the checks that run. */
  readonly #checks = new Map<string, ExpectedCheckText>()
  #isDeclaring = false
  #fingerprint = ""
  readonly #sender: Sender
  #wake = new AbortController()
  readonly #sending: Promise<void>
  #closing: ReturnType<ProgramAgent["close"]> | undefined
  #isGivenUp = false

  constructor(identity: Identity, surroundings: Platform, refuse: (message: string) => Error) {
    this.agentId = identity.agentId
    this.#identity = identity
    this.#surroundings = surroundings
    this.#refuse = refuse
    const { transport, clock, random, log } = surroundings
    const keys: Keys = {
      current: () => identity.key,
      next: () => undefined,
      promote: () => {},
      discard: () => {},
      fingerprintOf: () => this.#fingerprint,
    }
    const options = { queue: this.#queue, keys, transport, clock, boot: "program", random, log }
    this.#sender = new Sender(options, this.#statements())
    this.#sending = this.#send()
  }

  readonly report = (checkId: string, status: CheckStatus, text = "", options: ReportOptions = {}): void => {
    this.#requireCheckId(checkId)
    if (!Object.hasOwn(EXIT_CODES, status))
      throw this.#refuse(`the status ${JSON.stringify(status)} must be ok, warning, critical or unknown`)
    const exitCode = EXIT_CODES[status]
    this.#requireKnown(options, ["incidentKey", "notificationsEnabled", "durationMillis"])
    const { durationMillis = 0 } = options
    if (!Number.isFinite(durationMillis) || durationMillis < 0)
      throw this.#refuse("durationMillis must be a number from 0")
    const output = String(text)
    this.#add({ checkId, status, exitCode, output, durationMillis, ...this.#marks(options) })
  }

  readonly check = (checkId: string, options: CheckOptions, run: CheckFunction): (() => void) => {
    this.#requireCheckId(checkId)
    if (this.#checks.has(checkId)) throw this.#refuse(`the check ${checkId} already runs: end it first`)
    if (typeof run !== "function") throw this.#refuse(`the check ${checkId} takes a function, which looks`)
    this.#requireKnown(options, ["incidentKey", "notificationsEnabled", "every", "timeout", "labels"])
    const everyMillis = givenMillis(options?.every, EVERY)
    const timeoutMillis = givenMillis(options?.timeout ?? DEFAULT_TIMEOUT_MILLIS)
    if (everyMillis === undefined)
      throw this.#refuse(`every of the check ${checkId} must be ${givenExpected(EVERY)}`)
    if (timeoutMillis === undefined)
      throw this.#refuse(`timeout of the check ${checkId} must be ${givenExpected()}`)
    const { labels } = options
    if (labels !== undefined && !isLabels(labels))
      throw this.#refuse(
        `labels of the check ${checkId} must be at most 32 texts, by names that do not look like secrets`,
      )
    const marks = this.#marks(options)
    const ending = new AbortController()
    const end = () => {
      ending.abort()
      if (this.#checks.delete(checkId)) this.#restate()
    }
    if (this.#ending.signal.aborted) return end
    const every = `${Math.ceil(acceptedPeriod(everyMillis) / 1_000)}s`
    const labelled = labels === undefined ? {} : { labels: { ...labels } }
    this.#checks.set(checkId, { check_id: checkId, every, ...labelled })
    this.#isDeclaring = true
    this.#restate()
    const report: ProgramCheck["report"] = (outcome) => this.#add({ checkId, ...outcome, ...marks })
    const signal = AbortSignal.any([ending.signal, this.#ending.signal])
    void runCheck({ everyMillis, timeoutMillis, run, report }, this.#surroundings, signal)
    return end
  }

  readonly state = (): ProgramAgentState => {
    const { in_flight: inFlight, ...counts } = this.#queue.counts()
    return { admission: this.#sender.admission, inFlight, ...counts }
  }

  readonly close: ProgramAgent["close"] = () => (this.#closing ??= this.#close())

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #close(): ReturnType<ProgramAgent["close"]> {
    this.#ending.abort()
    this.#queue.hurry()
    // It asks once a minute whether it was accepted, and may have been since.
    if (this.#sender.admission === "pending" && this.#queue.size() > 0)
      this.#sender.restate(this.#statements())
    this.#wake.abort()
    // In real time, so that a clock that stands still in a test delays no caller.
    await within(CLOSE_MILLIS, this.#sending)
    this.#isGivenUp = true
    this.#wake.abort()
    const lost = this.#queue.giveUp()
    if (lost > 0)
      this.#surroundings.log(
        `${this.agentId} closes and loses the reports that the server has not taken: ${lost}`,
      )
    this.#surroundings.onClosed?.()
    const { delivered, dropped } = this.#queue.counts()
    return { delivered, dropped }
  }

  #add(report: CheckReport): void {
    this.#queue.add(report, this.#sender.now(), this.#sender.mark !== undefined)
    // After `close` nothing sends it.
    if (this.#isGivenUp) this.#queue.giveUp()
    else this.#wake.abort()
  }

  async #send(): Promise<void> {
    const { clock, isInProcess = false, log, sleep } = this.#surroundings
    // A browser makes none on a page without HTTPS.
    this.#fingerprint = await this.#identity.fingerprint.catch(() => "that the server shows")
    while (!this.#isGivenUp) {
      this.#wake = new AbortController()
      const isClosing = this.#ending.signal.aborted
      if (isClosing && this.#queue.size() === 0) return
      if (isClosing || isInProcess) this.#sender.hurry()
      let next: number
      try {
        next = await this.#sender.step()
      } catch (error) {
        log(`cannot send: ${error instanceof Error ? error.message : String(error)}`)
        next = clock.steady() + AFTER_DEFECT_MILLIS
      }
      const wait = next - clock.steady()
      // The server takes nothing now, and later is too late.
      if (isClosing && wait > CLOSE_MILLIS) return
      if (wait > 0) await sleep(wait, this.#wake.signal)
    }
  }

  #requireCheckId(checkId: string): void {
    if (!isCheckId(checkId))
      throw this.#refuse("the check's ID must be 1 to 128 letters, digits or the characters . _ : -")
  }

  /** Options are of one type; names that it lacks are misspelt. */
  #requireKnown<Options extends ReportOptions | CheckOptions>(
    options: Options,
    known: ReadonlyArray<keyof Options & string>,
  ): void {
    const problems = unknownOptions("", options, known)
    if (problems.length > 0) throw this.#refuse(problems.join("\n"))
  }

  #marks({ incidentKey, notificationsEnabled = true }: ReportOptions) {
    if (incidentKey !== undefined && !isIncidentKey(incidentKey))
      throw this.#refuse("incidentKey must be 1 to 256 characters without control characters")
    return { notificationsEnabled, incidentKey }
  }

  #restate(): void {
    this.#sender.restate(this.#statements())
    this.#wake.abort()
  }

  #statements(): Statements {
    const { agentId, servers, heartbeat } = this.#identity
    // Without any check, expectations that the program declared elsewhere stay as they are.
    return {
      agentId,
      servers,
      heartbeat,
      expected: this.#isDeclaring ? [...this.#checks.values()] : undefined,
    }
  }
}
