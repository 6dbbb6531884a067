import type { OutboxId } from "@tocsin/contract/formats/Identifiers"
import type { NotificationType, NotifierName, Severity } from "@tocsin/contract/formats/Status"
import { boolean, instant, keyedTable, type RecordOf, text, uuids } from "../../kernel/model/TableShape.ts"

/** The last minute of a receiver's messages of one type (docs/rules.md#floods): all servers count together. */
export const flood_minute = keyedTable({
  name: "flood_minute",
  key: ["receiver", "event_type"],
  group: ["receiver"],
  locks: "groups",
  columns: {
    receiver: text<NotifierName>(),
    event_type: text<NotificationType>(),
    began_at: instant,
    /** Those sent singly; another attempt at one is no other message. */
    singly: uuids<OutboxId>(),
    worst: text<Severity>(),
    /** Whether more was due: it goes out together at its end. */
    waits: boolean,
  },
})
export type FloodMinuteRecord = RecordOf<typeof flood_minute>
