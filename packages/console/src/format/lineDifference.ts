/** A line of two texts: of both, or of one of them. */
export interface DifferentLine {
  readonly kind: "same" | "added" | "removed"
  readonly text: string
}

const linesOf = (text: string): ReadonlyArray<string> =>
  text === "" ? [] : text.replace(/\n$/, "").split("\n")

/** A table of more cells would take more than 16 MB: larger parts are shown one after the other. */
const MOST_CELLS = 4_000_000

/** The lines of two parts, as many of them in both as there can be: by a table of how many follow each pair. */
const merged = (before: ReadonlyArray<string>, after: ReadonlyArray<string>): Array<DifferentLine> => {
  const found: Array<DifferentLine> = []
  const width = after.length + 1
  const isSmall = (before.length + 1) * width <= MOST_CELLS
  const common = new Uint32Array(isSmall ? (before.length + 1) * width : 0)
  const at = (old: number, next: number): number => common[old * width + next] ?? 0
  if (isSmall)
    for (let old = before.length - 1; old >= 0; old--)
      for (let next = after.length - 1; next >= 0; next--)
        common[old * width + next] =
          before[old] === after[next]
            ? at(old + 1, next + 1) + 1
            : Math.max(at(old + 1, next), at(old, next + 1))
  let [old, next] = [0, 0]
  while (old < before.length || next < after.length) {
    const [removed, added] = [before[old], after[next]]
    if (isSmall && removed !== undefined && removed === added) {
      found.push({ kind: "same", text: removed })
      old++
      next++
    } else if (removed !== undefined && (added === undefined || at(old + 1, next) >= at(old, next + 1))) {
      found.push({ kind: "removed", text: removed })
      old++
    } else {
      found.push({ kind: "added", text: added ?? "" })
      next++
    }
  }
  return found
}

interface Sequence {
  readonly length: number
  readonly at: (place: number) => string | undefined
}

/** How many lines, or letters, two sequences have in common at their beginnings, and at the ends of what is left. */
const commonEnds = (before: Sequence, after: Sequence): readonly [begin: number, end: number] => {
  const shorter = Math.min(before.length, after.length)
  let begin = 0
  while (begin < shorter && before.at(begin) === after.at(begin)) begin++
  let end = 0
  while (end < shorter - begin && before.at(-1 - end) === after.at(-1 - end)) end++
  return [begin, end]
}

export const lineDifference = (before: string, after: string): ReadonlyArray<DifferentLine> => {
  const [old, next] = [linesOf(before), linesOf(after)]
  const [begin, end] = commonEnds(old, next)
  const same = (text: string): DifferentLine => ({ kind: "same", text })
  return [
    ...old.slice(0, begin).map(same),
    ...merged(old.slice(begin, old.length - end), next.slice(begin, next.length - end)),
    ...old.slice(old.length - end).map(same),
  ]
}

/** Equal lines that are shown around each change. */
const AROUND = 3

/** The changed lines with those around them; a number stands for so many equal lines between. */
export const folded = (lines: ReadonlyArray<DifferentLine>): ReadonlyArray<DifferentLine | number> => {
  const shown = new Set<number>()
  for (const [place, { kind }] of lines.entries())
    if (kind !== "same") for (let near = place - AROUND; near <= place + AROUND; near++) shown.add(near)
  const parts: Array<DifferentLine | number> = []
  for (const [place, line] of lines.entries()) {
    const last = parts.at(-1)
    if (shown.has(place)) parts.push(line)
    else if (typeof last === "number") parts[parts.length - 1] = last + 1
    else parts.push(1)
  }
  return parts
}
