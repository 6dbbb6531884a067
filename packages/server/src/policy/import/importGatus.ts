import { durationText } from "@tocsin/contract/formats/durationMillis"
import { Result } from "effect"
import { parse } from "yaml"
import { partOf, secondsOf } from "./conditionsOfGatus.ts"
import { notYaml } from "./importPolicy.ts"
import { MovedPolicy, type MovedText, titleOf } from "./MovedPolicy.ts"
import { text } from "./movedReceivers.ts"
import { isMap, type Options, probeOf } from "./probeOfGatus.ts"
import { receiversOf } from "./receiversOfGatus.ts"

const SHORTEST = 10
const LONGEST = 86_400
const SHORTEST_AFTER = 120
const MARGIN = 60
const MOST_IN_A_ROW = 10

/** Puts a part into options; nothing may be there already. */
const put = (options: Options, [name = "", ...rest]: ReadonlyArray<string>, value: unknown): boolean => {
  if (rest.length === 0) {
    if (Object.hasOwn(options, name)) return false
    options[name] = value
    return true
  }
  const inner = isMap(options[name]) ? options[name] : {}
  options[name] = inner
  return put(inner, rest, value)
}

const list = (value: unknown): ReadonlyArray<Options> => (Array.isArray(value) ? value.filter(isMap) : [])

interface Moving {
  readonly moved: MovedPolicy
  readonly alerting: Options
  readonly receivers: ReadonlyMap<string, string>
}

/** The alerts of an endpoint that are on, with what their providers give to all. */
const alertsOf = ({ alerting }: Moving, endpoint: Options): ReadonlyArray<Options> =>
  list(endpoint["alerts"])
    .map((one) => {
      const provider = alerting[text(one["type"])]
      const usual = isMap(provider) ? provider["default-alert"] : undefined
      return { ...(isMap(usual) && usual), ...one }
    })
    .filter((one) => one["enabled"] !== false)

const routeOf = (
  moving: Moving,
  title: string,
  alerts: ReadonlyArray<Options>,
  check: string,
  agent?: string,
): void => {
  const { moved, receivers } = moving
  const to = alerts.flatMap((one) => receivers.get(text(one["type"])) ?? [])
  if (alerts.length > 0 && to.length === 0) moved.leave(title, "its alerts, so it has no route")
  else moved.route(check, [...new Set(to)], agent)
  const others = new Set(alerts.flatMap((one) => Object.keys(one)).filter((name) => !OF_ALERTS.has(name)))
  for (const name of others) moved.leave(title, `the setting ${name} of its alerts`)
}

const keysIn = (names: string): ReadonlySet<string> => new Set(names.split(" "))
const OF_ALERTS = keysIn("type enabled failure-threshold success-threshold send-on-resolved")
/** Settings of an endpoint that are taken over, or named with more words. */
const OF_ENDPOINT = keysIn(
  "enabled name group url method headers body graphql dns interval conditions alerts client",
)
const OF_EXTERNAL = keysIn("enabled name group token heartbeat alerts")
/** Parts of a configuration that are read, and those of the program itself. */
const OF_CONFIG = keysIn(
  "endpoints external-endpoints suites alerting maintenance web storage security ui metrics",
)

const nameOthers = (moved: MovedPolicy, title: string, given: Options, known: ReadonlySet<string>): void => {
  for (const [name, value] of Object.entries(given))
    if (!known.has(name) && value !== false) moved.leave(title, `its setting ${name}`)
}

const thresholdOf = (value: unknown, usual: number, leave: (why: string) => void): number => {
  const given = Math.max(1, Math.round(Number(value ?? usual)) || usual)
  if (given > MOST_IN_A_ROW) leave(`its threshold of ${given}, of which ${MOST_IN_A_ROW} stay`)
  return Math.min(MOST_IN_A_ROW, given)
}

/** Name and group of an endpoint, by which it is named, and as its watch has them. */
const namesOf = (endpoint: Options) => {
  const [group, title] = [titleOf(text(endpoint["group"])), titleOf(text(endpoint["name"]))]
  return { group, title, both: titleOf([group, title].filter((one) => one !== "").join(" ")) }
}

const takeEndpoint = (moving: Moving, endpoint: Options): void => {
  const { moved } = moving
  const { both, group, title } = namesOf(endpoint)
  const leave = (why: string) => moved.leave(both, why)
  if (endpoint["enabled"] === false) return leave("it is not enabled")
  const name = moved.id(both, "watch")
  const probe = probeOf(moved, name, endpoint, leave)
  if (typeof probe === "string") return leave(probe)
  const [kind, options] = probe
  const conditions = Array.isArray(endpoint["conditions"]) ? endpoint["conditions"].map(String) : []
  // Without a condition on it, Gatus takes every status.
  if (kind === "http" && !conditions.some((one) => one.includes("[STATUS]")))
    put(options, ["expect", "status"], ["100-599"])
  for (const condition of conditions) {
    const part = partOf(condition, probe)
    if (part === "none") continue
    if (part === undefined || !put(options, part[0], part[1])) leave(`its condition ${condition}`)
  }
  const interval = secondsOf(endpoint["interval"], 60)
  const every = Math.min(LONGEST, Math.max(SHORTEST, Math.round(interval)))
  if (every !== interval) leave(`its interval of ${interval} s, which is ${every} s now`)
  const alerts = alertsOf(moving, endpoint)
  const counted = alerts.find(
    (one) => one["failure-threshold"] !== undefined || one["success-threshold"] !== undefined,
  )
  const isTaken = moved.watch({
    name,
    ...(title !== "" && { title }),
    every: durationText(every * 1_000),
    confirm: {
      bad: thresholdOf(counted?.["failure-threshold"], 3, leave),
      good: thresholdOf(counted?.["success-threshold"], 2, leave),
    },
    ...moved.labels(both, group === "" ? [] : [["group", group, `group ${group}`]]),
    [kind]: options,
  })
  if (!isTaken) return
  nameOthers(moved, both, endpoint, OF_ENDPOINT)
  routeOf(moving, both, alerts, name)
}

const takeExternal = (moving: Moving, endpoint: Options): void => {
  const { moved } = moving
  const { both, group } = namesOf(endpoint)
  if (endpoint["enabled"] === false) return moved.leave(both, "it is not enabled")
  const heartbeat = isMap(endpoint["heartbeat"]) ? secondsOf(endpoint["heartbeat"]["interval"], 0) : 0
  if (heartbeat === 0) return moved.leave(both, "an external endpoint without a heartbeat is never late")
  const check = moved.id(both, "gatus")
  const every = Math.max(SHORTEST, Math.round(heartbeat))
  const job = { title: both, integration: "gatus", kind: "push", check } as const
  const after = `${Math.max(SHORTEST_AFTER, every + MARGIN)}s`
  if (!moved.job(job, { every: `${every}s`, after })) return
  if (group !== "") moved.leave(both, `its group ${group}; a job has no labels`)
  const alerts = alertsOf(moving, endpoint)
  if (alerts.some((one) => one["failure-threshold"] !== undefined || one["success-threshold"] !== undefined))
    moved.leave(both, "the thresholds of its alerts")
  nameOthers(moved, both, endpoint, OF_EXTERNAL)
  routeOf(moving, both, alerts, check, "gatus")
}

/** Several for each endpoint; those of aliases count as often as these are used. */
const MOST_ALIASES = 10_000

/** Turns a configuration of Gatus into a policy; a text says why it cannot be read. */
export const importGatus = (given: string): Result.Result<MovedText, string> => {
  const read = Result.try({
    try: (): unknown => parse(given, { merge: true, maxAliasCount: MOST_ALIASES, logLevel: "error" }),
    catch: notYaml,
  })
  if (Result.isFailure(read)) return Result.fail(read.failure)
  const config = read.success
  if (
    !isMap(config) ||
    !["endpoints", "external-endpoints", "suites"].some((name) => Array.isArray(config[name]))
  )
    return Result.fail("it is not a configuration of Gatus, which has endpoints: name that file")
  const moved = new MovedPolicy()
  const alerting = isMap(config["alerting"]) ? config["alerting"] : {}
  const moving = { moved, alerting, receivers: receiversOf(moved, alerting) }
  for (const endpoint of list(config["endpoints"])) takeEndpoint(moving, endpoint)
  for (const endpoint of list(config["external-endpoints"])) takeExternal(moving, endpoint)
  for (const suite of list(config["suites"])) moved.leave(suite["name"], "a suite has no equal")
  if (config["maintenance"] !== undefined)
    moved.leave("maintenance", "the maintenance of all endpoints: add a window")
  for (const name of Object.keys(config)) if (!OF_CONFIG.has(name)) moved.leave(name, "it has no equal")
  const all = ["endpoints", "external-endpoints", "suites"].flatMap((name) => list(config[name]))
  return moved.finish(all.length, "endpoints")
}
