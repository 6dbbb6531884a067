import type { CodeBlock } from "./CodeBlock.ts"

/** How a block is checked. */
export interface BlockRule {
  readonly language: string
  /**
   * The mark that chooses this rule; the first word of a block's marks that any rule of its
   * language names.
   */
  readonly mark?: string
  /**
   * `session`: it runs in the session of its page; `shown`: it is the output of the block before
   * it.
   */
  readonly by: "session" | "shown" | "test"
  /** Why it is not simply run, where it is not. */
  readonly because?: string
}

/**
 * All kinds of blocks that pages may have. A block of another kind fails the test: nothing is
 * skipped silently.
 */
export const blockRules: ReadonlyArray<BlockRule> = [
  { language: "sh", by: "session" },
  { language: "sh", mark: "exits", by: "session" },
  // With the server stopped before it, and started after it.
  { language: "sh", mark: "stopped", by: "session" },
  {
    language: "sh",
    mark: "scripts",
    by: "test",
    because: "npm test within npm test would never end: the scripts that it names are in package.json",
  },
  {
    language: "sh",
    mark: "elsewhere",
    by: "test",
    because:
      "it needs what no machine of the tests has to have (docker, a published package): a shell parses it",
  },
  { language: "ts", by: "session" },
  { language: "ts", mark: "name", by: "session" },
  { language: "ts", mark: "test", by: "session" },
  { language: "js", by: "session" },
  {
    language: "ts",
    mark: "of",
    by: "test",
    because: "it is part of a file that another test runs, and stands there letter for letter",
  },
  { language: "text", by: "shown" },
  { language: "json", by: "shown" },
  { language: "text", mark: "log", by: "shown" },
  {
    language: "text",
    mark: "folders",
    by: "test",
    because: "it is a list of folders, which are there",
  },
  {
    language: "text",
    mark: "tried",
    by: "test",
    because:
      "it counts a month of an installation's history: test/cli/policyTry compares such a report line by line",
  },
  {
    language: "mermaid",
    by: "test",
    because: "it is a picture: that it can be drawn is seen by its grammar",
  },
  {
    language: "yaml",
    mark: "policy",
    by: "test",
    because: "it is a policy file, or a part of one: it is read as the server reads it",
  },
  ...["nginx", "caddyfile"].map((language) => ({
    language,
    by: "test" as const,
    because: "it is a proxy's configuration, which test/proxies reads from its page and gives to the proxy",
  })),
  {
    language: "md",
    by: "test",
    because: "it shows a badge by addresses of an installation: they have the form that the page lists",
  },
  { language: "sql", by: "test" },
  {
    language: "sql",
    mark: "role",
    by: "test",
    because: "there is no such role: it is run for the role of the tests, and rolled back",
  },
  {
    language: "sql",
    mark: "quarters",
    by: "test",
    because: "its bounds are what a reader puts in: it is run with those that its comment begins",
  },
]

/** The rule of a block; `undefined` without one. */
export const ruleOf = ({ language, marks }: CodeBlock): BlockRule | undefined => {
  const rules = blockRules.filter((rule) => rule.language === language)
  const marked = rules.find(({ mark }) => mark !== undefined && marks.has(mark))
  const known = new Set(rules.map(({ mark }) => mark))
  if (Array.from(marks.keys()).some((mark) => !known.has(mark))) return undefined
  return marked ?? rules.find(({ mark }) => mark === undefined)
}
