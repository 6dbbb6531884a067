import * as Instant from "@tocsin/contract/formats/Instant"
import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { linesOf } from "@tocsin/contract/publicPages/PublicPages"
import { policyWarnings } from "../../../src/lists/policyWarnings.ts"
import { readPolicy } from "../../../src/lists/readPolicy.ts"

const problemsOf = (pages: unknown): ReadonlyArray<string> =>
  Result.match(readPolicy({ pages }, []), {
    onSuccess: () => [],
    onFailure: (problems) => problems.map(({ message, path }) => `${path.slice(1).join(".")} ${message}`),
  })

const match = ["check_id = http"]
const page = (lines: ReadonlyArray<object>, more: object = {}) => ({
  title: "Example",
  groups: [{ title: "Services", lines }],
  ...more,
})
const pagesOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, page([{ name: "Web", match }])]))
const lines = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `line ${n}`, match }))

describe("the public pages of a policy", () => {
  it("are written back as they were read, and their lines have ids", () => {
    const pages = {
      "example-1": page(
        [
          { name: "Web shop", match },
          { name: "日本", id: "jp", match },
          { name: " --Zahlung & Rechnung (EU)!", match },
        ],
        { tz: "Europe/Berlin", lang: "pt", history: "30d", announce: "respond" },
      ),
    }
    const policy = Result.getOrThrow(readPolicy({ pages }, []))
    expect(Schema.encodeSync(PolicyDocument)(policy)).toEqual({ pages })
    const read = policy.pages?.["example-1"]
    expect(read && linesOf(read).map(({ id }) => id)).toEqual(["web-shop", "jp", "zahlung-rechnung-eu"])
  })

  it.each([
    ["a name", { Bad: page([{ name: "a", match }]) }, ["Bad must have a name of 1 to 63 lower-case letters"]],
    ["too many", pagesOf(21), [" must be at most 20 pages"]],
    [
      "a time zone and a history",
      { p: page([{ name: "a", match }], { tz: "Mars/Base", history: "36h" }) },
      ["p.tz must be an IANA time zone", "p.history must be whole days"],
    ],
    ...["DE", "de-DE", "pt-BR", "ru", ""].map((lang): [string, object, ReadonlyArray<string>] => [
      `the language "${lang}"`,
      { p: page([{ name: "a", match }], { lang }) },
      ["p.lang must be one of en, de, fr, es, it, nl, pt, pl, sv, cs, ja, zh"],
    ]),
    [
      "a history of more than 180 days",
      { p: page([{ name: "a", match }], { history: "181d" }) },
      ["p.history must be a duration such as 90s, 8h or 7d, from 1d to 180d"],
    ],
    [
      "addresses of lines",
      {
        p: page([
          { name: "Web", match },
          { name: "web!", match },
          { name: "日本", match },
          { name: "Badge", match },
          { name: "a", id: "web", match },
          { name: "a", id: "badge", match },
          { name: "x".repeat(64), match },
        ]),
      },
      [
        "p.groups.0.lines.1.name has the address of another line of the page too (web): give it another id",
        "p.groups.0.lines.2.name has no letter a to z and no digit for its address: give it an id",
        "p.groups.0.lines.3.name is the address of the page's own badge: choose another id",
        "p.groups.0.lines.4.id has the address of another line of the page too (web): give it another id",
        "p.groups.0.lines.5.id is the address of the page's own badge: choose another id",
        "p.groups.0.lines.6.name is too long for its address: give it an id",
      ],
    ],
    [
      "an id",
      { p: page([{ name: "a", id: "-a", match }]) },
      ["p.groups.0.lines.0.id must be 1 to 63 lower-case letters, digits or -, not beginning with -"],
    ],
    ["no lines", { p: page([]) }, ["p.groups.0.lines"]],
    [
      "more than 200 lines",
      {
        p: {
          title: "a",
          groups: [0, 101].map((from) => ({ title: "a", lines: lines(202).slice(from, from + 101) })),
        },
      },
      ["p.groups must have at most 200 lines together"],
    ],
    [
      "matchers",
      {
        p: page([
          { name: "a", match: ["check_id glob *"] },
          { name: "b", match: [...match, "severity = critical"] },
        ]),
      },
      [
        "p.groups.0.lines.0.match must hold at least one matcher that names something",
        "p.groups.0.lines.1.match.1 must not be severity: a line shows the state of its checks",
      ],
    ],
    [
      "too many globs together",
      { p: page(lines(11).map(({ name }) => ({ name, match: Array(20).fill("check_id glob a*") }))) },
      [" must have at most 5000 matchers together, 200 of them globs"],
    ],
  ] as const)("are refused for %s", (_, pages, expected) => {
    const found = problemsOf(pages)
    expect(found).toHaveLength(expected.length)
    for (const [n, message] of expected.entries()) expect(found[n]).toContain(message)
  })

  it("warn of values in quotes", () => {
    const policy = Result.getOrThrow(
      readPolicy({ pages: { p: page([{ name: "a", match: ['label:team = "db"'] }]) } }, []),
    )
    expect(policyWarnings(policy, Instant.fromMillis(0)).map(({ path }) => path.join("."))).toEqual([
      "pages.p.groups.0.lines.0.match.0",
    ])
  })
})
