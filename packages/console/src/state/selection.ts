/** Selected ids, in their order, as an address keeps them. */
export type Selection = ReadonlyArray<string>

/** The most that one request acknowledges. */
export const MOST_SELECTED = 200

export const parseSelection = (text: string | undefined): Selection =>
  Array.from(new Set((text ?? "").split(",").filter((id) => id !== ""))).slice(0, MOST_SELECTED)

export const selectionText = (selection: Selection): string => selection.join(",")

/** Selects what was not selected, and the other way round. */
export const toggled = (selection: Selection, id: string): Selection =>
  selection.includes(id)
    ? selection.filter((each) => each !== id)
    : [...selection, id].slice(0, MOST_SELECTED)

/** Adds all rows between two, both included. */
export const withRange = (
  selection: Selection,
  ids: ReadonlyArray<string>,
  from: string,
  to: string,
): Selection => {
  const ends = [ids.indexOf(from), ids.indexOf(to)].filter((index) => index !== -1)
  if (ends.length === 0) return selection
  const range = ids.slice(Math.min(...ends), Math.max(...ends) + 1)
  return Array.from(new Set([...selection, ...range])).slice(0, MOST_SELECTED)
}
