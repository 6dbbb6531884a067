import { describe } from "@effect/vitest"
import { PRIMARY } from "./caseRotas.ts"
import { acknowledge, type Case, disk, load, playCases, shared } from "./playCases.ts"
import type { Happening, How, Policy } from "./Story.ts"

/** Cases of each part of the rules of episodes, by hand from its sentences. */

const REMINDING = { routes: [{ to: ["chat"], remind: 1_800 }] }
const TO_CHAT: Pick<Case, "receivers" | "policy"> = {
  receivers: ["chat"],
  policy: { routes: [{ to: ["chat"] }] },
}
const STEPS: Policy = { routes: [{ steps: [{ to: ["chat"] }, { after: 900, to: ["pager"] }] }] }
const CHAT_TWICE: Policy = { routes: [{ steps: [{ to: ["chat"] }, { after: 900, to: ["chat"] }] }] }
const BY_SEVERITY: Policy = {
  routes: [
    { match: ["severity = critical"], steps: [{ to: ["chat"] }, { after: 900, to: ["pager"] }] },
    { match: ["severity != critical"], to: ["mail"] },
  ],
}

const silence = (lasts: number): Happening => ({ step: "silence", match: ["agent_id = a"], lasts })
const answers = (receiver: string, how: How): Happening => ({ step: "answers", receiver, how })
const chat = (how: How): Happening => answers("chat", how)

const FORGETTING: Readonly<Record<string, Case>> = {
  "critical again after ten mild minutes": {
    ...TO_CHAT,
    steps: [
      [20, disk("critical")],
      [60, disk("warning")],
      [600, disk("critical")],
    ],
    expected: ["20 chat firing opened critical", "680 chat firing worsened critical"],
  },
  "critical again after nine mild minutes": {
    ...TO_CHAT,
    steps: [
      [20, disk("critical")],
      [60, disk("warning")],
      [540, disk("critical")],
    ],
    expected: ["20 chat firing opened critical"],
  },
  "critical again after nine minutes of which three were held": {
    ...TO_CHAT,
    steps: [
      [20, disk("critical")],
      [60, disk("warning")],
      [60, silence(100)],
      [480, disk("critical")],
    ],
    expected: ["20 chat firing opened critical"],
  },
  "a silent return and a loud one after it": {
    ...TO_CHAT,
    steps: [
      [20, shared("critical")],
      [60, shared("warning")],
      [480, shared("critical", { loud: false })],
      [300, load("critical")],
    ],
    expected: ["20 chat firing opened critical", "860 chat firing worsened critical"],
  },
  "critical, unknown, warning: each is forgotten after its own fall": {
    ...TO_CHAT,
    steps: [
      [20, disk("critical")],
      [60, disk("unknown")],
      [600, disk("warning")],
      [60, disk("unknown")],
      [60, disk("critical")],
      [60, disk("warning")],
      [660, disk("unknown")],
    ],
    expected: [
      "20 chat firing opened critical",
      "800 chat firing worsened critical",
      "1520 chat firing worsened unknown",
    ],
  },
  "a loud improvement of what got worse in silence announces nothing": {
    ...TO_CHAT,
    steps: [
      [20, shared("warning")],
      [60, load("critical", { loud: false })],
      [60, load("unknown")],
    ],
    expected: ["20 chat firing opened warning"],
  },
  "a policy remembers for an hour": {
    ...TO_CHAT,
    policy: { ...TO_CHAT.policy, again_after: 3_600 },
    steps: [
      [20, disk("critical")],
      [60, disk("warning")],
      [1_800, disk("critical")],
    ],
    expected: ["20 chat firing opened critical"],
  },
  "a policy remembers nothing": {
    ...TO_CHAT,
    policy: { ...TO_CHAT.policy, again_after: 0 },
    steps: [
      [20, disk("critical")],
      [60, disk("warning")],
      [0, disk("critical")],
    ],
    expected: ["20 chat firing opened critical", "80 chat firing worsened critical"],
  },
  "without a policy, it is a worsening too": {
    receivers: ["chat"],
    steps: [
      [20, disk("critical")],
      [60, disk("warning")],
      [1_200, disk("critical")],
    ],
    expected: ["20 chat firing opened critical", "1280 chat firing worsened critical"],
  },
  "after a clock was set back, the fall counts as now": {
    ...TO_CHAT,
    steps: [
      [20, disk("critical")],
      [600, disk("warning")],
      [60, { step: "clock_back", by: 1_800 }],
      [540, disk("critical")],
    ],
    expected: ["20 chat firing opened critical"],
  },
  "a severity that was only shown is forgotten too": {
    ...TO_CHAT,
    policy: { routes: [{ after: 120, to: ["chat"] }] },
    steps: [
      [20, shared("unknown")],
      [60, load("critical", { loud: false })],
      [660, disk("critical", { check: "disk-b", key: "k" })],
    ],
    expected: ["140 chat firing opened critical", "740 chat firing worsened critical"],
  },
  "what was forgotten stays so after a clock was set back": {
    ...TO_CHAT,
    steps: [
      [20, disk("critical")],
      [60, disk("warning")],
      [1_200, { step: "clock_back", by: 1_800 }],
      [60, disk("critical")],
    ],
    expected: ["20 chat firing opened critical", "1340 chat firing worsened critical"],
  },
  "what was forgotten stays so under a policy that remembers longer": {
    ...TO_CHAT,
    steps: [
      [20, disk("critical")],
      [60, disk("warning")],
      [720, { step: "policy", policy: { ...TO_CHAT.policy, again_after: 3_600 }, receivers: ["chat"] }],
      [60, disk("critical")],
    ],
    expected: ["20 chat firing opened critical", "860 chat firing worsened critical"],
  },
  "what was forgotten stays so where nothing else is to come sooner": {
    receivers: ["chat"],
    policy: { ...REMINDING, again_after: 3_600 },
    steps: [
      [20, disk("critical")],
      [60, disk("warning")],
      [820, { step: "policy", policy: { ...REMINDING, again_after: 600 }, receivers: ["chat"] }],
      [300, { step: "policy", policy: { ...REMINDING, again_after: 3_600 }, receivers: ["chat"] }],
      [300, disk("critical")],
    ],
    expected: [
      "20 chat firing opened critical",
      "1500 chat firing worsened critical",
      "3300 chat firing reminder critical",
    ],
  },
}

/** The steps of the severity begin anew. */
const RETURNING: Readonly<Record<string, Case>> = {
  "who is on call is notified at a return, and the next step after its delay": {
    receivers: ["chat", "pager", "mail"],
    policy: BY_SEVERITY,
    steps: [
      [20, disk("critical")],
      [600, disk("warning")],
      [8_400, disk("critical")],
    ],
    expected: [
      "20 chat firing opened critical",
      "620 mail firing opened warning",
      "9020 chat firing worsened critical",
      "9920 pager firing escalation critical",
    ],
  },
  "an early return belongs to the same steps": {
    receivers: ["chat", "pager", "mail"],
    policy: BY_SEVERITY,
    steps: [
      [20, disk("critical")],
      [240, disk("warning")],
      [300, disk("critical")],
    ],
    expected: [
      "20 chat firing opened critical",
      "260 mail firing opened warning",
      "920 pager firing escalation critical",
    ],
  },
}

const BEGINNINGS: Readonly<Record<string, Case>> = {
  "an acknowledgement that runs out tells who knows, and the next step waits": {
    policy: STEPS,
    steps: [
      [20, disk("critical")],
      [60, acknowledge(640)],
    ],
    expected: [
      "20 chat firing opened critical",
      "720 chat firing ack_ran_out critical",
      "1620 pager firing escalation critical",
    ],
  },
  "an acknowledgement that outlasts the next step": {
    policy: STEPS,
    steps: [
      [20, disk("critical")],
      [60, acknowledge(1_240)],
    ],
    tail: 2_400,
    expected: [
      "20 chat firing opened critical",
      "1320 chat firing ack_ran_out critical",
      "2220 pager firing escalation critical",
    ],
  },
  "an acknowledgement that is withdrawn": {
    policy: STEPS,
    steps: [
      [20, disk("critical")],
      [60, acknowledge(3_600)],
      [1_200, { step: "withdraw", which: 0 }],
    ],
    expected: ["20 chat firing opened critical", "2180 pager firing escalation critical"],
  },
  "an acknowledgement that a worsening ends": {
    policy: STEPS,
    steps: [
      [20, disk("warning")],
      [60, acknowledge(3_600)],
      [1_200, disk("critical")],
    ],
    expected: [
      "20 chat firing opened warning",
      "1280 chat firing worsened critical",
      "2180 pager firing escalation critical",
    ],
  },
  "a silence holds a first step": {
    policy: STEPS,
    steps: [
      [20, silence(640)],
      [60, disk("critical")],
    ],
    expected: ["660 chat firing opened critical", "1560 pager firing escalation critical"],
  },
  "a silence holds a later step": {
    policy: STEPS,
    steps: [
      [20, disk("critical")],
      [600, silence(640)],
    ],
    expected: ["20 chat firing opened critical", "2160 pager firing escalation critical"],
  },
  "a silence under which nothing was due": {
    policy: STEPS,
    steps: [
      [20, disk("critical")],
      [60, silence(640)],
    ],
    expected: ["20 chat firing opened critical", "920 pager firing escalation critical"],
  },
  "quiet hours move no step": {
    receivers: ["chat", "pager", "mail"],
    policy: {
      routes: [{ steps: [{ to: ["chat"] }, { after: 300, to: ["pager"] }, { after: 900, to: ["mail"] }] }],
      quiet: { pager: { from: 30_600, to: 31_200, below: "critical" } },
    },
    steps: [[20, disk("warning")]],
    expected: [
      "20 chat firing opened warning",
      "600 pager firing escalation warning",
      "920 mail firing escalation warning",
    ],
  },
  "a later step is due in an outage": {
    policy: STEPS,
    steps: [
      [20, disk("critical")],
      [600, { step: "stops", lasts: 600 }],
    ],
    expected: ["20 chat firing opened critical", "2240 pager firing escalation critical"],
  },
  "a parent holds a first step": {
    policy: {
      routes: [
        { match: ["check_id = load"], steps: [{ to: ["chat"] }, { after: 500, to: ["pager"] }] },
        { match: ["check_id = disk"], to: ["mail"] },
      ],
      dependencies: [{ parent: ["check_id = disk"], child: ["check_id = load"], equal: ["agent_id"] }],
    },
    receivers: ["chat", "pager", "mail"],
    steps: [
      [20, disk("critical")],
      [60, load("critical")],
      [600, disk("ok")],
    ],
    expected: [
      "20 mail firing opened critical",
      "680 mail resolved critical",
      "800 chat firing opened critical",
      "1300 pager firing escalation critical",
    ],
  },
  "a silence ends while quiet hours hold its firing on": {
    policy: {
      routes: [{ steps: [{ to: ["chat"] }, { after: 300, to: ["pager"] }] }],
      quiet: { chat: { from: 30_600, to: 36_000, below: "critical" } },
    },
    steps: [
      [20, disk("warning")],
      [380, silence(340)],
    ],
    expected: ["320 pager firing escalation warning", "1040 pager firing escalation warning"],
  },
  "a window begins and ends while quiet hours alone hold a firing": {
    policy: {
      routes: [{ steps: [{ to: ["chat"] }, { after: 1_400, to: ["pager"] }] }],
      quiet: { chat: { from: 30_600, to: 36_000, below: "critical" } },
      windows: [{ for: 120, match: ["agent_id = a"], every: 1_800 }],
    },
    steps: [[600, disk("warning")]],
    expected: ["3320 pager firing escalation warning"],
    tail: 3_000,
  },
  "a window holds a step on that an outage held": {
    policy: { ...STEPS, windows: [{ for: 240, match: ["agent_id = a"], every: 1_800 }] },
    steps: [
      [300, disk("critical")],
      [600, { step: "stops", lasts: 840 }],
    ],
    tail: 3_000,
    expected: ["300 chat firing opened critical", "2940 pager firing escalation critical"],
  },
  "a window ends while no server runs": {
    policy: { ...STEPS, windows: [{ for: 240, match: ["agent_id = a"], every: 1_800 }] },
    steps: [
      [20, disk("critical")],
      [180, { step: "stops", lasts: 60 }],
    ],
    expected: ["260 chat firing opened critical", "1140 pager firing escalation critical"],
  },
  "a worsening comes to who is only in a later step after its delay": {
    policy: STEPS,
    steps: [
      [20, disk("warning")],
      [1_200, disk("critical")],
    ],
    expected: [
      "20 chat firing opened warning",
      "920 pager firing escalation warning",
      "1220 chat firing worsened critical",
      "2120 pager firing escalation critical",
    ],
  },
}

const PAGES: Readonly<Record<string, Case>> = {
  "a step of before a policy names a check that joins after it": {
    ...TO_CHAT,
    steps: [
      [20, shared("critical")],
      [60, shared("unknown", { loud: false })],
      [900, { step: "policy", policy: CHAT_TWICE, receivers: ["chat"] }],
      [600, load("warning")],
    ],
    expected: ["20 chat firing opened critical"],
  },
  "a second step names who was in the first": {
    receivers: ["chat"],
    policy: CHAT_TWICE,
    steps: [[20, disk("critical")]],
    expected: ["20 chat firing opened critical", "920 chat firing escalation critical"],
  },
  "a worsening before the step adds none": {
    receivers: ["chat"],
    policy: CHAT_TWICE,
    steps: [
      [20, disk("warning")],
      [480, disk("critical")],
    ],
    expected: [
      "20 chat firing opened warning",
      "500 chat firing worsened critical",
      "920 chat firing escalation critical",
    ],
  },
  "a worsening of the last minute is the message of the step": {
    receivers: ["chat"],
    policy: CHAT_TWICE,
    steps: [
      [20, disk("warning")],
      [880, disk("critical")],
    ],
    expected: ["20 chat firing opened warning", "900 chat firing worsened critical"],
  },
  "the steps of an acknowledgement's end page again": {
    policy: STEPS,
    steps: [
      [20, disk("critical")],
      [960, acknowledge(640)],
    ],
    expected: [
      "20 chat firing opened critical",
      "920 pager firing escalation critical",
      "1620 chat firing ack_ran_out critical",
      "1620 pager firing ack_ran_out critical",
      "2520 pager firing escalation critical",
    ],
  },
  "two later steps name one receiver": {
    policy: {
      routes: [
        { steps: [{ to: ["chat"] }, { after: 300, to: ["pager"] }, { after: 900, to: ["pager", "chat"] }] },
      ],
    },
    steps: [[20, disk("critical")]],
    expected: [
      "20 chat firing opened critical",
      "320 pager firing escalation critical",
      "920 chat firing escalation critical",
      "920 pager firing escalation critical",
    ],
  },
  "a policy whose step is over owes who knows nothing": {
    policy: TO_CHAT.policy ?? {},
    steps: [
      [20, disk("critical")],
      [
        1_200,
        {
          step: "policy",
          policy: { routes: [{ steps: [{ to: ["chat"] }, { after: 900, to: ["chat", "pager"] }] }] },
          receivers: ["chat", "pager"],
        },
      ],
    ],
    expected: ["20 chat firing opened critical", "1220 pager firing escalation critical"],
  },
  "a member that joins brings no step that was over as the policy came": {
    receivers: ["chat"],
    policy: TO_CHAT.policy ?? {},
    steps: [
      [20, shared("critical")],
      [1_200, { step: "policy", policy: CHAT_TWICE, receivers: ["chat"] }],
      [300, load("critical")],
    ],
    expected: ["20 chat firing opened critical"],
  },
  "a step that is due as the policy comes, before anything was evaluated under it": {
    receivers: ["chat"],
    policy: TO_CHAT.policy ?? {},
    steps: [
      [20, disk("critical")],
      [899, { step: "policy", policy: CHAT_TWICE, receivers: ["chat"] }],
    ],
    expected: ["20 chat firing opened critical", "920 chat firing escalation critical"],
  },
  "such a step of a policy that has it later than the one before": {
    receivers: ["chat"],
    policy: { routes: [{ steps: [{ to: ["chat"] }, { after: 1_800, to: ["chat"] }] }] },
    steps: [
      [20, disk("critical")],
      [899, { step: "policy", policy: CHAT_TWICE, receivers: ["chat"] }],
    ],
    expected: ["20 chat firing opened critical", "920 chat firing escalation critical"],
  },
  "a firing in retry is the message of the step": {
    receivers: ["chat"],
    policy: CHAT_TWICE,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [300, chat("accepts")],
    ],
    tail: 4_000,
    expected: ["3680 chat firing opened critical"],
  },
  "a reminder counts from the message of a step": {
    receivers: ["chat"],
    policy: { routes: [{ steps: [{ to: ["chat"] }, { after: 600, to: ["chat"] }], remind: 910 }] },
    steps: [[20, disk("critical")]],
    expected: [
      "20 chat firing opened critical",
      "620 chat firing escalation critical",
      "1530 chat firing reminder critical",
    ],
  },
}

/** Results of one report, of which the last one ends what the others began. */
const passing = (status: "unknown" | "warning"): Happening => ({
  step: "report",
  agent: "a",
  results: [
    { check: "load", status: "warning", loud: false, key: "k" },
    { check: "disk", status, loud: true, key: "k" },
    { check: "disk", status: "ok", loud: true, key: "k" },
  ],
})

const REACH: Readonly<Record<string, Case>> = {
  "an event that is over at once notifies who is beside one who refused": {
    policy: PRIMARY,
    steps: [
      [20, chat("refuses")],
      [60, passing("warning")],
      [60, passing("unknown")],
    ],
    tail: 1_000,
    expected: ["140 pager firing escalation unknown"],
  },
  "the next one on call is beside one in retry for five minutes": {
    policy: PRIMARY,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
    ],
    tail: 1_000,
    expected: ["380 pager firing escalation critical"],
  },
  "nobody is beside one whose retry an acknowledgement holds": {
    policy: PRIMARY,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [120, acknowledge(1_240)],
    ],
    tail: 1_000,
    expected: [],
  },
}

const REPAIRS: Readonly<Record<string, Case>> = {
  "a test that succeeds": {
    ...TO_CHAT,
    steps: [
      [20, chat("refuses")],
      [60, disk("critical")],
      [60, chat("accepts")],
      [60, { step: "tests", receiver: "chat" }],
    ],
    expected: ["200 chat firing opened critical"],
  },
  "an attempt of another incident that succeeds, with the present severity": {
    ...TO_CHAT,
    steps: [
      [20, chat("refuses")],
      [60, disk("critical")],
      [60, disk("warning")],
      [60, chat("accepts")],
      [60, load("critical")],
    ],
    expected: ["260 chat firing opened critical", "260 chat firing opened warning"],
  },
  "an attempt brings it once, each test once more": {
    ...TO_CHAT,
    steps: [
      [20, chat("refuses")],
      [60, disk("critical")],
      [60, { step: "tests", receiver: "chat" }],
      [60, chat("accepts")],
      [60, { step: "tests", receiver: "chat" }],
      [60, { step: "tests", receiver: "chat" }],
    ],
    expected: ["260 chat firing opened critical"],
  },
  "an acknowledgement holds what is owed again": {
    ...TO_CHAT,
    steps: [
      [20, chat("refuses")],
      [60, disk("critical")],
      [60, acknowledge(640)],
      [60, chat("accepts")],
      [60, { step: "tests", receiver: "chat" }],
    ],
    expected: ["780 chat firing ack_ran_out critical"],
  },
}

const QUIET: Readonly<Record<string, Case>> = {
  "a retry waits, and another message takes its place": {
    ...TO_CHAT,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [60, acknowledge(4_000)],
      [60, chat("accepts")],
    ],
    tail: 5_000,
    expected: ["4140 chat firing ack_ran_out critical"],
  },
  "a call whose answer was lost does not ring again": {
    ...TO_CHAT,
    steps: [
      [20, chat("loses")],
      [60, disk("critical")],
      [60, acknowledge(8_000)],
      [60, chat("accepts")],
    ],
    tail: 5_000,
    expected: ["80 chat firing opened critical"],
  },
  "a retry is withdrawn from an acknowledgement": {
    ...TO_CHAT,
    steps: [
      [20, chat("is_down")],
      [60, disk("critical")],
      [60, acknowledge(4_000)],
      [60, chat("accepts")],
      [600, { step: "withdraw", which: 0 }],
    ],
    tail: 5_000,
    expected: ["800 chat firing opened critical"],
  },
}

describe("an incident forgets what it left", () => {
  playCases(FORGETTING, ["forgets"])
})
describe("steps begin anew at a return, and at the end of what held something due", () => {
  playCases(RETURNING, ["forgets", "begins", "pages"])
  playCases(BEGINNINGS, ["begins", "pages"])
})
describe("every step pages", () => {
  playCases(PAGES, ["begins", "pages"])
})
describe("who is not reached", () => {
  playCases(REACH, ["reach"])
  playCases(REPAIRS, ["repairs"])
})
describe("an acknowledgement holds retries", () => {
  playCases(QUIET, ["quiets", "begins"])
})
