import { durationText } from "@tocsin/contract/durationMillis"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { codeOf, type Problem } from "../config/Reader.ts"
import { idText } from "../config/configFields.ts"

/** A setting of an nrpe.cfg: `name=value`, or `command[name]=value`. */
interface NrpeLine {
  readonly file: string
  readonly line: number
  readonly name: string
  /** The text in brackets. */
  readonly key: string | undefined
  readonly value: string
}

/** Every setting of a file and of what it includes, in order, and what could not be read. */
interface NrpeLines {
  readonly lines: ReadonlyArray<NrpeLine>
  readonly problems: ReadonlyArray<Problem>
}

const MAX_DEPTH = 16
const SETTING = /^([A-Za-z_]+)(?:\[([^\]]*)\])?\s*=\s*(.*)$/

/** Reads an nrpe.cfg as NRPE does: `include` names a file, `include_dir` a folder of `*.cfg`. */
const nrpeLines = (file: string): NrpeLines => {
  const lines: Array<NrpeLine> = []
  const problems: Array<Problem> = []
  const seen = new Set<string>()
  const walk = (
    path: string,
    from: { readonly file: string; readonly line: number },
    depth: number,
  ): void => {
    const absolute = resolve(path)
    if (seen.has(absolute)) return
    if (depth > MAX_DEPTH) return void problems.push({ ...from, path: "", message: "includes too deeply" })
    seen.add(absolute)
    const text = readOr(absolute, (message) => problems.push({ ...from, path: "", message }))
    for (const [at, written] of joined(text ?? "")) {
      const place = { file: path, line: at }
      const [, name = "", key, value = ""] = SETTING.exec(written) ?? []
      if (name === "") problems.push({ ...place, path: "", message: "is no setting: expected name=value" })
      else if (name === "include" || name === "include_file")
        walk(resolve(dirname(absolute), value), place, depth + 1)
      else if (name === "include_dir")
        for (const one of configsBelow(resolve(dirname(absolute), value), place, problems))
          walk(one, place, depth + 1)
      else lines.push({ ...place, name, key, value })
    }
  }
  walk(file, { file, line: 1 }, 0)
  return { lines, problems }
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

const readOr = (path: string, refuse: (message: string) => void): string | undefined => {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    refuse(`${path} cannot be read (${codeOf(error)})`)
    return undefined
  }
}

const configsBelow = (
  folder: string,
  place: { readonly file: string; readonly line: number },
  problems: Array<Problem>,
): ReadonlyArray<string> => {
  try {
    return readdirSync(folder)
      .toSorted()
      .flatMap((name) => {
        const path = join(folder, name)
        if (statSync(path).isDirectory()) return configsBelow(path, place, problems)
        return name.endsWith(".cfg") ? [path] : []
      })
  } catch (error) {
    problems.push({ ...place, path: "", message: `${folder} cannot be read (${codeOf(error)})` })
    return []
  }
}

/** Characters with a meaning to a shell: outside quotes, or in double quotes. */
const SPECIAL = new Set("|&;<>()$`*?[]{}~#!\n")
const SPECIAL_IN_QUOTES = new Set("$`")

/** Commands built into the shell. */
const BUILT_IN = new Set([
  ".",
  ":",
  "cd",
  "command",
  "eval",
  "exec",
  "exit",
  "export",
  "set",
  "trap",
  "ulimit",
  "umask",
])

type Mode = "plain" | "single" | "double"

/**
 * The words of a command line that no shell has to interpret; `undefined` where one has to, or where
 * a quote does not end.
 */
export const shellWords = (line: string): ReadonlyArray<string> | undefined => {
  const words: Array<string> = []
  let word: string | undefined
  let mode: Mode = "plain"
  const characters = [...line]
  for (let at = 0; at < characters.length; at++) {
    const one = characters[at] ?? ""
    if (mode === "single") {
      if (one === "'") mode = "plain"
      else word += one
    } else if (one === "\\") {
      const next = characters[++at]
      if (next === undefined) return undefined
      // In double quotes a backslash stands for itself, except before these.
      word = (word ?? "") + (mode === "double" && !['"', "\\", "$", "`"].includes(next) ? `\\${next}` : next)
    } else if (one === '"') {
      word ??= ""
      mode = mode === "double" ? "plain" : "double"
    } else if (mode === "double") {
      if (SPECIAL_IN_QUOTES.has(one)) return undefined
      word += one
    } else if (one === "'") {
      word ??= ""
      mode = "single"
    } else if (/\s/.test(one)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (SPECIAL.has(one)) return undefined
    else word = (word ?? "") + one
  }
  if (mode !== "plain") return undefined
  if (word !== undefined) words.push(word)
  const [first = ":"] = words
  // A first word such as A=1 sets a variable.
  return BUILT_IN.has(first) || /^[A-Za-z_]\w*=/.test(first) ? undefined : words
}

/** A check as the configuration writes it. */
type WrittenCheck = { readonly command: ReadonlyArray<string> } | { readonly shell: string }

/** The result of converting an nrpe.cfg. */
interface Conversion {
  readonly defaults: { readonly timeout: string }
  readonly checks: ReadonlyMap<string, WrittenCheck>
  /** Settings that were not converted, or that need a look, by file and line. */
  readonly problems: ReadonlyArray<Problem>
}

/** Settings of NRPE's own server, which the agent does not have. */
const OF_THE_SERVER = new Set([
  "allowed_hosts",
  "allow_weak_random_seed",
  "connection_timeout",
  "debug",
  "disable_syslog",
  "keep_env_vars",
  "listen_queue_size",
  "log_facility",
  "log_file",
  "max_commands",
  "nasty_metachars",
  "nrpe_group",
  "nrpe_user",
  "pid_file",
  "server_address",
  "server_port",
  "ssl_cacert_file",
  "ssl_cert_file",
  "ssl_cipher_list",
  "ssl_client_certs",
  "ssl_logging",
  "ssl_privatekey_file",
  "ssl_use_adh",
  "ssl_version",
  "dont_blame_nrpe",
  "allow_bash_command_substitution",
])

const MILLIS_PER_SECOND = 1_000
/** The `command_timeout` of an NRPE without one. */
const NRPE_SECONDS = 60

/** Converts an nrpe.cfg and what it includes. */
export const convertNrpe = (file: string): Conversion => {
  const { lines, problems: unread } = nrpeLines(file)
  const problems: Array<Problem> = [...unread]
  const refuse = ({ file: at, line }: NrpeLine, path: string, message: string) =>
    problems.push({ file: at, line, path, message })
  const prefix = lines.findLast(({ name }) => name === "command_prefix")?.value ?? ""
  const checks = new Map<string, WrittenCheck>()
  let timeoutSeconds = NRPE_SECONDS
  for (const line of lines) {
    const { name, key, value } = line
    if (name === "command") {
      const path = `command[${key ?? ""}]`
      const check = checkOf(line, prefix, (message) => refuse(line, path, message))
      if (check === undefined) continue
      if (checks.has(check.id)) refuse(line, path, "is there already: the later one counts, as in NRPE")
      checks.set(check.id, check.check)
    } else if (name === "command_timeout" && /^\d{1,5}$/.test(value) && Number(value) > 0)
      timeoutSeconds = Number(value)
    else if (name === "command_prefix") {
      // Used above.
    } else if (OF_THE_SERVER.has(name)) {
      // The agent listens on no port: nothing of it is lost.
    } else refuse(line, name, "has no counterpart in the agent")
  }
  const timeout = durationText(timeoutSeconds * MILLIS_PER_SECOND)
  return { defaults: { timeout }, checks, problems }
}

const checkOf = (
  { key = "", value }: NrpeLine,
  prefix: string,
  refuse: (message: string) => void,
): { readonly id: string; readonly check: WrittenCheck } | undefined => {
  const id = key.replaceAll(/[^A-Za-z0-9._:-]/g, "-")
  if (idText(id, { path: [], refuse: () => {} }) === undefined) {
    refuse("has no name that a check may have")
    return undefined
  }
  if (value === "") {
    refuse("has no command")
    return undefined
  }
  const macros = [...new Set(value.match(/\$[A-Z][A-Z0-9_]*\$/g))]
  if (macros.length > 0) {
    refuse(`takes ${macros.join(", ")} from the caller: write its command with the arguments themselves`)
    return undefined
  }
  if (id !== key) refuse(`is called ${id} now`)
  const line = `${prefix} ${value}`.trim()
  const words = shellWords(line)
  return { id, check: words === undefined ? { shell: line } : { command: words } }
}
