import type { IntegrationOptions } from "@tocsin/contract/Integrations"
import { firstOutput, lastOutput } from "@tocsin/contract/outputText"
import { ANY_TEXT, type Kind } from "./Kind.ts"
import {
  checkIdOf,
  NOT_FOUND,
  NOTHING_EXPECTED,
  readingOf,
  type Refusal,
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

const TERMS: ReadonlySet<string> = new Set(["every", "after", "cron", "tz", "grace", "severity", "incident"])
/** Clients of Healthchecks send `create`; the option of that name decides here. */
const OF_PING: ReadonlySet<string> = new Set([...TERMS, "rid", "create"])
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu

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

/** The terms that a query declares. No zone has a space: a plus sign of Etc/GMT+5 that was not encoded reads as one. */
export const termsOf = (query: SenderRequest["query"]) =>
  Object.fromEntries(
    query.flatMap(([name, value]) =>
      TERMS.has(name) ? [[name, name === "tz" ? value.replaceAll(" ", "+") : value]] : [],
    ),
  )

const LONGEST_SHOWN = 40
const ELSEWHERE = /[^\w.-]/gu

/** Names parameters that a kind does not have; a report counts without them. */
const ignoring = (query: SenderRequest["query"], known: ReadonlySet<string>): ReadonlyArray<Refusal> => {
  const unknown = query.find(([name]) => !known.has(name))?.[0]
  if (unknown === undefined) return []
  const shown = unknown.slice(0, LONGEST_SHOWN).replaceAll(ELSEWHERE, "?")
  const names = Array.from(known).join(", ")
  return [{ refused: "ignored", message: `the parameter ${shown} is ignored: use ${names}` }]
}

const translatePing: Translate = ({ body, path, query }, { options, sha256 }) => {
  const parts = partsOf(path, options)
  if (parts === undefined) return NOT_FOUND
  const { rid = "" } = Object.fromEntries(query)
  const isTied = UUID.test(rid)
  const ignored: ReadonlyArray<Refusal> = [
    ...(rid === "" || isTied
      ? []
      : [{ refused: "ignored", message: "the rid is ignored: use a UUID" } as const]),
    ...ignoring(query, OF_PING),
  ]
  const { segment } = parts
  const ofCheck = {
    check_id: checkIdOf(parts.name, sha256),
    rid: isTied ? rid.toLowerCase() : "",
    expects: { by: "terms", terms: termsOf(query) },
  } as const
  if (segment === "start") return readingOf({ signal: "start", ...ofCheck }, ignored)
  if (segment === "log")
    return readingOf({ signal: "log", text: lastOutput(body).output ?? "", ...ofCheck }, ignored)
  const result = resultOf(segment)
  if (result === undefined) return NOT_FOUND
  const failed = segment === "fail" ? "failed" : `exit ${result.exit_code}`
  const end = result.status === "ok" ? undefined : failed
  const job = { text: body, end }
  return readingOf(
    {
      signal: "result",
      ...ofCheck,
      ...result,
      duration_ms: 0,
      ...(body === "" ? { output_truncated: false } : lastOutput(body, job)),
      ...(end !== undefined && { otherwise: `exit status ${result.exit_code}` }),
      job,
    },
    ignored,
  )
}

/**
 * The protocol of Healthchecks: `CHECK`, `CHECK/fail`, `CHECK/N`, `CHECK/start`, `CHECK/log`
 * (docs/rules.md#integrations).
 */
export const ping: Kind = {
  protocol: {
    ...ANY_TEXT,
    methods: ["GET", "POST"],
    contentType: "text/plain",
    fields: { "ping-body-limit": "8192" },
    say: (failure, ignored) => failure?.message ?? (ignored === "" ? "OK" : `OK\n${ignored}`),
  },
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
const OF_PUSH: ReadonlySet<string> = new Set(["status", "msg", "ping"])
const MILLIS = /^\d+(?:\.\d+)?$/u

const translatePush: Translate = ({ path, query }, { options: { check }, sha256 }) => {
  const named = path[0] === "api" && path[1] === "push" && path.length > 2 ? path.slice(2) : path
  const [name, ...rest] = check === undefined ? named : [check, ...named]
  if (name === undefined || name === "" || rest.length > 0)
    return { refused: "not_found", message: "Monitor not found or not active." }
  const { msg = "", ping: millis = "" } = Object.fromEntries(query)
  // Of an address to which another status was added, any status that is bad counts.
  const bad = query.find(([parameter, value]) => parameter === "status" && value !== "up")?.[1]
  const isUp = bad === undefined
  const isTime = millis === "" || (MILLIS.test(millis) && Number(millis) <= LONGEST_PING)
  const message = `ping must be a number of milliseconds from 0 to ${LONGEST_PING}; the report is stored without it`
  return readingOf(
    {
      signal: "result",
      check_id: checkIdOf(name, sha256),
      rid: "",
      expects: NOTHING_EXPECTED,
      status: isUp ? "ok" : "critical",
      exit_code: isUp ? 0 : 1,
      // A time below a millisecond is stated too; 0 is none.
      duration_ms: isTime ? Math.max(Math.round(Number(millis)), Math.sign(Number(millis))) : 0,
      ...firstOutput(msg),
      ...(!isUp && unexplained(bad)),
    },
    [
      ...(isTime ? [] : [{ refused: isUp ? "invalid" : "ignored", message } as const]),
      ...ignoring(query, OF_PUSH),
    ],
  )
}

/** The push URL of Uptime Kuma: `CHECK?status=up|down&msg=…&ping=MS` (docs/rules.md#integrations). */
export const push: Kind = {
  protocol: {
    ...ANY_TEXT,
    methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    contentType: "application/json",
    say: (failure) =>
      JSON.stringify(failure === undefined ? { ok: true } : { ok: false, msg: failure.message }),
  },
  translate: translatePush,
  isLimited: true,
  hasRuns: false,
  mostChecks: 1_000,
  options: ["check", "methods"],
  paths: (key, { check }) => [`/${key}${check === undefined ? "/CHECK" : ""}?status=up&msg=OK&ping=`],
}
