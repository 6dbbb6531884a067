import { describe } from "@effect/vitest"
import { ALL, HOURLY, of, override, PRIMARY } from "./caseRotas.ts"
import { acknowledge, type Case, disk, load, playCases } from "./playCases.ts"
import type { Happening, How } from "./Story.ts"

/** Firings in retry that an acknowledgement holds, and what its end makes of them; each by hand from the rules. */

const answers = (receiver: string, how: How): Happening => ({ step: "answers", receiver, how })
const chat = (how: How): Happening => answers("chat", how)
const TO_CHAT: Pick<Case, "receivers" | "policy"> = {
  receivers: ["chat"],
  policy: { routes: [{ to: ["chat"] }] },
}
/** A worse one behind it makes it due at once. */
const LOST_TWICE = ["80 chat firing opened unknown", "580 chat firing opened unknown"]

/** Its receiver may know the id of the former row, so nothing more goes out under it. */
const REPLACED: Readonly<Record<string, Case>> = {
  "whose receiver has left its turn: nothing goes out to it": {
    policy: PRIMARY,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [60, acknowledge(4_000)],
      [60, chat("accepts")],
    ],
    tail: 5_000,
    expected: ["4140 pager firing ack_ran_out critical"],
  },
  "whose receiver has left its turn, where a person withdraws it": {
    policy: PRIMARY,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [60, acknowledge(8_000)],
      [60, chat("accepts")],
      [3_800, { step: "withdraw", which: 0 }],
    ],
    tail: 1_000,
    expected: ["4000 pager firing opened critical"],
  },
  "whose receiver no route names any more": {
    policy: {
      routes: [
        { match: ["check_id = disk"], to: ["chat"] },
        { match: ["check_id = load"], to: ["pager"] },
      ],
    },
    steps: [
      [20, chat("is_down")],
      [60, disk("critical", { key: "k" })],
      [60, load("critical")],
      [60, acknowledge(4_000)],
      [60, chat("accepts")],
      [60, disk("ok", { key: "k" })],
    ],
    tail: 6_000,
    expected: ["140 pager firing opened critical", "4200 pager firing ack_ran_out critical"],
  },
  "of which no loud member is present as it ends": {
    ...TO_CHAT,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [60, acknowledge(4_000)],
      [60, chat("accepts")],
      [60, disk("unknown", { loud: false })],
      [4_400, disk("critical")],
    ],
    expected: ["4660 chat firing opened critical"],
  },
  "of which none is present, without a policy": {
    receivers: ["chat"],
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [60, acknowledge(4_000)],
      [60, chat("accepts")],
      [60, disk("unknown", { loud: false })],
      [4_400, disk("critical")],
    ],
    expected: ["4660 chat firing opened critical"],
  },
  "of which a worse one waited behind it: both are one": {
    ...TO_CHAT,
    steps: [
      [20, chat("is_down")],
      [60, disk("warning")],
      [60, disk("critical")],
      [60, acknowledge(4_000)],
      [60, chat("accepts")],
    ],
    tail: 6_000,
    expected: ["4200 chat firing ack_ran_out critical"],
  },
  "of which a worse one waited behind it, in a silence that goes on": {
    ...TO_CHAT,
    steps: [
      [20, chat("is_down")],
      [60, disk("warning")],
      [60, disk("critical")],
      [60, acknowledge(4_000)],
      [60, chat("accepts")],
      [3_600, { step: "silence", match: ["agent_id = a"], lasts: 1_200 }],
    ],
    tail: 6_000,
    expected: ["5060 chat firing ack_ran_out critical"],
  },
  "of which a worse one waited behind it, where a person withdraws it and the check is milder": {
    ...TO_CHAT,
    steps: [
      [20, chat("is_down")],
      [60, disk("warning")],
      [60, disk("critical")],
      [60, acknowledge(4_000)],
      [60, chat("accepts")],
      [600, disk("warning")],
      [60, { step: "withdraw", which: 0 }],
    ],
    expected: ["920 chat firing opened warning"],
  },
  "of which a worse one waited behind it, and a worsening ends it": {
    ...TO_CHAT,
    steps: [
      [20, chat("is_down")],
      [60, disk("warning")],
      [60, disk("unknown")],
      [60, acknowledge(4_000)],
      [60, chat("accepts")],
      [600, disk("critical")],
    ],
    expected: ["860 chat firing opened critical"],
  },
  "of which a worse one waited behind it, and a worsening of which it is not to know ends it": {
    policy: {
      routes: [
        { match: ["severity != critical"], to: ["chat"] },
        { match: ["severity = critical"], to: ["pager"] },
      ],
    },
    steps: [
      [20, chat("is_down")],
      [60, disk("warning")],
      [60, disk("unknown")],
      [60, acknowledge(4_000)],
      [60, chat("accepts")],
      [600, disk("critical")],
    ],
    expected: ["860 pager firing opened critical"],
  },
  "whose incident resolves before that ends": {
    ...TO_CHAT,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [60, acknowledge(4_000)],
      [60, chat("accepts")],
      [60, disk("ok")],
    ],
    tail: 5_000,
    expected: ["260 chat resolved critical"],
  },
  "whose incident resolves in silence before that ends": {
    ...TO_CHAT,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [60, acknowledge(4_000)],
      [60, chat("accepts")],
      [60, disk("ok", { loud: false })],
    ],
    tail: 5_000,
    expected: [],
  },
  "whose incident resolves at the moment at which it is withdrawn": {
    ...TO_CHAT,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [60, acknowledge(4_000)],
      [60, chat("accepts")],
      [60, { step: "withdraw", which: 0 }],
      [0, disk("ok")],
    ],
    tail: 5_000,
    expected: ["260 chat resolved critical"],
  },
  "which a receiver may have got, a worse one waits behind it, and the check is milder as that ends": {
    ...TO_CHAT,
    steps: [
      [20, chat("loses")],
      [60, disk("unknown")],
      [500, disk("critical")],
      [480, acknowledge(1_740)],
      [60, chat("accepts")],
      [1_060, disk("warning")],
    ],
    tail: 3_000,
    expected: [...LOST_TWICE, "2800 chat firing ack_ran_out warning"],
  },
  "which a claim finds, a worse one waits behind it, and the check is milder as that ends": {
    ...TO_CHAT,
    steps: [
      [20, chat("loses")],
      [60, disk("unknown")],
      [500, disk("critical")],
      [480, acknowledge(4_000)],
      [60, chat("accepts")],
      [3_280, disk("warning")],
    ],
    tail: 3_000,
    expected: [...LOST_TWICE, "5060 chat firing ack_ran_out warning"],
  },
  "which a receiver may have got whose incident resolves before the next": {
    ...TO_CHAT,
    steps: [
      [20, chat("loses")],
      [60, disk("critical")],
      [60, acknowledge(4_000)],
      [60, chat("accepts")],
      [3_600, { step: "silence", match: ["agent_id = a"], lasts: 1_800 }],
      [600, disk("ok")],
    ],
    expected: ["80 chat firing opened critical", "4400 chat resolved critical"],
  },
  "whose receiver is to be reminded: that counts from its last attempt, and the step comes before it": {
    receivers: ["chat"],
    policy: { routes: [{ steps: [{ to: ["chat"] }, { after: 480, to: ["chat"] }], remind: 1_440 }] },
    steps: [
      [20, disk("critical")],
      [60, chat("is_down")],
      [4_080, acknowledge(8_000)],
      [60, chat("accepts")],
      [180, { step: "withdraw", which: 0 }],
    ],
    tail: 1_200,
    expected: ["20 chat firing opened critical", "4880 chat firing escalation critical"],
  },
  "a handover to one who is on call nowhere any more waits for its step": {
    receivers: ALL,
    policy: of(
      { ...HOURLY, order: [["chat"]], every: 86_400 },
      { routes: [{ steps: [{ to: ["mail"] }, { after: 120, to: ["primary", "pager"] }] }] },
    ),
    steps: [
      [20, answers("pager", "is_down")],
      [60, disk("critical")],
      [170, override(["pager"], 180)],
      [60, acknowledge(300)],
      [60, answers("pager", "accepts")],
    ],
    expected: [
      "80 mail firing opened critical",
      "200 chat firing escalation critical",
      "610 chat firing ack_ran_out critical",
      "610 mail firing ack_ran_out critical",
      "730 chat firing escalation critical",
      "730 pager firing escalation critical",
    ],
  },
}

/** The time in retry counts before the acknowledgement alone. */
const OUT_OF_REACH: Readonly<Record<string, Case>> = {
  "a clock is set back while it holds a retry: who was within reach before it still is": {
    policy: PRIMARY,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [60, acknowledge(4_000)],
      [30, { step: "clock_back", by: 1_800 }],
      [900, chat("accepts")],
      [60, { step: "withdraw", which: 0 }],
    ],
    tail: 900,
    expected: ["1130 chat firing opened critical"],
  },
  "of one in retry for a minute before it": {
    policy: PRIMARY,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [60, acknowledge(600)],
      [60, chat("accepts")],
    ],
    tail: 1_000,
    expected: ["740 chat firing ack_ran_out critical"],
  },
  "of one in retry for a minute before it, and acknowledged again": {
    policy: PRIMARY,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [60, acknowledge(600)],
      [400, acknowledge(400)],
      [60, chat("accepts")],
    ],
    tail: 1_000,
    expected: ["940 chat firing ack_ran_out critical"],
  },
  "of one in retry for a minute before it, and acknowledged twice more": {
    policy: PRIMARY,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [60, acknowledge(600)],
      [400, acknowledge(400)],
      [100, acknowledge(300)],
      [60, chat("accepts")],
    ],
    tail: 500,
    expected: ["940 chat firing ack_ran_out critical"],
  },
  "of one in retry for a minute before it, which is withdrawn": {
    policy: PRIMARY,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [60, acknowledge(3_000)],
      [60, chat("accepts")],
      [600, { step: "withdraw", which: 0 }],
    ],
    tail: 900,
    expected: ["800 chat firing opened critical"],
  },
  "of one in retry for a minute before it, which is worse after it": {
    policy: PRIMARY,
    steps: [
      [20, chat("is_down")],
      [60, disk("warning")],
      [60, acknowledge(3_000)],
      [60, chat("accepts")],
      [600, disk("critical")],
    ],
    tail: 900,
    expected: ["800 chat firing opened critical"],
  },
  "of one that refused before it, and is down after it: it stays so": {
    policy: PRIMARY,
    steps: [
      [20, chat("refuses")],
      [60, disk("critical")],
      [60, chat("is_down")],
      [60, acknowledge(600)],
    ],
    tail: 1_500,
    expected: ["80 pager firing escalation critical", "800 pager firing ack_ran_out critical"],
  },
  "of one that stays in retry after it": {
    policy: PRIMARY,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [60, acknowledge(600)],
    ],
    tail: 1_500,
    expected: ["1040 pager firing escalation critical"],
  },
  "of one that was out of reach before it: it stays so": {
    policy: PRIMARY,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [360, acknowledge(600)],
    ],
    tail: 1_300,
    expected: ["380 pager firing escalation critical", "1040 pager firing ack_ran_out critical"],
  },
  "of one that was out of reach before it, which is withdrawn": {
    policy: PRIMARY,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [360, acknowledge(6_000)],
      [600, { step: "withdraw", which: 0 }],
    ],
    tail: 700,
    expected: ["380 pager firing escalation critical"],
  },
  "of one that had waited after an outage, in retry for a minute before it, and acknowledged again": {
    policy: PRIMARY,
    steps: [
      [20, chat("is_down")],
      [60, { step: "silence", match: ["agent_id = a"], lasts: 250 }],
      [60, disk("critical")],
      [60, { step: "stops", lasts: 300 }],
      [480, acknowledge(600)],
      [400, acknowledge(400)],
      [60, chat("accepts")],
    ],
    tail: 600,
    expected: ["1480 chat firing ack_ran_out critical"],
  },
}

/** Its receiver knows as much, and is sent it all the same. */
const WORSE_THAN_ACKNOWLEDGED: Case["steps"] = [
  [20, disk("critical")],
  [180, disk("warning")],
  [60, acknowledge(4_000)],
  [60, chat("is_down")],
  [60, disk("critical")],
  [60, acknowledge(4_000)],
  [60, chat("accepts")],
]
const REFUSED: Case["steps"] = [
  [20, chat("refuses")],
  [60, disk("critical")],
  [60, { step: "silence", match: ["check_id = disk"], lasts: 300 }],
  [60, chat("accepts")],
]
const FORCED: Readonly<Record<string, Case>> = {
  "the check was worse than acknowledged": {
    ...TO_CHAT,
    steps: [...WORSE_THAN_ACKNOWLEDGED, [600, { step: "withdraw", which: 0 }]],
    expected: ["20 chat firing opened critical", "1100 chat firing worsened critical"],
  },
  "the check was worse than acknowledged, without a policy": {
    receivers: ["chat"],
    steps: [...WORSE_THAN_ACKNOWLEDGED, [600, { step: "withdraw", which: 0 }]],
    expected: ["20 chat firing opened critical", "1100 chat firing worsened critical"],
  },
  "the check was worse than acknowledged, and is milder in a silence that goes on": {
    ...TO_CHAT,
    steps: [
      ...WORSE_THAN_ACKNOWLEDGED,
      [60, { step: "silence", match: ["agent_id = a"], lasts: 900 }],
      [540, { step: "withdraw", which: 0 }],
      [60, disk("warning")],
    ],
    expected: ["20 chat firing opened critical", "1460 chat firing worsened warning"],
  },
  "the check was worse than acknowledged, which runs out: it is one": {
    ...TO_CHAT,
    steps: WORSE_THAN_ACKNOWLEDGED,
    tail: 5_000,
    expected: ["20 chat firing opened critical", "4440 chat firing ack_ran_out critical"],
  },
  "the check was worse than acknowledged, and its receiver has a later step alone by then": {
    policy: { routes: [{ to: ["chat"] }] },
    steps: [
      ...WORSE_THAN_ACKNOWLEDGED,
      [
        60,
        {
          step: "policy",
          policy: { routes: [{ steps: [{ to: ["pager"] }, { after: 900, to: ["chat"] }] }] },
          receivers: ["chat", "pager"],
        },
      ],
      [540, { step: "withdraw", which: 0 }],
    ],
    expected: [
      "20 chat firing opened critical",
      "1100 pager firing opened critical",
      "2000 chat firing escalation critical",
    ],
  },
  "its receiver had refused it, and works again": {
    ...TO_CHAT,
    steps: [
      ...REFUSED,
      [20, { step: "tests", receiver: "chat" }],
      [60, chat("is_down")],
      [120, acknowledge(4_000)],
      [60, chat("accepts")],
      [600, { step: "withdraw", which: 0 }],
    ],
    expected: ["1060 chat firing opened critical"],
  },
  "its receiver knew as much, had refused it, and works again": {
    receivers: ["chat"],
    policy: { routes: [{ steps: [{ to: ["chat"] }, { after: 120, to: ["chat"] }] }] },
    steps: [
      [20, disk("critical")],
      [60, chat("refuses")],
      [120, { step: "silence", match: ["agent_id = a"], lasts: 300 }],
      [60, chat("accepts")],
      [60, { step: "tests", receiver: "chat" }],
      [60, chat("is_down")],
      [180, acknowledge(4_000)],
      [60, chat("accepts")],
      [540, { step: "withdraw", which: 0 }],
    ],
    expected: [
      "20 chat firing opened critical",
      "1160 chat firing escalation critical",
      "1280 chat firing escalation critical",
    ],
  },
  "its receiver had refused it, and one attempt brought it: another does not": {
    ...TO_CHAT,
    steps: [
      ...REFUSED,
      [20, load("critical")],
      [60, chat("is_down")],
      [220, acknowledge(4_000)],
      [60, chat("refuses")],
      [600, { step: "withdraw", which: 0 }],
      [60, chat("accepts")],
      [60, load("critical", { check: "cpu", key: "z" })],
    ],
    expected: ["220 chat firing opened critical", "1280 chat firing opened critical"],
  },
}

describe("a firing in retry at the end of an acknowledgement", () => {
  playCases(REPLACED)
})

describe("who is out of reach after an acknowledgement", () => {
  playCases(OUT_OF_REACH)
})

describe("a firing in retry that is sent whatever its receiver knows, after an acknowledgement that is withdrawn", () => {
  playCases(FORCED)
})
