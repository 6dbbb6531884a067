import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { AGENTS, type Answer, KEYS, type Step } from "./Scenario.ts"

const [agent_id] = AGENTS
const [first, second, third, listed] = KEYS

const heartbeat = (key: string): Step => ({ step: "heartbeat", agent_id, key, lagSeconds: 0, hostname: "h1" })

const on = (step: "accept" | "block" | "remove"): Step => ({ step, agent_id })

const report = (status: CheckStatus, { check_id = "disk", exit_code = 0 } = {}): Step => {
  const result = { id: "new", check_id, lagSeconds: 0, status, exit_code, output: undefined } as const
  return {
    step: "batch",
    agent_id,
    key: first,
    events: [{ ...result, notifications_enabled: true, incident_key: "shared" }],
  }
}

const deliver = (...answers: ReadonlyArray<Answer | "claim">): ReadonlyArray<Step> =>
  answers.map((answer) => ({ step: "deliver", which: 0, answer: answer === "claim" ? "delivered" : answer }))

const enrolled = [heartbeat(first), on("accept")]
const anHour: Step = { step: "wait", millis: 3_600_000 }
const statuses: ReadonlyArray<CheckStatus> = ["ok", "warning", "unknown", "critical"]

const lives: ReadonlyArray<ReadonlyArray<Step>> = [
  [...enrolled, on("remove")],
  [heartbeat(first), on("remove")],
  [heartbeat(first), on("block"), { step: "unblock_all" }],
  [...enrolled, heartbeat(second), anHour, heartbeat(third), on("accept"), on("block")],
  [
    heartbeat(listed),
    { step: "restart", preseeded: true },
    heartbeat(listed),
    on("remove"),
    heartbeat(listed),
  ],
  ...statuses.flatMap((from) =>
    statuses.map((to) => [...enrolled, report(from), report(to, { exit_code: 1 })]),
  ),
  [
    ...enrolled,
    report("critical"),
    report("warning", { check_id: "load" }),
    report("ok", { check_id: "load" }),
  ],
  [
    ...enrolled,
    report("critical"),
    ...deliver("claim", "deferred", "claim", "refused", "delivered", "claim", "delivered"),
  ],
  [...enrolled, report("critical"), ...deliver("claim"), report("ok"), ...deliver("refused")],
  [...enrolled, report("warning"), ...deliver("claim", "deferred"), report("critical")],
  [...enrolled, report("critical"), on("remove")],
  [...enrolled, report("critical"), ...deliver("claim", "deferred"), on("remove")],
  [...enrolled, report("critical"), ...deliver("notifier_gone")],
  [...enrolled, report("critical"), ...deliver("claim", "deferred", "notifier_gone")],
]

/**
 * Short lives, each from nothing, in which every row of the state tables happens at least once.
 * Time never stands still.
 */
export const tours = lives.map((life) =>
  life.flatMap((step): ReadonlyArray<Step> => [{ step: "wait", millis: 1 }, step]),
)
