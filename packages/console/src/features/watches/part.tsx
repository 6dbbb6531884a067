import type { Part } from "../../parts.ts"
import { WatchActions, WATCHER, Watches } from "./Watches.tsx"

export const part = {
  pages: [["watches 0", Watches]],
  check: {
    below: ({ agent_id, check_id }) => agent_id === WATCHER && <WatchActions name={check_id} />,
    absent: ({ agent_id, check_id }) =>
      agent_id === WATCHER ? <WatchActions name={check_id} hasNoCheck /> : null,
  },
  ways: [["page", "A page or a port", Watches]],
} satisfies Part
