/** A change that the service reports: names of topics to fetch again. */
export interface Change {
  readonly topics: ReadonlyArray<string>
}

const isTopics = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((each) => typeof each === "string")

const changeOf = (data: string): Change => {
  try {
    const value: unknown = JSON.parse(data)
    const topics = typeof value === "object" && value !== null && "topics" in value ? value.topics : undefined
    return { topics: isTopics(topics) ? topics : [] }
  } catch {
    return { topics: [] }
  }
}

const fieldOf = (line: string): readonly [name: string, value: string] => {
  const at = line.indexOf(":")
  return at === -1 ? [line, ""] : [line.slice(0, at), line.slice(at + 1).replace(/^ /, "")]
}

/**
 * Reads Server-Sent Events from the text that has arrived: the complete ones as changes, and the rest
 * for the next call. A comment is a change of nothing: it shows that the stream gets through.
 */
export const readChanges = (
  text: string,
): { readonly changes: ReadonlyArray<Change>; readonly rest: string } => {
  const blocks = text.replaceAll("\r\n", "\n").split("\n\n")
  const rest = blocks.pop() ?? ""
  const changes = blocks.map((block) => {
    const data = block
      .split("\n")
      .map(fieldOf)
      .filter(([name]) => name === "data")
      .map(([, value]) => value)
    return data.length === 0 ? { topics: [] } : changeOf(data.join("\n"))
  })
  return { changes, rest }
}
