import { stateTable } from "@tocsin/contract/TransitionTable"

/** Transitions of an incident's acknowledgement (docs/rules.md#acknowledgements). */
export const AcknowledgementTransitions = stateTable({
  none: {
    "acknowledged -> acknowledged":
      "a person acknowledges the incident, which is open | firings not yet attempted, up to its severity, are held until it ends; part of the timeline",
  },
  acknowledged: {
    "acknowledged -> acknowledged":
      "a person acknowledges it again | the former one is replaced; part of the timeline",
    "worsened -> none":
      "a member joins or worsens by an event that allows notifications, and the incident's severity is now above the acknowledged one | a firing for every receiver of the member's routes, whatever was sent before; part of the timeline",
    "member_changed -> acknowledged": "any other change of a member",
    "withdrawn -> none": "a person withdraws it | its hold ends; part of the timeline",
    "ran_out -> none":
      "its time is over | where a loud member is present, a firing for every receiver whose step has come, cause ack_ran_out; one that was held is used instead; part of the timeline",
    "incident_resolved -> none": "the last member leaves | none; it stays in the timeline",
  },
})
