import type { Transition } from "@tocsin/contract/TransitionTable"

const KINDS = ["ack", "after", "mute"] as const

/**
 * When a hold on a firing begins and ends (docs/rules.md#holds). Nothing stores these states: each
 * decision computes them. A `mute` is a silence or a maintenance window.
 */
export const HoldTransitions = [
  {
    from: "absent",
    trigger: "acknowledged",
    condition: "the incident is acknowledged, at the severity of the firing or a higher one",
    to: "ack",
    effects: "the firing waits until the acknowledgement ends",
  },
  {
    from: "ack",
    trigger: "acknowledged",
    condition: "the incident is acknowledged again",
    to: "ack",
    effects: "the firing waits until the new acknowledgement ends",
  },
  {
    from: "ack",
    trigger: "acknowledgement_ended",
    condition: "it runs out, is withdrawn, or the incident worsens",
    to: "absent",
    effects: "the firing is due if no other hold is left",
  },
  {
    from: "absent",
    trigger: "routed",
    condition: "by its routes, the incident has not been open for long enough",
    to: "after",
    effects: "the firing waits until the incident has been open for `after`",
  },
  {
    from: "after",
    trigger: "routed",
    condition: "another policy or another worst loud member asks for a shorter `after`, which is over",
    to: "absent",
    effects: "the firing is due if no other hold is left",
  },
  {
    from: "after",
    trigger: "after_passed",
    condition: "the incident has been open for the `after` of its routes",
    to: "absent",
    effects: "the firing is due if no other hold is left",
  },
  {
    from: "absent",
    trigger: "mute_began",
    condition: "a silence or window comes into force, and each loud present member is covered by some",
    to: "mute",
    effects: "the firing waits until the first member is no longer covered",
  },
  {
    from: "mute",
    trigger: "mute_ended",
    condition: "a silence or window ends, and leaves a loud present member uncovered",
    to: "absent",
    effects: "the firing is due if no other hold is left",
  },
  {
    from: "absent",
    trigger: "member_changed",
    condition: "a member joins, changes or leaves, and each loud present member is now covered",
    to: "mute",
    effects: "the firing waits until the first member is no longer covered",
  },
  {
    from: "mute",
    trigger: "member_changed",
    condition: "a member joins, changes or leaves, and one that is loud and present is not covered",
    to: "absent",
    effects: "the firing is due if no other hold is left",
  },
  ...KINDS.flatMap(
    (from) =>
      [
        {
          from,
          trigger: "released",
          condition: "an operator releases the firing",
          to: "absent",
          effects: "nothing holds this firing again",
        },
        {
          from,
          trigger: "incident_resolved",
          condition: "the last member leaves",
          to: "absent",
          effects: "the firing is discarded",
        },
      ] as const,
  ),
] as const satisfies ReadonlyArray<Transition>
