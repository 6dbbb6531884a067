import { Schema } from "effect"
import { named, timestamp } from "../formats/Fields.ts"
import { type Topic, topicNames } from "./topicNames.ts"

export const TopicsChanged = Schema.Struct({
  topics: Schema.Array(Schema.String).annotateKey({
    description: `Topics to fetch again: ${topicNames.join(", ")}. A newer version may know more.`,
  }),
  at: timestamp("When the event was written."),
}).annotate(named("TopicsChanged", "Names what has changed since the event before. Carries no data."))
/** An event of this version. */
export interface TopicsChanged extends Omit<typeof TopicsChanged.Type, "topics"> {
  readonly topics: ReadonlyArray<Topic>
}
