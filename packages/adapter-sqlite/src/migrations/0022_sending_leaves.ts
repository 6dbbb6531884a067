import type { Migration } from "@tocsin/core/kernel/ports/Migration"
import { SENDING_LEAVES } from "@tocsin/core/kernel/schema/sendingLeaves"

/** Notifications that are being sent leave the indexes of lists. Older servers count by an index that had them. */
export const migration: Migration = {
  id: 22,
  name: "sending_leaves",
  compatibility: "breaking",
  sql: SENDING_LEAVES,
}
