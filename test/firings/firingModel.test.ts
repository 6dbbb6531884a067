import { describe } from "@effect/vitest"
import { acknowledge, BOTH, disk, load, shared, type Case, playCases } from "./playCases.ts"
import type { Happening, Policy } from "./Story.ts"

const STEPS: Policy = { routes: [{ steps: [{ to: ["chat"] }, { after: 900, to: ["pager"] }] }] }

const NAMING: Policy = {
  routes: [
    { match: ["severity = warning"], to: ["chat"] },
    { after: 600, to: ["pager"] },
  ],
}
const NOT_NAMING: Policy = {
  routes: [
    { match: ["severity = critical"], to: ["chat"] },
    { after: 600, to: ["pager"] },
  ],
}

/** Each case was lost, late or wrong once. Their messages are written by hand from docs/rules.md. */
const CASES: Readonly<Record<string, Case>> = {
  "one batch names a receiver by a later step that is due, then by a first one": {
    receivers: ["mail", "chat"],
    policy: {
      routes: [
        { match: ["check_id = swap"], to: ["mail"] },
        { match: ["check_id = disk"], steps: [{ to: ["mail"] }, { after: 300, to: ["chat"] }] },
      ],
    },
    steps: [
      [20, load("critical", { check: "swap" })],
      [
        400,
        {
          step: "report",
          agent: "a",
          results: ["disk", "load"].map((check) => ({ check, status: "critical", loud: true, key: "k" })),
        },
      ],
    ],
    expected: ["20 mail firing opened critical", "420 chat firing opened critical"],
  },
  "without a policy, each receiver has a firing and a resolved": {
    steps: [
      [20, disk("critical")],
      [60, disk("ok")],
    ],
    expected: [
      "20 chat firing opened critical",
      "20 pager firing opened critical",
      "80 chat resolved critical",
      "80 pager resolved critical",
    ],
  },
  "an acknowledged warning that was critical before turns critical again": {
    receivers: ["chat"],
    steps: [
      [20, disk("critical")],
      [60, disk("warning")],
      [60, acknowledge(3_600)],
      [60, disk("critical")],
    ],
    expected: ["20 chat firing opened critical", "200 chat firing worsened critical"],
  },
  "a critical member that no route matches stands beside a member with a slow route": {
    receivers: ["chat"],
    policy: { routes: [{ match: ["check_id = disk"], after: 600, to: ["chat"] }] },
    steps: [
      [20, shared("warning")],
      [60, load("critical")],
    ],
    expected: ["80 chat firing opened critical"],
  },
  "a member that worsens just before a step is due does not delay it": {
    policy: STEPS,
    steps: [
      [20, disk("warning")],
      [840, disk("critical")],
    ],
    expected: [
      "20 chat firing opened warning",
      "860 chat firing worsened critical",
      "920 pager firing escalation critical",
    ],
  },
  "a silenced check recovers while a silent one stays": {
    receivers: ["chat"],
    steps: [
      [20, { step: "silence", match: ["check_id = disk"], lasts: 640 }],
      [60, shared("critical")],
      [60, load("warning", { loud: false })],
      [60, shared("ok")],
    ],
    expected: [],
  },
  "a critical result with notifications off waits under a silence with its warning": {
    receivers: ["chat"],
    steps: [
      [20, { step: "silence", match: ["check_id = disk"], lasts: 640 }],
      [60, shared("warning")],
      [60, load("critical", { loud: false })],
    ],
    expected: ["660 chat firing opened critical"],
  },
  "a pager moves from step 2 to step 1 before its time": {
    policy: STEPS,
    steps: [
      [20, disk("critical")],
      [60, { step: "policy", policy: { routes: [{ to: BOTH }] }, receivers: BOTH }],
    ],
    expected: ["20 chat firing opened critical", "80 pager firing opened critical"],
  },
  "a pager of a slow route and a later step is notified once no route is left": {
    policy: {
      routes: [{ after: 1_200, to: ["pager"] }, { steps: [{ to: ["chat"] }, { after: 900, to: ["pager"] }] }],
    },
    steps: [
      [20, disk("critical")],
      [60, { step: "policy", policy: {}, receivers: BOTH }],
    ],
    expected: ["20 chat firing opened critical", "80 pager firing opened critical"],
  },
  "another receiver replaces one": {
    receivers: ["chat"],
    policy: { routes: [{ to: ["chat"] }] },
    steps: [
      [20, disk("critical")],
      [60, { step: "policy", policy: { routes: [{ to: ["pager"] }] }, receivers: ["pager"] }],
      [60, disk("ok")],
    ],
    expected: [
      "20 chat firing opened critical",
      "80 pager firing opened critical",
      "140 pager resolved critical",
    ],
  },
  "an escalation due during an outage waits its delay after recoveries": {
    policy: STEPS,
    steps: [
      [20, disk("critical")],
      [600, { step: "stops", lasts: 600 }],
    ],
    expected: ["20 chat firing opened critical", "2240 pager firing escalation critical"],
  },
  "a reminder due during an outage waits for recoveries": {
    receivers: ["chat"],
    policy: { routes: [{ remind: 900, to: ["chat"] }] },
    steps: [
      [20, disk("critical")],
      [600, { step: "stops", lasts: 600 }],
    ],
    expected: [
      "20 chat firing opened critical",
      "1340 chat firing reminder critical",
      "2240 chat firing reminder critical",
    ],
  },
  "an escalation that waited after an outage does not wait after the next one": {
    policy: STEPS,
    steps: [
      [20, disk("critical")],
      [600, { step: "stops", lasts: 600 }],
      [640, { step: "silence", match: ["check_id = disk"], lasts: 5_000 }],
      [300, { step: "stops", lasts: 600 }],
      [660, { step: "expire", which: 0 }],
    ],
    expected: ["20 chat firing opened critical", "3120 pager firing escalation critical"],
  },
  "a firing that was acknowledged as it opened waits after an outage": {
    receivers: ["chat"],
    steps: [
      [20, shared("warning", { loud: false })],
      [600, { step: "stops", lasts: 600 }],
      [640, acknowledge(1_240)],
      [0, load("warning")],
      [0, load("critical")],
    ],
    expected: ["1340 chat firing opened critical"],
  },
  "a recovery after an outage comes before the escalation": {
    policy: STEPS,
    steps: [
      [20, disk("critical")],
      [600, { step: "stops", lasts: 600 }],
      [640, disk("ok")],
    ],
    expected: ["20 chat firing opened critical", "1260 chat resolved critical"],
  },
  "an escalation comes in time when a worse neighbour joins": {
    policy: STEPS,
    steps: [
      [20, shared("warning")],
      [300, load("critical")],
    ],
    expected: [
      "20 chat firing opened warning",
      "320 chat firing worsened critical",
      "920 pager firing escalation critical",
    ],
  },
  "a warning of an hour turns critical under a route with steps for critical": {
    policy: {
      routes: [
        { match: ["severity = warning"], to: ["chat"] },
        { match: ["severity = critical"], steps: [{ to: ["chat"] }, { after: 900, to: ["pager"] }] },
      ],
    },
    steps: [
      [20, disk("warning")],
      [3_600, disk("critical")],
    ],
    expected: [
      "20 chat firing opened warning",
      "3620 chat firing worsened critical",
      "4520 pager firing escalation critical",
    ],
  },
  "a silent worsening under an acknowledgement does not end it": {
    receivers: ["chat"],
    steps: [
      [20, disk("warning")],
      [60, acknowledge(640)],
      [60, disk("critical", { loud: false })],
      [60, disk("critical")],
    ],
    expected: ["20 chat firing opened warning"],
  },
  "acknowledged in the microsecond of the opening": {
    receivers: ["chat"],
    steps: [
      [20, disk("critical")],
      [0, acknowledge(640)],
    ],
    expected: ["660 chat firing ack_ran_out critical"],
  },
  "a joiner without a delay notifies beside a member with one": {
    receivers: ["chat"],
    policy: {
      routes: [{ match: ["check_id = disk"], after: 600 }, { match: ["check_id = load"] }],
    },
    steps: [
      [20, shared("critical")],
      [60, load("critical")],
    ],
    expected: ["80 chat firing opened critical"],
  },
  "each receiver has a delay of its own": {
    policy: { routes: [{ to: ["chat"] }, { after: 600, to: ["pager"] }] },
    steps: [[20, disk("critical")]],
    expected: ["20 chat firing opened critical", "620 pager firing opened critical"],
  },
  "a receiver that is down is not reminded while its firing waits for a retry": {
    receivers: ["chat"],
    policy: { routes: [{ remind: 900, to: ["chat"] }] },
    steps: [
      [20, { step: "answers", receiver: "chat", how: "is_down" }],
      [60, disk("critical")],
      [1_860, { step: "answers", receiver: "chat", how: "accepts" }],
      [2_400, disk("ok")],
    ],
    expected: ["3680 chat firing opened critical", "4340 chat resolved critical"],
  },
  "routes of warnings name a receiver, then not, then again, every 10 s": {
    receivers: ["chat", "pager"],
    policy: NAMING,
    steps: [
      [20, disk("warning")],
      ...Array.from({ length: 6 }, (_, at): readonly [number, Happening] => [
        10,
        { step: "policy", policy: at % 2 === 0 ? NOT_NAMING : NAMING, receivers: BOTH },
      ]),
    ],
    expected: ["20 chat firing opened warning", "620 pager firing opened warning"],
  },
  "the 501st member names nobody": {
    policy: {
      routes: [
        { match: ["check_id = last"], to: ["pager"] },
        { match: ["check_id glob c*"], to: ["chat"] },
      ],
    },
    steps: [200, 200, 101].map((length, part) => [
      part === 0 ? 20 : 0,
      {
        step: "report",
        agent: "a",
        results: Array.from({ length }, (_, at) => {
          const isLast = part * 200 + at === 500
          const status = isLast ? "warning" : "critical"
          return { check: isLast ? "last" : `c${part}-${at}`, status, loud: true, key: "k" }
        }),
      },
    ]),
    expected: ["20 chat firing opened critical"],
  },
}

describe("the model of firings, a service and simulations follow the rules where", () => {
  playCases(CASES)
})
