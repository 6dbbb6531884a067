import { keyedTable, type RecordOf, text, uuid } from "./TableShape.ts"

/**
 * Shows passes that something changed: the transaction that changed it replaces the stamp
 * (docs/rules.md#evaluation). Each stamp is another ID, not a count, so that no transaction reads or locks it.
 */
export const change_stamp = keyedTable({
  name: "change_stamp",
  key: ["name"],
  locks: "guarded",
  columns: {
    /** `labels` stands for hostnames too. `tested NAME` has the time when a receiver last took a test. */
    name: text<"labels" | "overrides" | "silences" | `tested ${string}`>(),
    stamp: uuid<string>(),
  },
})
export type ChangeStampRecord = RecordOf<typeof change_stamp>
