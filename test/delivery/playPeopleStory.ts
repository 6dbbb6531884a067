import { compilePolicy } from "@tocsin/core/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/policy/readPolicy"
import { parseMatcher } from "@tocsin/core/silences/Matcher"
import { Duration, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { AGENT, enroll, report } from "../service/agents.ts"
import { openService, type Process, type Service } from "../service/Service.ts"
import { settled } from "../service/settled.ts"
import type { Step } from "./PeopleStory.ts"

const NAMES = ["chat", "pager"]

/** Its holds end with a minute, apart from every step, so that no step races with work that is due. */
const POLICY = {
  routes: [
    {
      match: ["check_id glob disk*"],
      after: "100s",
      flapping: { openings: 3, within: "10m", after: "160s" },
      steps: [{ to: ["chat"] }, { after: "310s", to: ["pager"] }],
    },
    { match: ["severity = critical"], to: ["chat", "pager"] },
  ],
  windows: [
    { name: "w", cron: "*/7 * * * *", tz: "UTC", for: "2m", match: ["check_id = disk-b"], comment: "backup" },
  ],
}

const SECONDS_OF_STEPS = 20
const MINUTES_TO_THE_END = 60
const isOver = ({ state }: { readonly state: string }) => ["sent", "failed", "discarded"].includes(state)

/** Plays a story on so many processes; at its end all silences and acknowledgements end too. */
export const playPeopleStory = Effect.fnUntraced(function* (
  steps: ReadonlyArray<Step>,
  { processes, restarts }: { readonly processes: number; readonly restarts: boolean },
) {
  const outdated: Array<string> = []
  const service: Service = yield* openService({
    notifiers: NAMES,
    deadAfter: Duration.days(365),
    onAttempt: ({ notification: { event_type, incident, severity } }) => {
      const present = service.rows().incidents.get(incident.id)?.severity
      if (event_type === "firing" && severity !== present)
        outdated.push(`${incident.incident_key} is ${present}, and a firing states ${severity}`)
    },
  })
  const policy = compilePolicy(Result.getOrThrow(readPolicy(POLICY, NAMES)), NAMES)
  let opened = 0
  const open = Effect.gen(function* () {
    opened += 1
    const process = yield* service.open(`process ${opened}`, { keepsHouse: true })
    yield* process.policy.replace(policy)
    yield* settled
    return process
  })
  const running: Array<Process> = []
  for (let count = 0; count < processes; count++) running.push(yield* open)
  const front = yield* service.open("front", { delivers: false })
  yield* front.policy.replace(policy)
  yield* enroll(front, AGENT)
  const pick = <A>(of: ReadonlyArray<A>, at: number): A | undefined => of[at % of.length]
  const incidents = () => Array.from(service.rows().incidents.values())
  const openIncidents = () => incidents().filter(({ state }) => state === "open")
  const items = () => Array.from(service.rows().outbox.values())
  const silences: Array<Effect.Success<ReturnType<Process["operations"]["silence"]>>> = []
  const after = (duration: Duration.Input) => Effect.andThen(TestClock.adjust(duration), settled)

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
        const held = items().filter(({ look_at, state }) => state === "pending" && look_at !== undefined)
        const item = pick(held, step.which)
        return item && (yield* operations.release(item.id))
      }
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
    if (process !== undefined) yield* take(step, process)
    yield* settled
    const passed = step.step === "restart" && restarts ? 1 : 0
    yield* after(Duration.seconds(step.minutes * 60 - passed))
  }
  for (const { id } of silences) yield* front.operations.expireSilence(id)
  for (const { id } of openIncidents()) yield* front.operations.withdraw(id)
  yield* after("20 seconds")
  for (let minutes = 0; !items().every(isOver) && minutes < MINUTES_TO_THE_END; minutes++)
    yield* after("1 minute")
  return { incidents: incidents(), items: items(), arrivals: service.receivers.arrivals, outdated }
}, Effect.scoped)
