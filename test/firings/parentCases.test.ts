import { describe } from "@effect/vitest"
import { type Case, disk, load, playCases, shared } from "./playCases.ts"
import type { Happening, Reported } from "./Story.ts"

const reports = (agent: string, check: string, status: Reported["status"], key?: string): Happening => ({
  step: "report",
  agent,
  results: [{ check, status, loud: true, key }],
})

/** Cases of dependencies and quiet hours. Their messages are written by hand from docs/rules.md. */
const CASES: Readonly<Record<string, Case>> = {
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
  "one of two members has a parent that is milder": {
    receivers: ["chat"],
    policy: {
      dependencies: [{ parent: ["check_id = load"], child: ["check_id = disk"], equal: ["agent_id"] }],
    },
    steps: [
      [20, reports("a", "load", "critical", "of a")],
      [60, reports("b", "load", "warning", "of b")],
      [60, reports("a", "disk", "critical", "k")],
      [60, reports("b", "disk", "critical", "k")],
    ],
    expected: [
      "20 chat firing opened critical",
      "80 chat firing opened warning",
      "200 chat firing opened critical",
    ],
  },
  "a parent lacks one of the values in equal": {
    receivers: ["chat"],
    policy: {
      dependencies: [
        { parent: ["check_id = disk"], child: ["check_id = load"], equal: ["agent_id", "label:site"] },
        // It reads the incidents of the agent, and takes none of them.
        { parent: ["label:team = db"], child: ["check_id = load"], equal: ["agent_id"] },
      ],
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
  "a clock is set back after a parent of a child in quiet hours ended": {
    receivers: ["chat"],
    policy: {
      dependencies: [{ parent: ["check_id = disk"], child: ["check_id = load"], equal: ["label:rack"] }],
      quiet: { chat: { from: 0, to: 86_340, below: "critical" } },
    },
    steps: [
      [20, disk("critical")],
      [60, load("warning")],
      [60, disk("ok")],
      [60, { step: "clock_back", by: 1_800 }],
      [300, load("critical")],
    ],
    expected: [
      "20 chat firing opened critical",
      "140 chat resolved critical",
      "500 chat firing opened critical",
    ],
  },
  "a dependency names its own child as a parent": {
    receivers: ["chat"],
    policy: {
      dependencies: [{ parent: ["check_id glob d*"], child: ["check_id glob d*"], equal: ["agent_id"] }],
    },
    steps: [
      [20, disk("critical")],
      [60, disk("critical", { check: "disk-b" })],
    ],
    expected: ["20 chat firing opened critical", "80 chat firing opened critical"],
  },
  "one of two parents ends, each of which explains a member": {
    receivers: ["chat"],
    policy: {
      dependencies: [{ parent: ["check_id = disk"], child: ["check_id = load"], equal: ["agent_id"] }],
    },
    steps: [
      [20, reports("a", "disk", "critical")],
      [0, reports("b", "disk", "critical")],
      [60, reports("a", "load", "critical", "k")],
      [0, reports("b", "load", "critical", "k")],
      [600, reports("b", "disk", "ok")],
    ],
    expected: [
      "20 chat firing opened critical",
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
  "a parent of a child in quiet hours ends before the child is worse": {
    receivers: ["chat"],
    policy: {
      dependencies: [{ parent: ["check_id = disk"], child: ["check_id = load"], equal: ["label:rack"] }],
      quiet: { chat: { from: 30_600, to: 34_200, below: "critical" } },
    },
    steps: [
      [20, load("warning")],
      [60, disk("critical")],
      [120, disk("ok")],
      [60, load("critical")],
    ],
    expected: [
      "80 chat firing opened critical",
      "200 chat resolved critical",
      "320 chat firing opened critical",
    ],
  },
  "a stale parent of a child in quiet hours returns before the child is worse": {
    receivers: ["chat"],
    policy: {
      dependencies: [
        { parent: ["incident_key glob */@heartbeat"], child: ["check_id = load"], equal: ["label:rack"] },
      ],
      quiet: { chat: { from: 30_600, to: 34_200, below: "critical" } },
    },
    steps: [
      [20, { step: "falls_silent", agent: "b" }],
      [60, load("warning")],
      [120, { step: "returns", agent: "b" }],
      [60, load("critical")],
    ],
    expected: ["320 chat firing opened critical"],
  },
  "a silent worsening does not end quiet hours": {
    receivers: ["chat"],
    policy: { quiet: { chat: { from: 30_600, to: 32_400, below: "critical" } } },
    steps: [
      [20, shared("warning")],
      [60, load("critical", { loud: false })],
    ],
    expected: ["1800 chat firing opened critical"],
  },
}

describe("dependencies and quiet hours follow the rules where", () => {
  playCases(CASES)
})
