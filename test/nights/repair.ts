import type { Incident } from "./Incident.ts"

/** A receiver, or a test of it, accepted something: the last firing that it did not take is owed again. */
export const repair = (incident: Incident, at: number, receiver: string, isTest: boolean): void => {
  const named = incident.isOpen ? incident.names().get(receiver) : undefined
  const firings = incident.rows.firings(receiver)
  const failed = firings.findLast(({ state }) => state === "failed")
  if (named === undefined || failed === undefined) return
  const later = firings.slice(firings.indexOf(failed) + 1)
  if (later.some(({ state }) => state === "sent") || (!isTest && failed.wasRepaired)) return
  failed.wasRepaired = true
  if (incident.rows.isWaiting(receiver)) return
  incident.write(at, receiver, { special: "again", causes: failed.causes, rotas: named.rotas })
}
