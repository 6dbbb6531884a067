import { describe } from "@effect/vitest"
import { acknowledge, type Case, disk, load, playCases, shared } from "./playCases.ts"
import type { Happening, Reported } from "./Story.ts"

const CPU: Partial<Reported> = { check: "cpu" }

/** One batch: the results of several happenings. */
const batch = (...parts: ReadonlyArray<Happening>): Happening => ({
  step: "report",
  agent: "a",
  results: parts.flatMap((part) => (part.step === "report" ? part.results : [])),
})

const silence = (...match: ReadonlyArray<string>): Happening => ({ step: "silence", match, lasts: 1_800 })

const QUIET = { quiet: { chat: { from: 0, to: 86_340, below: "critical" } } } as const

/** Each policy or silence is in force at an event, and the batch leaves another incident. */
const MUTED: Readonly<Record<string, Case>> = {
  "a silenced opening worsens silently in its batch": {
    steps: [
      [60, silence("incident_key = k")],
      [60, batch(shared("unknown"), shared("critical", { loud: false }))],
    ],
    expected: [],
  },
  "a silenced opening worsens silently in the next batch": {
    steps: [
      [60, silence("incident_key = k")],
      [60, shared("unknown")],
      [0, shared("critical", { loud: false })],
      [60, shared("ok", { loud: false })],
    ],
    expected: [],
  },
  "a check in a window worsens an incident and recovers in one batch": {
    receivers: ["chat"],
    policy: { windows: [{ every: 1_800, for: 1_800, match: ["agent_id = a"] }] },
    steps: [
      [60, shared("warning", { check: "fan", loud: false })],
      [240, batch(shared("critical"), shared("ok"))],
    ],
    expected: [],
  },
  "a silenced warning becomes unknown in its batch": {
    receivers: ["chat"],
    steps: [
      [20, silence("agent_id = a", "severity = warning")],
      [60, batch(shared("warning"), shared("unknown", CPU))],
    ],
    expected: ["80 chat firing opened unknown"],
  },
  "a quiet warning becomes critical in its batch": {
    receivers: ["chat"],
    policy: QUIET,
    steps: [[60, batch(shared("warning"), shared("critical", CPU))]],
    expected: ["60 chat firing opened critical"],
  },
  "one check becomes warning, critical and ok in a batch in quiet hours": {
    receivers: ["chat"],
    policy: QUIET,
    steps: [[60, batch(disk("warning"), disk("critical"), disk("ok"))]],
    expected: [],
  },
  "a silence that begins and ends at the instant of an event": {
    receivers: ["chat"],
    steps: [
      [20, silence("check_id = disk")],
      [0, shared("warning")],
      [0, { step: "expire", which: 0 }],
      [0, shared("critical", CPU)],
    ],
    expected: ["20 chat firing opened critical"],
  },
  "a silence begins and ends at the instant of a worsening, after an opening": {
    receivers: ["chat"],
    steps: [
      [20, shared("warning")],
      [0, silence("incident_key = k")],
      [0, shared("critical")],
      [0, { step: "expire", which: 0 }],
    ],
    expected: ["20 chat firing opened warning", "20 chat firing worsened critical"],
  },
  "a silence by labels covers an event that a later one does not share": {
    receivers: ["chat"],
    steps: [
      [20, silence("label:team = web")],
      [60, batch(shared("critical"), shared("ok"))],
      [
        0,
        { step: "report", agent: "b", results: [{ check: "disk", status: "warning", loud: true, key: "k" }] },
      ],
    ],
    expected: ["80 chat firing opened warning"],
  },
  "a parent of the same batch holds its child": {
    receivers: ["chat"],
    policy: {
      dependencies: [{ parent: ["check_id = disk"], child: ["check_id = load"], equal: ["agent_id"] }],
    },
    steps: [[20, batch(disk("critical"), load("critical"), disk("ok"))]],
    expected: ["140 chat firing opened critical"],
  },
  "a child is reported before its parent": {
    receivers: ["chat"],
    policy: {
      dependencies: [{ parent: ["check_id = disk"], child: ["check_id = load"], equal: ["agent_id"] }],
    },
    steps: [[20, batch(load("critical"), disk("critical"), load("ok"))]],
    expected: ["20 chat firing opened critical"],
  },
  "an agent that was stale reports: it holds none of its checks": {
    receivers: ["chat"],
    policy: {
      dependencies: [
        { parent: ["incident_key glob */@heartbeat"], child: ["check_id = disk"], equal: ["agent_id"] },
      ],
    },
    steps: [
      [20, { step: "falls_silent", agent: "a" }],
      [180, disk("critical")],
      [0, { step: "returns", agent: "a" }],
    ],
    expected: ["200 chat firing opened critical"],
  },
}

const EXPLAINED: Case = {
  receivers: ["chat"],
  policy: {
    dependencies: [{ parent: ["check_id = disk"], child: ["check_id glob *a*"], equal: ["agent_id"] }],
  },
  steps: [
    [20, disk("critical")],
    [60, shared("warning", { check: "load" })],
  ],
  expected: ["20 chat firing opened critical"],
}

const PARENTS: Readonly<Record<string, Case>> = {
  "a check that is no child joins an incident that a parent holds": {
    ...EXPLAINED,
    steps: [...EXPLAINED.steps, [60, shared("warning", CPU)]],
    expected: [...EXPLAINED.expected, "140 chat firing opened warning"],
  },
  "a check of another agent joins an incident that a parent holds": {
    ...EXPLAINED,
    steps: [
      ...EXPLAINED.steps,
      [
        60,
        { step: "report", agent: "b", results: [{ check: "load", status: "warning", loud: true, key: "k" }] },
      ],
    ],
    expected: [...EXPLAINED.expected, "140 chat firing opened warning"],
  },
  "one of two parents has ended when a check joins that is no child": {
    ...EXPLAINED,
    policy: {
      dependencies: ["disk", "disk-b"].map((check) => ({
        parent: [`check_id = ${check}`],
        child: ["check_id glob *a*"],
        equal: ["agent_id"],
      })),
    },
    steps: [
      [20, batch(disk("critical"), disk("critical", { check: "disk-b" }))],
      [60, shared("warning", { check: "load" })],
      [600, disk("ok", { check: "disk-b" })],
      [60, shared("warning", CPU)],
    ],
    expected: [
      "20 chat firing opened critical",
      "20 chat firing opened critical",
      "680 chat resolved critical",
      "740 chat firing opened warning",
    ],
  },
  "a check that is no child joins an incident that a stale agent holds": {
    ...EXPLAINED,
    policy: {
      dependencies: [
        { parent: ["incident_key glob */@heartbeat"], child: ["check_id glob *a*"], equal: ["label:rack"] },
      ],
    },
    steps: [
      [20, { step: "falls_silent", agent: "b" }],
      [140, shared("warning", { check: "load" })],
      [60, shared("warning", CPU)],
    ],
    expected: ["220 chat firing opened warning", "320 chat firing opened critical"],
  },
  "an incident worsens so that its dependency no longer matches": {
    ...EXPLAINED,
    policy: {
      dependencies: [
        {
          parent: ["check_id = disk"],
          child: ["check_id = load", "severity = warning"],
          equal: ["agent_id"],
        },
      ],
    },
    steps: [...EXPLAINED.steps, [60, shared("critical", { check: "load" })]],
    expected: [...EXPLAINED.expected, "140 chat firing opened critical"],
  },
  "a parent ends while another check has none": {
    ...EXPLAINED,
    steps: [...EXPLAINED.steps, [60, disk("ok")], [0, shared("warning", CPU)]],
    expected: [...EXPLAINED.expected, "140 chat resolved critical", "260 chat firing opened warning"],
  },
}

const ORDER: Readonly<Record<string, Case>> = {
  "a worsening that ends an acknowledgement begins later steps again": {
    receivers: ["chat", "pager"],
    policy: { routes: [{ steps: [{ to: ["chat"] }, { after: 320, to: ["pager"] }] }] },
    steps: [
      [20, disk("warning")],
      [60, acknowledge(3_600)],
      [420, disk("critical")],
    ],
    expected: [
      "20 chat firing opened warning",
      "500 chat firing worsened critical",
      "820 pager firing escalation critical",
    ],
  },
  "a worsening that ends an acknowledgement is sent though its receiver knows the severity": {
    receivers: ["chat"],
    steps: [
      [20, disk("unknown")],
      [60, { step: "silence", match: ["check_id = disk"], lasts: 1_240 }],
      [60, disk("critical")],
      [60, disk("warning")],
      [60, acknowledge(3_600)],
      [60, disk("unknown")],
    ],
    expected: ["20 chat firing opened unknown", "1320 chat firing worsened unknown"],
  },
  "an acknowledgement runs out before the delay of a route, and the grace of a dependency is over": {
    receivers: ["chat"],
    policy: {
      routes: [{ after: 920, to: ["chat"] }],
      dependencies: [
        { parent: ["check_id = load"], child: ["check_id = disk"], equal: ["agent_id"], grace: 80 },
      ],
    },
    steps: [
      [20, disk("critical")],
      [20, acknowledge(20)],
    ],
    expected: ["100 chat firing ack_ran_out critical"],
  },
  "a new row makes the retry of an earlier one due": {
    receivers: ["chat"],
    steps: [
      [20, { step: "answers", receiver: "chat", how: "is_down" }],
      [60, disk("warning")],
      [300, { step: "answers", receiver: "chat", how: "accepts" }],
      [300, disk("critical")],
    ],
    expected: ["680 chat firing opened warning", "680 chat firing worsened critical"],
  },
  "a row of another receiver makes no retry due": {
    receivers: ["chat", "pager"],
    policy: {
      routes: [
        { match: ["severity = warning"], to: ["chat"] },
        { match: ["severity = critical"], to: ["pager"] },
      ],
    },
    steps: [
      [20, { step: "answers", receiver: "chat", how: "is_down" }],
      [60, disk("warning")],
      [300, { step: "answers", receiver: "chat", how: "accepts" }],
      [300, disk("critical")],
    ],
    expected: ["680 pager firing opened critical"],
  },
  "a resolved makes the retry of its firing due": {
    receivers: ["chat"],
    steps: [
      [20, { step: "answers", receiver: "chat", how: "is_down" }],
      [60, disk("critical")],
      [300, { step: "answers", receiver: "chat", how: "accepts" }],
      [300, disk("ok")],
    ],
    expected: ["680 chat firing opened critical", "680 chat resolved critical"],
  },
  "a held row makes the retry of an earlier one due once it is free": {
    receivers: ["chat"],
    steps: [
      [20, { step: "answers", receiver: "chat", how: "is_down" }],
      [60, disk("warning")],
      [60, { step: "answers", receiver: "chat", how: "accepts" }],
      [60, silence("check_id = disk")],
      [60, disk("critical")],
    ],
    expected: ["2000 chat firing opened warning", "2000 chat firing worsened critical"],
  },
}

describe("the holds in force at an event hold its firing where", () => {
  playCases(MUTED)
})
describe("a parent that has not ended delays nothing where", () => {
  playCases(PARENTS)
})
describe("rows of one receiver keep their order where", () => {
  playCases(ORDER)
})
