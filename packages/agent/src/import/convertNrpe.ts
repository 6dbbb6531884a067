import type { Problem } from "../config/Problem.ts"
import { idText } from "../config/configFields.ts"
import { durationText } from "@tocsin/contract/durationMillis"
import { type NrpeLine, nrpeLines } from "./nrpeLines.ts"
import { shellWords } from "./shellWords.ts"

/** A check as the configuration writes it. */
export type WrittenCheck = { readonly command: ReadonlyArray<string> } | { readonly shell: string }

/** The result of converting an nrpe.cfg. */
export interface Conversion {
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
