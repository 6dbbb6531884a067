import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { systemClock } from "@tocsin/agent/clock/Clock"
import { httpTransport } from "@tocsin/agent/sending/httpTransport"
import { bootId } from "@tocsin/agent/spool/savedNote"
import { Spool, type SpooledResult } from "@tocsin/agent/spool/Spool"
import { Sender } from "@tocsin/reporting/agent/Sender"
import { answerCommands } from "../processes/answerCommands.ts"
import { exitCodeOf, FLEET_CHECK_ID, type FleetCommand, type FleetResult } from "./Fleet.ts"
import { agentId } from "./Load.ts"

const MILLIS_PER_SECOND = 1_000
const BETWEEN_LOOKS_MILLIS = 200

type Start = Extract<FleetCommand, { readonly type: "start" }>

const requests: Array<number> = []
let agents: ReadonlyArray<SimulatedAgent> = []

/** An agent without checks and without a process: its spool and its sender are the real ones. */
class SimulatedAgent {
  readonly #spool: Spool
  readonly #makeSender: () => Sender<SpooledResult>
  readonly #transport = httpTransport({})
  #wake: () => void = () => {}
  #timer: NodeJS.Timeout | undefined
  recorded = 0

  constructor(index: number, { folder, keys, port }: Start) {
    const key = keys[index] ?? ""
    mkdirSync(join(folder, key))
    const path = join(folder, key, "spool.db")
    this.#spool = Spool.open({ path, now: () => Math.floor(systemClock.wall()), warn: complain })
    this.#makeSender = () =>
      new Sender(
        {
          queue: this.#spool,
          keys: {
            current: () => key,
            next: () => undefined,
            promote: () => {},
            discard: () => {},
            fingerprintOf: () => "",
          },
          transport: {
            send: (request) => {
              requests.push(systemClock.wall())
              return this.#transport.send(request)
            },
          },
          clock: systemClock,
          boot: bootId(),
          random: Math.random,
          log: () => {},
        },
        {
          agentId: agentId(index),
          servers: [`http://127.0.0.1:${port}`],
          heartbeat: { hostname: "simulated", features: { push: true, metrics: false } },
          expected: undefined,
        },
      )
  }

  get waiting(): number {
    return this.#spool.extent().results
  }

  /** Sends for ever, and reports once a period. */
  run(everyMillis: number): void {
    // The phase of its heartbeats is the time of its start.
    void this.#send(this.#makeSender())
    const first = setTimeout(() => {
      this.#report()
      this.#timer = setInterval(() => this.#report(), everyMillis)
    }, Math.random() * everyMillis)
    this.#timer = first
  }

  finish(): void {
    clearInterval(this.#timer)
  }

  #report(): void {
    this.#spool.record({
      checkId: FLEET_CHECK_ID,
      status: "ok",
      exitCode: exitCodeOf(this.recorded),
      durationMillis: 1,
      output: "",
      notificationsEnabled: true,
    })
    this.#spool.flush()
    this.recorded += 1
    this.#wake()
  }

  async #send(sender: Sender<SpooledResult>): Promise<void> {
    for (;;) {
      const wait = (await sender.step()) - systemClock.steady()
      if (wait > 0) await this.#sleep(wait)
    }
  }

  #sleep(millis: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, millis)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

const complain = (message: string): void => void process.stderr.write(`${message}\n`)

const pass = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

answerCommands<FleetCommand, FleetResult>(async (command) => {
  if (command.type === "start") {
    agents = command.keys.map((_, index) => new SimulatedAgent(index, command))
    for (const agent of agents) {
      const begin = () => agent.run(command.everySeconds * MILLIS_PER_SECOND)
      setTimeout(begin, Math.random() * command.overSeconds * MILLIS_PER_SECOND)
    }
  } else {
    for (const agent of agents) agent.finish()
    const end = systemClock.steady() + command.patienceSeconds * MILLIS_PER_SECOND
    while (agents.some(({ waiting }) => waiting > 0) && systemClock.steady() < end)
      await pass(BETWEEN_LOOKS_MILLIS)
  }
  return {
    requests,
    recorded: agents.map(({ recorded }) => recorded),
    waiting: agents.reduce((sum, { waiting }) => sum + waiting, 0),
  }
})
