// What JSON has no form for. No record has a field, and no label a key, that begins with this character.
const MARK = "$"

/** A record as JSON: instants are bigint, and an absent field is kept apart from none. */
export const writeRow = (row: unknown): string =>
  // `value` went through toJSON, which hosts define for bigint: only the holder has what the record holds.
  JSON.stringify(row, function (this: Readonly<Record<string, unknown>>, name) {
    const value = this[name]
    if (typeof value === "bigint") return { [MARK]: value.toString() }
    return value === undefined ? { [MARK]: null } : value
  })

/** A record as {@link writeRow} wrote it. Throws for what is no JSON. */
export const readRow = (text: string): unknown => restore(JSON.parse(text))

// Not JSON.parse's reviver, which takes undefined for a field to be deleted.
const restore = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(restore)
  const entries = Object.entries(value)
  const [first] = entries
  if (first?.[0] === MARK) return typeof first[1] === "string" ? BigInt(first[1]) : undefined
  return Object.fromEntries(entries.map(([name, field]) => [name, restore(field)]))
}
