import * as Instant from "@tocsin/contract/formats/Instant"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { RotaOverrideRecord } from "../../heart/model/RotaOverrideRecord.ts"
import type { Policy } from "../../heart/policy/compilePolicy.ts"
import { missingReceivers } from "../../heart/policy/onCall.ts"
import { problem, problemIf, type Problems } from "../../heart/policy/problemsAt.ts"
import { namesIn } from "../../heart/policy/Rota.ts"

const LONELY =
  "names a rota without a later step: an incident that its receivers miss reaches no others; add a step unless that is meant"

const UNUSED =
  "is notified of nothing: no route names it, and every incident has a route; name it in to or steps"

/** Routes whose only step names a rota, rotas that nothing names, and receivers that are no longer among every receiver (docs/rules.md#on-call). */
export const rotaWarnings = ({ rotas = {}, routes = [] }: PolicyDocument): Problems => {
  const isRota = (name: string) => Object.hasOwn(rotas, name)
  const lonely = routes.flatMap(({ steps, to }, n): Problems => {
    const [first, later] = steps ?? []
    if (to?.some(isRota) === true) return [problem(LONELY, "routes", n, "to")]
    const isLonely = later === undefined && first?.to.some(isRota) === true
    return problemIf(isLonely, LONELY, "routes", n, "steps", 0, "to")
  })
  return [...lonely, ...unnamedWarnings(rotas, routes)]
}

const unnamedWarnings = (
  rotas: NonNullable<PolicyDocument["rotas"]>,
  routes: NonNullable<PolicyDocument["routes"]>,
): Problems => {
  const namesNone = routes.some(({ steps, to }) => steps === undefined && to === undefined)
  const matchesAll = routes.some(({ match = [] }) => match.length === 0)
  const byRoutes = new Set(
    routes.flatMap(({ steps = [], to = [] }) => [...to, ...steps.flatMap((step) => step.to)]),
  )
  // Every incident has a route, and every route names its receivers.
  if (matchesAll && !namesNone) {
    const byRotas = new Set(Object.values(rotas).flatMap(namesIn))
    return Object.keys(rotas)
      .filter((rota) => !byRoutes.has(rota) && !byRotas.has(rota))
      .map((rota) => problem(UNUSED, "rotas", rota))
  }
  return Object.entries(rotas).flatMap(([rota, document]): Problems => {
    const unnamed = new Set(
      namesIn(document).filter((name) => !byRoutes.has(name) && !Object.hasOwn(rotas, name)),
    )
    const message = `names receivers that no route names (${Array.from(unnamed).join(", ")}): where every receiver is notified, they are only while they are on call; add a route that names them unless that is meant`
    return problemIf(unnamed.size > 0, message, "rotas", rota)
  })
}

/** Its rota, or those of its receivers, that a policy lacks: with one of them, an override does not count. */
export const lackedBy = (
  { receivers, rotas }: Pick<Policy, "receivers" | "rotas">,
  override: Pick<RotaOverrideRecord, "receivers" | "rota">,
): ReadonlyArray<string> =>
  rotas?.byName.has(override.rota) === true
    ? missingReceivers(override, (name) => receivers.has(name))
    : [override.rota]

/** Warnings of the overrides that do not count under a policy. */
export const lostOverrides = (
  policy: Pick<Policy, "receivers" | "rotas">,
  overrides: ReadonlyArray<RotaOverrideRecord>,
): Problems =>
  overrides.flatMap((override): Problems => {
    const { ends_at, id, rota } = override
    const lacks = lackedBy(policy, override).join(", ")
    const message = `has an override until ${Instant.momentText(ends_at)} that does not count, since the policy lacks ${lacks}: add that, or run tocsin oncall end ${rota} ${id}`
    return problemIf(lacks !== "", message, "rotas", rota)
  })
