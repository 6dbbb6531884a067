import type { Confirmation as ConfirmedBy } from "@tocsin/contract/checks/confirmResult"
import { PLACE_CHECKS } from "@tocsin/contract/watches/watchOptions"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { hostname as systemHostname } from "node:os"
import { dirname, join, resolve } from "node:path"
import type { ProbeConfig } from "../probes/Probe.ts"
import {
  type CheckFields,
  checksReader,
  type ConfigFile,
  configReader,
  judgeCheck,
  PROBE_NAMES,
  type SharedFields,
} from "./configFields.ts"
import { codeOf, type Place, type Problem, type Reader } from "./Reader.ts"
import { readYaml, type YamlText } from "./readYaml.ts"

type Work =
  | { readonly kind: "command"; readonly argv: ReadonlyArray<string> }
  | { readonly kind: "probe"; readonly probe: ProbeConfig }

/** How many results in a row confirm a change of status, and how soon an unconfirmed check runs again. */
export type Confirmation = ConfirmedBy & { readonly everyMillis: number }

/** A check that the agent runs, or one whose results come from `report` and `run`. */
export type CheckConfig = ReturnType<typeof toCheck>
export type RunCheck = Extract<CheckConfig, { readonly kind: "run" }>

/** A whole configuration, with defaults filled in. */
export type AgentConfig = Exclude<ReturnType<typeof readConfig>["config"], undefined>

/** How many checks there are, in words. */
export const checksText = (count: number): string => (count === 1 ? "1 check" : `${count} checks`)

export const OWN_CHECK_ID = "tocsin-agent"

const DEFAULT_EVERY = 60_000
const DEFAULT_TIMEOUT = 30_000
const DEFAULT_CONFIRM_EVERY = 10_000
/** A check that hangs until its timeout, with default times, takes half a place. */
const DEFAULT_PARALLEL = 32
const MAX_CHECKS = 999

/** Given with the command line: they precede the file. */
export interface GivenConfig {
  readonly servers?: ReadonlyArray<string> | undefined
  readonly enrolmentToken?: string | undefined
}

/**
 * The checks of a host without a configuration. Hosts start busy, so the load of the last minute does not count; a
 * confirmation would keep a busy host from its first result.
 */
const FIRST_CHECKS =
  'checks:\n  disk: { disk: {} }\n  load: { load: { warning: "~:,3,2", critical: "~:,6,4" } }\n  memory: { memory: {} }\n'

/** The configuration of `FILE` and `checks.d/*.yaml` beside it, or everything that is wrong with it. */
export const readConfig = (file: string, given: GivenConfig = {}) => {
  const problems: Array<Problem> = []
  const reading = { problems, folder: dirname(file) }
  const main =
    given.servers !== undefined && !existsSync(file)
      ? parse(file, FIRST_CHECKS, configReader, reading)
      : readFile(file, configReader, reading)
  const others = checkFiles(file, problems).map((path) => readFile(path, checksReader, reading))
  const checks = collect([main, ...others], main.read?.defaults ?? {}, problems)
  const servers = given.servers ?? main.read?.server
  if (main.read !== undefined && servers === undefined && !problems.some(({ file: at }) => at === file))
    problems.push(main.yaml.locate([], "must have server: the address of the Tocsin server"))
  const token = readToken(main, problems)
  if (main.read?.place?.rules !== undefined)
    for (const id of checks.keys())
      if (id.startsWith(PLACE_CHECKS)) problems.push(main.yaml.locate(["place"], clashOf(id)))
  if (checks.size > MAX_CHECKS)
    problems.push(main.yaml.locate(["checks"], `must be at most ${MAX_CHECKS} in all files`))
  if (problems.length > 0 || main.read === undefined)
    return { config: undefined, problems: problems.toSorted((a, b) => compareProblems(a, b)) }
  const config = {
    ...identityOf(main.read),
    servers: servers ?? [],
    /** The token by which the server accepts this agent without an operator. */
    enrolmentToken: given.enrolmentToken ?? token,
    /** The authorities to trust. */
    ca: main.read.ca_file,
    maxParallel: main.read.max_parallel ?? DEFAULT_PARALLEL,
    metricsPort: main.read.metrics_port,
    /** Its rules as a place; absent if it is none. */
    place: main.read.place?.rules,
    checks,
  }
  return { config, problems }
}

const clashOf = (id: string): string =>
  `reports watches as checks whose names begin with watch:, so rename the check ${id}`

const compareProblems = (a: Problem, b: Problem): number =>
  a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1

interface FileRead<A> {
  readonly file: string
  readonly yaml: YamlText
  readonly read: A | undefined
}

/** The problems so far, and the folder from which paths begin. */
interface Reading {
  readonly problems: Array<Problem>
  readonly folder: string
}

const readFile = <A>(file: string, reader: Reader<A>, reading: Reading): FileRead<A> => {
  let text = ""
  try {
    text = readFileSync(file, "utf8")
  } catch (error) {
    reading.problems.push({ file, line: 1, path: "", message: `cannot be read (${codeOf(error)})` })
  }
  return parse(file, text, reader, reading)
}

const parse = <A>(
  file: string,
  text: string,
  reader: Reader<A>,
  { problems, folder }: Reading,
): FileRead<A> => {
  const yaml = readYaml(file, text)
  problems.push(...yaml.problems)
  if (yaml.problems.length > 0) return { file, yaml, read: undefined }
  return { file, yaml, read: reader(yaml.value, { ...placeIn(yaml, problems), folder }) }
}

const placeIn = (yaml: YamlText, problems: Array<Problem>): Place => ({
  path: [],
  refuse: (message, path = []) => void problems.push(yaml.locate(path, message)),
})

const checkFiles = (file: string, problems: Array<Problem>): ReadonlyArray<string> => {
  const folder = join(dirname(file), "checks.d")
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".yaml") && !name.startsWith("."))
    return names.toSorted().map((name) => join(folder, name))
  } catch (error) {
    const code = codeOf(error)
    if (code !== "ENOENT")
      problems.push({ file: folder, line: 1, path: "", message: `cannot be read (${code})` })
    return []
  }
}

const collect = (
  files: ReadonlyArray<FileRead<Pick<ConfigFile, "checks">>>,
  defaults: SharedFields,
  problems: Array<Problem>,
): ReadonlyMap<string, CheckConfig> => {
  const found = new Map<string, CheckConfig>()
  const definedIn = new Map<string, string>()
  for (const { file, yaml, read } of files) {
    for (const [id, fields] of read?.checks ?? []) {
      const path = ["checks", id]
      const before = problems.length
      judgeCheck(fields, { ...placeIn(yaml, problems), path })
      const other = definedIn.get(id)
      if (other !== undefined) problems.push(yaml.locate(path, `is defined in ${other} too`))
      if (id === OWN_CHECK_ID)
        problems.push(yaml.locate(path, "is the agent's own check: choose another name"))
      definedIn.set(id, file)
      if (problems.length === before) found.set(id, toCheck(id, fields, defaults))
    }
  }
  return found
}

const toCheck = (id: string, fields: CheckFields, defaults: SharedFields) => {
  const terms = {
    id,
    incidentKey: fields.incident_key,
    notificationsEnabled: fields.notifications_enabled ?? defaults.notifications_enabled ?? true,
    graceMillis: fields.grace ?? defaults.grace,
    severity: fields.severity ?? defaults.severity,
    incident: fields.incident ?? defaults.incident,
    labels: fields.labels ?? new Map<string, string>(),
    everyMillis: fields.every ?? defaults.every ?? DEFAULT_EVERY,
  }
  if (fields.report_only === true) {
    const { cron, tz } = fields
    /** In place of a period. */
    const schedule = cron !== undefined && tz !== undefined ? { cron, tz } : undefined
    return { kind: "reported" as const, ...terms, schedule }
  }
  return {
    kind: "run" as const,
    ...terms,
    work: workOf(fields),
    timeoutMillis: fields.timeout ?? defaults.timeout ?? DEFAULT_TIMEOUT,
    env: new Map([...(defaults.env ?? []), ...(fields.env ?? [])]),
    confirm: confirmationOf(fields, defaults),
    /** Which of its numbers are reported; all without. */
    numbers: fields.numbers,
  }
}

const confirmationOf = (fields: CheckFields, defaults: SharedFields): Confirmation | undefined => {
  const written = fields.confirm ?? defaults.confirm
  if (written === undefined) return undefined
  const { bad = 1, good = 1, every = DEFAULT_CONFIRM_EVERY } = written
  // A line of a log is in one result only.
  return { bad: fields.log === undefined ? bad : 1, good, everyMillis: every }
}

const workOf = (fields: CheckFields): Work => {
  const probe = PROBE_NAMES.map((name) => fields[name]).find((one) => one !== undefined)
  if (probe !== undefined) return { kind: "probe", probe }
  if (fields.shell !== undefined) return { kind: "command", argv: ["/bin/sh", "-c", fields.shell] }
  return { kind: "command", argv: fields.command ?? [] }
}

/** A token file that is gone has been used. */
const readToken = (main: FileRead<ConfigFile>, problems: Array<Problem>): string | undefined => {
  const path = main.read?.enrolment_token_file
  if (path === undefined) return undefined
  try {
    return readFileSync(resolve(dirname(main.file), path), "utf8").trim() || undefined
  } catch (error) {
    const code = codeOf(error)
    if (code !== "ENOENT")
      problems.push(main.yaml.locate(["enrolment_token_file"], `cannot be read (${code})`))
    return undefined
  }
}

const identityOf = (read: ConfigFile) => {
  const hostname = read.hostname ?? systemHostname()
  return {
    hostname,
    agentId: read.agent_id ?? (hostname.replaceAll(/[^A-Za-z0-9._:-]/g, "-").slice(0, 128) || "agent"),
    labels: read.labels ?? new Map<string, string>(),
  }
}
