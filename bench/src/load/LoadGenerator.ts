import process from "node:process"
import { cpuSeconds } from "../processes/cpuSeconds.ts"
import { LatencyHistogram } from "./LatencyHistogram.ts"
import { agentId, type Step } from "./Load.ts"
import type { LoadResult, LoadRun } from "./LoadRun.ts"
import type { Channel, Protocol } from "./protocols/Protocol.ts"
import { protocols } from "./protocols/protocols.ts"
import { Sender, type SendingAgent } from "./Sender.ts"

interface Slot {
  readonly connection: Channel
  readonly sender: Sender
  /** The request in flight, if any. */
  step: Step | undefined
  since: number
}

const elapsed = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))

const PACE_MILLIS = 1
const DRAIN_MILLIS = 30_000

/** Sends requests of a fixed set of agents and counts the answers, one run after the other. */
export class LoadGenerator {
  readonly #agents: ReadonlyArray<SendingAgent>
  #protocol: Protocol = protocols.tocsin
  #slots: ReadonlyArray<Slot> = []
  #idle: Array<Slot> = []
  /** When each request that waits for a free connection was due; only of paced runs. */
  #due: Array<number> = []
  #isClosedLoop = true
  #isSending = false
  /** How many requests may still be sent. */
  #left = Number.POSITIVE_INFINITY
  #sentAll: () => void = () => undefined
  #latencies = new LatencyHistogram()
  #maxMillis = 0
  #operations = 0
  #failures = 0
  #firstFailure: string | undefined

  constructor(keys: ReadonlyArray<string>) {
    this.#agents = keys.map((key, index) => ({
      id: Buffer.from(agentId(index)),
      key: Buffer.from(key),
      isCritical: false,
      reports: 0,
      changes: 0,
    }))
  }

  async run(run: LoadRun): Promise<LoadResult> {
    this.#failures = 0
    this.#firstFailure = undefined
    this.#protocol = protocols[run.protocol ?? "tocsin"]
    await this.#connect(run)
    this.#isSending = true
    this.#left = run.requests ?? Number.POSITIVE_INFINITY
    const sentAll = new Promise<void>((resolve) => (this.#sentAll = resolve))
    this.#isClosedLoop = run.requestsPerSecond === undefined
    const pace = this.#start(run)
    await elapsed(run.warmUpSeconds)
    this.#forget()
    const cpuBefore = this.#cpu(run)
    const start = performance.now()
    await Promise.race([elapsed(run.seconds), sentAll])
    const seconds = (performance.now() - start) / 1000
    const measured = this.#measured()
    const cpuAfter = this.#cpu(run)
    clearInterval(pace)
    await this.#drain()
    return {
      seconds,
      ...measured,
      cpuSeconds: Object.fromEntries(
        Object.entries(cpuAfter).map(([name, after]) => [name, after - (cpuBefore[name] ?? 0)]),
      ),
      failures: this.#failures,
      ...(this.#firstFailure !== undefined && { firstFailure: this.#firstFailure }),
    }
  }

  async #connect({ ports, load, connections }: LoadRun): Promise<void> {
    this.#slots = await Promise.all(
      // An agent has one connection, so that its results arrive in the order of their times.
      Array.from({ length: connections }, async (_, index): Promise<Slot> => {
        const port = ports[index % ports.length] ?? 0
        const agents = this.#agents.filter((_agent, agent) => agent % connections === index)
        const sender = new Sender(load, agents, this.#protocol, `127.0.0.1:${port}`)
        const connection = await this.#protocol.open(port, {
          answered: (answer) =>
            this.#answered(slot, this.#protocol.faultOf(slot.step ?? "heartbeat", answer)),
          lost: (reason) => this.#lost(slot, reason),
        })
        const slot: Slot = { connection, sender, step: undefined, since: 0 }
        return slot
      }),
    )
    this.#idle = [...this.#slots]
  }

  #start({ requestsPerSecond }: LoadRun): NodeJS.Timeout | undefined {
    this.#due = []
    if (requestsPerSecond === undefined) {
      for (const slot of this.#idle.splice(0)) this.#send(slot, performance.now())
      return undefined
    }
    const start = performance.now()
    let planned = 0
    return setInterval(() => {
      const now = performance.now()
      const target = Math.floor(((now - start) / 1000) * requestsPerSecond)
      for (; planned < target; planned += 1) this.#due.push(now)
      this.#sendDue()
    }, PACE_MILLIS)
  }

  #sendDue(): void {
    const count = Math.min(this.#due.length, this.#idle.length)
    for (const due of this.#due.splice(0, count)) {
      const slot = this.#idle.pop()
      if (slot !== undefined) this.#send(slot, due)
    }
  }

  #send(slot: Slot, since: number): void {
    if (this.#left === 0) return this.#sentAll()
    this.#left -= 1
    const { step, bytes } = slot.sender.next()
    slot.step = step
    slot.since = since
    slot.connection.send(bytes)
  }

  #answered(slot: Slot, fault: string | undefined): void {
    const now = performance.now()
    const { step } = slot
    slot.step = undefined
    if (fault !== undefined || step === undefined) return this.#lost(slot, fault ?? "an answer to nothing")
    const millis = now - slot.since
    this.#latencies.record(millis)
    if (millis > this.#maxMillis) this.#maxMillis = millis
    this.#operations += this.#protocol.operationsOf(step)
    if (!this.#isSending) return
    if (this.#isClosedLoop) return this.#send(slot, now)
    this.#idle.push(slot)
    if (this.#due.length > 0) this.#sendDue()
  }

  /** Closes a failed connection: the state of its agent is unknown. */
  #lost(slot: Slot, reason: string): void {
    slot.step = undefined
    slot.connection.close()
    this.#failures += 1
    this.#firstFailure ??= reason
  }

  #forget(): void {
    this.#latencies = new LatencyHistogram()
    this.#maxMillis = 0
    this.#operations = 0
  }

  #measured() {
    return {
      requests: this.#latencies.count,
      operations: this.#operations,
      p50Millis: this.#latencies.quantile(0.5),
      p99Millis: this.#latencies.quantile(0.99),
      maxMillis: this.#maxMillis,
    }
  }

  #cpu({ watched }: LoadRun): Readonly<Record<string, number>> {
    return Object.fromEntries(
      Object.entries({ ...watched, load: process.pid }).flatMap(([name, pid]) => {
        const seconds = cpuSeconds(pid)
        return seconds === undefined ? [] : [[name, seconds] as const]
      }),
    )
  }

  async #drain(): Promise<void> {
    this.#isSending = false
    const limit = performance.now() + DRAIN_MILLIS
    while (this.#slots.some(({ step }) => step !== undefined) && performance.now() < limit)
      await elapsed(0.005)
    const unanswered = this.#slots.filter(({ step }) => step !== undefined)
    for (const slot of unanswered) this.#lost(slot, "a request was not answered")
    for (const { connection } of this.#slots) connection.close()
  }
}
