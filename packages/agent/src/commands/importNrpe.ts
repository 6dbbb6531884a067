import { durationText } from "@tocsin/contract/formats/durationMillis"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { idText } from "../config/configFields.ts"
import { checksText } from "../config/readConfig.ts"
import { codeOf, type Problem } from "../config/Reader.ts"
import { complainOf, print, readOptions, UsageError } from "./commandLine.ts"

/** The exit code where something was not converted. */
const INCOMPLETE = 1

/** `tocsin-agent import FILE`: prints the checks of an nrpe.cfg, and complains about what it leaves out. */
export const importNrpe = async (argv: ReadonlyArray<string>): Promise<number> => {
  const [file, extra] = readOptions(argv).args
  if (file === undefined) throw new UsageError("name the file: tocsin-agent import /etc/nagios/nrpe.cfg")
  if (extra !== undefined) throw new UsageError(`${extra} is not expected here`)
  const { defaults, checks, problems } = convertNrpe(file)
  const { stringify } = await import("yaml")
  print(
    `# ${checksText(checks.size)} of ${file}. Set the address of your Tocsin server.\nserver: https://monitor.example`,
  )
  print(stringify({ defaults, checks: Object.fromEntries(checks) }, { lineWidth: 0 }).trimEnd())
  complainOf(problems)
  return problems.length > 0 ? INCOMPLETE : 0
}

/** A setting of an nrpe.cfg: `name=value`, or `command[name]=value`. */
interface NrpeLine {
  readonly file: string
  readonly line: number
  readonly name: string
  /** The text in brackets. */
  readonly key: string | undefined
  readonly value: string
}

type Refuse = (place: Pick<NrpeLine, "file" | "line">, path: string, message: string) => void

const MAX_DEPTH = 16
const SETTING = /^([A-Za-z_]+)(?:\[([^\]]*)\])?\s*=\s*(.*)$/

/** Every setting of an nrpe.cfg, read in order as NRPE does: `include` names a file, `include_dir` a folder of `*.cfg`. */
const nrpeLines = (file: string, refuse: Refuse): ReadonlyArray<NrpeLine> => {
  const lines: Array<NrpeLine> = []
  const seen = new Set<string>()
  const walk = (
    path: string,
    from: { readonly file: string; readonly line: number },
    depth: number,
  ): void => {
    const absolute = resolve(path)
    if (seen.has(absolute)) return
    if (depth > MAX_DEPTH) return refuse(from, "", "includes too deeply")
    seen.add(absolute)
    const complain = (message: string) => refuse(from, "", message)
    for (const [at, written] of joined(
      attempted(absolute, complain, () => readFileSync(absolute, "utf8")) ?? "",
    )) {
      const place = { file: path, line: at }
      const [, name = "", key, value = ""] = SETTING.exec(written) ?? []
      const target = resolve(dirname(absolute), value)
      if (name === "") refuse(place, "", "is no setting: expected name=value")
      else if (name === "include" || name === "include_file") walk(target, place, depth + 1)
      else if (name === "include_dir")
        for (const one of configsBelow(target, (message) => refuse(place, "", message)))
          walk(one, place, depth + 1)
      else lines.push({ ...place, name, key, value })
    }
  }
  walk(file, { file, line: 1 }, 0)
  return lines
}

/** Lines without comments and empty ones; a backslash at the end continues a line. */
const joined = (text: string): ReadonlyArray<readonly [line: number, text: string]> => {
  const found: Array<readonly [number, string]> = []
  let begun: { readonly line: number; readonly text: string } | undefined
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line: string = (begun?.text ?? "") + raw.trim()
    const at = begun?.line ?? index + 1
    begun = undefined
    if (line === "" || line.startsWith("#")) continue
    if (line.endsWith("\\")) begun = { line: at, text: `${line.slice(0, -1)} ` }
    else found.push([at, line])
  }
  return begun === undefined ? found : [...found, [begun.line, begun.text.trim()]]
}

const attempted = <A>(path: string, refuse: (message: string) => void, read: () => A): A | undefined => {
  try {
    return read()
  } catch (error) {
    refuse(`${path} cannot be read (${codeOf(error)})`)
    return undefined
  }
}

const configsBelow = (folder: string, refuse: (message: string) => void): ReadonlyArray<string> =>
  attempted(folder, refuse, () =>
    readdirSync(folder)
      .toSorted()
      .flatMap((name) => {
        const path = join(folder, name)
        if (statSync(path).isDirectory()) return configsBelow(path, refuse)
        return name.endsWith(".cfg") ? [path] : []
      }),
  ) ?? []

/** Commands built into the shell. */
const BUILT_IN = new Set(". : cd command eval exec exit export set trap ulimit umask".split(" "))

/**
 * A part of a word that no shell has to interpret: in quotes, after a backslash, or of characters without
 * a meaning to a shell; or else the space between words.
 */
const PART = /'([^']*)'|"((?:[^"\\$`]|\\.)*)"|\\(.)|([^\s'"\\|&;<>()$`*?[\]{}~#!]+)|\s+/gsuy

/** In double quotes a backslash stands for itself, except before these. */
const ESCAPED_IN_QUOTES = /\\(["\\$`])/g

/**
 * The words of a command line that no shell has to interpret; `undefined` where one has to, or where
 * a quote does not end.
 */
export const shellWords = (line: string): ReadonlyArray<string> | undefined => {
  const words: Array<string> = []
  let word: string | undefined
  let end = 0
  for (const [whole, single, double, escaped, plain] of line.matchAll(PART)) {
    end += whole.length
    const part = single ?? double?.replaceAll(ESCAPED_IN_QUOTES, "$1") ?? escaped ?? plain
    if (part === undefined && word !== undefined) words.push(word)
    word = part === undefined ? undefined : (word ?? "") + part
  }
  if (end < line.length) return undefined
  if (word !== undefined) words.push(word)
  const [first = ":"] = words
  // A first word such as A=1 sets a variable.
  return BUILT_IN.has(first) || /^[A-Za-z_]\w*=/.test(first) ? undefined : words
}

/** A check as the configuration writes it. */
type WrittenCheck = { readonly command: ReadonlyArray<string> } | { readonly shell: string }

/** Settings of NRPE's own server, which listens on a port: nothing of it is lost in the agent. */
const OF_THE_SERVER = new Set(
  [
    "allow_bash_command_substitution allow_weak_random_seed allowed_hosts connection_timeout debug disable_syslog",
    "dont_blame_nrpe keep_env_vars listen_queue_size log_facility log_file max_commands nasty_metachars nrpe_group",
    "nrpe_user pid_file server_address server_port ssl_cacert_file ssl_cert_file ssl_cipher_list ssl_client_certs",
    "ssl_logging ssl_privatekey_file ssl_use_adh ssl_version",
  ].flatMap((names) => names.split(" ")),
)

const MILLIS_PER_SECOND = 1_000
/** The `command_timeout` of an NRPE without one. */
const NRPE_SECONDS = 60

/** Converts an nrpe.cfg and what it includes. The problems name settings that were not converted, or that need a look. */
export const convertNrpe = (file: string) => {
  const problems: Array<Problem> = []
  const refuse: Refuse = (place, path, message) =>
    void problems.push({ file: place.file, line: place.line, path, message })
  const lines = nrpeLines(file, refuse)
  const prefix = lines.findLast(({ name }) => name === "command_prefix")?.value ?? ""
  const checks = new Map<string, WrittenCheck>()
  let timeoutSeconds = NRPE_SECONDS
  for (const line of lines) {
    const { name, key = "", value } = line
    if (name === "command") {
      const path = `command[${key}]`
      const check = checkOf(line, prefix, (message) => refuse(line, path, message))
      if (check === undefined) continue
      if (checks.has(check.id)) refuse(line, path, "is there already: the later one counts, as in NRPE")
      checks.set(check.id, check.check)
    } else if (name === "command_timeout" && /^\d{1,5}$/.test(value) && Number(value) > 0)
      timeoutSeconds = Number(value)
    else if (name !== "command_prefix" && !OF_THE_SERVER.has(name))
      refuse(line, name, "has no counterpart in the agent")
  }
  return { defaults: { timeout: durationText(timeoutSeconds * MILLIS_PER_SECOND) }, checks, problems }
}

const checkOf = (
  { key = "", value }: NrpeLine,
  prefix: string,
  refuse: (message: string) => void,
): { readonly id: string; readonly check: WrittenCheck } | undefined => {
  const id = key.replaceAll(/[^A-Za-z0-9._:-]/g, "-")
  const macros = [...new Set(value.match(/\$[A-Z][A-Z0-9_]*\$/g))].join(", ")
  if (idText(id, { path: [], refuse: () => {} }) === undefined) refuse("has no name that a check may have")
  else if (value === "") refuse("has no command")
  else if (macros !== "")
    refuse(`takes ${macros} from the caller: write its command with the arguments themselves`)
  else {
    if (id !== key) refuse(`is called ${id} now`)
    const line = `${prefix} ${value}`.trim()
    const words = shellWords(line)
    return { id, check: words === undefined ? { shell: line } : { command: words } }
  }
  return undefined
}
