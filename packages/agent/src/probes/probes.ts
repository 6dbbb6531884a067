import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { outcomeOf } from "../checks/RunOutcome.ts"
import type { StartedRun } from "../checks/runCommand.ts"
import { afterMillis } from "../clock/Clock.ts"
import type { Reader } from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import { type Finding, judge } from "./Finding.ts"
import type { Probe, ProbeAround } from "./Probe.ts"
import { disk } from "./disk.ts"
import { dns } from "./dns.ts"
import { file } from "./file.ts"
import { http } from "./http.ts"
import { load } from "./load.ts"
import { log } from "./log.ts"
import { memory } from "./memory.ts"
import { mount } from "./mount.ts"
import { processes } from "./processes.ts"
import { systemd } from "./systemd.ts"
import { tcp } from "./tcp.ts"
import { tls } from "./tls.ts"
import { unix } from "./unix.ts"

/** How a probe runs. */
interface ProbeRun {
  readonly timeoutMillis: number
  readonly clock: Clock
  /** The note of its last run. */
  readonly note?: string | undefined
}

/** Runs a probe as if it were a command: its result is there at its deadline, whatever becomes of it. */
export const runProbe = (config: ProbeConfig, { timeoutMillis, clock, note }: ProbeRun): StartedRun => {
  const begun = clock.steady()
  const ended = new AbortController()
  const { title, run } = config
  let isOver = false
  const finding = run({ clock, signal: ended.signal, note }).finally(() => (isOver = true))
  const work = finding.then(
    (found) => ({ ...judge(title, found), droppedBytes: 0, note: found.note }),
    (error: unknown) => ({
      status: "unknown" as const,
      exitCode: 3,
      output: `${title} UNKNOWN - ${explainError(error)}`,
      droppedBytes: 0,
    }),
  )
  let cancelDeadline = (): void => {}
  const deadline = new Promise<ReturnType<typeof outcomeOf>>((resolve) => {
    const end = () => resolve(outcomeOf({ kind: "timedOut", timeoutMillis }))
    cancelDeadline = afterMillis(clock, timeoutMillis, end)
  })
  const outcome = Promise.race([work, deadline]).then((result) => {
    cancelDeadline()
    return { ...result, durationMillis: clock.steady() - begun }
  })
  return {
    outcome,
    gone: outcome.then(async () => {
      ended.abort()
      // A probe that hangs in the system, such as on the file system of a dead server, is examined
      // again later.
      const patience = new Promise<void>((resolve) => setTimeout(resolve, PATIENCE_MILLIS).unref())
      if (!isOver) await Promise.race([work, patience])
      return isOver
    }),
    isAlive: () => !isOver,
    stop: () => ended.abort(),
  }
}

const PATIENCE_MILLIS = 1_000

/** A probe with its settings, ready to run. */
export interface ProbeConfig {
  readonly name: string
  readonly title: string
  readonly lane: "network" | "host"
  /** As the configuration has them. */
  readonly settings: object
  readonly run: (around: ProbeAround) => Promise<Finding>
}

/** Reads the settings of a probe and keeps them with what they are for. */
const configReader =
  <S extends object>(name: string, { title, lane, reader, run }: Probe<S>): Reader<ProbeConfig> =>
  (value, place) => {
    const settings = reader(value, place)
    return settings && { name, title, lane, settings, run: (around) => run(settings, around) }
  }

/** The keys of a check that name a probe. */
export const probeFields = {
  http: configReader("http", http),
  tcp: configReader("tcp", tcp),
  tls: configReader("tls", tls),
  dns: configReader("dns", dns),
  unix: configReader("unix", unix),
  disk: configReader("disk", disk),
  mount: configReader("mount", mount),
  file: configReader("file", file),
  log: configReader("log", log),
  memory: configReader("memory", memory),
  load: configReader("load", load),
  process: configReader("process", processes),
  systemd: configReader("systemd", systemd),
}

export const PROBE_NAMES = Object.keys(probeFields) as ReadonlyArray<keyof typeof probeFields>
