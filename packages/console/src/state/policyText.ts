/** A text that YAML reads as that text without quotes, also within brackets. */
const PLAIN = /^(?!(?:true|false|null|yes|no|on|off)$)(?:[A-Za-z_/][\w.@/-]*|\d+[smhd])$/i

/** A value on one line, as people write it in a policy: `{ to: [chat] }`. */
export const flowText = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(flowText).join(", ")}]`
  if (typeof value === "object" && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, part]) => `${flowText(key)}: ${flowText(part)}`)
      .join(", ")} }`
  return typeof value === "string" && PLAIN.test(value) ? value : JSON.stringify(value)
}

/** An entry of a list such as `routes`, or of a map such as `rotas`, where it has a name. */
const itemLine = (name: string | undefined, value: unknown): string =>
  name === undefined ? `- ${flowText(value)}` : `${flowText(name)}: ${flowText(value)}`

/** Whose entries have names; those of others are lists. */
const NAMED = new Set(["receivers", "rotas", "pages"])

/** An entry at a path below its key; of one further down, such as a line of a page, the item alone. */
export const entryText = ([key = "", name = "", ...inner]: ReadonlyArray<string>, value: object): string =>
  inner.length > 0
    ? itemLine(undefined, value)
    : `${key}:\n  ${itemLine(NAMED.has(key) ? name : undefined, value)}`

/** A policy as its text, without the comments that its writer made. */
export const textOfPolicy = (policy: object): string =>
  Object.entries(policy)
    .map(([key, part]) => {
      const items = Object.entries(Object(part)).map(
        ([name, value]) => `  ${itemLine(Array.isArray(part) ? undefined : name, value)}`,
      )
      return [`${key}:`, ...items, ""].join("\n")
    })
    .join("\n")
