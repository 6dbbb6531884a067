import { Duration } from "effect"
import { isPositive, NAMELESS_MESSAGE } from "@tocsin/contract/labels/Matcher"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { linesOf, MOST_LINES, type PageLine, type PublicPage } from "@tocsin/contract/publicPages/PublicPages"
import { at, problemIf, type Problems } from "../../heart/policy/problemsAt.ts"
import { zoneProblems } from "../../heart/policy/Schedule.ts"

/** `badge.svg` is that of the page. */
const RESERVED = "badge"

/** The faults of public pages that their schema cannot express. */
export const pageProblems = ({ pages = {} }: Pick<PolicyDocument, "pages">): Problems =>
  Object.entries(pages).flatMap(([name, page]) => at(problemsOf(page), "pages", name))

const problemsOf = (page: PublicPage): Problems => {
  const { history = Duration.zero, tz = "UTC" } = page
  const lines = linesOf(page)
  const firsts = new Map(lines.map((line) => [line.id, line] as const).toReversed())
  return [
    ...zoneProblems(tz),
    ...problemIf(!Number.isInteger(Duration.toDays(history)), "must be whole days", "history"),
    ...problemIf(lines.length > MOST_LINES, `must have at most ${MOST_LINES} lines together`, "groups"),
    ...lines.flatMap((each) =>
      at(lineProblems(each.line, each.id, firsts.get(each.id) === each), ...each.path),
    ),
  ]
}

const SEVERITY_RULE = "must not be severity: a line shows the state of its checks"

const lineProblems = ({ id, match }: PageLine, line: string, isFirst: boolean): Problems => {
  const field = id === undefined ? "name" : "id"
  const fault =
    line === ""
      ? "has no letter a to z and no digit for its address: give it an id"
      : line.length > 63
        ? "is too long for its address: give it an id"
        : line === RESERVED
          ? "is the address of the page's own badge: choose another id"
          : isFirst
            ? ""
            : `has the address of another line of the page too (${line}): give it another id`
  return [
    ...problemIf(fault !== "", fault, field),
    ...problemIf(!match.some(isPositive), NAMELESS_MESSAGE, "match"),
    ...match.flatMap((matcher, n) => problemIf(matcher.field === "severity", SEVERITY_RULE, "match", n)),
  ]
}
