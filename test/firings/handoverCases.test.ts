import { describe } from "@effect/vitest"
import { ALL, BEGUN, HOURLY, of, OTHER_WAY, override, PRIMARY } from "./caseRotas.ts"
import { acknowledge, type Case, disk, playCases } from "./playCases.ts"

/** Messages are written by hand from docs/rules.md. */
const CASES: Readonly<Record<string, Case>> = {
  "who has its second turn gets a handover": {
    policy: PRIMARY,
    steps: [
      [20, disk("critical")],
      [7_200, disk("ok")],
    ],
    expected: [
      ...BEGUN,
      "5400 chat firing handover critical",
      "7220 chat resolved critical",
      "7220 pager resolved critical",
    ],
  },
  "an acknowledgement holds a handover until it is withdrawn": {
    policy: PRIMARY,
    steps: [
      [20, disk("critical")],
      [5_160, acknowledge(1_240)],
      [600, { step: "withdraw", which: 0 }],
    ],
    expected: [...BEGUN, "5780 chat firing handover critical"],
  },
  "an acknowledgement that runs out over a handover has one firing": {
    policy: PRIMARY,
    steps: [
      [20, disk("critical")],
      [5_160, acknowledge(640)],
    ],
    expected: [...BEGUN, "5820 chat firing ack_ran_out critical"],
  },
  "an acknowledgement that runs out as the turn ends has a handover": {
    policy: PRIMARY,
    steps: [
      [20, disk("critical")],
      [5_100, acknowledge(280)],
    ],
    expected: [...BEGUN, "5400 chat firing handover critical"],
  },
  "a silence holds a handover": {
    policy: PRIMARY,
    steps: [
      [20, disk("critical")],
      [5_160, { step: "silence", match: ["check_id = disk"], lasts: 640 }],
    ],
    expected: [...BEGUN, "5820 chat firing handover critical"],
  },
  "a silence that outlasts a turn holds nothing for the one who has left": {
    policy: PRIMARY,
    steps: [
      [20, disk("critical")],
      [5_160, { step: "silence", match: ["check_id = disk"], lasts: 4_000 }],
    ],
    tail: 7_000,
    expected: [...BEGUN, "9180 pager firing handover critical"],
  },
  "quiet hours hold a handover": {
    policy: of(HOURLY, { quiet: { chat: { from: 36_000, to: 37_200, below: "critical" } } }),
    steps: [[20, disk("warning")]],
    tail: 7_000,
    expected: [
      "20 chat firing opened warning",
      "1800 pager firing opened warning",
      "6600 chat firing handover warning",
    ],
  },
  "a later step names who is on call when it is due": {
    receivers: ALL,
    policy: of(HOURLY, { routes: [{ steps: [{ to: ["mail"] }, { after: 900, to: ["primary"] }] }] }),
    steps: [[1_700, disk("critical")]],
    expected: ["1700 mail firing opened critical", "2600 pager firing escalation critical"],
  },
  "a later step is handed over once it was due": {
    receivers: ALL,
    policy: of(HOURLY, { routes: [{ steps: [{ to: ["mail"] }, { after: 900, to: ["primary"] }] }] }),
    steps: [[20, disk("critical")]],
    tail: 6_000,
    expected: [
      "20 mail firing opened critical",
      "920 chat firing escalation critical",
      "1800 pager firing escalation critical",
      "5400 chat firing handover critical",
    ],
  },
  "who knows less than announced gets what an event would have sent": {
    policy: PRIMARY,
    steps: [
      [20, disk("warning")],
      [3_600, disk("critical")],
    ],
    expected: [
      "20 chat firing opened warning",
      "1800 pager firing opened warning",
      "3620 pager firing worsened critical",
      "5400 chat firing worsened critical",
    ],
  },
  "nobody was notified before the turn": {
    policy: PRIMARY,
    steps: [
      [20, { step: "silence", match: ["check_id = disk"], lasts: 2_440 }],
      [60, disk("critical")],
    ],
    tail: 4_000,
    expected: ["2460 pager firing opened critical"],
  },
  "a reminder goes to who is on call": {
    policy: of(HOURLY, { routes: [{ to: ["primary"], remind: 1_210 }] }),
    steps: [[20, disk("critical")]],
    tail: 3_500,
    expected: [
      "20 chat firing opened critical",
      "1230 chat firing reminder critical",
      "1800 pager firing opened critical",
      "3010 pager firing reminder critical",
    ],
  },
  "one in retry takes the cause": {
    policy: PRIMARY,
    steps: [
      [20, { step: "answers", receiver: "chat", how: "is_down" }],
      [1_600, disk("critical")],
      [2_000, { step: "answers", receiver: "chat", how: "accepts" }],
      [60, override(["chat"], 640)],
    ],
    tail: 4_000,
    expected: [
      "1800 pager firing opened critical",
      "5220 chat firing handover critical",
      "5400 chat firing handover critical",
    ],
  },
  "a list is on call together": {
    receivers: ALL,
    policy: of({ ...HOURLY, order: [["chat", "mail"], ["pager"]] }),
    steps: [[20, disk("critical")]],
    tail: 6_000,
    expected: [
      "20 chat firing opened critical",
      "20 mail firing opened critical",
      "1800 pager firing opened critical",
      "5400 chat firing handover critical",
      "5400 mail firing handover critical",
    ],
  },
  "who is named and then on call has no handover before another was notified": {
    policy: of(HOURLY, { routes: [{ to: ["pager"] }, { after: 3_000, to: ["primary"] }] }),
    steps: [[20, disk("critical")]],
    tail: 6_000,
    expected: ["20 pager firing opened critical", "5400 chat firing opened critical"],
  },
  "two who swap two rotas stay on call": {
    policy: {
      rotas: { primary: HOURLY, secondary: OTHER_WAY },
      routes: [{ to: ["primary", "secondary"] }],
    },
    steps: [[20, disk("critical")]],
    tail: 6_000,
    expected: ["20 chat firing opened critical", "20 pager firing opened critical"],
  },
  "a rota that the incident does not name is no place to come from": {
    policy: of(HOURLY, { rotas: { primary: HOURLY, secondary: OTHER_WAY } }),
    steps: [[20, disk("critical")]],
    tail: 6_000,
    expected: [...BEGUN, "5400 chat firing handover critical"],
  },
  "a route without receivers names rotas, and receivers that no rota names": {
    receivers: ALL,
    policy: {
      rotas: {
        primary: { ...HOURLY, hours: [{ from: 0, to: 32_400 }], otherwise: ["night"] },
        night: OTHER_WAY,
      },
    },
    steps: [[20, disk("critical")]],
    expected: ["20 chat firing opened critical", "20 mail firing opened critical"],
  },
}

describe("the model of firings, a service and simulations hand over where", () => {
  playCases(CASES)
})
