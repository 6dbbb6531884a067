import type { Transition } from "@tocsin/contract/TransitionTable"

/** Transitions of an incident's acknowledgement (docs/rules.md#acknowledgements). */
export const AcknowledgementTransitions = [
  {
    from: "none",
    trigger: "acknowledged",
    condition: "a person acknowledges the incident, which is open",
    to: "acknowledged",
    effects: "firings not yet attempted, up to its severity, are held until it ends; part of the timeline",
  },
  {
    from: "acknowledged",
    trigger: "acknowledged",
    condition: "a person acknowledges it again",
    to: "acknowledged",
    effects: "the former one is replaced; part of the timeline",
  },
  {
    from: "acknowledged",
    trigger: "worsened",
    condition:
      "a member joins or worsens by an event that allows notifications, and the incident's severity is now above the acknowledged one",
    to: "none",
    effects:
      "a firing for every receiver of the member's routes, whatever was sent before; part of the timeline",
  },
  {
    from: "acknowledged",
    trigger: "member_changed",
    condition: "any other change of a member",
    to: "acknowledged",
    effects: "none",
  },
  {
    from: "acknowledged",
    trigger: "withdrawn",
    condition: "a person withdraws it",
    to: "none",
    effects: "its hold ends; part of the timeline",
  },
  {
    from: "acknowledged",
    trigger: "ran_out",
    condition: "its time is over",
    to: "none",
    effects:
      "where a loud member is present, a firing for every receiver whose step has come, cause ack_ran_out; one that was held is used instead; part of the timeline",
  },
  {
    from: "acknowledged",
    trigger: "incident_resolved",
    condition: "the last member leaves",
    to: "none",
    effects: "none; it stays in the timeline",
  },
] as const satisfies ReadonlyArray<Transition>
