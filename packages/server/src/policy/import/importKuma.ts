import { durationText } from "@tocsin/contract/formats/durationMillis"
import { parseCron } from "@tocsin/contract/formats/CronTimes"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import { TIME_ZONE_NAME } from "@tocsin/contract/formats/timeZoneName"
import { TIMES } from "@tocsin/contract/watches/watchOptions"
import { Result } from "effect"
import { type KumaDatabase, readKuma } from "./kumaDatabase.ts"
import { matchOf, type MovedLabel, MovedPolicy, type MovedText, type Taken, titleOf } from "./MovedPolicy.ts"
import { takePage } from "./pagesOfKuma.ts"
import { agentOf, isYes, jsonOf, type Leave, numberOf, probeOf, textOf } from "./probeOfKuma.ts"
import { receiversOfKuma } from "./receiversOfKuma.ts"

const SHORTEST = 10
const LONGEST = 86_400
const LONGEST_TIMEOUT = TIMES.timeout.max / 1_000
const MOST_IN_A_ROW = 10
/** Kuma's part of the interval that is its timeout, unless it states one. */
const TIMEOUT_PART = 0.8
/** The shortest time without a report that may make a check late, in seconds. */
const SHORTEST_AFTER = 120
const MARGIN = 60

/** Settings of a monitor without an equal: the column, and the words. */
const LEFT: ReadonlyArray<readonly [column: string, words: string]> = [
  ["proxy_id", "its proxy"],
  ["resend_interval", "its resending: set remind on the route"],
  ["ip_family", "its IP family"],
  ["cache_bust", "its cache buster"],
  ["description", "its description"],
  ["expected_tls_alert", "the TLS alert that it expects"],
  ["retry_only_on_status_code_failure", "that it retries only after statuses"],
]
const NOT_SET = new Set<unknown>([undefined, null, "", 0, "none"])

const terms = (monitor: Taken, leave: Leave): Taken => {
  const interval = numberOf(monitor["interval"])
  const every = Math.min(LONGEST, Math.max(SHORTEST, interval))
  if (every !== interval) leave(`its interval of ${interval} s, which is ${every} s now`)
  const bad = numberOf(monitor["maxretries"]) + 1
  if (bad > MOST_IN_A_ROW) leave(`its ${bad - 1} retries, of which ${MOST_IN_A_ROW - 1} stay`)
  const retry = numberOf(monitor["retry_interval"])
  if (bad > 1 && retry > 0 && retry !== interval) leave(`its retry interval of ${retry} s`)
  return { every: durationText(every * 1_000), confirm: { bad: Math.min(bad, MOST_IN_A_ROW) } }
}

const timeoutOf = (monitor: Taken, leave: Leave): Taken => {
  const usual = numberOf(monitor["interval"]) * TIMEOUT_PART
  const stated = numberOf(monitor["timeout"])
  const isUsual = stated <= 0 || Math.abs(stated - usual) < 1
  const seconds = isUsual ? usual : stated
  if (!isUsual && seconds > LONGEST_TIMEOUT)
    leave(`its timeout of ${seconds} s, of which ${LONGEST_TIMEOUT} stay`)
  const millis = Math.round(Math.min(LONGEST_TIMEOUT, Math.max(1, seconds)) * 1_000)
  return { timeout: durationText(millis) }
}

/** Whether a monitor, or a group that it is in, is paused. Groups form no circle. */
const isPaused = (all: ReadonlyArray<Taken>, monitor: Taken, depth = 0): boolean => {
  if (!isYes(monitor["active"])) return true
  const group = all.find(({ id }) => id === monitor["parent"])
  return group !== undefined && depth < all.length && isPaused(all, group, depth + 1)
}

const labelsOf = ({ monitor: all, monitor_tag, tag: tags }: KumaDatabase, monitor: Taken) => {
  const group = titleOf(all.find(({ id }) => id === monitor["parent"])?.["name"])
  return [
    ...(group === "" ? [] : [["group", group, `group ${group}`] as const]),
    ...monitor_tag
      .filter((one) => one["monitor_id"] === monitor["id"])
      .map(({ tag_id, value }): MovedLabel => {
        const [name, text] = [
          titleOf(tags.find(({ id }) => id === tag_id)?.["name"]),
          plainLine(textOf(value)),
        ]
        return [name, text || "true", `tag ${name}${text === "" ? "" : `: ${text}`}`]
      }),
  ]
}

interface Moving {
  readonly moved: MovedPolicy
  readonly database: KumaDatabase
  readonly receivers: ReadonlyMap<number, string>
}

const routeOf = (
  { database, moved, receivers }: Moving,
  monitor: Taken,
  check: string,
  agent: string,
): void => {
  const named = database.monitor_notification.filter((one) => one["monitor_id"] === monitor["id"])
  const to = named.flatMap((one) => receivers.get(numberOf(one["notification_id"])) ?? [])
  if (named.length > 0 && to.length === 0)
    moved.leave(monitor["name"], "its notifications, so it has no route")
  else moved.route(check, [...new Set(to)], agent)
}

const takeMonitor = (moving: Moving, monitor: Taken): string | undefined => {
  const { database, moved } = moving
  const leave: Leave = (why) => moved.leave(monitor["name"], why)
  if (monitor["type"] === "group")
    return void leave("the group itself, whose monitors are taken over each for itself")
  if (!isYes(monitor["active"])) return void leave("it is paused")
  if (isPaused(database.monitor, monitor)) return void leave("its group is paused")
  if (isYes(monitor["upside_down"])) return void leave("it is upside down")
  const isJob = monitor["type"] === "push"
  const check = moved.id(titleOf(monitor["name"]), "watch")
  if (!(isJob ? takeJob : takeWatch)(moving, monitor, check, leave)) return undefined
  routeOf(moving, monitor, check, agentOf(monitor))
  for (const [column, words] of LEFT) if (!NOT_SET.has(monitor[column])) leave(words)
  return check
}

type Take = (moving: Moving, monitor: Taken, check: string, leave: Leave) => boolean

const takeJob: Take = ({ database, moved }, monitor, check, leave) => {
  const interval = numberOf(monitor["interval"])
  const retries = numberOf(monitor["maxretries"]) * numberOf(monitor["retry_interval"])
  const after = Math.max(SHORTEST_AFTER, interval + retries + MARGIN)
  const job = { title: titleOf(monitor["name"]), integration: "kuma", kind: "push", check } as const
  const isTaken = moved.job(job, { every: `${Math.max(SHORTEST, interval)}s`, after: `${after}s` })
  if (isTaken)
    for (const [, , words] of labelsOf(database, monitor)) leave(`its ${words}; a job has no labels`)
  return isTaken
}

const takeWatch: Take = ({ database, moved }, monitor, name, leave) => {
  const probe = probeOf(moved, name, monitor, leave)
  if (typeof probe === "string") {
    leave(probe)
    return false
  }
  const title = titleOf(monitor["name"])
  const [[kind, options] = ["", {}]] = Object.entries(probe)
  return moved.watch({
    name,
    ...(title !== "" && { title }),
    ...terms(monitor, leave),
    ...moved.labels(title, labelsOf(database, monitor)),
    [kind]: { ...(options as object), ...timeoutOf(monitor, leave) },
  })
}

/** The time zone of a maintenance, which may be that of Kuma's server. */
const zoneOf = ({ setting }: KumaDatabase, one: Taken): string => {
  const own = textOf(one["timezone"])
  if (own !== "" && own !== "SAME_AS_SERVER") return own
  const stored = textOf(setting.find(({ key }) => key === "serverTimezone")?.["value"])
  return textOf(jsonOf(stored)) || stored || "UTC"
}

const takeMaintenance = (
  { database, moved }: Moving,
  one: Taken,
  checks: ReadonlyMap<unknown, string>,
): void => {
  const title = titleOf(one["title"])
  const strategy = String(one["strategy"])
  if (strategy !== "cron") return moved.leave(title, `the maintenance, which is ${strategy}`)
  if (!isYes(one["active"])) return moved.leave(title, "the maintenance, which is not active")
  const [cron, zone, minutes] = [
    textOf(one["cron"]).trim(),
    zoneOf(database, one),
    numberOf(one["duration"]) / 60,
  ]
  if ("message" in parseCron(cron))
    return moved.leave(title, `the maintenance, whose times ${cron} cannot be read`)
  if (!TIME_ZONE_NAME.test(zone)) return moved.leave(title, `the maintenance, whose time zone is ${zone}`)
  if (minutes < 1 || minutes > 10_080)
    return moved.leave(title, "the maintenance, which is shorter than a minute or longer than 7 days")
  const members = database.monitor_maintenance.filter((each) => each["maintenance_id"] === one["id"])
  const taken = members.flatMap((each) => {
    const check = checks.get(each["monitor_id"])
    const monitor = database.monitor.find(({ id }) => id === each["monitor_id"])
    return check === undefined || monitor === undefined ? [] : [{ check, agent: agentOf(monitor) }]
  })
  if (taken.length === 0) return moved.leave(title, "the maintenance, of which no monitor is taken over")
  if (textOf(one["description"]) !== "") moved.leave(title, "the description of the maintenance")
  if (textOf(one["start_date"]) + textOf(one["end_date"]) !== "")
    moved.leave(title, "the first and the last day of the maintenance")
  for (const { agent, check } of taken)
    moved.window(title, {
      name: `${check.slice(0, 45)}-${numberOf(one["id"])}`,
      cron,
      tz: zone,
      for: `${Math.floor(minutes)}m`,
      match: matchOf(check, agent),
    })
}

/** Turns a database of Uptime Kuma into a policy; a text says why it cannot be read. */
export const importKuma = async (file: string): Promise<Result.Result<MovedText, string>> => {
  const read = await readKuma(file)
  if (Result.isFailure(read)) return Result.fail(read.failure)
  const database = read.success
  const moved = new MovedPolicy()
  const notifications = database.notification.map((one) => {
    const config = jsonOf(one["config"])
    return {
      id: numberOf(one["id"]),
      name: textOf(one["name"]),
      config: typeof config === "object" && config !== null ? { ...config } : {},
    }
  })
  const moving = { moved, database, receivers: receiversOfKuma(moved, notifications) }
  const checks = new Map<unknown, string>()
  for (const monitor of database.monitor) {
    const check = takeMonitor(moving, monitor)
    if (check !== undefined) checks.set(monitor["id"], check)
  }
  for (const page of database.status_page) takePage(moving, page, checks)
  for (const one of database.maintenance) takeMaintenance(moving, one, checks)
  return moved.finish(database.monitor.filter(({ type }) => type !== "group").length, "monitors")
}
