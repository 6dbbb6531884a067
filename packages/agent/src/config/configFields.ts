import { parseCron } from "@tocsin/contract/formats/CronTimes"
import { TIME_ZONE_NAME, TIME_ZONE_RULE } from "@tocsin/contract/formats/timeZoneName"
import { isSecretLikeLabelKey } from "@tocsin/contract/labels/isSecretLikeLabelKey"
import { withoutTrailing } from "@tocsin/contract/formats/withoutTrailing"
import {
  anyText,
  duration,
  flag,
  integer,
  mapOf,
  oneOf,
  oneOrMore,
  type Place,
  type ReadBy,
  type Reader,
  record,
  refused,
  text,
} from "./Reader.ts"
import { certificateFile } from "./PemFile.ts"
import { placeRules } from "../watches/PlaceRules.ts"
import { disk } from "../probes/disk.ts"
import { dns } from "../probes/dns.ts"
import { file } from "../probes/file.ts"
import { http } from "../probes/http.ts"
import { load } from "../probes/load.ts"
import { log } from "../probes/log.ts"
import { memory } from "../probes/memory.ts"
import { mount } from "../probes/mount.ts"
import { ping } from "../probes/ping.ts"
import { processes } from "../probes/processes.ts"
import { systemd } from "../probes/systemd.ts"
import { tcp, unix } from "../probes/tcp.ts"
import { tls } from "../probes/tls.ts"
import { websocket } from "../probes/websocket.ts"

const ID = {
  form: /^[A-Za-z0-9._:-]{1,128}$/,
  expected: "1 to 128 letters, digits or the characters . _ : -",
}

export const idText = text({ max: 128, ...ID })

export const incidentKey = text({ max: 256 })

const MAX_CHECKS = 1_000
const MAX_SERVERS = 8

/** The address of a server, with a path if a proxy serves it under one. */
const serverUrl: Reader<string> = (value, place) => {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined
  const isAddress =
    url !== undefined &&
    ["http:", "https:"].includes(url.protocol) &&
    url.username + url.password + url.search + url.hash === ""
  if (isAddress && typeof value === "string") return withoutTrailing(value, "/")
  const expected = "an address such as https://monitor.example:8080, without a user, query or fragment"
  return refused(place, `must be ${expected}`)
}

/** One server, or several in the order in which they are tried. */
export const servers = oneOrMore(serverUrl, MAX_SERVERS)

/** As many as the server allows. */
const MAX_LABELS = 32

const LABEL_KEY = {
  form: /^[A-Za-z0-9._:-]{1,64}$/,
  expected: "1 to 64 letters, digits or the characters . _ : -",
}

/** The server refuses a heartbeat with a label that looks like a secret, and drops such a label of a check. */
const labels =
  (max: number): Reader<ReadonlyMap<string, string>> =>
  (value, place) => {
    const read = mapOf(labelValue, { max, ...LABEL_KEY })(value, place)
    const message = "has a name that looks like a secret: remove the label or rename it"
    for (const key of read?.keys() ?? [])
      if (isSecretLikeLabelKey(key)) place.refuse(message, [...place.path, key])
    return read
  }

const labelValue: Reader<string> = (value, place) => (value === "" ? "" : text({ max: 256 })(value, place))

const ENV_NAME = { form: /^[A-Za-z_][A-Za-z0-9_]*$/, expected: "letters, digits and _" }

const SECONDS_LIMIT = "31d"

const confirm = record({
  bad: integer({ min: 1, max: 100 }),
  good: integer({ min: 1, max: 100 }),
  every: duration({ max: "1d" }),
})

/** Judged as the server judges it: one refused schedule would keep others from being declared. */
const cron: Reader<string> = (value, place) => {
  const written = text({ max: 256 })(value, place)
  if (written === undefined) return undefined
  const times = parseCron(written)
  return "message" in times ? refused(place, times.message) : written
}

const timeZone: Reader<string> = (value, place) => {
  try {
    if (typeof value === "string" && TIME_ZONE_NAME.test(value)) {
      // Throws for a name that it does not know.
      Intl.DateTimeFormat("en", { timeZone: value })
      return value
    }
  } catch {
    // Said below.
  }
  return refused(place, TIME_ZONE_RULE)
}

const argv = oneOrMore(anyText, 1_000)

const NO_COMMAND =
  'must be a list of the program and its arguments, such as [check_load, -w, "5"]; shell takes a command line'

/** A command line is not shown: it may have a password. */
const command: Reader<ReadonlyArray<string>> = (value, place) =>
  Array.isArray(value) ? argv(value, place) : refused(place, NO_COMMAND)

/** The keys of a check that name a probe. */
export const probeFields = {
  http,
  tcp,
  tls,
  dns,
  ping,
  websocket,
  unix,
  disk,
  mount,
  file,
  log,
  memory,
  load,
  process: processes,
  systemd,
}

export const PROBE_NAMES = Object.keys(probeFields) as ReadonlyArray<keyof typeof probeFields>

/** As many as the server keeps of a check. */
const MAX_NUMBERS = 20

/** The fields that `defaults` may set for every check. */
const sharedFields = {
  every: duration({ max: SECONDS_LIMIT }),
  timeout: duration({ max: "1d" }),
  env: mapOf(anyText, { max: 100, ...ENV_NAME }),
  notifications_enabled: flag,
  confirm,
  grace: duration({ max: "7d" }),
  severity: oneOf("warning", "critical", "unknown"),
  incident: oneOf("own", "agent"),
}

const checkFields = {
  ...sharedFields,
  ...probeFields,
  command,
  shell: anyText,
  incident_key: incidentKey,
  labels: labels(MAX_LABELS),
  numbers: oneOrMore(text({ max: 256 }), MAX_NUMBERS),
  report_only: flag,
  cron,
  tz: timeZone,
}

const checks = mapOf(record(checkFields), { max: MAX_CHECKS, ...ID })

/** The keys of config.yaml. */
export const configReader = record({
  server: servers,
  ca_file: certificateFile,
  enrolment_token_file: text({ max: 4_096 }),
  agent_id: idText,
  hostname: text({ max: 253 }),
  // One is the agent's own.
  labels: labels(MAX_LABELS - 1),
  max_parallel: integer({ min: 1, max: 256 }),
  metrics_port: integer({ min: 1, max: 65_535 }),
  place: placeRules,
  defaults: record(sharedFields),
  checks,
})

/** The keys of a file in checks.d. */
export const checksReader = record({ checks })

export type ConfigFile = ReadBy<typeof configReader>
export type SharedFields = Exclude<ConfigFile["defaults"], undefined>
export type CheckFields = ConfigFile["checks"] extends ReadonlyMap<string, infer C> | undefined ? C : never

/** Judges fields that a check needs, or may not have together. */
export const judgeCheck = (check: CheckFields, place: Place): void => {
  const works = ["command", "shell", ...PROBE_NAMES].filter((name) => name in check)
  if (check.report_only === true) judgeReported(check, works, place)
  else {
    const all = `command, shell, ${PROBE_NAMES.join(", ")}`
    if (works.length === 0) refused(place, `must have one of ${all}, or report_only: true`)
    if (works.length > 1) refused(place, `must have only one of ${works.join(", ")}`)
    if (check.env !== undefined && works.some((name) => name !== "command" && name !== "shell"))
      place.refuse("has no meaning with a probe: remove it", [...place.path, "env"])
    if (check.log !== undefined && (check.confirm?.bad ?? 1) > 1)
      place.refuse("must be 1 with log: each line is in one result only", [...place.path, "confirm", "bad"])
    for (const name of ["cron", "tz"] as const) {
      if (name in check) place.refuse("is for report_only checks: use every", [...place.path, name])
    }
  }
}

const judgeReported = (check: CheckFields, works: ReadonlyArray<string>, place: Place): void => {
  for (const name of [...works, "timeout", "env", "confirm", "numbers"]) {
    if (name in check) place.refuse("has no meaning with report_only: remove it", [...place.path, name])
  }
  const hasCron = "cron" in check || "tz" in check
  if (hasCron && check.every !== undefined) refused(place, "must have either every or cron and tz")
  if (hasCron && !("cron" in check && "tz" in check)) refused(place, "must have cron and tz together")
}
