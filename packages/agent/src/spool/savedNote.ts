/** A note as it was written; none where its text is damaged, which members of the group can do too. */
export const savedNote = (text: string | undefined): unknown => {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
