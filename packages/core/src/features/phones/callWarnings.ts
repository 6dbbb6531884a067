import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { problem, problemIf, type Problems } from "../../heart/policy/problemsAt.ts"
import { reachedBy } from "../../heart/policy/Rota.ts"

const ONCE =
  "ends at a phone that rings once, whether or not the call is taken; add remind, or a later step to others"
const EVERYTHING =
  "rings for every incident, since the policy has no routes; add a route that names it, such as with severity = critical"

/** Calls that are easily missed, or that ring for every incident. */
export const callWarnings = ({ receivers = {}, rotas = {}, routes = [] }: PolicyDocument): Problems => {
  const isCall = (name: string): boolean => {
    const receiver = receivers[name]
    return receiver?.kind === "messenger" && receiver.type === "call"
  }
  const everyone = Object.keys(receivers)
  const missed = routes.flatMap(({ remind, steps, to = everyone }, n) => {
    const isLast = reachedBy(steps?.at(-1)?.to ?? to, rotas).some(isCall)
    return problemIf(remind === undefined && isLast, ONCE, "routes", n)
  })
  if (routes.length > 0 || Object.keys(rotas).length > 0) return missed
  return everyone.filter(isCall).map((name) => problem(EVERYTHING, "receivers", name))
}
