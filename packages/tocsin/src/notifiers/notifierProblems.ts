import type { TargetPolicy } from "@tocsin/adapter-notify/http/RefusedAddresses"
import { NotifierName } from "@tocsin/core/contract/Status"
import { Schema } from "effect"
import { Problems } from "../options/Problems.ts"
import type { BuiltInNotifier, NotifierOption } from "./NotifierOption.ts"

const isNotifierName = Schema.is(NotifierName)

/** All that is wrong with notifiers, a sentence each that begins with a path such as `notifiers[0].url`. Repeats no secret. */
export const notifierProblems = (
  notifiers: ReadonlyArray<NotifierOption>,
  policy: TargetPolicy,
): ReadonlyArray<string> => {
  // Plain JavaScript can give anything.
  const given: unknown = notifiers
  if (!Array.isArray(given)) return ["notifiers must be an array"]
  const problems = new Problems()
  const named = new Map<string, string>()
  for (const [index, notifier] of given.entries()) {
    const path = `notifiers[${index}]`
    if (!isNotifier(notifier)) {
      problems.add(`${path} must be webhook(…), slack(…), … or an object { name, send }`)
      continue
    }
    if ("make" in notifier) notifier.check(policy, path, problems)
    noteName(notifier, path, named, problems)
  }
  return problems.sentences
}

const isNotifier = (notifier: unknown): notifier is NotifierOption => {
  const { name, send, make } = Object(notifier)
  return typeof name === "string" && (typeof send === "function" || typeof make === "function")
}

/** What the person wrote: the call of a notifier that comes with Tocsin. */
const calledBy = (notifier: NotifierOption): string =>
  "make" in notifier ? ` ${(notifier satisfies BuiltInNotifier).factory}(…)` : ""

const noteName = (
  notifier: NotifierOption,
  path: string,
  named: Map<string, string>,
  problems: Problems,
): void => {
  const { name } = notifier
  const other = named.get(name)
  if (!isNotifierName(name)) {
    problems.add(`${path}.name must be 1 to 64 lower-case letters, digits or _, and begin with a letter`)
  } else if (name === "alert_router" && !("make" in notifier)) {
    problems.add(`${path}.name must not be alert_router, which is the name of alertRouter(…) alone`)
  } else if (other !== undefined) {
    problems.add(
      `${path}${calledBy(notifier)} has the same name as ${other}; give one of them another by its option name`,
    )
  }
  named.set(name, `${path}${calledBy(notifier)}`)
}
