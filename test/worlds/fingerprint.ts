import type { World } from "./World.ts"

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** Rows that decide nothing: scenarios, the audit, and the results behind the newest. */
const rowsOf = ({ tables }: World): ReadonlyArray<object> => [
  ...tables.agents.values(),
  ...tables.keyed.agent_key.values(),
  ...Array.from(tables.checks.values()).flatMap((ofAgent) => Array.from(ofAgent.values())),
  ...tables.incidents.values(),
  ...tables.keyed.incident_member.values(),
  ...tables.keyed.outbox.values(),
  ...tables.keyed.service_heartbeat.values(),
]

/**
 * A text that two worlds share if nothing can tell them apart: without IDs, with times as distances
 * from now, and with agents that have changed places.
 */
export const fingerprint = (world: World, isSymmetric: boolean): string => {
  const text = textOf(world)
  if (!isSymmetric) return named(text)
  const swapped = text.map((line) =>
    line.replaceAll(/agent-[ab]/g, (name) => (name === "agent-a" ? "agent-b" : "agent-a")),
  )
  const [first, second] = [named(text), named(swapped)]
  return first < second ? first : second
}

/** Rows never change and are shared by worlds, so most lines are known. */
const lines = new WeakMap<object, { readonly now: bigint; readonly line: string }>()

const lineOf = (row: object, now: bigint): string => {
  const known = lines.get(row)
  if (known?.now === now) return known.line
  const line = JSON.stringify(row, (_name, value: unknown) =>
    typeof value === "bigint" ? `${value - now}` : value,
  )
  lines.set(row, { now, line })
  return line
}

const textOf = (world: World): ReadonlyArray<string> => [
  ...rowsOf(world).map((row) => lineOf(row, world.now)),
  ...world.replicas.map((replica) => `replica ${lineOf(replica, world.now)}`),
]

/** Lines in an order without IDs, and IDs by the place where each first stands. */
const named = (lines: ReadonlyArray<string>): string => {
  const sorted = lines
    .map((line) => [line.replaceAll(UUID, ""), line] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, line]) => line)
    .join("\n")
  const names = new Map<string, string>()
  return sorted.replaceAll(UUID, (id) => {
    const name = names.get(id) ?? `#${names.size}`
    names.set(id, name)
    return name
  })
}
