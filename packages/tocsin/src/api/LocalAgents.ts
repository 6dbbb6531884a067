import { errorStatus } from "@tocsin/contract/formats/Errors"
import type { RequestKind, Transport } from "@tocsin/reporting/agent/Answer"
import type { ProgramAgent } from "@tocsin/reporting/program/ProgramAgent"
import { ReportingAgent } from "@tocsin/reporting/program/ReportingAgent"
import { fingerprintOf, newKey } from "@tocsin/reporting/program/Platform"
import type { MonitorCalls } from "./monitorCalls.ts"
import { Clock, type Context, Effect, Random } from "effect"
import { hostname as hostOf } from "node:os"
import { type AgentCalls, refuseFurther } from "./AgentCalls.ts"
import { type By, closed, type Reply } from "./Calls.ts"
import { TocsinError, type TocsinErrorCode } from "../TocsinError.ts"

export interface LocalAgentOptions extends By {
  /**
   * The agent's key. One is made unless given, and replaces the key that the agent ID had: of two
   * processes on one storage the later one reports. Give both the same key, or two agent IDs.
   */
  readonly key?: string | undefined
  /** The host's name unless given. */
  readonly hostname?: string | undefined
  /** Up to 32 labels, for policies and silences. */
  readonly labels?: Readonly<Record<string, string>> | undefined
}

const NANOS_PER_MILLI = 1_000_000
const INTERNAL = 500

const statusOf = (code: TocsinErrorCode): number =>
  Object.hasOwn(errorStatus, code) ? errorStatus[code as keyof typeof errorStatus] : INTERNAL

const inProcess = ({ enrol, heartbeat, events, expectations }: AgentCalls): Transport => {
  const replyTo = (
    kind: RequestKind,
    key: string,
    agentId: string,
    body: never,
  ): Reply<object, TocsinErrorCode> => {
    if (kind === "heartbeat") return heartbeat(key, body)
    if (kind === "enrolment") return enrol(key, agentId, body)
    return kind === "events" ? events(key, body) : expectations(key, agentId, body)
  }
  return {
    send: async ({ kind, agentId, key, body }) => {
      const outcome = await replyTo(kind, key, agentId, JSON.parse(body) as never).outcome()
      if (outcome.ok)
        return {
          status: kind === "heartbeat" || kind === "events" ? 202 : 200,
          body: JSON.stringify(outcome.value),
        }
      const { code, message, retryAfterSeconds } = outcome.error
      return {
        status: statusOf(code),
        body: JSON.stringify({ error: { code, message } }),
        retryAfter: retryAfterSeconds === undefined ? undefined : String(retryAfterSeconds),
      }
    },
  }
}

/** The clock, timers and log of the monitor, which tests replace. */
const surroundingsOf = (services: Context.Context<never>, agentId: string) => {
  const runSync = Effect.runSyncWith(services)
  const wall = () => runSync(Clock.currentTimeMillis)
  const steady = () => Number(runSync(Clock.monotonicTimeNanos)) / NANOS_PER_MILLI
  return {
    clock: { wall, steady, sinceBoot: steady },
    sleep: (millis: number, signal: AbortSignal) =>
      Effect.runPromiseWith(services)(Effect.sleep(Math.max(0, millis)), { signal }).catch(() => {}),
    random: () => runSync(Random.next),
    log: (message: string) =>
      void Effect.runForkWith(services)(Effect.annotateLogs(Effect.logInfo(message), { agent_id: agentId })),
  }
}

/** The agents of this process that are open. */
export class LocalAgents {
  readonly #calls: AgentCalls & Pick<MonitorCalls, "agents">
  readonly #services: Context.Context<never>
  readonly #open = new Set<ProgramAgent>()
  /** The keys of attempts that registered and were not accepted: with another, the next attempt is refused. */
  readonly #pending = new Map<string, string>()
  #areClosed = false

  constructor(calls: AgentCalls & Pick<MonitorCalls, "agents">, services: Context.Context<never>) {
    this.#calls = calls
    this.#services = services
  }

  /** Registers an agent of this process, accepts its key, and lets it report. */
  readonly open = async (
    agentId: string,
    options: LocalAgentOptions = {},
    ...others: ReadonlyArray<unknown>
  ): Promise<ProgramAgent> => {
    await Effect.runPromise(refuseFurther([options, ...others], ["key", "hostname", "labels", "by"]))
    const { key = this.#pending.get(agentId) ?? newKey(), hostname = hostOf(), labels, by } = options
    const surroundings = surroundingsOf(this.#services, agentId)
    const heartbeat = {
      hostname,
      features: { push: true, metrics: false },
      ...(labels !== undefined && { labels }),
    }
    this.#pending.delete(agentId)
    const { accepted } = await this.#calls.heartbeat(key, {
      agent_id: agentId,
      observed_at: new Date(surroundings.clock.wall()).toISOString(),
      ...heartbeat,
    })
    if (!accepted) {
      this.#pending.set(agentId, key)
      await this.#calls.agents.accept(agentId, { by })
      this.#pending.delete(agentId)
    }
    const fingerprint = fingerprintOf(key)
    // Digests come in real time: a test that advances its clock must not have to wait for one.
    await fingerprint
    // One that opens while the others close would never be closed.
    if (this.#areClosed) throw closed()
    const agent = new ReportingAgent(
      { agentId, servers: ["this process"], key, fingerprint, heartbeat },
      {
        ...surroundings,
        transport: inProcess(this.#calls),
        isInProcess: true,
        onClosed: () => void this.#open.delete(agent),
      },
      (message) => new TocsinError("validation", message),
    )
    this.#open.add(agent)
    return agent
  }

  /** Closes all, and refuses others. There is nothing to wait for if none is open. */
  close(): Promise<unknown> | undefined {
    this.#areClosed = true
    if (this.#open.size === 0) return undefined
    return Promise.all(Array.from(this.#open, (agent) => agent.close()))
  }
}
