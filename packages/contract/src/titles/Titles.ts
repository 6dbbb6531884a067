import { Schema } from "effect"
import { closedStruct, named } from "../formats/Fields.ts"

/** The most code points of a title. */
export const LONGEST_TITLE = 100

// `\s` has the blanks that are no control characters, too.
const TITLE = new RegExp(String.raw`^(?!\s)[^\p{Cc}]{1,${LONGEST_TITLE}}(?<!\s)$`, "u")

/** A name for people of a check, an agent, a watch or an integration (docs/rules.md#titles). */
export const Title = Schema.String.check(
  Schema.isPattern(TITLE, {
    identifier: "Title",
    description: `1 to ${LONGEST_TITLE} characters, without control characters and blanks at its ends.`,
    expected: `1 to ${LONGEST_TITLE} characters, without control characters and blanks at its ends`,
  }),
)

const TitleOrNone = Schema.NullOr(Title).annotate({ description: "null takes the title back." })

export const TitleRequest = closedStruct({ title: TitleOrNone }).annotate(
  named("TitleRequest", "What people call it."),
)
export type TitleRequest = typeof TitleRequest.Type

/** The title in a change of several fields. */
export const changedTitle = Schema.optionalKey(TitleOrNone)

export const ShownTitle = Schema.NullOr(Schema.String).annotate({
  description: "What people call it; null without a title.",
})
