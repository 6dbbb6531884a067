import { basename } from "node:path"
import { durationText } from "@tocsin/contract/durationMillis"
import { Range } from "../probes/Range.ts"
import type { AgentConfig, RunCheck } from "./AgentConfig.ts"

/** The file of a program, as far as a check of the configuration looks at it. */
export type FoundProgram = "missing" | "not executable" | "executable" | "privileged"

/** Finds the program of a command; `path` is the `PATH` of its check, if it sets one. */
export type FindProgram = (name: string, path: string | undefined) => FoundProgram

/** Programs that take other rights, which the packaged unit refuses. */
const PRIVILEGED = new Set(["sudo", "doas", "pkexec", "su"])
const REFUSES = "the packaged unit refuses it (NoNewPrivileges): allow it with systemctl edit tocsin-agent"

/** The probable mistakes in a valid configuration, each with the path of its check. */
export const warningsOf = (config: AgentConfig, find: FindProgram): ReadonlyArray<string> =>
  [...config.checks].flatMap(([id, check]) =>
    check.kind === "run" ? warningsOfCheck(check, find).map((words) => `checks.${id}${words}`) : [],
  )

const warningsOfCheck = (check: RunCheck, find: FindProgram): ReadonlyArray<string> => {
  const { everyMillis, timeoutMillis, work } = check
  const [every, timeout] = [durationText(everyMillis), durationText(timeoutMillis)]
  return [
    ...(timeoutMillis > everyMillis
      ? [`.timeout (${timeout}) is longer than every (${every}): a slow run leaves out the next one`]
      : []),
    ...(work.kind === "command"
      ? warningsOfCommand(work.argv, check.env.get("PATH"), find)
      : invertedIn(work.probe.settings, `.${work.probe.name}`)),
  ]
}

const warningsOfCommand = (
  [program = "", ...args]: ReadonlyArray<string>,
  path: string | undefined,
  find: FindProgram,
): ReadonlyArray<string> => {
  const [option, script] = args
  if (program === "/bin/sh" && option === "-c" && script !== undefined) {
    const words = script.split(/[\s;&|()]+/).map((word) => basename(word))
    return words
      .filter((word) => PRIVILEGED.has(word))
      .map((word) => `.shell calls ${word}: ${REFUSES}`)
      .slice(0, 1)
  }
  const found = find(program, path)
  if (found === "missing") return [`.command: the program ${program} does not exist`]
  if (found === "not executable") return [`.command: ${program} is not executable`]
  const isPrivileged = found === "privileged" || PRIVILEGED.has(basename(program))
  return isPrivileged ? [`.command: ${program} takes other rights: ${REFUSES}`] : []
}

/** Settings of a probe, at any depth, whose warning comes only where they are critical already. */
const invertedIn = (settings: object, path: string): ReadonlyArray<string> => {
  const { warning, critical }: { readonly warning?: unknown; readonly critical?: unknown } = settings
  const pairs = rangesOf(warning).map((range, index) => [
    range,
    rangesOf(critical)[index] ?? rangesOf(critical)[0],
  ])
  const isInverted = pairs.some(
    ([warn, crit]) => warn !== undefined && crit !== undefined && warn.isInside(crit),
  )
  const nested = Object.entries(settings).filter(([, value]) => typeof value === "object" && value !== null)
  return [
    ...(isInverted ? [`${path}: warning is beyond critical, so it never shows: exchange them`] : []),
    ...nested
      .filter(([, value]) => !(value instanceof Range) && !Array.isArray(value))
      .flatMap(([name, value]: [string, object]) => invertedIn(value, `${path}.${name}`)),
  ]
}

const rangesOf = (value: unknown): ReadonlyArray<Range> =>
  (Array.isArray(value) ? value : [value]).filter((one: unknown) => one instanceof Range)
