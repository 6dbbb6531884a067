import type { Defect } from "./lawfulStorage.ts"

/** Defects that the simulation has to find, by what is wrong. */
export const defects: Readonly<Record<string, () => Defect>> = {
  "a batch is acknowledged and not kept": () => {
    let changed = 0
    return { loses: ({ check_event }) => check_event.length > 0 && (changed += 1) % 5 === 0 }
  },
  "a claim ignores leases": () => ({
    spoils: (found, workspace, tables) => {
      const expired = Array.from(tables.keyed.outbox.values()).filter(({ state }) => state === "sending")
      for (const item of expired) workspace.outbox.load(item.id, item)
      return { ...found, expired }
    },
  }),
  "a claim ignores the order of an incident": () => ({
    spoils: (found, workspace, tables) => {
      const isFound = new Set(found.due.map(({ row }) => row.id))
      const waiting = Array.from(tables.keyed.outbox.values()).filter(
        ({ event_type, id, state }) => state === "pending" && event_type === "resolved" && !isFound.has(id),
      )
      const others = waiting.flatMap((row) => {
        const incident = tables.incidents.get(row.incident_id)
        if (incident === undefined) return []
        workspace.outbox.load(row.id, row)
        return [{ row, incident }]
      })
      return { ...found, due: [...found.due, ...others] }
    },
  }),
  "a service's request to wait is passed over": () => ({
    misread: (result) =>
      result.outcome === "deferred" ? { outcome: "deferred", error: result.error } : result,
  }),
  "a permanent refusal is retried": () => ({
    misread: (result) =>
      result.outcome === "refused" ? { outcome: "deferred", error: result.error } : result,
  }),
  "an accepted message is sent again": () => ({
    misread: (result) =>
      result.outcome === "delivered" ? { outcome: "deferred", error: "no answer" } : result,
  }),
  "the end of an alert is not sent": () => ({ endsNoAlert: true }),
}
