import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import { firstOutput, lastOutput } from "@tocsin/contract/formats/outputText"
import { scheduleWarnings } from "@tocsin/contract/overdue/scheduleWarnings"
import { ANY_TEXT, type Kind } from "./Kind.ts"
import {
  checkIdOf,
  NOT_FOUND,
  NOTHING_EXPECTED,
  readingOf,
  invalid,
  type Refusal,
  type SenderRequest,
  type Translate,
  unexplained,
} from "./Report.ts"
import { FAILED, isGood, OK, readSignals, shownName, type Signal, signalOfSegment } from "./signals.ts"

const TERMS: ReadonlySet<string> = new Set(["every", "after", "cron", "tz", "grace", "severity", "incident"])
/** Clients of Healthchecks send `create`; the option of that name decides here. */
const OF_PING: ReadonlySet<string> = new Set([...TERMS, "rid", "create", "status", "exit_code", "warning"])
const PARAMETERS = { known: OF_PING, stateless: new Set([...TERMS, "warning"]) }
/** The signals of Healthchecks, which are no names of checks. */
const SIGNAL = /^(?:start|fail|log|\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])$/u
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu

/** The check and the signal that a path names, unless it names none. */
const partsOf = (
  path: ReadonlyArray<string>,
  { check }: IntegrationOptions,
): { readonly name: string; readonly segment: string | undefined } | undefined => {
  const [name, segment, ...rest] = check === undefined ? path : [check, ...path]
  if (name === undefined || name === "" || rest.length > 0) return undefined
  // A word that means a signal is no name of a check.
  if (check === undefined && SIGNAL.test(name)) return undefined
  return { name, segment }
}

/** The terms that a query declares. No zone has a space: a plus sign of Etc/GMT+5 that was not encoded reads as one. */
export const termsOf = (query: SenderRequest["query"]) =>
  Object.fromEntries(
    query.flatMap(([name, value]) =>
      TERMS.has(name) ? [[name, name === "tz" ? value.replaceAll(" ", "+") : value]] : [],
    ),
  )

/** Names parameters that a kind does not have; a report counts without them. */
const ignoring = (query: SenderRequest["query"], known: ReadonlySet<string>): ReadonlyArray<Refusal> => {
  const unknown = query.find(([name]) => !known.has(name))?.[0]
  if (unknown === undefined) return []
  const names = Array.from(known).join(", ")
  return [{ refused: "ignored", message: `the parameter ${shownName(unknown)} is ignored: use ${names}` }]
}

/** Parameters of a ping that are ignored. */
const ignoredOf = (query: SenderRequest["query"]): ReadonlyArray<Refusal> => {
  const { rid = "", ...terms } = Object.fromEntries(query)
  const [name, value = ""] = query.at(-1) ?? []
  return [
    ...scheduleWarnings(terms).map(({ message, path }) => `${path.join()} ${message}`),
    ...(rid === "" || UUID.test(rid) ? [] : ["the rid is ignored: use a UUID"]),
    // An exit status behind `cron=0 3 * * *` makes `0 3 * * */1` of it.
    ...(name === "cron" && /\/\d+$/u.test(value)
      ? ["cron ends in a step: put tz behind it, so that an exit status is none"]
      : []),
  ].map((message): Refusal => ({ refused: "ignored", message }))
}

const translatePing: Translate = ({ body, droppedBytes = 0, path, query: given }, { options, sha256 }) => {
  const parts = partsOf(path, options)
  const ofPath = parts?.segment === undefined ? undefined : signalOfSegment(parts.segment)
  if (parts === undefined || (parts.segment !== undefined && ofPath === undefined)) return NOT_FOUND
  const { query, signal = OK, unread } = readSignals(ofPath, given, PARAMETERS)
  if (unread !== undefined && isGood(signal)) return unread
  const { rid = "" } = Object.fromEntries(query)
  const ignored = [
    ...(unread === undefined ? [] : [{ ...unread, refused: "ignored" } as const]),
    ...ignoredOf(query),
    ...ignoring(query, OF_PING),
  ]
  const ofCheck = {
    check_id: checkIdOf(parts.name, sha256),
    rid: UUID.test(rid) ? rid.toLowerCase() : "",
    expects: { by: "terms", terms: termsOf(query) },
  } as const
  if (signal === "start") return readingOf({ signal, ...ofCheck }, ignored)
  const text = (end?: string) => lastOutput(body, { end, droppedBytes })
  if (signal === "log") return readingOf({ signal, text: text().output ?? "", ...ofCheck }, ignored)
  const { end, ...result } = signal
  return readingOf(
    {
      signal: "result",
      ...ofCheck,
      ...result,
      duration_ms: 0,
      ...(body === "" ? { output_truncated: false } : text(end)),
      job: { text: body, droppedBytes, end },
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
  options: ["check", "methods", "schedule"],
  paths: (key, { check }) => {
    const path = `/${key}${check === undefined ? "/CHECK" : ""}`
    return [path, `${path}/fail`]
  },
}

const LONGEST_PING = 86_400_000
const OF_PUSH: ReadonlySet<string> = new Set(["status", "msg", "ping"])
const STATES_OF_PUSH = { known: new Set(["ping"]), stateless: new Set(["status", "msg"]) }
const MILLIS = /^\d+(?:\.\d+)?$/u

const translatePush: Translate = ({ path, query: given }, { options: { check }, sha256 }) => {
  const named = path[0] === "api" && path[1] === "push" && path.length > 2 ? path.slice(2) : path
  const [name, ...rest] = check === undefined ? named : [check, ...named]
  if (name === undefined || name === "" || rest.length > 0)
    return { refused: "not_found", message: "Monitor not found or not active." }
  const { query, signal = OK, unread } = readSignals(undefined, given, STATES_OF_PUSH)
  const { msg = "", ping: millis = "" } = Object.fromEntries(query)
  // Of an address to which another status was added, any status that is bad counts.
  const bad = query.find(
    ([parameter, value]) => parameter === "status" && value !== "up" && value !== "",
  )?.[1]
  const ended: Signal = bad === undefined ? signal : { ...FAILED, ...unexplained(bad) }
  if (typeof ended === "string") return invalid(`this kind takes no ${ended}: use status=up or status=down`)
  const isUp = isGood(ended)
  if (isUp && unread !== undefined) return unread
  const { end: _, ...result } = ended
  const isTime = millis === "" || (MILLIS.test(millis) && Number(millis) <= LONGEST_PING)
  const message = `ping must be a number of milliseconds from 0 to ${LONGEST_PING}; the report is stored without it`
  return readingOf(
    {
      signal: "result",
      check_id: checkIdOf(name, sha256),
      rid: "",
      expects: NOTHING_EXPECTED,
      ...result,
      // A time below a millisecond is stated too; 0 is none.
      duration_ms: isTime ? Math.max(Math.round(Number(millis)), Math.sign(Number(millis))) : 0,
      ...firstOutput(msg),
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
