import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { Receiver } from "@tocsin/contract/receivers/Receiver"
import { problem, problemIf, type Problems } from "../../heart/policy/problemsAt.ts"
import { reachedBy } from "../../heart/policy/Rota.ts"

const ONCE =
  "ends at a phone that rings once, whether or not the call is taken; add remind, or a later step to others"
const EVERYTHING =
  "rings for every incident, since the policy has no routes; add a route that names it, such as with severity = critical"

const callOf = (receiver: Receiver | undefined) =>
  receiver?.kind === "messenger" && receiver.type === "call" ? receiver : undefined

/** Calls that are easily missed, or that ring for every incident. */
export const callWarnings = (policy: PolicyDocument): Problems => {
  const { receivers = {}, rotas = {}, routes = [] } = policy
  const isCall = (name: string): boolean => callOf(receivers[name]) !== undefined
  const voices = Object.entries(receivers).flatMap(([name, receiver]) => {
    const { lang = policy.lang ?? "en", language = lang } = callOf(receiver) ?? {}
    const isOther = language.split("-")[0]?.toLowerCase() !== lang
    return problemIf(
      isOther,
      `is a voice of another language than its words, which lang: ${lang} chooses; set lang to the language of the voice`,
      "receivers",
      name,
      "language",
    )
  })
  const everyone = Object.keys(receivers)
  const missed = routes.flatMap(({ remind, steps, to = everyone }, n) => {
    const isLast = reachedBy(steps?.at(-1)?.to ?? to, rotas).some(isCall)
    return problemIf(remind === undefined && isLast, ONCE, "routes", n)
  })
  if (routes.length > 0 || Object.keys(rotas).length > 0) return [...voices, ...missed]
  return [...voices, ...everyone.filter(isCall).map((name) => problem(EVERYTHING, "receivers", name))]
}
