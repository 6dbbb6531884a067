import { durationText } from "@tocsin/contract/formats/durationMillis"
import { Result } from "effect"
import { parse } from "yaml"
import { partOf, secondsOf } from "./conditionsOfGatus.ts"
import { notYaml } from "./importPolicy.ts"
import { MovedPolicy, type MovedText, titleOf } from "./MovedPolicy.ts"
import { isMap, type Options, probeOf, text } from "./probeOfGatus.ts"
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
  readonly receivers: ReadonlyMap<string, string>
}

const routeOf = (
  { moved, receivers }: Moving,
  title: string,
  alerts: ReadonlyArray<Options>,
  check: string,
  agent?: string,
): void => {
  const on = alerts.filter((one) => one["enabled"] !== false)
  const to = on.flatMap((one) => receivers.get(text(one["type"])) ?? [])
  if (on.length > 0 && to.length === 0) moved.leave(title, "its alerts, so it has no route")
  else moved.route(check, [...new Set(to)], agent)
}

/** Settings of an endpoint without an equal. */
const LEFT = ["client", "maintenance-windows", "extra-labels", "ui", "always-run", "store"] as const

const takeEndpoint = (moving: Moving, endpoint: Options): void => {
  const { moved } = moving
  const group = text(endpoint["group"])
  const title = titleOf([group, text(endpoint["name"])].filter((one) => one !== "").join(" "))
  const leave = (why: string) => moved.leave(title, why)
  if (endpoint["enabled"] === false) return leave("it is not enabled")
  const name = moved.id(title, "watch")
  const probe = probeOf(moved, name, endpoint, leave)
  if (typeof probe === "string") return leave(probe)
  const [kind, options] = probe
  const conditions: ReadonlyArray<unknown> = Array.isArray(endpoint["conditions"])
    ? endpoint["conditions"]
    : []
  for (const condition of conditions.map(String)) {
    const part = partOf(condition, kind)
    if (part === "none") continue
    if (part === undefined || !put(options, part[0], part[1])) leave(`its condition ${condition}`)
  }
  const interval = secondsOf(endpoint["interval"], 60)
  const every = Math.min(LONGEST, Math.max(SHORTEST, Math.round(interval)))
  if (every !== interval) leave(`its interval of ${interval} s, which is ${every} s now`)
  const alerts = list(endpoint["alerts"])
  const counted = alerts.find(
    (one) => one["failure-threshold"] !== undefined || one["success-threshold"] !== undefined,
  )
  const within = (value: unknown, usual: number) =>
    Math.min(MOST_IN_A_ROW, Math.max(1, Number(value ?? usual)))
  moved.watch({
    name,
    every: durationText(every * 1_000),
    confirm: {
      bad: within(counted?.["failure-threshold"], 3),
      good: within(counted?.["success-threshold"], 2),
    },
    [kind]: options,
  })
  if (group !== "") leave(`its group ${group}; a watch has no labels`)
  for (const setting of LEFT) if (endpoint[setting] !== undefined) leave(`its setting ${setting}`)
  routeOf(moving, title, alerts, name)
}

const takeExternal = (moving: Moving, endpoint: Options): void => {
  const { moved } = moving
  const title = titleOf(
    [text(endpoint["group"]), text(endpoint["name"])].filter((one) => one !== "").join(" "),
  )
  if (endpoint["enabled"] === false) return moved.leave(title, "it is not enabled")
  const heartbeat = isMap(endpoint["heartbeat"]) ? secondsOf(endpoint["heartbeat"]["interval"], 0) : 0
  if (heartbeat === 0) return moved.leave(title, "an external endpoint without a heartbeat is never late")
  const check = moved.id(title, "gatus")
  const every = Math.min(LONGEST, Math.max(SHORTEST, Math.round(heartbeat)))
  moved.job("gatus", "push", check, {
    every: `${every}s`,
    after: `${Math.max(SHORTEST_AFTER, every + MARGIN)}s`,
  })
  routeOf(moving, title, list(endpoint["alerts"]), check, "gatus")
}

/** Turns a configuration of Gatus into a policy; a text says why it cannot be read. */
export const importGatus = (given: string): Result.Result<MovedText, string> => {
  const read = Result.try({
    try: (): unknown => parse(given, { merge: true, maxAliasCount: 100 }),
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
  const moving = { moved, receivers: receiversOf(moved, config["alerting"]) }
  for (const endpoint of list(config["endpoints"])) takeEndpoint(moving, endpoint)
  for (const endpoint of list(config["external-endpoints"])) takeExternal(moving, endpoint)
  for (const suite of list(config["suites"])) moved.leave(suite["name"], "a suite has no equal")
  if (config["maintenance"] !== undefined)
    moved.leave("maintenance", "the maintenance of all endpoints: add a window")
  for (const name of ["announcements", "remote", "tunneling", "concurrency", "connectivity"])
    if (config[name] !== undefined) moved.leave(name, "it has no equal")
  return moved.finish()
}
