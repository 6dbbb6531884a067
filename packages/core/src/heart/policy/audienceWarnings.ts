import type { FieldProblem } from "@tocsin/contract/formats/describeIssue"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { Policy } from "./compilePolicy.ts"
import { reachedBy } from "./Rota.ts"
import type { RouteId } from "./routing.ts"

/** The receivers that an incident may notify. */
const reachedIn = ({ document: { rotas, routes = [] }, routes: compiled }: Policy) => {
  const matchesAll = routes.some(({ match = [] }) => match.length === 0)
  const found = new Set<RouteId>([...routes.keys(), ...(matchesAll ? [] : (["unmatched"] as const))])
  return reachedBy(Array.from(compiled.name(found, () => 0).keys()), rotas)
}

const ofSettings = ({ receivers }: Policy): ReadonlyArray<NotifierName> =>
  Array.from(receivers).flatMap(([name, { definition, kind }]) =>
    definition === undefined && kind !== "debug" ? [name] : [],
  )

/** The receivers that a policy sends to: those of people, and those that only write to the log. */
const audienceOf = (policy: Policy) => {
  const sending = reachedIn(policy).filter((name) => {
    const receiver = policy.receivers.get(name)
    return receiver !== undefined && receiver.definition?.shadow !== true
  })
  const isLog = (name: NotifierName) => policy.receivers.get(name)?.kind === "debug"
  return { people: sending.filter((name) => !isLog(name)), logs: sending.filter(isLog) }
}

/** Changes of who is notified by another policy that few people mean (docs/rules.md#a-stored-policy). */
export const audienceWarnings = (before: Policy, after: Policy): ReadonlyArray<FieldProblem> => {
  const silent = ofSettings(before).filter((name) => !after.receivers.has(name))
  const speaking = ofSettings(after).filter((name) => !before.receivers.has(name))
  const { logs, people } = audienceOf(after)
  const lost = people.length === 0 && logs.length > 0 ? audienceOf(before).people : []
  return [
    ...(silent.length > 0
      ? [`replaces the notifiers of the settings, which fall silent: ${silent.join(", ")}`]
      : []),
    ...(speaking.length > 0
      ? [`is absent, so that the notifiers of the settings notify again: ${speaking.join(", ")}`]
      : []),
    ...(people.length === 0 && logs.length === 0
      ? ["has no one to notify: each of them that an incident can reach is a shadow"]
      : []),
    ...(lost.length > 0
      ? [
          `no longer reach ${lost.join(", ")}: notifications go to ${logs.join(", ")} alone, which writes them to the log`,
        ]
      : []),
  ].map((message) => ({ message, path: ["receivers"] }))
}
