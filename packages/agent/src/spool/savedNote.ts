/** A note as it was written; none where its text is damaged, which members of the group can do too. */
export const savedNote = (text: string | undefined): unknown => {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The fields of a note; none where it is no object. */
export const fieldsOf = (note: unknown): Readonly<Record<string, unknown>> =>
  typeof note === "object" && note !== null ? { ...note } : {}
