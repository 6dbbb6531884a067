import type { Examples, OperationText } from "../Documentation.ts"
import * as story from "../story.ts"

const counted = (summary: string, count: number): Examples => ({ done: { summary, value: { count } } })

/** What operators decide about agents and their keys. */
export const admissionOperations: Readonly<Record<string, OperationText>> = {
  acceptAgent: {
    tag: "Admission",
    description:
      "Accepts the agent's pending key, so that its events count. A replacement key replaces the accepted one. Without a pending key the count is 0. Safe to repeat.",
    success: counted("The key is accepted", 1),
  },
  blockAgent: {
    tag: "Admission",
    description:
      "Blocks the agent's pending key, or else its accepted one, and puts it on the blacklist. An agent left without a key is deleted. **Not safe to repeat**: a second call may block the accepted key after the pending one.",
    success: counted("The key is blocked", 1),
  },
  acceptAll: {
    tag: "Admission",
    description:
      "Accepts all pending agents; with include_rotation, replacement keys of accepted agents as well.",
    parameters: {
      include_rotation: { description: "Whether replacement keys of accepted agents are accepted too." },
    },
    success: counted("Three agents are accepted", 3),
  },
  blockAll: {
    tag: "Admission",
    description: "Blocks every pending key, replacement keys included, and puts them on the blacklist.",
    success: counted("Two keys are blocked", 2),
  },
  removeAll: {
    tag: "Admission",
    description: "Removes all pending agents. Their next heartbeats register them again.",
    success: counted("Two agents are removed", 2),
  },
  listBlacklist: {
    tag: "Admission",
    description: "Lists blocked keys, newest first. This list goes forward only.",
    success: {
      page: {
        summary: "The only page",
        value: { items: [story.BLACKLIST_ITEM], next_cursor: null, prev_cursor: null },
      },
    },
  },
  deleteBlacklist: {
    tag: "Admission",
    description: "Empties the blacklist. The next heartbeats of these keys register them again, as pending.",
    success: counted("Four rows are deleted", 4),
  },
  deleteBlacklistRow: {
    tag: "Admission",
    description:
      "Removes one key from the blacklist. Its next heartbeat registers it again, as pending. If no row has the id, the count is 0.",
    parameters: {
      key_id: {
        description: "The id of a blacklist row, not a fingerprint.",
        example: story.BLACKLIST_ITEM.id,
      },
    },
    success: counted("The row is deleted", 1),
  },
}
