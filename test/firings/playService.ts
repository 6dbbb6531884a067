import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { parseMatcher } from "@tocsin/contract/labels/Matcher"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { heartbeatOf, keyOf, START_MILLIS } from "@tocsin/testing/samples"
import { Clock, Duration, Effect, Random, References, Result } from "effect"
import { TestClock } from "effect/testing"
import { InterruptedStorage } from "../passes/InterruptedStorage.ts"
import { report } from "../service/agents.ts"
import { type Answer, type Attempt, deferred, delivered, refused, timedOut } from "../service/Receivers.ts"
import { openService, type Process, type Service, type ServiceOptions } from "../service/Service.ts"
import { VirtualTime } from "../system/VirtualTime.ts"
import { ShiftedClock } from "../service/ShiftedClock.ts"
import type { Course } from "./playModel.ts"
import type { Arrived } from "./differences.ts"
import { documentOf } from "./documentOf.ts"
import { AGENTS, type Attempted, type OnCall, type Policy, type Step, type Story } from "./Story.ts"
import { JOB } from "./MemberModel.ts"

const ANSWERS: Readonly<Record<string, Answer>> = {
  is_down: { ...deferred, retryAfterSeconds: 3_600 },
  defers: deferred,
  loses: { ...timedOut, retryAfterSeconds: 3_600 },
  // Attempts are under way for a while.
  refuses: { ...refused, answeringMillis: 2_000 },
}
const BETWEEN_HEARTBEATS = 60
/** The pause of background work: two pieces that follow each other end within 15 s. */
const PAUSE = Duration.seconds(7)
/** For so many seconds after a change, no pause is longer. */
const AWAKE = 15
/** Two service heartbeats this far apart are no outage. */
const LONGEST_PAUSE = 100
const NAMES = ["chat", "pager", "mail"]

/** Retries follow the schedule exactly. */
const noJitter = Random.Random.of({ nextIntUnsafe: () => 0, nextDoubleUnsafe: () => 0.5 })

const compiled = (policy: Policy, receivers: ReadonlyArray<string>) =>
  compilePolicy(documentOf(policy, receivers), receivers)

/** A service after the last step of a story. */
export interface Played extends Pick<Service, "rows">, Pick<Process, "operations"> {
  /** The service's time. */
  readonly present: () => Instant.Instant
  /** Lets time pass until the service's clock shows this. */
  readonly passTo: (at: Instant.Instant) => Effect.Effect<void>
}

/** Sees what happens, in its order. */
export interface Watcher {
  readonly onStep: (step: Step) => void
  /** Receives a time by which `endedAt` of the attempt counts from the beginning of the story. */
  readonly onAttempt: (attempt: Attempt, at: number) => void
}

interface PlayOptions<E> extends Pick<ServiceOptions, "storage" | "ids" | "idleFor" | "hints"> {
  /** Whether background work pauses until a step or a row is about to be due. */
  readonly rests?: boolean
  readonly replicas?: number
  /** Whether the replicas after the first follow a policy with the next step, and not at once. */
  readonly lags?: boolean
  readonly watcher?: Watcher
  /** Watches the service after the last step. */
  readonly watch?: (played: Played) => Effect.Effect<void, E>
}

/** The messages that a service sent, and the incidents and receivers of the firings that it did not discard. */
interface Ended {
  readonly arrivals: ReadonlyArray<Arrived>
  readonly firings: ReadonlyArray<OnCall>
  readonly attempts: ReadonlyArray<Attempted>
}

/** Plays the steps of a course on a service, until its end. */
export const playService = <E = never>(
  story: Story,
  course: Pick<Course, "steps" | "until">,
  options: PlayOptions<E> = {},
): Effect.Effect<Ended> =>
  Effect.promise(() => {
    const time = new VirtualTime()
    const calls = new InterruptedStorage()
    calls.onIdle = () => time.wake()
    const clock = time.clock(() => Date.parse(story.begins) - START_MILLIS)
    return time.run(playOn({ time, calls }, story, course, options), clock, calls.isUnderWay)
  })

const playOn = Effect.fnUntraced(
  function* <E>(
    { calls, time }: { readonly time: VirtualTime; readonly calls: InterruptedStorage },
    { begins, policy, receivers }: Story,
    { steps, until }: Pick<Course, "steps" | "until">,
    { lags = false, replicas = 1, rests = false, watch, watcher, ...options }: PlayOptions<E>,
  ) {
    const answers = new Map<string, string>()
    /** When each attempt at a notification arrived, in their order. */
    const arrivedAt = new Map<string, Array<number>>()
    const attempts: Array<{ readonly at: number; readonly attempt: Attempt }> = []
    const started = Date.parse(begins)
    const testClock = yield* TestClock.testClockWith(Effect.succeed)
    const now = () => (testClock.currentTimeMillisUnsafe() - started) / 1_000
    /** The time by the agents' clock, which is never set back. */
    const rightNow = () => Instant.fromMillis(testClock.currentTimeMillisUnsafe())
    const { settled } = time
    const clock = new ShiftedClock(testClock)
    let changed = 0
    const untilDue = () => {
      const at = now()
      if (at < changed + AWAKE) return PAUSE
      const { incidents, outbox } = service.rows()
      const due = [
        ...Array.from(incidents.values(), (incident) => incident.next_evaluation_at),
        ...Array.from(outbox.values()).flatMap((row) => [row.next_attempt_at, row.next_evaluation_at]),
      ].filter((one) => one !== undefined)
      // A step of this moment may not have been taken.
      const next = steps.find((step) => step.at >= at)?.at ?? Infinity
      const present = Instant.fromNanos(clock.currentTimeNanosUnsafe())
      const seconds = Math.min(next - at, ...due.map((one) => Instant.secondsBetween(present, one))) - 1
      return Duration.max(PAUSE, Duration.seconds(Math.min(seconds, LONGEST_PAUSE)))
    }
    const service: Service = yield* openService({
      idleFor: rests ? untilDue : PAUSE,
      ...options,
      onMove: () => {
        changed = now()
      },
      clientOf: calls.clientOf,
      notifiers: NAMES,
      answerTo: ({ receiver }) => ANSWERS[answers.get(receiver) ?? ""] ?? delivered,
      onAttempt: (attempt) => {
        const { answer, notification } = attempt
        attempts.push({ at: now(), attempt })
        changed = now()
        watcher?.onAttempt(attempt, now())
        if (answer.reaches) arrivedAt.set(notification.id, [...(arrivedAt.get(notification.id) ?? []), now()])
      },
    })
    const byTheirClock = Effect.provideService(Clock.Clock, clock)
    let inForce: Pick<Story, "policy" | "receivers"> = { policy, receivers }
    const follow = (process: Process) =>
      Effect.andThen(
        process.sendsTo(...inForce.receivers),
        process.policy.replace(compiled(inForce.policy, inForce.receivers)),
      )
    let opened = 0
    const openOne = (delivers: boolean) =>
      Effect.gen(function* () {
        const configured = inForce.receivers
        const rules = {
          notifiers: configured,
          policy: documentOf(inForce.policy, configured),
        }
        const name = `process ${(opened += 1)}`
        return yield* service.open(name, {
          delivers,
          keepsHouse: delivers,
          reports: delivers,
          configured,
          rules,
        })
      })
    /** The front delivers nothing, so that all steps of an instant are decided before a claim. */
    const open = Effect.gen(function* () {
      const workers: Array<Process> = []
      for (let count = 0; count < replicas; count++) workers.push(yield* openOne(true))
      const front = yield* openOne(false)
      yield* settled
      return { front, workers }
    }).pipe(byTheirClock)
    let running: Effect.Success<typeof open> | undefined = yield* open

    const alive = new Set(Object.keys(AGENTS))
    const beat = (agent: string) =>
      Effect.suspend(() => {
        const labels = AGENTS[agent] ?? {}
        return running === undefined
          ? Effect.void
          : Effect.ignore(
              running.front.ingest.heartbeat(
                keyOf(agent),
                heartbeatOf(agent, { labels, observed_at: rightNow() }),
              ),
            )
      }).pipe(byTheirClock)
    const beats = Effect.suspend(() => Effect.forEach(alive, beat, { discard: true }))
    yield* beats
    yield* byTheirClock(running.front.admission.acceptAll({ includeRotation: false }))

    /** A policy wakes deliveries: workers follow one when all steps of its instant are decided. */
    let unfollowed = Effect.void
    const workersFollow = (workers: ReadonlyArray<Process>) =>
      Effect.suspend(() => {
        unfollowed = Effect.void
        return Effect.forEach(workers, follow, { discard: true })
      })

    let behind: { readonly since: number; readonly follow: Effect.Effect<void> } | undefined
    const catchUp = Effect.suspend(() => {
      if (behind === undefined || now() === behind.since) return Effect.void
      const { follow: late } = behind
      behind = undefined
      return late
    })

    /** Lets time pass until a second of the story; agents send heartbeats with each minute. */
    const passUntil = Effect.fnUntraced(function* (second: number) {
      if (now() < second) yield* unfollowed
      while (now() < second) {
        const next = (Math.floor(now() / BETWEEN_HEARTBEATS) + 1) * BETWEEN_HEARTBEATS
        yield* testClock.adjust(Duration.seconds(Math.min(next, second) - now()))
        yield* settled
        if (now() === next) yield* Effect.andThen(beats, settled)
      }
    })

    const silences: Array<Effect.Success<ReturnType<Process["operations"]["silence"]>>> = []
    const overrides: Array<Effect.Success<ReturnType<Process["operations"]["override"]>>> = []
    const picked = (which: number) => {
      const open = Array.from(service.rows().incidents.values()).filter(({ state }) => state === "open")
      return open.toSorted((a, b) => (a.incident_key < b.incident_key ? -1 : 1))[which % open.length]
    }
    const take = Effect.fnUntraced(function* (
      step: Step,
      { front, workers }: { front: Process; workers: ReadonlyArray<Process> },
    ) {
      const { ingest, operations } = front
      switch (step.step) {
        case "report":
          return yield* report(
            front,
            step.results.map((result) => ({ ...result, observedAt: rightNow() })),
            AgentId.make(step.agent),
          )
        case "falls_silent":
          yield* beat(step.agent)
          return alive.delete(step.agent)
        case "returns":
          alive.add(step.agent)
          return yield* beat(step.agent)
        case "expect": {
          const checks = [
            {
              check_id: CheckId.make(step.check),
              every: Duration.seconds(step.after / 2),
              after: Duration.seconds(step.after),
              severity: "unknown" as const,
              incident: step.check === JOB ? ("own" as const) : ("agent" as const),
              notifications_enabled: true,
            },
          ]
          const agent_id = AgentId.make(step.agent)
          return yield* ingest.expectations(keyOf(step.agent), {
            agent_id,
            request: { checks, complete: false },
          })
        }
        case "acknowledge": {
          const incident = picked(step.which)
          return (
            incident && (yield* operations.acknowledge(incident.id, { for: Duration.seconds(step.lasts) }))
          )
        }
        case "withdraw": {
          const incident = picked(step.which)
          return incident && (yield* Effect.ignore(operations.withdraw(incident.id)))
        }
        case "silence": {
          const matchers = step.match.map((matcher) => Result.getOrThrow(parseMatcher(matcher)))
          const lasting = { for: Duration.seconds(step.lasts) }
          return silences.push(yield* operations.silence({ matchers, comment: "c", ...lasting }))
        }
        case "expire": {
          const silence = silences[step.which % silences.length]
          return silence && (yield* Effect.ignore(operations.expireSilence(silence.id)))
        }
        case "override": {
          const from = Instant.plus(
            Instant.fromNanos(clock.currentTimeNanosUnsafe()),
            Duration.seconds(step.after),
          )
          const to = Instant.plus(from, Duration.seconds(step.lasts))
          const [first = "", ...others] = step.receivers
          const made = operations.override(step.rota, { from, to, receivers: [first, ...others] })
          return yield* Effect.ignore(Effect.map(made, (override) => overrides.push(override)))
        }
        case "end_override": {
          const override = overrides[step.which % overrides.length]
          return override && (yield* Effect.ignore(operations.endOverride(override.rota, override.id)))
        }
        case "policy":
          inForce = step
          unfollowed = workersFollow(lags ? workers.slice(0, 1) : workers)
          if (lags) behind = { since: now(), follow: workersFollow(workers.slice(1)) }
          return yield* follow(front)
        case "answers":
          return answers.set(step.receiver, step.how)
        case "tests":
          return yield* Effect.ignore(operations.testNotifier(step.receiver))
        case "clock_back":
          return clock.setBack(Duration.seconds(step.by))
        case "stops":
          return undefined
      }
    })

    for (const step of steps) {
      yield* Effect.andThen(passUntil(step.at), catchUp)
      watcher?.onStep(step)
      changed = now()
      if (step.step === "stops") {
        const processes = running === undefined ? [] : [running.front, ...running.workers]
        yield* Effect.forEach(processes, ({ close }) => close, { discard: true })
        running = undefined
        unfollowed = Effect.void
        behind = undefined
        yield* passUntil(step.at + step.lasts)
        running = yield* open
        yield* beats
      } else if (running !== undefined) yield* byTheirClock(take(step, running))
    }
    yield* Effect.andThen(unfollowed, settled)
    if (behind !== undefined) yield* Effect.andThen(passUntil(now() + BETWEEN_HEARTBEATS), catchUp)
    const present = () => Instant.fromNanos(clock.currentTimeNanosUnsafe())
    if (watch !== undefined && running !== undefined) {
      const passTo = (at: Instant.Instant) => passUntil(now() + Instant.secondsBetween(present(), at))
      yield* byTheirClock(
        watch({ rows: service.rows, operations: running.front.operations, present, passTo }),
      )
    }
    yield* passUntil(until)
    const openings = new Map<string, number>()
    const opening = new Map<string, number>()
    for (const { id, incident_key } of service.rows().incidents.values()) {
      openings.set(incident_key, (openings.get(incident_key) ?? 0) + 1)
      opening.set(id, openings.get(incident_key) ?? 0)
    }
    const firings = Array.from(service.rows().outbox.values())
      .filter(({ event_type, state }) => event_type === "firing" && state !== "discarded")
      .map(({ incident_id, receiver }) => ({
        key: service.rows().incidents.get(incident_id)?.incident_key ?? "",
        opening: opening.get(incident_id) ?? 0,
        receiver,
      }))
    const arrivals = service.receivers.arrivals.map(
      ({ notification: { cause, event_type, id, incident, receiver, severity } }): Arrived => ({
        receiver,
        key: incident.incident_key,
        opening: opening.get(incident.id) ?? 0,
        event: event_type,
        cause,
        severity,
        at: arrivedAt.get(id)?.shift() ?? Number.NaN,
      }),
    )
    const attempted = attempts.map(({ at, attempt: { answer, notification: one } }): Attempted => ({
      receiver: one.receiver,
      key: one.incident.incident_key,
      opening: opening.get(one.incident.id) ?? 0,
      event: one.event_type,
      severity: one.severity,
      at,
      isReached: answer.outcome === "delivered",
    }))
    return { arrivals, firings, attempts: attempted }
  },
  Effect.provideService(Random.Random, noJitter),
  Effect.provideService(References.MinimumLogLevel, "None"),
  Effect.scoped,
)
