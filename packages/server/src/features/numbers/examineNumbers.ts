import { MOST_OF_CHECK, type ReachedBounds } from "@tocsin/core/features/numbers/NumberBounds"
import { Numbers } from "@tocsin/core/lists/Numbers"
import { Effect } from "effect"
import { attention, attentionIf, type Findings } from "../../commands/doctor/Finding.ts"
import { countText } from "../../output/texts.ts"

/** The bounds of numbers that are reached, where `most` series are kept in all. */
export const numberFindings = (
  {
    agents,
    all,
    checks,
  }: Omit<ReachedBounds, "checks"> & {
    readonly checks: ReadonlyArray<readonly [...ReachedBounds["checks"][number], more: number]>
  },
  most: number,
): Findings =>
  [
    ...attentionIf(
      all,
      "numbers",
      `there are ${countText(most)} series, and further ones are not kept: raise SERVICE_NUMBERS_SERIES`,
    ),
    ...agents.map((agent) =>
      attention(
        `numbers of ${agent}`,
        "it has a tenth of all series, and further ones are not kept: raise SERVICE_NUMBERS_SERIES",
      ),
    ),
    ...checks.map(([agent, check, more]) =>
      attention(
        `numbers of ${agent}/${check}`,
        `it has ${MOST_OF_CHECK} series, and ${countText(more)} more that it states are not kept: choose them by numbers in the configuration of its agent, or in the options of its integration`,
      ),
    ),
  ].slice(0, MOST_NUMBER_NOTES)

/** Whether further series of numbers would not be kept; `most` of 0 keeps none. */
export const examineNumbers = (most: number) =>
  most === 0
    ? Effect.succeed<Findings>([])
    : Effect.map(
        Numbers.use(({ numbers }) => numbers.reachedBounds(most)),
        (reached) => numberFindings(reached, most),
      )

/** One plugin may run on many hosts. */
const MOST_NUMBER_NOTES = 5
