import { durationText } from "@tocsin/contract/formats/durationMillis"
import { accessSync, constants, statSync } from "node:fs"
import { basename, resolve } from "node:path"
import { DEFAULT_PATH } from "../checks/startCheck.ts"
import { Range } from "@tocsin/contract/formats/Range"
import { scheduleWarnings } from "@tocsin/contract/overdue/scheduleWarnings"
import { PemFile } from "./PemFile.ts"
import type { AgentConfig, RunCheck } from "./readConfig.ts"
import { codeOf } from "./Reader.ts"

/** Programs that take other rights, which the packaged unit refuses. */
const PRIVILEGED = new Set(["sudo", "doas", "pkexec", "su"])
const REFUSES = "the packaged unit refuses it (NoNewPrivileges): allow it with systemctl edit tocsin-agent"

/** The probable mistakes in a valid configuration of an agent that runs in a folder, each with the path of its check. */
export const warningsOf = (config: AgentConfig, folder: string): ReadonlyArray<string> => [
  ...hiddenIn({ ca_file: config.ca }, "").map((words) => words.slice(1)),
  ...[...config.checks].flatMap(([id, check]) =>
    (check.kind === "run"
      ? warningsOfCheck(check, folder)
      : scheduleWarnings(check.schedule ?? {}).map(({ message, path }) => `.${path.join()} ${message}`)
    ).map((words) => `checks.${id}${words}`),
  ),
]

/** Paths of which the packaged unit shows the agent others, or nothing, and the setting that does so. */
const HIDDEN: ReadonlyArray<readonly [path: RegExp, words: string]> = [
  [/^\/(?:var\/)?tmp(?:\/|$)/, "a /tmp and /var/tmp of its own (PrivateTmp)"],
  [/^\/(?:dev|proc)\/kmsg$/, "no log of the kernel (ProtectKernelLogs)"],
]

/** Settings of probes that are paths. Those of mounts are seen there, too. */
const PATHS: ReadonlySet<string> = new Set(["path", "file", "socket"])

/** The settings that name a path which the packaged unit hides; of a list, each path. */
const hiddenIn = (settings: object, prefix: string): ReadonlyArray<string> =>
  Object.entries(settings).flatMap(([name, value]: [string, unknown]) => {
    const path = value instanceof PemFile ? value.path : value
    const isPath = path !== value || PATHS.has(name) || Array.isArray(settings)
    const [, words] = (isPath && HIDDEN.find(([form]) => form.test(String(path)))) || []
    if (words === undefined) return []
    const place = Array.isArray(settings) ? prefix : `${prefix}.${name}`
    const mend = "use another path, or allow it with systemctl edit tocsin-agent"
    return [`${place}: the packaged unit gives the agent ${words}: ${mend}`]
  })

const isShellText = ([program, option, script]: ReadonlyArray<string>): boolean =>
  program === "/bin/sh" && option === "-c" && script !== undefined

/** The paths that a command reads: those of a shell's text too, but for files to which that text writes. */
const pathsIn = (argv: ReadonlyArray<string>): ReadonlyArray<string> => {
  const text = argv.slice(isShellText(argv) ? 2 : 0).join(" ")
  const [written, read] = [/>\s*['"]?([^\s'";|&()]+)/gu, /(?<![^\s=:'"<;|&()])(\/[^\s'":;|&()]+)/gu].map(
    (form) => Array.from(text.matchAll(form), ([, path = ""]) => path),
  )
  return Array.from(new Set(read)).filter((path) => written?.includes(path) !== true)
}

const warningsOfCheck = (check: RunCheck, folder: string): ReadonlyArray<string> => {
  const { everyMillis, timeoutMillis, work } = check
  const [every, timeout] = [durationText(everyMillis), durationText(timeoutMillis)]
  const slow = `.timeout (${timeout}) is longer than every (${every}): a slow run leaves out the next one`
  return [
    ...(timeoutMillis > everyMillis ? [slow] : []),
    ...(work.kind === "command"
      ? warningsOfCommand(work.argv, check.env.get("PATH"), folder)
      : invertedIn(work.probe.settings, `.${work.probe.name}`)),
    ...(work.kind === "command"
      ? new Set(hiddenIn(pathsIn(work.argv), isShellText(work.argv) ? ".shell" : ".command"))
      : hiddenIn(work.probe.settings, `.${work.probe.name}`)),
  ]
}

const warningsOfCommand = (
  argv: ReadonlyArray<string>,
  path: string | undefined,
  folder: string,
): ReadonlyArray<string> => {
  const [program = "", , script = ""] = argv
  if (isShellText(argv)) {
    const words = script.split(/[\s;&|()]+/).map((word) => basename(word))
    const first = words.find((word) => PRIVILEGED.has(word))
    return first === undefined ? [] : [`.shell calls ${first}: ${REFUSES}`]
  }
  const found = findProgram(program, path, folder)
  if (found === "missing") return [`.command: the program ${program} does not exist`]
  if (found === "not executable") return [`.command: ${program} is not executable`]
  const isPrivileged = found === "privileged" || PRIVILEGED.has(basename(program))
  return isPrivileged ? [`.command: ${program} takes other rights: ${REFUSES}`] : []
}

type FoundProgram = "missing" | "not executable" | "executable" | "privileged"

const SET_ID_BITS = 0o6000

/** Looks for a program as the agent does that runs in a folder; `path` is the `PATH` of its check, if it sets one. */
const findProgram = (
  name: string,
  path = `${process.env["PATH"] ?? ""}:${DEFAULT_PATH}`,
  folder: string,
): FoundProgram => {
  if (name.includes("/")) return examine(resolve(folder, name))
  const found = path.split(":").map((one) => examine(resolve(folder, one, name)))
  const usable = found.find((one) => one !== "missing" && one !== "not executable")
  return usable ?? (found.includes("not executable") ? "not executable" : "missing")
}

const examine = (file: string): FoundProgram => {
  try {
    const found = statSync(file)
    accessSync(file, constants.X_OK)
    if (!found.isFile()) return "not executable"
    return (found.mode & SET_ID_BITS) === 0 ? "executable" : "privileged"
  } catch (error) {
    return codeOf(error) === "EACCES" ? "not executable" : "missing"
  }
}

/** Settings of a probe, at any depth, whose warning comes only where they are critical already. */
const invertedIn = (settings: object, path: string): ReadonlyArray<string> => {
  const { warning, critical }: { readonly warning?: unknown; readonly critical?: unknown } = settings
  const limits = rangesOf(critical)
  const isInverted = rangesOf(warning).some((range, index) => {
    const limit = limits[index] ?? limits[0]
    return limit !== undefined && range.isInside(limit)
  })
  const nested = Object.entries(settings).filter(
    ([, value]) =>
      typeof value === "object" && value !== null && !(value instanceof Range) && !Array.isArray(value),
  )
  return [
    ...(isInverted ? [`${path}: warning is beyond critical, so it never shows: exchange them`] : []),
    ...nested.flatMap(([name, value]: [string, object]) => invertedIn(value, `${path}.${name}`)),
  ]
}

const rangesOf = (value: unknown): ReadonlyArray<Range> =>
  (Array.isArray(value) ? value : [value]).filter((one: unknown) => one instanceof Range)
