import { now } from "../../state/clock.ts"
import { call, mayRespond } from "../../state/session.ts"
import type { ManyAct } from "../../view/manyActs.tsx"
import { noEnd, readEnd } from "./silenceActions.ts"

/** Silences each of several rows by its own matchers. */
export const silenceAct = <Item>(
  factsOf: (item: Item) => { readonly agent_id: string; readonly check_id?: string },
): ManyAct<Item> => ({
  label: "Silence",
  did: "Silenced",
  isOffered: mayRespond,
  fields: {
    span: { label: "For", initial: "2h", hint: "2h, or until 08:00" },
    comment: { label: "Comment", isWide: true, isNeeded: () => true, maxLength: 1_024 },
  },
  faultIn: ({ span = "" }) => (readEnd(span, now.peek()) === undefined ? noEnd(span) : undefined),
  does: (item, { comment, span = "" }) => {
    const matchers = Object.entries(factsOf(item)).map(([field, value]) => ({ field, op: "=", value }))
    return call("POST", "ops/v1/silences", {
      body: { matchers, ...readEnd(span, now.peek())?.ends, comment },
    })
  },
})
