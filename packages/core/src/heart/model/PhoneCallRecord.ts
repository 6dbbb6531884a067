import type { NotifierName } from "@tocsin/contract/formats/Status"
import { instant, keyedTable, text } from "../../kernel/model/TableShape.ts"

/** The last call to a receiver that may have rung: its phone rings once at a time (docs/rules.md#phones). */
export const phone_call = keyedTable({
  name: "phone_call",
  key: ["receiver"],
  group: [],
  locks: "groups",
  columns: { receiver: text<NotifierName>(), began_at: instant },
})
