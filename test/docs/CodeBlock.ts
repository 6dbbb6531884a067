import { globSync, readFileSync } from "node:fs"

/** A fenced block of code in a page. */
export interface CodeBlock {
  /** The page, from the root of the repository. */
  readonly page: string
  /** The line of its fence, from 1. */
  readonly line: number
  /** The first word after the fence. */
  readonly language: string
  /** The words after it: a bare one is a mark that has the value `""`. */
  readonly marks: ReadonlyMap<string, string>
  /** Names it for its test, in a comment before the fence. */
  readonly example: string | undefined
  readonly text: string
}

/** The pages whose blocks `codeBlocks.test.ts` checks. */
export const pages: ReadonlyArray<string> = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "examples/README.md",
  ...globSync("packages/*/README.md").toSorted(),
  ...globSync("docs/**/*.md").toSorted(),
]

/** Where a block is, for a reader of a failed test. */
export const placeOf = ({ page, line }: Pick<CodeBlock, "page" | "line">): string => `${page}:${line}`

const FENCE = /^ *(`{3,}|~{3,}) *([^`]*)$/
const EXAMPLE = /^<!-- example: (.+) -->$/

const marksOf = (words: ReadonlyArray<string>): ReadonlyMap<string, string> =>
  new Map(
    words.map((word) => {
      const [name = "", ...value] = word.split("=")
      return [name, value.join("=")]
    }),
  )

/** The blocks of a page, in order. Throws for one that does not end. */
export const blocksOf = (page: string): ReadonlyArray<CodeBlock> => {
  const lines = readFileSync(page, "utf8").split("\n")
  const blocks: Array<CodeBlock> = []
  for (let at = 0; at < lines.length; at += 1) {
    const [, fence, info = ""] = FENCE.exec(lines[at] ?? "") ?? []
    if (fence === undefined) continue
    const end = lines.findIndex((line, number) => number > at && line.trim() === fence)
    if (end === -1) throw new Error(`${page}:${at + 1}: this block does not end`)
    const [language = "", ...words] = info.trim().split(/\s+/)
    blocks.push({
      page,
      line: at + 1,
      language,
      marks: marksOf(words),
      example: EXAMPLE.exec(lines[at - 1] ?? "")?.[1],
      text: `${lines.slice(at + 1, end).join("\n")}\n`,
    })
    at = end
  }
  return blocks
}
