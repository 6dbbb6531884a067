import type { Agent } from "@tocsin/client"
import { numberText } from "../format/times.ts"
import { always, isMany, type List, listOf, MOST, type Read, readAll } from "./lists.ts"

/** So many rows are put in groups: those that come first. */
export const MOST_GROUPED = 2_000

interface Grouped {
  readonly agent_id?: string | undefined
  readonly labels?: Readonly<Record<string, string>>
}

/**
 * A list in groups by a label of its checks or else of its agents, the group of its first row first; the
 * list itself without a label.
 */
export const groupedBy = <Item extends Grouped>(list: List<Item>, label = ""): List<Item> => {
  if (label === "") return list
  const read: Read<Item> = async (_cursor, isWanted = always) => {
    const agents = await readAll(listOf<Agent>("ops/v1/agents", { search: `${label}=` }, MOST), { isWanted })
    const values = new Map(agents.map(({ agent_id, labels }) => [agent_id, labels?.[label]]))
    const groups = new Map<string, Array<Item>>()
    const found = await readAll(list, { most: MOST_GROUPED + 1, isWanted })
    const all = found.slice(0, MOST_GROUPED)
    for (const item of all) {
      const value = item.labels?.[label] ?? values.get(item.agent_id ?? "")
      const name = value === undefined ? `no ${label}` : `${label}=${value}`
      groups.set(name, [...(groups.get(name) ?? []), item])
    }
    const counts = Array.from(groups, ([name, { length }]) => [name, length] as const)
    const isSlow = isMany(agents) || isMany(all)
    const cut =
      found.length > MOST_GROUPED ? `Only the first ${numberText(MOST_GROUPED)} are in groups` : undefined
    return { items: Array.from(groups.values()).flat(), groups: counts, isSlow, cut }
  }
  return { ...list, key: `${list.key} by ${label}`, read }
}
