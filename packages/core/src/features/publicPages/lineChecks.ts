import { Effect, Schema } from "effect"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { fieldPath } from "@tocsin/contract/formats/describeIssue"
import type { Matcher } from "@tocsin/contract/labels/Matcher"
import type { CheckedLine } from "@tocsin/contract/publicPages/CheckedLine"
import type { PolicyWarning } from "@tocsin/contract/policy/Policies"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import {
  linesOf,
  MOST_LINE_CHECKS,
  type PageLine,
  type PublicPage,
} from "@tocsin/contract/publicPages/PublicPages"
import { type CheckWithFacts, withFacts } from "../../heart/availability/readFacts.ts"
import { type KnownCheck, knownChecks, neverReported } from "../../heart/availability/knownChecks.ts"
import { ALL_CHECKS, eachPageOf, type Pages as PagesOf } from "../../kernel/engine/lists/readPage.ts"
import type { CheckRef } from "../../kernel/model/CheckRef.ts"
import { indexMatchers } from "../../heart/policy/indexMatchers.ts"
import type { Storage, StorageError } from "../../kernel/ports/Storage.ts"

/** A check of a line, with what matchers compare. */
export type LineCheck = CheckRef & Pick<CheckWithFacts, "facts" | "isListed">

/** The checks of a line, by name. */
export interface LineChecks {
  readonly checks: ReadonlyArray<LineCheck>
  /** Whether more match than a line can have. */
  readonly isCut: boolean
}

type Pages = Readonly<Record<string, PublicPage>>

/** The agents that these lines name; absent if one of them may have checks of any agent. */
const agentsOf = (lines: ReadonlyArray<PageLine>): ReadonlySet<AgentId> | undefined => {
  const named = (match: ReadonlyArray<Matcher>) =>
    match.find(({ field, op }) => field === "agent_id" && op === "=")?.value
  const agents = lines.map(({ match }) => named(match))
  return agents.every(Schema.is(AgentId)) ? new Set(agents) : undefined
}

/** Finds the checks of the lines of pages, of these or of all. Passes over each, unless every line names an agent. */
export const findLineChecks = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  sha256: (text: string) => string,
  pages: Pages,
  among: PagesOf<"checks", KnownCheck> = knownChecks(storage),
): Effect.fn.Return<ReadonlyMap<PageLine, LineChecks>, StorageError> {
  const lines = Object.values(pages).flatMap((page) => linesOf(page).map(({ line }) => line))
  const found = new Map(lines.map((line) => [line, [] as Array<LineCheck>]))
  const matching = indexMatchers(lines.map(({ match }) => match))
  const take = Effect.fnUntraced(function* (rows: Parameters<typeof withFacts>[2]) {
    const present = rows.filter(({ withdrawn_at }) => withdrawn_at === undefined)
    for (const { check, facts, isListed } of yield* withFacts(storage, sha256, present)) {
      const { agent_id, check_id, registration_id } = check
      // A record is large.
      const one = { agent_id, check_id, registration_id, facts, isListed }
      for (const position of matching(facts)) {
        const line = lines[position]
        const checks = line && found.get(line)
        if (checks !== undefined && checks.length <= MOST_LINE_CHECKS) checks.push(one)
      }
    }
  })
  const agents = agentsOf(lines)
  if (agents === undefined) yield* eachPageOf(among, ALL_CHECKS, take)
  else for (const agent_id of agents) yield* eachPageOf(among, { ...ALL_CHECKS, filter: { agent_id } }, take)
  return new Map(
    Array.from(found, ([line, checks]) => [
      line,
      { checks: checks.slice(0, MOST_LINE_CHECKS), isCut: checks.length > MOST_LINE_CHECKS },
    ]),
  )
})

/** Finds the checks of the lines of a page that are late and never reported. */
export const findNeverReported = (
  storage: Storage["Service"],
  sha256: (text: string) => string,
  page: PublicPage,
) => findLineChecks(storage, sha256, { page }, neverReported(storage))

const NOTHING =
  "matches no check, so it shows no data: correct its matchers, unless the check is still to come"
const CUT = `matches more than ${MOST_LINE_CHECKS} checks, and shows the first ${MOST_LINE_CHECKS} by name: choose matchers of fewer checks, or add another line`

/** The lines of the pages of a policy with their checks, and warnings of those that few people mean. */
export const listLines = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  sha256: (text: string) => string,
  { pages }: Pick<PolicyDocument, "pages">,
): Effect.fn.Return<
  { readonly lines?: ReadonlyArray<CheckedLine>; readonly warnings: ReadonlyArray<PolicyWarning> },
  StorageError
> {
  if (pages === undefined) return { warnings: [] }
  const found = yield* findLineChecks(storage, sha256, pages)
  const listed = Object.entries(pages).flatMap(([page, each]) =>
    linesOf(each).map(({ id, line, path }) => {
      const { checks = [], isCut = false } = found.get(line) ?? {}
      const message = isCut ? CUT : checks.length === 0 ? NOTHING : undefined
      return {
        line: { page, line: id, checks: checks.map(({ agent_id, check_id }) => ({ agent_id, check_id })) },
        warning: message && { path: fieldPath(["pages", page, ...path]), message },
      }
    }),
  )
  return {
    lines: listed.map(({ line }) => line),
    warnings: listed.flatMap(({ warning }) => warning ?? []),
  }
})
