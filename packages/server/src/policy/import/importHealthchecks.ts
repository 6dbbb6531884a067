import { parseCron } from "@tocsin/contract/formats/CronTimes"
import { Result } from "effect"
import { MovedPolicy, type MovedText, titleOf } from "./MovedPolicy.ts"

/** The shortest time without a report that may make a check late, in seconds. */
const SHORTEST_AFTER = 120
const SHORTEST = 10

interface Check {
  readonly [name: string]: unknown
}

const isCheck = (value: unknown): value is Check => typeof value === "object" && value !== null

const text = (value: unknown): string => (typeof value === "string" ? value.trim() : "")

const FILTERS = [
  "filter_subject",
  "filter_body",
  "filter_http_body",
  "filter_default_fail",
  "manual_resume",
  "subject",
  "subject_fail",
  "start_kw",
  "success_kw",
  "failure_kw",
] as const

const takeCheck = (moved: MovedPolicy, check: Check): void => {
  const title = titleOf(check["name"])
  const leave = (why: string) => moved.leave(title, why)
  if (check["status"] === "paused") return leave("it is paused")
  const grace = Number(check["grace"] ?? 0)
  const [schedule, timeout] = [text(check["schedule"]), Number(check["timeout"] ?? 0)]
  if (schedule !== "" && "message" in parseCron(schedule))
    return leave(`its schedule ${schedule} is no cron of five fields`)
  if (schedule === "" && !(timeout > 0)) return leave("it has neither a timeout nor a schedule")
  const job = {
    title,
    integration: "healthchecks",
    kind: "ping",
    check: moved.id(title, "healthchecks"),
  } as const
  const isTaken = moved.job(
    job,
    schedule === ""
      ? { every: `${Math.max(SHORTEST, timeout)}s`, after: `${Math.max(SHORTEST_AFTER, timeout + grace)}s` }
      : { cron: schedule, tz: text(check["tz"]) || "UTC", ...(grace > 0 && { grace: `${grace}s` }) },
  )
  if (!isTaken) return
  const filters = FILTERS.filter((name) => check[name] === true || text(check[name]) !== "")
  if (filters.length > 0) leave(`its settings ${filters.join(", ")}`)
  if (text(check["methods"]) !== "") leave(`its methods ${text(check["methods"])}`)
  if (text(check["tags"]) !== "") leave(`its tags ${text(check["tags"])}`)
  if (text(check["desc"]) !== "") leave("its description")
  if (text(check["channels"]) !== "")
    leave("its channels, whose addresses the API does not give: add a route")
}

/** Turns the answer of Healthchecks' list of checks into a policy; a text says why it cannot be read. */
export const importHealthchecks = (given: string): Result.Result<MovedText, string> => {
  const read = Result.try((): unknown => JSON.parse(given))
  const checks: unknown = Result.isSuccess(read) ? Object(read.success).checks : undefined
  if (!Array.isArray(checks) || !checks.every((one) => isCheck(one) && "grace" in one))
    return Result.fail(
      "it is not the JSON of GET /api/v3/checks/ of Healthchecks: name a file with that answer",
    )
  const moved = new MovedPolicy()
  for (const check of checks) takeCheck(moved, check)
  return moved.finish(checks.length, "checks")
}
