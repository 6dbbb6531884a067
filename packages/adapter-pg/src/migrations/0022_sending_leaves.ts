import type { Migration } from "@tocsin/core/kernel/ports/Migration"
import { SENDING_LEAVES } from "@tocsin/core/kernel/schema/sendingLeaves"

/**
 * Notifications that are being sent leave the indexes of lists. Older servers list and count them
 * without an index.
 */
export const migration: Migration = {
  id: 22,
  name: "sending_leaves",
  compatibility: "compatible",
  sql: SENDING_LEAVES,
}
