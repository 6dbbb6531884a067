import { move } from "@tocsin/contract/TransitionTable"
import { WorkerTransitions } from "./WorkerTransitions.ts"

type WorkerState = Exclude<(typeof WorkerTransitions)[number]["from"], "absent">

interface Worker {
  readonly state: WorkerState
  /** How often in a row it ended before it listened. */
  readonly failures: number
  /** Whether a reload was requested while it started: it may have read what was there before. */
  readonly isToReload: boolean
}

/** The workers of a service by their numbers, which begin at 1; those that are absent are left out. */
export interface Supervision {
  readonly size: number
  readonly workers: ReadonlyMap<number, Worker>
  /** Whether the first worker has ever listened: until then, its end is that of the service. */
  readonly hasListened: boolean
  /** Whether all workers have. */
  readonly hasStarted: boolean
  readonly isStopping: boolean
  /** Whether a worker failed while the service stopped. */
  readonly hasFailed: boolean
}

/** How a process ended. */
export interface Ending {
  readonly code: number
  readonly signal: string | undefined
  /** What the process said about it, if anything. */
  readonly problem: string | undefined
}

export type WorkerEvent =
  | { readonly event: "started" }
  | { readonly event: "listens"; readonly worker: number }
  | ({ readonly event: "ended"; readonly worker: number } & Ending)
  | { readonly event: "fell_silent"; readonly worker: number }
  | { readonly event: "waited"; readonly worker: number }
  | { readonly event: "stop_requested"; readonly signal: NodeJS.Signals }
  /** Secrets and the policy are to be read again. */
  | { readonly event: "reload_requested" }

export type WorkerAction =
  | { readonly action: "fork"; readonly worker: number }
  | { readonly action: "wait"; readonly worker: number; readonly millis: number }
  | { readonly action: "signal"; readonly worker: number; readonly signal: NodeJS.Signals }
  | ({ readonly action: "report"; readonly worker: number } & Ending)
  /** Shows a problem of the service as a process that serves alone does. */
  | { readonly action: "complain"; readonly problem: string }
  | { readonly action: "announce" }
  | { readonly action: "end"; readonly code: number }

interface Decided {
  readonly supervision: Supervision
  readonly actions: ReadonlyArray<WorkerAction>
}

const FIRST_WAIT_MILLIS = 1_000
const LONGEST_WAIT_MILLIS = 30_000

/** A service of several workers before its start. */
export const unstarted = (size: number): Supervision => ({
  size,
  workers: new Map(),
  hasListened: false,
  hasStarted: false,
  isStopping: false,
  hasFailed: false,
})

/** Decides what follows from an event. One that comes too late, or of a worker that is absent, changes nothing. */
export const supervise = (supervision: Supervision, event: WorkerEvent): Decided => {
  switch (event.event) {
    case "started":
      return forked(supervision, [1])
    case "listens":
      return listening(supervision, event.worker)
    case "ended":
      return ended(supervision, event)
    case "fell_silent": {
      const state = supervision.workers.get(event.worker)?.state
      return state === "serving" || state === "starting"
        ? { supervision, actions: [{ action: "signal", worker: event.worker, signal: "SIGKILL" }] }
        : { supervision, actions: [] }
    }
    case "waited": {
      const state = supervision.workers.get(event.worker)?.state
      return state === "waiting" ? forked(supervision, [event.worker]) : { supervision, actions: [] }
    }
    case "stop_requested":
      return stopping(supervision, event.signal)
    case "reload_requested":
      return reloading(supervision)
  }
}

const withWorkers = (
  supervision: Supervision,
  changed: Iterable<readonly [number, Worker | undefined]>,
): Supervision => {
  const workers = new Map(supervision.workers)
  for (const [number, worker] of changed) {
    if (worker === undefined) workers.delete(number)
    else workers.set(number, worker)
  }
  return { ...supervision, workers }
}

const forked = (supervision: Supervision, numbers: ReadonlyArray<number>): Decided => ({
  supervision: withWorkers(
    supervision,
    numbers.map((number) => {
      const known = supervision.workers.get(number)
      const from = known?.state === "waiting" ? known.state : "absent"
      const state = move(WorkerTransitions, from, "forked")
      return [number, { state, failures: known?.failures ?? 0, isToReload: false }]
    }),
  ),
  actions: numbers.map((worker) => ({ action: "fork", worker })),
})

const listening = (before: Supervision, number: number): Decided => {
  const worker = before.workers.get(number)
  if (worker?.state !== "starting") return { supervision: before, actions: [] }
  const state = move(WorkerTransitions, worker.state, "listens")
  const supervision = withWorkers(before, [[number, { state, failures: 0, isToReload: false }]])
  const reload: ReadonlyArray<WorkerAction> = worker.isToReload
    ? [{ action: "signal", worker: number, signal: "SIGHUP" }]
    : []
  const others = Array.from({ length: before.size - 1 }, (_, index) => index + 2)
  if (!before.hasListened) {
    const started = forked({ ...supervision, hasListened: true }, others)
    return { ...started, actions: [...reload, ...started.actions] }
  }
  const isWhole = Array.from(supervision.workers.values()).every((one) => one.state === "serving")
  return before.hasStarted || !isWhole
    ? { supervision, actions: reload }
    : { supervision: { ...supervision, hasStarted: true }, actions: [...reload, { action: "announce" }] }
}

const ended = (
  before: Supervision,
  { code, problem, signal, worker: number }: Ending & { readonly worker: number },
): Decided => {
  const worker = before.workers.get(number)
  if (worker === undefined || worker.state === "waiting") return { supervision: before, actions: [] }
  if (worker.state === "stopping" || !before.hasListened) {
    move(WorkerTransitions, worker.state, "ended")
    const hasFailed = before.hasFailed || code !== 0 || worker.state !== "stopping"
    const ending = over({ ...withWorkers(before, [[number, undefined]]), isStopping: true, hasFailed })
    return problem === undefined
      ? ending
      : { ...ending, actions: [{ action: "complain", problem }, ...ending.actions] }
  }
  const failures = worker.state === "starting" ? worker.failures + 1 : 0
  const millis = Math.min(LONGEST_WAIT_MILLIS, FIRST_WAIT_MILLIS * 2 ** failures)
  return {
    supervision: withWorkers(before, [
      [number, { ...worker, state: move(WorkerTransitions, worker.state, "ended"), failures }],
    ]),
    actions: [
      { action: "report", worker: number, code, signal, problem },
      { action: "wait", worker: number, millis },
    ],
  }
}

/** A signal would end a worker that starts: it gets it once it listens. */
const reloading = (before: Supervision): Decided => ({
  supervision: withWorkers(
    before,
    Array.from(before.workers, ([number, worker]) => [
      number,
      worker.state === "starting" ? { ...worker, isToReload: true } : worker,
    ]),
  ),
  actions: signalsTo(before.workers, "SIGHUP", ["serving"]),
})

const stopping = (before: Supervision, signal: NodeJS.Signals): Decided => {
  const changed = Array.from(before.workers, ([number, worker]) => {
    if (worker.state !== "waiting")
      return [number, { ...worker, state: move(WorkerTransitions, worker.state, "stop_requested") }] as const
    move(WorkerTransitions, worker.state, "stop_requested")
    return [number, undefined] as const
  })
  const { actions, supervision } = over({ ...withWorkers(before, changed), isStopping: true })
  return { supervision, actions: [...signalsTo(before.workers, signal), ...actions] }
}

/** Ends a service that stops once it has no worker. */
const over = (supervision: Supervision): Decided => ({
  supervision,
  actions:
    supervision.isStopping && supervision.workers.size === 0
      ? [{ action: "end", code: supervision.hasFailed ? 1 : 0 }]
      : [],
})

const LIVING: ReadonlyArray<WorkerState> = ["starting", "serving", "stopping"]

const signalsTo = (
  workers: Supervision["workers"],
  signal: NodeJS.Signals,
  states: ReadonlyArray<WorkerState> = LIVING,
): ReadonlyArray<WorkerAction> =>
  Array.from(workers).flatMap(([worker, { state }]) =>
    states.includes(state) ? [{ action: "signal", worker, signal }] : [],
  )
