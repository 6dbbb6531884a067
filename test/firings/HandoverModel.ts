import type { Incident, Row } from "./IncidentModel.ts"
import type { nameIn } from "./nameIn.ts"
import type { Cause } from "./Story.ts"

/**
 * The cause of the firing that a receiver is owed since it came on call, although it knows what is announced; or
 * that this is uncertain, because it was attempted in the second of the refusal that called it, before or after it.
 */
export const handoverOf = (
  { announced, loud, onCall, reaches }: Incident,
  receiver: string,
  { names, rotas }: Pick<ReturnType<typeof nameIn>, "names" | "rotas">,
): Cause | "uncertain" | undefined => {
  const { knows = 0, rows: own = [] } = reaches.get(receiver) ?? {}
  if (announced === 0 || loud.length === 0 || knows < announced) return undefined
  const others = Array.from(reaches).flatMap(([other, { rows }]) => (other === receiver ? [] : rows))
  const owed = rotas.flatMap((rota) => {
    const stay = onCall.stays.get(rota)?.get(receiver)
    if (stay?.cameAt === undefined || stay.cameFrom.some((other) => names.includes(other))) return []
    const { byRefusal, cameAt } = stay
    // An attempt of the instant of a turn follows it, and a refusal follows its attempt.
    const wasBefore = ({ begun = Infinity }: Row) => Math.ceil(begun) < cameAt + Number(byRefusal)
    const hasNotified = others.some((row) => row.rotas?.includes(rota) === true && wasBefore(row))
    const since = own.filter(({ attempted = 0 }) => Math.ceil(attempted) >= cameAt)
    // A row that its coming made owed follows the refusal.
    const follows = ({ attempted = 0, cause, rotas: named, written }: Row) =>
      Math.ceil(attempted) > cameAt ||
      (Math.ceil(written) >= cameAt && cause === "escalation" && named?.includes(rota) === true)
    const isUncertain = byRefusal && since.length > 0 && !since.some(follows)
    return hasNotified && (since.length === 0 || isUncertain) ? [{ ...stay, isUncertain }] : []
  })
  if (owed.some(({ isUncertain }) => isUncertain)) return "uncertain"
  if (owed.length === 0) return undefined
  return owed.every(({ isBeside }) => isBeside) ? "escalation" : "handover"
}
