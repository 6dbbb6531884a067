import { Schema } from "effect"
import { described, named, NonNegativeInteger } from "../formats/Fields.ts"
import { AgentId, CheckId, IncidentId, OutboxId } from "../formats/Identifiers.ts"
import { OperatorName } from "../operators/Operators.ts"
import { Agent, SystemSummary } from "../v1/Resources.ts"
import { pageOf } from "../v1/Responses.ts"
import { ShownTitle } from "../titles/Titles.ts"
import { NotifierName } from "../formats/Status.ts"

/** An agent as operators see it. */
export const TitledAgent = Schema.Struct({ ...Agent.fields, title: ShownTitle }).annotate(
  named("TitledAgent", "An agent with its title."),
)

export const TitledAgentPage = pageOf(TitledAgent, "TitledAgentPage")

const few = (description: string) =>
  NonNegativeInteger.annotate({ description: `${description} At most 500.` })

export const Overview = Schema.Struct({
  ...SystemSummary.fields,
  incidents: Schema.Struct({
    critical: NonNegativeInteger,
    unknown: NonNegativeInteger,
    warning: NonNegativeInteger,
  }).annotate({ description: "Open incidents by severity. At most 10,000 each." }),
  states: Schema.Struct({
    ok: NonNegativeInteger,
    warning: NonNegativeInteger,
    critical: NonNegativeInteger,
    unknown: NonNegativeInteger,
    late: NonNegativeInteger,
    withdrawn: NonNegativeInteger,
  }).annotate({
    description:
      "Checks by their state, each once; late ones include those that never reported. Of late and of withdrawn ones, at most 10,000.",
  }),
  integration_agents: NonNegativeInteger.annotate({
    description: "Agents of integrations and watches, which agents_online or agents_offline counts too.",
  }),
  acknowledged_incidents: few("Open incidents that are acknowledged."),
  waiting_keys: few("Agents of which a key waits for acceptance."),
  dead_letters: NonNegativeInteger.annotate({ description: "Notifications that failed for good." }),
}).annotate(named("Overview", "Counts of what there is, and of what waits for people."))

export const OutboxPath = Schema.Struct({
  id: described(OutboxId, "The id of an outbox item; GET /api/v1/notifiers/outbox?state=failed lists them."),
})
export const IncidentPath = Schema.Struct({
  id: IncidentId.annotateKey({ description: "The id of an incident." }),
})
export const NotifierPath = Schema.Struct({
  notifier: NotifierName.annotateKey({
    description: "A receiver of the policy or, without one, a notifier that is configured.",
  }),
})
export const CheckQuery = Schema.Struct({
  agent_id: AgentId.annotateKey({ description: "The agent of the check." }),
  check_id: CheckId.annotateKey({ description: "The check to explain." }),
})

export const OperatorPath = Schema.Struct({
  name: OperatorName.annotateKey({ description: "The name of an operator." }),
})

export const NotifierTest = Schema.Struct({
  outcome: Schema.Literals(["delivered", "deferred", "refused"]).annotate({
    description: "delivered; deferred: a notification would be tried again; refused: it would not.",
  }),
  status: Schema.NullOr(Schema.Int).annotate({ description: "The receiver's HTTP status, if it gave one." }),
  error: Schema.NullOr(Schema.String).annotate({ description: "The failure." }),
}).annotate(named("NotifierTest", "The result of a test message."))
