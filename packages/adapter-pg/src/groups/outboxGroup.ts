import { Effect } from "effect"
import { loadOutbox } from "../transactions/loadOutbox.ts"
import type { OutboxScope } from "./GroupScope.ts"
import type { GroupKind } from "./groupTransaction.ts"

/**
 * Commands on outbox items: the ends of attempts, of which a notifier that answers fast makes many at a time. Those that go
 * on to ask for an incident are decided alone, since incidents are locked before their items.
 */
export const outboxGroup: GroupKind<OutboxScope> = {
  scope: "outbox",
  load: ({ members, pg, workspace }) =>
    Effect.suspend(() =>
      loadOutbox(pg, workspace, {
        outboxItems: Array.from(new Set(Array.from(members).flatMap(({ asked }) => asked.outbox_ids))),
      }),
    ),
  mayAsk: () => false,
  committed: () => undefined,
}
