import { describe } from "@effect/vitest"
import { acknowledge, BOTH, type Case, disk, load, playCases } from "./playCases.ts"
import { ALL, HOURLY, override } from "./caseRotas.ts"
import type { Happening, Policy } from "./Story.ts"

/** Steps whose moment is over before they name somebody, or comes once more; each by hand from the rules. */

const STEPS: Policy = { routes: [{ steps: [{ to: ["chat"] }, { after: 900, to: ["pager"] }] }] }
const MILD: Policy = {
  routes: [
    { match: ["severity = critical"], to: ["chat"] },
    { match: ["severity != critical"], steps: [{ to: ["chat"] }, { after: 320, to: ["chat"] }] },
  ],
}
const restart: Happening = { step: "stops", lasts: 60 }
const WORST_TO_PAGER: Policy = {
  routes: [
    { match: ["severity = critical"], to: ["pager"] },
    { match: ["severity != critical"], steps: [{ to: ["chat"] }, { after: 300, to: ["pager"] }] },
  ],
}

const BROUGHT: Readonly<Record<string, Case>> = {
  "a milder check has a step that is over": {
    receivers: ["chat"],
    policy: MILD,
    steps: [
      [20, disk("critical")],
      [600, disk("warning")],
    ],
    expected: ["20 chat firing opened critical", "620 chat firing escalation warning"],
  },
  "the same after a restart": {
    receivers: ["chat"],
    policy: MILD,
    steps: [
      [20, disk("critical")],
      [600, restart],
      [180, disk("warning")],
    ],
    expected: ["20 chat firing opened critical", "800 chat firing escalation warning"],
  },
  "the same seconds after a restart": {
    receivers: ["chat"],
    policy: MILD,
    steps: [
      [20, disk("critical")],
      [600, restart],
      [70, disk("warning")],
    ],
    expected: ["20 chat firing opened critical", "690 chat firing escalation warning"],
  },
  "a milder check has one that is over for who was told of the worse": {
    policy: WORST_TO_PAGER,
    steps: [
      [20, disk("critical")],
      [880, disk("warning")],
    ],
    expected: [
      "20 pager firing opened critical",
      "900 chat firing opened warning",
      "900 pager firing escalation warning",
    ],
  },
  "the same where the service started again": {
    policy: WORST_TO_PAGER,
    steps: [
      [20, disk("critical")],
      [580, restart],
      [300, disk("warning")],
    ],
    expected: [
      "20 pager firing opened critical",
      "900 chat firing opened warning",
      "900 pager firing escalation warning",
    ],
  },
  "critical again, with a step of its first time": {
    receivers: ["chat"],
    policy: { routes: [{ steps: [{ to: ["chat"] }, { after: 80, to: ["chat"] }] }] },
    steps: [
      [20, disk("warning")],
      [300, disk("critical")],
      [60, disk("warning")],
      [300, disk("critical")],
    ],
    expected: [
      "20 chat firing opened warning",
      "100 chat firing escalation warning",
      "320 chat firing worsened critical",
      "680 chat firing escalation critical",
    ],
  },
  "a message came less than a minute before it": {
    receivers: ["chat"],
    policy: { routes: [{ steps: [{ to: ["chat"] }, { after: 320, to: ["chat"] }] }] },
    steps: [
      [20, disk("warning")],
      [280, disk("critical")],
    ],
    expected: ["20 chat firing opened warning", "300 chat firing worsened critical"],
  },
  "a check joins whose step is over, and whose reminder is due": {
    receivers: ["chat"],
    policy: {
      routes: [
        { match: ["check_id = load"], to: ["chat"] },
        { match: ["check_id = disk"], remind: 910, steps: [{ to: ["chat"] }, { after: 620, to: ["chat"] }] },
      ],
    },
    steps: [
      [20, load("critical")],
      [1_200, disk("critical", { key: "k" })],
    ],
    expected: ["20 chat firing opened critical", "1220 chat firing escalation critical"],
    tail: 600,
  },
  "a check joins beside one that a later policy no longer lets name": {
    policy: { routes: [{ to: ["chat"] }] },
    steps: [
      [20, disk("critical", { key: "k" })],
      [1_200, { step: "policy", policy: STEPS, receivers: ["chat", "pager"] }],
      [60, disk("critical", { loud: false, key: "k" })],
      [60, load("critical")],
    ],
    expected: ["20 chat firing opened critical", "1220 pager firing escalation critical"],
  },
  "a rota that its receiver joined later names it beside another": {
    receivers: ["chat", "pager"],
    policy: {
      rotas: {
        primary: { ...HOURLY, every: 86_400 },
        secondary: { ...HOURLY, order: [["pager"]], every: 86_400 },
      },
      routes: [
        { match: ["severity = critical"], to: ["primary"] },
        {
          match: ["severity != critical"],
          steps: [{ to: ["primary"] }, { after: 320, to: ["primary", "secondary"] }],
        },
      ],
    },
    steps: [
      [20, disk("critical")],
      [460, { ...override(["chat"], 1_200), rota: "secondary" } as Happening],
      [140, disk("warning")],
    ],
    expected: [
      "20 chat firing opened critical",
      "620 chat firing escalation warning",
      "1680 pager firing escalation warning",
    ],
  },
  "an outage holds a step that the next policy lacks": {
    receivers: ["chat"],
    policy: { routes: [{ steps: [{ to: ["chat"] }, { after: 320, to: ["chat"] }] }] },
    steps: [
      [20, disk("critical")],
      [280, { step: "stops", lasts: 600 }],
      [660, { step: "policy", policy: { routes: [{ to: ["chat"] }] }, receivers: ["chat"] }],
    ],
    expected: ["20 chat firing opened critical"],
  },
}

const REMINDING: Pick<Case, "receivers" | "policy"> = {
  receivers: ["chat"],
  policy: { routes: [{ to: ["chat"], remind: 900 }] },
}

/** Worsenings that meet a reminder which waits. */
const OVERTAKEN: Readonly<Record<string, Case>> = {
  "under a silence": {
    ...REMINDING,
    steps: [
      [20, disk("warning")],
      [280, { step: "silence", match: ["check_id = disk"], lasts: 2_700 }],
      [1_700, disk("critical")],
    ],
    expected: ["20 chat firing opened warning", "3000 chat firing worsened critical"],
    tail: 1_500,
  },
  "under a silence, and the check is milder again": {
    ...REMINDING,
    steps: [
      [20, disk("warning")],
      [280, { step: "silence", match: ["check_id = disk"], lasts: 2_700 }],
      [1_700, disk("critical")],
      [500, disk("warning")],
    ],
    expected: ["20 chat firing opened warning", "3000 chat firing reminder warning"],
    tail: 1_000,
  },
  "under an acknowledgement, which it ends": {
    ...REMINDING,
    steps: [
      [20, disk("warning")],
      [280, acknowledge(5_000)],
      [1_700, disk("critical")],
    ],
    expected: ["20 chat firing opened warning", "2000 chat firing worsened critical"],
    tail: 800,
  },
  "under an acknowledgement, which it ends in a silence, and the check is milder again": {
    ...REMINDING,
    steps: [
      [20, disk("warning")],
      [280, acknowledge(5_000)],
      [1_600, { step: "silence", match: ["check_id = disk"], lasts: 1_100 }],
      [100, disk("critical")],
      [500, disk("warning")],
    ],
    expected: ["20 chat firing opened warning", "3000 chat firing worsened warning"],
    tail: 800,
  },
  "under an acknowledgement as severe, which is withdrawn": {
    ...REMINDING,
    steps: [
      [20, disk("critical")],
      [280, acknowledge(5_000)],
      [100, disk("warning")],
      [1_600, disk("critical")],
      [500, { step: "withdraw", which: 0 }],
    ],
    expected: ["20 chat firing opened critical", "2500 chat firing worsened critical"],
    tail: 800,
  },
  "in quiet hours": {
    ...REMINDING,
    policy: { ...REMINDING.policy, quiet: { chat: { from: 31_200, to: 36_000, below: "critical" } } },
    steps: [
      [20, disk("warning")],
      [1_980, disk("critical")],
    ],
    expected: ["20 chat firing opened warning", "2000 chat firing worsened critical"],
    tail: 800,
  },
  "whose receiver only a later step names: it stays a reminder": {
    policy: { routes: [{ steps: [{ to: ["chat"] }, { after: 300, to: ["pager"] }], remind: 900 }] },
    receivers: ["chat", "pager"],
    steps: [
      [20, disk("warning")],
      [780, { step: "silence", match: ["check_id = disk"], lasts: 1_200 }],
      [1_100, disk("critical")],
    ],
    expected: [
      "20 chat firing opened warning",
      "320 pager firing escalation warning",
      "2000 chat firing worsened critical",
      "2000 pager firing reminder critical",
    ],
    tail: 200,
  },
  "whose receiver waits for a step: no reminder before it": {
    policy: { routes: [{ steps: [{ to: ["chat"] }, { after: 780, to: ["pager"] }], remind: 2_400 }] },
    steps: [
      [20, disk("warning")],
      [2_980, disk("critical")],
    ],
    tail: 1_500,
    expected: [
      "20 chat firing opened warning",
      "800 pager firing escalation warning",
      "2420 chat firing reminder warning",
      "3000 chat firing worsened critical",
      "3780 pager firing escalation critical",
    ],
  },
  "after an acknowledgement that ran out: its line says so": {
    receivers: ["chat"],
    policy: { routes: [{ to: ["chat"] }] },
    steps: [
      [20, disk("warning")],
      [80, acknowledge(600)],
      [300, { step: "silence", match: ["check_id = disk"], lasts: 1_600 }],
      [600, disk("critical")],
    ],
    expected: ["20 chat firing opened warning", "2000 chat firing ack_ran_out critical"],
  },
}

/** Holds whose ends begin steps, beside others. */
const AFTER_HOLDS: Readonly<Record<string, Case>> = {
  "a silence ends that held what quiet hours hold on": {
    policy: { ...STEPS, quiet: { chat: { from: 30_600, to: 36_000, below: "critical" } } },
    steps: [
      [20, disk("warning")],
      [1_200, { step: "silence", match: ["check_id = disk"], lasts: 600 }],
    ],
    expected: ["920 pager firing escalation warning", "2720 pager firing escalation warning"],
  },
  "a step that began again after an outage is due in another one": {
    policy: { routes: [{ steps: [{ to: ["chat"] }, { after: 600, to: ["pager"] }] }] },
    steps: [
      [20, disk("critical")],
      [280, { step: "stops", lasts: 900 }],
      [1_500, { step: "stops", lasts: 900 }],
    ],
    expected: ["20 chat firing opened critical", "3420 pager firing escalation critical"],
  },
  "a step that paged before is due in two outages": {
    policy: { routes: [{ steps: [{ to: ["chat"] }, { after: 600, to: ["chat"] }] }] },
    receivers: ["chat"],
    steps: [
      [20, disk("critical")],
      [280, { step: "stops", lasts: 900 }],
      [1_500, { step: "stops", lasts: 900 }],
    ],
    expected: ["20 chat firing opened critical", "3420 chat firing escalation critical"],
  },
  "an acknowledgement and a silence end after it while no server runs": {
    policy: STEPS,
    steps: [
      [20, { step: "silence", match: ["check_id = disk"], lasts: 720 }],
      [60, disk("critical")],
      [60, acknowledge(580)],
      [550, { step: "stops", lasts: 60 }],
    ],
    expected: ["750 chat firing ack_ran_out critical", "1640 pager firing escalation critical"],
  },
  "a window began while a silence held a step that was due": {
    policy: { ...STEPS, windows: [{ every: 1_800, for: 600, match: ["check_id = disk"] }] },
    steps: [
      [620, disk("critical")],
      [300, { step: "silence", match: ["check_id = disk"], lasts: 1_100 }],
    ],
    tail: 3_000,
    expected: ["620 chat firing opened critical", "3300 pager firing escalation critical"],
  },
}

/** Ends at second 820 and two minutes later. */
const STOPS: Case["steps"][number] = [280, { step: "stops", lasts: 300 }]
const NINE_MINUTES: Policy = { routes: [{ steps: [{ to: ["chat"] }, { after: 540, to: BOTH }] }] }
const silence = (lasts: number): Happening => ({ step: "silence", match: ["check_id = disk"], lasts })
const PAGED_BOTH = (at: number) => [
  "20 chat firing opened critical",
  `${at} chat firing escalation critical`,
  `${at} pager firing escalation critical`,
]

/** A later step of second 560, at which no server runs. */
const UNDER_BOTH: Readonly<Record<string, Case>> = {
  "of a silence that ends before it": {
    policy: NINE_MINUTES,
    steps: [[20, disk("critical")], [220, silence(640)], STOPS],
    expected: PAGED_BOTH(1_480),
  },
  "of a silence that ends while no server runs": {
    policy: NINE_MINUTES,
    steps: [[20, disk("critical")], [220, silence(400)], STOPS],
    expected: PAGED_BOTH(1_480),
  },
  "of a silence that ends after it": {
    policy: NINE_MINUTES,
    steps: [[20, disk("critical")], [220, silence(1_240)], STOPS],
    expected: PAGED_BOTH(2_020),
  },
  "of two silences that end before it": {
    policy: NINE_MINUTES,
    steps: [[20, disk("critical")], [220, silence(640)], [0, silence(680)], STOPS],
    expected: PAGED_BOTH(1_480),
  },
  "of a silence that begins in the minutes after it": {
    policy: NINE_MINUTES,
    steps: [
      [20, disk("critical")],
      [500, { step: "stops", lasts: 300 }],
      [340, silence(40)],
    ],
    expected: PAGED_BOTH(1_480),
  },
  "of a window": {
    begins: "2031-02-01T08:26Z",
    policy: { ...NINE_MINUTES, windows: [{ every: 1_800, for: 640, match: ["check_id = disk"] }] },
    steps: [
      [20, disk("critical")],
      [500, { step: "stops", lasts: 300 }],
    ],
    expected: PAGED_BOTH(1_480),
  },
  "of a parent that ended shortly before it": {
    receivers: ALL,
    policy: {
      dependencies: [{ parent: ["check_id = load"], child: ["check_id = disk"], equal: ["agent_id"] }],
      routes: [
        { match: ["check_id = load"], to: ["mail"] },
        { match: ["check_id = disk"], steps: [{ to: ["chat"] }, { after: 420, to: BOTH }] },
      ],
    },
    steps: [
      [20, disk("critical")],
      [220, load("critical", { key: "other" })],
      [260, load("ok", { key: "other" })],
      [20, { step: "stops", lasts: 300 }],
    ],
    expected: [
      "20 chat firing opened critical",
      "240 mail firing opened critical",
      "500 mail resolved critical",
      ...PAGED_BOTH(1_360).slice(1),
    ],
  },
  "of an acknowledgement": {
    policy: NINE_MINUTES,
    steps: [[20, disk("critical")], [220, acknowledge(640)], STOPS],
    expected: [
      "20 chat firing opened critical",
      "940 chat firing ack_ran_out critical",
      ...PAGED_BOTH(1_480).slice(1),
    ],
  },
  "of an acknowledgement that is withdrawn in the minutes after it": {
    policy: NINE_MINUTES,
    steps: [[20, disk("critical")], [220, acknowledge(6_400)], STOPS, [340, { step: "withdraw", which: 0 }]],
    expected: PAGED_BOTH(1_400),
  },
}

const ONCE_MORE: Readonly<Record<string, Case>> = {
  "the moment of a step that paged comes once more": {
    policy: STEPS,
    steps: [
      [20, disk("critical")],
      [960, { step: "clock_back", by: 600 }],
    ],
    expected: ["20 chat firing opened critical", "920 pager firing escalation critical"],
  },
  "an incident that opened ahead of the clock opens now": {
    policy: STEPS,
    steps: [
      [20, disk("critical")],
      [960, { step: "clock_back", by: 1_800 }],
    ],
    expected: [
      "20 chat firing opened critical",
      "920 pager firing escalation critical",
      "1880 pager firing escalation critical",
    ],
  },
  "a firing that was held before its step began paged": {
    policy: { routes: [{ steps: [{ to: ["chat"] }, { after: 420, to: ["pager"] }] }] },
    steps: [
      [20, disk("critical")],
      [380, { step: "silence", match: ["check_id = disk"], lasts: 640 }],
      [600, acknowledge(600)],
      [1_040, { step: "clock_back", by: 180 }],
    ],
    expected: [
      "20 chat firing opened critical",
      "1600 chat firing ack_ran_out critical",
      "2020 pager firing escalation critical",
    ],
  },
  "one beside a receiver out of reach paged": {
    policy: {
      rotas: { primary: HOURLY },
      routes: [{ steps: [{ to: ["mail"] }, { after: 300, to: ["primary"] }] }],
    },
    receivers: ALL,
    steps: [
      [20, { step: "answers", receiver: "chat", how: "refuses" }],
      [0, disk("critical")],
      [360, { step: "clock_back", by: 180 }],
    ],
    tail: 800,
    expected: ["20 mail firing opened critical", "320 pager firing escalation critical"],
  },
  "the clock is set back twice": {
    policy: STEPS,
    steps: [
      [20, disk("critical")],
      [960, { step: "clock_back", by: 600 }],
      [900, { step: "clock_back", by: 600 }],
    ],
    expected: ["20 chat firing opened critical", "920 pager firing escalation critical"],
  },
  "a step that paged is to come once more as it got worse before": {
    policy: {
      routes: [{ steps: [{ to: ["chat"] }, { after: 300, to: ["pager"] }, { after: 600, to: ["pager"] }] }],
    },
    steps: [
      [20, disk("warning")],
      [620, disk("critical")],
      [360, { step: "clock_back", by: 390 }],
    ],
    expected: [
      "20 chat firing opened warning",
      "320 pager firing escalation warning",
      "620 pager firing escalation warning",
      "640 chat firing worsened critical",
      "940 pager firing escalation critical",
      "1300 pager firing escalation critical",
      "1600 pager firing escalation critical",
    ],
  },
  "a firing of a minute before stood for a step": {
    policy: { routes: [{ steps: [{ to: ["chat"] }, { after: 900, to: ["chat"] }] }] },
    receivers: ["chat"],
    steps: [
      [20, disk("warning")],
      [860, disk("critical")],
      [80, { step: "clock_back", by: 120 }],
    ],
    expected: [
      "20 chat firing opened warning",
      "880 chat firing worsened critical",
      "1040 chat firing escalation critical",
    ],
  },
}

const TWO_LATER = (name: string): Policy => ({
  routes: [{ steps: [{ to: ["chat"] }, { after: 300, to: [name] }, { after: 900, to: [name] }] }],
})
/** A warning, and the page of the first later step. */
const WARNED = ["20 chat firing opened warning", "320 pager firing escalation warning"]
const WORSE_LATE: Case["steps"] = [
  [20, disk("warning")],
  [840, disk("critical")],
]
const PAGED_IN_TIME = [
  ...WARNED,
  "860 chat firing worsened critical",
  "920 pager firing escalation critical",
  "1160 pager firing escalation critical",
]

const WORSENED: Readonly<Record<string, Case>> = {
  "the second of two later steps": {
    policy: TWO_LATER("pager"),
    steps: WORSE_LATE,
    expected: PAGED_IN_TIME,
  },
  "such a step of a rota": {
    policy: { ...TWO_LATER("primary"), rotas: { primary: { ...HOURLY, order: [["pager"]], every: 86_400 } } },
    steps: WORSE_LATE,
    expected: PAGED_IN_TIME,
  },
  "a step that names one of a first step beside it": {
    policy: {
      routes: [
        {
          steps: [{ to: ["chat"] }, { after: 3_000, to: ["pager"] }, { after: 3_600, to: ["pager", "chat"] }],
        },
      ],
    },
    steps: [
      [20, disk("warning")],
      [3_300, disk("critical")],
    ],
    tail: 3_100,
    expected: [
      "20 chat firing opened warning",
      "3020 pager firing escalation warning",
      "3320 chat firing worsened critical",
      "3620 chat firing escalation critical",
      "3620 pager firing escalation critical",
      "6320 pager firing escalation critical",
    ],
  },
  "a step to one that another route told of the warning at once": {
    policy: {
      routes: [
        { match: ["severity = warning"], to: ["pager"] },
        { steps: [{ to: ["chat"] }, { after: 900, to: ["pager"] }] },
      ],
    },
    steps: WORSE_LATE,
    expected: [
      "20 chat firing opened warning",
      "20 pager firing opened warning",
      "860 chat firing worsened critical",
      "920 pager firing escalation critical",
    ],
  },
  "a step between a fall and an early return": {
    policy: TWO_LATER("pager"),
    steps: [
      [20, disk("warning")],
      [780, disk("critical")],
      [60, disk("warning")],
      [140, disk("critical")],
    ],
    expected: [
      ...WARNED,
      "800 chat firing worsened critical",
      "920 pager firing escalation warning",
      "1100 pager firing escalation critical",
    ],
  },
  "steps that count from the end of an acknowledgement": {
    policy: TWO_LATER("pager"),
    steps: [
      [20, disk("warning")],
      [360, acknowledge(300)],
      [480, disk("critical")],
    ],
    expected: [
      ...WARNED,
      "680 chat firing ack_ran_out warning",
      "680 pager firing ack_ran_out warning",
      "860 chat firing worsened critical",
      "980 pager firing escalation critical",
      "1580 pager firing escalation critical",
    ],
  },
  "a step under a silence counts from its end": {
    policy: TWO_LATER("pager"),
    steps: [
      [20, disk("warning")],
      [680, { step: "silence", match: ["agent_id = a"], lasts: 340 }],
      [160, disk("critical")],
    ],
    expected: [
      ...WARNED,
      "1040 chat firing worsened critical",
      "1340 pager firing escalation critical",
      "1940 pager firing escalation critical",
    ],
  },
  "a step that quiet hours held until then": {
    policy: {
      ...TWO_LATER("pager"),
      quiet: { pager: { from: 31_200, to: 36_000, below: "critical" } },
    },
    steps: [
      [20, disk("warning")],
      [1_000, disk("critical")],
    ],
    expected: [
      ...WARNED,
      "1020 chat firing worsened critical",
      "1020 pager firing escalation critical",
      "1320 pager firing escalation critical",
      "1920 pager firing escalation critical",
    ],
  },
}

describe("steps whose moment is over", () => {
  playCases(BROUGHT)
})

describe("a reminder that waits, and a worsening", () => {
  playCases(OVERTAKEN)
})

describe("steps after a hold", () => {
  playCases(AFTER_HOLDS)
})

describe("steps that are due under an outage and the hold", () => {
  playCases(UNDER_BOTH)
})

describe("steps after a clock was set back", () => {
  playCases(ONCE_MORE)
})

describe("steps that are due soon after the incident got worse", () => {
  playCases(WORSENED)
})
