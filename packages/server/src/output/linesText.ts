import type { CheckedLine } from "@tocsin/contract/publicPages/CheckedLine"

/** More names of checks would fill the terminal; `--json` has all of them. */
const MOST_NAMED = 10

/** Each line of the public pages of a policy, with its checks. */
export const linesText = (lines: ReadonlyArray<CheckedLine> = []): string =>
  lines
    .map(({ checks, line, page }) => {
      const names = checks.slice(0, MOST_NAMED).map(({ agent_id, check_id }) => `${agent_id}/${check_id}`)
      const more = checks.length > MOST_NAMED ? [`${checks.length - MOST_NAMED} more`] : []
      return `${page}/${line} shows ${[...names, ...more].join(", ") || "no check"}\n`
    })
    .join("")
