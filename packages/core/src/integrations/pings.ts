import type { IntegrationOptions } from "@tocsin/contract/Integrations"
import {
  checkIdOf,
  type Kind,
  lastOutput,
  NOT_FOUND,
  NOTHING_EXPECTED,
  readingOf,
  type Report,
  type SenderRequest,
  type Translate,
  unexplained,
} from "./Report.ts"

const EXIT_CODE = /^(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])$/u

/** The result that the last segment of a path reports. */
const resultOf = (segment: string | undefined): Pick<Report, "exit_code" | "status"> | undefined => {
  if (segment === undefined) return { status: "ok", exit_code: 0 }
  if (segment === "fail") return { status: "critical", exit_code: 1 }
  if (!EXIT_CODE.test(segment)) return undefined
  const exit_code = Number(segment)
  return { status: exit_code === 0 ? "ok" : "critical", exit_code }
}

const isOther = (segment: string | undefined): segment is "start" | "log" =>
  segment === "start" || segment === "log"

const TERMS: ReadonlySet<string> = new Set(["every", "after", "cron", "tz", "grace", "severity"])
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu

/** The check and the signal that a path names, unless it names none. */
const partsOf = (
  path: ReadonlyArray<string>,
  { check }: IntegrationOptions,
): { readonly name: string; readonly segment: string | undefined } | undefined => {
  const [name, segment, ...rest] = check === undefined ? path : [check, ...path]
  if (name === undefined || name === "" || rest.length > 0) return undefined
  // A word that means a signal is no name of a check.
  if (check === undefined && (isOther(name) || resultOf(name) !== undefined)) return undefined
  return { name, segment }
}

const termsOf = (query: SenderRequest["query"]): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(query).filter(([name]) => TERMS.has(name)))

const translatePing: Translate = ({ body, path, query }, { options, sha256 }) => {
  const parts = partsOf(path, options)
  if (parts === undefined) return NOT_FOUND
  const { rid = "" } = query
  if (rid !== "" && !UUID.test(rid)) return { refused: "invalid", message: "rid must be a UUID" }
  const { segment } = parts
  const ofCheck = {
    check_id: checkIdOf(parts.name, sha256),
    rid: rid.toLowerCase(),
    expects: { by: "terms", terms: termsOf(query) },
  } as const
  if (segment === "start") return readingOf({ signal: "start", ...ofCheck })
  const output = lastOutput(body)
  if (segment === "log") return readingOf({ signal: "log", text: output.output ?? "", ...ofCheck })
  const result = resultOf(segment)
  if (result === undefined) return NOT_FOUND
  const otherwise = result.status === "ok" ? undefined : `exit status ${result.exit_code}`
  return readingOf({
    signal: "result",
    ...ofCheck,
    ...result,
    duration_ms: 0,
    ...output,
    ...(otherwise !== undefined && { otherwise }),
  })
}

/**
 * The protocol of Healthchecks: `CHECK`, `CHECK/fail`, `CHECK/N`, `CHECK/start`, `CHECK/log`
 * (docs/rules.md#integrations).
 */
export const ping: Kind = {
  translate: translatePing,
  isLimited: true,
  hasRuns: true,
  mostChecks: 1_000,
  options: ["check", "methods"],
  paths: (key, { check }) => {
    const path = `/${key}${check === undefined ? "/CHECK" : ""}`
    return [path, `${path}/fail`]
  },
}

const LONGEST_PING = 86_400_000
const MILLIS = /^\d+(?:\.\d+)?$/u

const translatePush: Translate = ({ path, query }, { options: { check }, sha256 }) => {
  const named = path[0] === "api" && path[1] === "push" && path.length > 2 ? path.slice(2) : path
  const [name, ...rest] = check === undefined ? named : [check, ...named]
  if (name === undefined || name === "" || rest.length > 0)
    return { refused: "not_found", message: "Monitor not found or not active." }
  const millis = query["ping"] ?? ""
  if (millis !== "" && !(MILLIS.test(millis) && Number(millis) <= LONGEST_PING))
    return {
      refused: "invalid",
      message: `ping must be a number of milliseconds from 0 to ${LONGEST_PING}`,
    }
  const isUp = (query["status"] ?? "up") === "up"
  return readingOf({
    signal: "result",
    check_id: checkIdOf(name, sha256),
    rid: "",
    expects: NOTHING_EXPECTED,
    status: isUp ? "ok" : "critical",
    exit_code: isUp ? 0 : 1,
    duration_ms: Math.round(Number(millis)),
    ...lastOutput(query["msg"] ?? ""),
    ...(!isUp && unexplained(query["status"] ?? "")),
  })
}

/** The push URL of Uptime Kuma: `CHECK?status=up|down&msg=…&ping=MS` (docs/rules.md#integrations). */
export const push: Kind = {
  translate: translatePush,
  isLimited: true,
  hasRuns: false,
  mostChecks: 1_000,
  options: ["check", "methods"],
  paths: (key, { check }) => [`/${key}${check === undefined ? "/CHECK" : ""}?status=up&msg=OK&ping=`],
}
