import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { playModel } from "./playModel.ts"
import { differences, playService } from "./playService.ts"
import type { Happening, Message, Policy, Reported, Step, Story } from "./Story.ts"

const disk = (status: Reported["status"], more: Partial<Reported> = {}): Happening => ({
  step: "report",
  agent: "a",
  results: [{ check: "disk", status, loud: true, ...more }],
})
const load = (status: Reported["status"], more: Partial<Reported> = {}) =>
  disk(status, { check: "load", key: "k", ...more })
const shared = (status: Reported["status"], more: Partial<Reported> = {}) =>
  disk(status, { key: "k", ...more })
const acknowledge = (lasts: number): Happening => ({ step: "acknowledge", which: 0, lasts })

const BOTH = ["chat", "pager"]
const STEPS: Policy = { routes: [{ steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }] }] }

const NAMING: Policy = {
  routes: [
    { match: ["severity = warning"], to: ["chat"] },
    { after: "10m", to: ["pager"] },
  ],
}
const NOT_NAMING: Policy = {
  routes: [
    { match: ["severity = critical"], to: ["chat"] },
    { after: "10m", to: ["pager"] },
  ],
}

interface Case {
  readonly policy?: Policy
  readonly receivers?: ReadonlyArray<string>
  /** The steps, each so many seconds after the one before it. */
  readonly steps: ReadonlyArray<readonly [wait: number, happening: Happening]>
  /** Seconds of the story, receiver, event, cause and severity of each message. */
  readonly expected: ReadonlyArray<string>
}

/** Each case was lost, late or wrong once. Their messages are written by hand from docs/rules.md. */
const CASES: Readonly<Record<string, Case>> = {
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
    policy: { routes: [{ match: ["check_id = disk"], after: "10m", to: ["chat"] }] },
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
      routes: [
        { after: "20m", to: ["pager"] },
        { steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }] },
      ],
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
  "an escalation due during an outage waits for recoveries": {
    policy: STEPS,
    steps: [
      [20, disk("critical")],
      [600, { step: "stops", lasts: 600 }],
    ],
    expected: ["20 chat firing opened critical", "1340 pager firing escalation critical"],
  },
  "a reminder due during an outage waits for recoveries": {
    receivers: ["chat"],
    policy: { routes: [{ remind: "15m", to: ["chat"] }] },
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
        { match: ["severity = critical"], steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }] },
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
      routes: [{ match: ["check_id = disk"], after: "10m" }, { match: ["check_id = load"] }],
    },
    steps: [
      [20, shared("critical")],
      [60, load("critical")],
    ],
    expected: ["80 chat firing opened critical"],
  },
  "each receiver has a delay of its own": {
    policy: { routes: [{ to: ["chat"] }, { after: "10m", to: ["pager"] }] },
    steps: [[20, disk("critical")]],
    expected: ["20 chat firing opened critical", "620 pager firing opened critical"],
  },
  "a receiver that is down is not reminded while its firing waits for a retry": {
    receivers: ["chat"],
    policy: { routes: [{ remind: "15m", to: ["chat"] }] },
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
  "two rules name each other's parents": {
    receivers: ["chat"],
    policy: {
      dependencies: [
        { parent: ["check_id = disk"], child: ["check_id = load"], equal: ["agent_id"] },
        { parent: ["check_id = load"], child: ["check_id = disk"], equal: ["agent_id"] },
      ],
    },
    steps: [
      [20, load("critical")],
      [60, disk("critical")],
      [60, load("ok")],
      [60, load("critical")],
    ],
    expected: [
      "20 chat firing opened critical",
      "80 chat firing opened critical",
      "140 chat resolved critical",
    ],
  },
  "a parent lacks the label in equal": {
    receivers: ["chat"],
    policy: {
      dependencies: [{ parent: ["check_id = disk"], child: ["check_id = load"], equal: ["label:site"] }],
    },
    steps: [
      [20, disk("critical")],
      [60, load("critical")],
    ],
    expected: ["20 chat firing opened critical", "80 chat firing opened critical"],
  },
  "a parent returns, and its child waits for its own recovery": {
    receivers: ["chat"],
    policy: {
      dependencies: [{ parent: ["check_id = disk"], child: ["check_id = load"], equal: ["label:rack"] }],
    },
    steps: [
      [20, disk("critical")],
      [60, load("critical")],
      [600, disk("ok")],
    ],
    expected: [
      "20 chat firing opened critical",
      "680 chat resolved critical",
      "800 chat firing opened critical",
    ],
  },
  "a warning parent has a critical child": {
    receivers: ["chat"],
    policy: {
      dependencies: [{ parent: ["check_id = disk"], child: ["check_id = load"], equal: ["label:rack"] }],
    },
    steps: [
      [20, disk("warning")],
      [60, load("warning")],
      [60, load("critical")],
    ],
    expected: ["20 chat firing opened warning", "140 chat firing opened critical"],
  },
  "a dead host has dependants that wait and are never sent": {
    receivers: ["chat"],
    policy: {
      dependencies: [
        { parent: ["incident_key glob */@heartbeat"], child: ["check_id = load"], equal: ["label:rack"] },
      ],
    },
    steps: [
      [20, { step: "falls_silent", agent: "b" }],
      [190, load("critical")],
      [1_200, { step: "returns", agent: "b" }],
      [60, load("ok")],
    ],
    expected: ["320 chat firing opened critical", "1410 chat resolved critical"],
  },
  "the 501st member names nobody": {
    policy: {
      routes: [
        { match: ["check_id = last"], to: ["pager"] },
        { match: ["check_id glob c*"], to: ["chat"] },
      ],
    },
    steps: [
      [
        20,
        {
          step: "report",
          agent: "a",
          results: Array.from({ length: 501 }, (_, at) => ({
            check: at === 500 ? "last" : `c${at}`,
            status: at === 500 ? "warning" : "critical",
            loud: true,
            key: "k",
          })),
        },
      ],
    ],
    expected: ["20 chat firing opened critical"],
  },
}

/** `seconds receiver event cause severity` */
const words = ({ cause, event, from, receiver, severity }: Message) =>
  [from, receiver, event, cause, severity].filter((word) => word !== undefined).join(" ")

describe("the model of firings, and a service, follow the rules where", () => {
  for (const [name, { expected, policy = {}, receivers = BOTH, steps }] of Object.entries(CASES))
    it.effect(name, () =>
      Effect.gen(function* () {
        const story: Story = {
          begins: "2031-02-01T08:30Z",
          policy,
          receivers,
          steps: steps.map(([wait, happening]): Step => ({ ...happening, wait })),
        }
        const course = playModel(story, 2_000)
        assert.isTrue(course.isCertain)
        assert.deepStrictEqual(course.messages.map(words), expected)
        assert.deepStrictEqual(differences(course, yield* playService(story, course)), [])
      }),
    )
})
