import type { FieldProblem } from "@tocsin/contract/describeIssue"
import type { NotifierName } from "@tocsin/contract/Status"
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

/** Whether a policy notifies people, only writes to the log, or does neither. */
const audienceOf = (policy: Policy): "people" | "log" | "none" => {
  const sending = reachedIn(policy).flatMap((name) => {
    const receiver = policy.receivers.get(name)
    return receiver === undefined || receiver.definition?.shadow === true ? [] : [receiver.kind]
  })
  if (sending.length === 0) return "none"
  return sending.some((kind) => kind !== "debug") ? "people" : "log"
}

/** Changes of who is notified by another policy that few people mean (docs/rules.md#a-stored-policy). */
export const audienceWarnings = (before: Policy, after: Policy): ReadonlyArray<FieldProblem> => {
  const silent = ofSettings(before).filter((name) => !after.receivers.has(name))
  const speaking = ofSettings(after).filter((name) => !before.receivers.has(name))
  const audience = audienceOf(after)
  const isLost = audience === "log" && audienceOf(before) === "people"
  return [
    ...(silent.length > 0
      ? [`replaces the notifiers of the settings, which fall silent: ${silent.join(", ")}`]
      : []),
    ...(speaking.length > 0
      ? [`is absent, so that the notifiers of the settings notify again: ${speaking.join(", ")}`]
      : []),
    ...(audience === "none"
      ? ["has no one to notify: each of them that an incident can reach is a shadow"]
      : []),
    ...(isLost ? ["has no one to notify any more: notifications are only written to the log"] : []),
  ].map((message) => ({ message, path: ["receivers"] }))
}
