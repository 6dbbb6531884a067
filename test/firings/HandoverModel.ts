import type { Incident, Row } from "./IncidentModel.ts"
import type { nameIn } from "./nameIn.ts"
import type { Cause } from "./Story.ts"

/** The cause of the firing that a receiver is owed since it came on call, although it knows what is announced. */
export const handoverOf = (
  { announced, loud, onCall, reaches }: Incident,
  receiver: string,
  { names, rotas }: Pick<ReturnType<typeof nameIn>, "names" | "rotas">,
): Cause | undefined => {
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
    const isAttempted = own.some(({ attempted = 0 }) => Math.ceil(attempted) >= cameAt)
    return hasNotified && !isAttempted ? [stay] : []
  })
  if (owed.length === 0) return undefined
  return owed.every(({ isBeside }) => isBeside) ? "escalation" : "handover"
}
