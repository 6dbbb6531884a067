import { describe } from "@effect/vitest"
import { ALL, BEGUN, HOURLY, of, override, PRIMARY } from "./caseRotas.ts"
import { BOTH, type Case, disk, load, playCases, shared } from "./playCases.ts"
import type { Happening, Rota } from "./Story.ts"

const OF_THREE: Rota = { ...HOURLY, order: [["chat"], ["pager"], ["mail"]] }

const refuses = (receiver: string): readonly [number, Happening] => [
  0,
  { step: "answers", receiver, how: "refuses" },
]
const TIMES: Readonly<Record<string, Case>> = {
  "a service that starts after the turn waits for recoveries": {
    policy: PRIMARY,
    steps: [
      [20, disk("critical")],
      [5_160, { step: "stops", lasts: 600 }],
    ],
    expected: [...BEGUN, "5900 chat firing handover critical"],
  },
  "a clock is set back over a turn": {
    policy: PRIMARY,
    steps: [
      [20, disk("critical")],
      [2_040, { step: "clock_back", by: 600 }],
    ],
    tail: 1_000,
    expected: [...BEGUN, "2400 pager firing handover critical"],
  },
  "a clock is set back while a firing is in retry: that counts from then": {
    policy: PRIMARY,
    steps: [
      [20, { step: "answers", receiver: "chat", how: "is_down" }],
      [60, disk("critical")],
      [100, { step: "clock_back", by: 600 }],
    ],
    tail: 700,
    expected: ["480 pager firing escalation critical"],
  },
  "outside the hours, another rota is on call": {
    receivers: ALL,
    policy: {
      rotas: {
        primary: { ...HOURLY, hours: [{ from: 30_600, to: 31_800, days: ["sat"] }], otherwise: ["night"] },
        night: { ...HOURLY, order: [["mail"]] },
      },
      routes: [{ to: ["primary"] }],
    },
    steps: [[20, disk("critical")]],
    expected: ["20 chat firing opened critical", "1200 mail firing opened critical"],
  },
  "outside the hours, the other rota hands over": {
    receivers: ALL,
    policy: {
      rotas: {
        primary: { ...HOURLY, hours: [{ from: 30_600, to: 31_800, days: ["sun"] }], otherwise: ["night"] },
        night: { ...HOURLY, order: [["mail"], ["pager"]] },
      },
      routes: [{ to: ["primary"] }],
    },
    steps: [[20, disk("critical")]],
    expected: ["20 mail firing opened critical", "1800 pager firing opened critical"],
  },
  "hours begin on another day": {
    receivers: ALL,
    policy: of({ ...HOURLY, hours: [{ from: 30_600, to: 31_800, days: ["sun"] }], otherwise: ["mail"] }),
    steps: [[20, disk("critical")]],
    expected: ["20 mail firing opened critical"],
  },
  "two turns begin in the gap of a clock": {
    begins: "2031-03-30T00:50Z",
    receivers: ALL,
    policy: of({ ...OF_THREE, tz: "Europe/Berlin", from: "2031-03-30T00:00" }),
    steps: [[20, disk("critical")]],
    tail: 5_000,
    expected: [
      "20 pager firing opened critical",
      "600 chat firing opened critical",
      "4200 pager firing handover critical",
    ],
  },
  "an hour that a clock repeats is one turn": {
    begins: "2031-10-26T00:20Z",
    receivers: ALL,
    policy: of({ ...OF_THREE, tz: "Europe/Berlin", from: "2031-10-26T00:00" }),
    steps: [[20, disk("critical")]],
    tail: 7_000,
    expected: ["20 mail firing opened critical", "6000 chat firing opened critical"],
  },
  "a day is a day of the calendar": {
    begins: "2031-03-30T21:30Z",
    policy: of({ ...HOURLY, every: 86_400, tz: "Europe/Berlin", from: "2031-03-29T00:00" }),
    steps: [[20, disk("critical")]],
    expected: ["20 pager firing opened critical", "1800 chat firing opened critical"],
  },
}

const OVERRIDES: Readonly<Record<string, Case>> = {
  "an override and its end": {
    policy: PRIMARY,
    steps: [
      [20, disk("critical")],
      [300, override(["pager"], 640)],
    ],
    tail: 1_000,
    expected: [
      "20 chat firing opened critical",
      "320 pager firing opened critical",
      "960 chat firing handover critical",
    ],
  },
  "an override ends early": {
    policy: PRIMARY,
    steps: [
      [20, disk("critical")],
      [300, override(["pager"], 640)],
      [60, { step: "end_override", which: 0 }],
    ],
    tail: 1_000,
    expected: [
      "20 chat firing opened critical",
      "320 pager firing opened critical",
      "380 chat firing handover critical",
    ],
  },
  "the latest of two overrides counts while it lasts": {
    receivers: ALL,
    policy: PRIMARY,
    steps: [
      [20, disk("critical")],
      [300, override(["pager"], 1_000)],
      [60, override(["mail"], 280)],
    ],
    tail: 1_100,
    expected: [
      "20 chat firing opened critical",
      "320 pager firing opened critical",
      "380 mail firing opened critical",
      "660 pager firing handover critical",
      "1320 chat firing handover critical",
    ],
  },
  "of two overrides, the one that was created later counts, also after a clock was set back": {
    receivers: ALL,
    policy: PRIMARY,
    steps: [
      [20, disk("critical")],
      [60, override(["mail"], 1_800, 300)],
      [60, { step: "clock_back", by: 600 }],
      [60, override(["pager"], 1_200)],
    ],
    tail: 1_100,
    expected: ["20 chat firing opened critical", "200 pager firing opened critical"],
  },
  "an override without one of its receivers does not count": {
    receivers: ALL,
    policy: PRIMARY,
    steps: [
      [20, override(["mail"], 4_000)],
      [60, { step: "policy", policy: PRIMARY, receivers: BOTH }],
      [60, disk("critical")],
      [60, { step: "policy", policy: PRIMARY, receivers: ALL }],
    ],
    tail: 1_000,
    expected: ["140 chat firing opened critical", "200 mail firing opened critical"],
  },
}

/** Each of these was lost, late or wrong once. */
const ONCE_WRONG: Readonly<Record<string, Case>> = {
  "a handover that waits is no reminder": {
    policy: of(HOURLY, {
      routes: [{ to: ["primary"], remind: 910 }],
      dependencies: [
        { parent: ["check_id = load"], child: ["check_id = disk"], equal: ["agent_id"], grace: 200 },
      ],
    }),
    steps: [
      [20, disk("critical")],
      [300, override(["pager"], 640)],
    ],
    tail: 1_000,
    expected: [
      "220 chat firing opened critical",
      "520 pager firing opened critical",
      "1160 chat firing handover critical",
    ],
  },
  "who comes on call while the service is stopped has an opening": {
    policy: PRIMARY,
    steps: [
      [1_220, disk("critical")],
      [300, { step: "stops", lasts: 600 }],
    ],
    tail: 1_000,
    expected: ["1220 chat firing opened critical", "2120 pager firing opened critical"],
  },
  "a clock is set back before an override, which comes again": {
    policy: PRIMARY,
    steps: [
      [20, override(["pager"], 300, 280)],
      [560, disk("critical")],
      [660, { step: "clock_back", by: 1_200 }],
    ],
    tail: 1_000,
    expected: [
      "580 pager firing opened critical",
      "600 chat firing opened critical",
      "1500 pager firing handover critical",
      "1800 chat firing handover critical",
    ],
  },
  "who has its second turn gets no handover if the turn between got nothing": {
    policy: PRIMARY,
    steps: [
      [20, disk("critical")],
      [400, { step: "silence", match: ["check_id = disk"], lasts: 5_500 }],
      [7_200, disk("ok")],
    ],
    expected: ["20 chat firing opened critical", "7620 chat resolved critical"],
  },
  "a reminder that is refused too names nobody anew": {
    policy: of(HOURLY, { routes: [{ to: ["primary"], remind: 910 }] }),
    steps: [refuses("chat"), [20, disk("critical")]],
    tail: 1_500,
    expected: ["20 pager firing escalation critical", "930 pager firing reminder critical"],
  },
  "the next turn stands beside one that refused": {
    policy: PRIMARY,
    steps: [refuses("chat"), [20, disk("critical")]],
    tail: 4_000,
    expected: ["20 pager firing escalation critical"],
  },
}

const REFUSALS: Readonly<Record<string, Case>> = {
  "each refuses, once round": {
    receivers: ALL,
    policy: of(OF_THREE, { routes: [{ to: ["primary"], remind: 910 }] }),
    steps: [
      ...ALL.map(refuses),
      [20, disk("critical")],
      [600, { step: "answers", receiver: "mail", how: "accepts" }],
    ],
    tail: 1_000,
    expected: ["930 mail firing reminder critical"],
  },
  "of a list, one refusal suffices": {
    receivers: ALL,
    policy: of({ ...HOURLY, order: [["chat", "mail"], ["pager"]] }),
    steps: [refuses("mail"), [20, disk("critical")]],
    tail: 1_000,
    expected: ["20 chat firing opened critical", "20 pager firing escalation critical"],
  },
  "after an override, the turn itself is the next one": {
    receivers: ALL,
    policy: of(OF_THREE),
    steps: [refuses("mail"), [20, override(["mail"], 1_000)], [60, disk("critical")]],
    tail: 600,
    expected: ["80 chat firing escalation critical"],
  },
  "who stands beside one that is down gets an escalation, also where a milder severity named it by a first step":
    {
      policy: of(HOURLY, { routes: [{ match: ["severity != critical"], to: ["pager"] }] }),
      steps: [
        [20, { step: "answers", receiver: "chat", how: "is_down" }],
        [60, shared("critical")],
        [60, shared("warning", { loud: false })],
        [60, load("critical")],
      ],
      tail: 600,
      expected: ["380 pager firing escalation critical"],
    },
  "who stood beside and knows it gets an escalation": {
    policy: PRIMARY,
    steps: [
      [20, disk("critical")],
      [2_400, { step: "answers", receiver: "chat", how: "refuses" }],
    ],
    tail: 4_000,
    expected: [...BEGUN, "5400 pager firing escalation critical"],
  },
}

describe("the model of firings, a service and simulations know who is on call where", () => {
  playCases(TIMES)
  playCases(OVERRIDES)
  playCases(REFUSALS)
  playCases(ONCE_WRONG)
})
