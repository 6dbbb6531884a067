import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { parseMatcher } from "@tocsin/contract/labels/Matcher"
import { Clock, Duration, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { AGENT, enroll, report } from "../service/agents.ts"
import { delivered, refused, shadow } from "../service/Receivers.ts"
import { openService, type Process, type Service, type ServiceOptions } from "../service/Service.ts"
import { settled } from "../service/settled.ts"
import { ShiftedClock } from "../service/ShiftedClock.ts"
import type { Step, PeopleScenario } from "./PeopleScenario.ts"

const NAMES = ["chat", "pager"]

/** Its holds end with a minute, apart from every step, so that no step races with work that is due. */
const POLICY = {
  routes: [
    {
      match: ["check_id glob disk*"],
      after: "100s",
      flapping: { openings: 3, within: "10m", after: "160s" },
      remind: "1000s",
      steps: [{ to: ["chat"] }, { after: "310s", to: ["pager"] }],
    },
    { match: ["severity = critical"], to: ["chat", "pager"] },
  ],
  windows: [{ name: "w", cron: "*/7 * * * *", tz: "Europe/Berlin", for: "2m", match: ["check_id = disk-b"] }],
}

const SECONDS_OF_STEPS = 20
const MINUTES_TO_THE_END = 130
const isOver = ({ state }: { readonly state: string }) => ["sent", "failed", "discarded"].includes(state)

interface PlayOptions extends Pick<ServiceOptions, "storage" | "ids"> {
  readonly processes: number
  readonly restarts: boolean
  /** Whether all receivers are shadows. */
  readonly isShadow?: boolean
  /** Whether there is a policy; there is unless this says otherwise. */
  readonly hasPolicy?: boolean
  /** Whether processes do what is due by time besides delivering; they do unless this says otherwise. */
  readonly keepsHouse?: boolean
}

/** Plays a scenario on so many processes; at its end all silences and acknowledgements end too. */
export const playPeopleScenario = Effect.fnUntraced(function* (
  { begins, steps }: PeopleScenario,
  { hasPolicy = true, isShadow = false, keepsHouse = true, processes, restarts, ...options }: PlayOptions,
) {
  const outdated: Array<string> = []
  const refusing = new Set<string>()
  const replayed = new Set<string>()
  const service: Service = yield* openService({
    ...options,
    notifiers: NAMES,
    deadAfter: Duration.days(365),
    answerTo: ({ receiver }) => (refusing.has(receiver) ? refused : isShadow ? shadow : delivered),
    onAttempt: ({ notification: { event_type, id, incident, severity } }) => {
      const present = service.rows().incidents.get(incident.id)?.severity
      // A replayed message states what it stated before.
      if (event_type === "firing" && severity !== present && !replayed.has(id))
        outdated.push(`${incident.incident_key} is ${present}, and a firing states ${severity}`)
    },
  })
  yield* TestClock.setTime(Date.parse(begins))
  const testClock = yield* TestClock.testClockWith(Effect.succeed)
  const clock = new ShiftedClock(testClock)
  /** Processes follow their own clock. */
  const byTheirClock = Effect.provideService(Clock.Clock, clock)
  const policy = compilePolicy(Result.getOrThrow(readPolicy(POLICY, NAMES)), NAMES)
  let opened = 0
  const open = Effect.gen(function* () {
    opened += 1
    const process = yield* service.open(`process ${opened}`, { keepsHouse })
    if (hasPolicy) yield* process.policy.replace(policy)
    yield* settled
    return process
  }).pipe(byTheirClock)
  const running: Array<Process> = []
  for (let count = 0; count < processes; count++) running.push(yield* open)
  const front = yield* byTheirClock(service.open("front", { delivers: false }))
  if (hasPolicy) yield* front.policy.replace(policy)
  yield* byTheirClock(enroll(front, AGENT))
  const pick = <A>(of: ReadonlyArray<A>, at: number): A | undefined => of[at % of.length]
  const incidents = () => Array.from(service.rows().incidents.values())
  const openIncidents = () => incidents().filter(({ state }) => state === "open")
  const items = () => Array.from(service.rows().outbox.values())
  const silences: Array<Effect.Success<ReturnType<Process["operations"]["silence"]>>> = []
  const after = (duration: Duration.Input) =>
    TestClock.adjust(duration).pipe(Effect.andThen(settled), Effect.provideService(Clock.Clock, testClock))

  const take = Effect.fnUntraced(function* (step: Step, { operations }: Process) {
    switch (step.step) {
      case "report":
        return yield* report(front, [step])
      case "acknowledge": {
        const incident = pick(openIncidents(), step.which)
        const request = { for: Duration.seconds(step.lasts * 60 + 40) }
        return incident && (yield* operations.acknowledge(incident.id, request))
      }
      case "withdraw": {
        const incident = pick(openIncidents(), step.which)
        return incident && (yield* operations.withdraw(incident.id))
      }
      case "note": {
        const incident = pick(incidents(), step.which)
        return incident && (yield* operations.note(incident.id, { text: "seen" }))
      }
      case "silence": {
        const matchers = [Result.getOrThrow(parseMatcher(step.match))]
        const lasting = { for: Duration.seconds(step.lasts * 60 + 40) }
        return silences.push(yield* operations.silence({ matchers, comment: "c", ...lasting }))
      }
      case "expire": {
        const silence = pick(silences, step.which)
        return silence && (yield* operations.expireSilence(silence.id))
      }
      case "release": {
        const held = items().filter(
          ({ next_evaluation_at, state }) => state === "pending" && next_evaluation_at !== undefined,
        )
        const item = pick(held, step.which)
        return item && (yield* operations.release(item.id))
      }
      case "replay": {
        const item = pick(
          items().filter(({ state }) => state === "failed"),
          step.which,
        )
        if (item === undefined) return undefined
        replayed.add(item.id)
        return yield* Effect.ignore(operations.replay(item.id))
      }
      case "refuse":
        return refusing.add(step.receiver)
      case "accept":
        return refusing.delete(step.receiver)
      case "clock_back":
        return clock.setBack("1 hour")
      case "restart": {
        if (!restarts) return undefined
        const at = step.which % running.length
        const stopped = running[at]
        yield* Effect.forkScoped(stopped?.close ?? Effect.void)
        yield* after("1 second")
        running[at] = yield* open
        return undefined
      }
    }
  })

  yield* after(Duration.seconds(SECONDS_OF_STEPS))
  for (const [index, step] of steps.entries()) {
    const process = pick(running, index)
    if (process !== undefined) yield* byTheirClock(take(step, process))
    yield* settled
    const passed = step.step === "restart" && restarts ? 1 : 0
    yield* after(Duration.seconds(step.minutes * 60 - passed))
  }
  refusing.clear()
  for (const { id } of silences) yield* byTheirClock(front.operations.expireSilence(id))
  for (const { id } of openIncidents()) yield* byTheirClock(front.operations.withdraw(id))
  yield* after("20 seconds")
  for (let minutes = 0; !items().every(isOver) && minutes < MINUTES_TO_THE_END; minutes++)
    yield* after("1 minute")
  return { incidents: incidents(), items: items(), arrivals: service.receivers.arrivals, outdated, replayed }
}, Effect.scoped)
