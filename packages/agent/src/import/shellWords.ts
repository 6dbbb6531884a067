/** Characters with a meaning to a shell: outside quotes, or in double quotes. */
const SPECIAL = new Set("|&;<>()$`*?[]{}~#!\n")
const SPECIAL_IN_QUOTES = new Set("$`")

/** Commands built into the shell. */
const BUILT_IN = new Set([
  ".",
  ":",
  "cd",
  "command",
  "eval",
  "exec",
  "exit",
  "export",
  "set",
  "trap",
  "ulimit",
  "umask",
])

type Mode = "plain" | "single" | "double"

/**
 * The words of a command line that no shell has to interpret; `undefined` where one has to, or where
 * a quote does not end.
 */
export const shellWords = (line: string): ReadonlyArray<string> | undefined => {
  const words: Array<string> = []
  let word: string | undefined
  let mode: Mode = "plain"
  const characters = [...line]
  for (let at = 0; at < characters.length; at++) {
    const one = characters[at] ?? ""
    if (mode === "single") {
      if (one === "'") mode = "plain"
      else word += one
    } else if (one === "\\") {
      const next = characters[++at]
      if (next === undefined) return undefined
      // In double quotes a backslash stands for itself, except before these.
      word = (word ?? "") + (mode === "double" && !['"', "\\", "$", "`"].includes(next) ? `\\${next}` : next)
    } else if (one === '"') {
      word ??= ""
      mode = mode === "double" ? "plain" : "double"
    } else if (mode === "double") {
      if (SPECIAL_IN_QUOTES.has(one)) return undefined
      word += one
    } else if (one === "'") {
      word ??= ""
      mode = "single"
    } else if (/\s/.test(one)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (SPECIAL.has(one)) return undefined
    else word = (word ?? "") + one
  }
  if (mode !== "plain") return undefined
  if (word !== undefined) words.push(word)
  const [first = ":"] = words
  // A first word such as A=1 sets a variable.
  return BUILT_IN.has(first) || /^[A-Za-z_]\w*=/.test(first) ? undefined : words
}
