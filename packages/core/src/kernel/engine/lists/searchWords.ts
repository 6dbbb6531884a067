/** A text in which the case of ASCII letters does not count, as both databases compare it. */
const withoutCase = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())

/** The words of a search (docs/rules.md#lists). */
export const wordsOf = (search: string | undefined): ReadonlyArray<string> =>
  Array.from(new Set(withoutCase(search ?? "").split(/\s+/u))).filter((word) => word !== "")

/** Whether each word of a search is in a text. */
export const hasWords = (search: string | undefined, text: string): boolean => {
  const searched = withoutCase(text)
  return wordsOf(search).every((word) => searched.includes(word))
}

/** The text of a check that is searched, which the storages search too; that of an incident's opener. */
export const searchedOf = ({
  agent_id = "",
  check_id = "",
  summary = "",
  title = "",
}: {
  readonly agent_id?: string | undefined
  readonly check_id?: string | undefined
  readonly summary?: string | undefined
  readonly title?: string | undefined
}): string => `${agent_id}/${check_id} ${summary} ${title}`
