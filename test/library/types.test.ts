import { assert, it } from "@effect/vitest"
import type * as ops from "@tocsin/contract/api/opsResources"
import type { CheckExplanation } from "@tocsin/contract/checks/ShownChecks"
import type { IncidentDetail } from "@tocsin/contract/incidents/IncidentDetail"
import type * as core from "@tocsin/contract/v1/Responses"
import type { CheckResultEvent, EventBatchRequest, HeartbeatRequest } from "@tocsin/contract/v1/Requests"
import type { SystemSummary } from "@tocsin/contract/v1/Resources"
import type { Topic } from "@tocsin/contract/liveViews/topicNames"
import type * as lib from "tocsin"
import type * as client from "tocsin/client"

/** Whether two types take each other's values. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

/** The item of a page. */
type ItemOf<Page extends { readonly Encoded: { readonly items: ReadonlyArray<unknown> } }> =
  Page["Encoded"]["items"][number]

// A false claim does not compile.
const documented: ReadonlyArray<true> = [
  true satisfies Same<lib.HeartbeatRequest, (typeof HeartbeatRequest)["Encoded"]>,
  true satisfies Same<lib.CheckResultEvent, (typeof CheckResultEvent)["Encoded"]>,
  true satisfies Same<lib.EventBatchRequest, (typeof EventBatchRequest)["Encoded"]>,
  true satisfies Same<lib.Agent, ItemOf<typeof core.AgentPage>>,
  true satisfies Same<lib.AgentBlacklistItem, ItemOf<typeof core.AgentBlacklistPage>>,
  true satisfies Same<lib.CheckState, ItemOf<typeof core.CheckStatePage>>,
  true satisfies Same<lib.StoredCheckResultEvent, ItemOf<typeof core.StoredCheckResultEventPage>>,
  true satisfies Same<lib.Incident, ItemOf<typeof core.IncidentPage>>,
  true satisfies Same<lib.NotificationOutboxItem, ItemOf<typeof core.NotificationOutboxPage>>,
  true satisfies Same<lib.SystemSummary, (typeof SystemSummary)["Encoded"]>,
  true satisfies Same<lib.AcceptedResponse, (typeof core.AcceptedResponse)["Encoded"]>,
  true satisfies Same<lib.EventBatchAcceptedResponse, (typeof core.EventBatchAcceptedResponse)["Encoded"]>,
  true satisfies Same<lib.ActionCount, (typeof core.ActionCountResponse)["Encoded"]>,
  true satisfies Same<lib.CheckExplanation, (typeof CheckExplanation)["Encoded"]>,
  true satisfies Same<lib.NotifierTest, (typeof ops.NotifierTest)["Encoded"]>,
  true satisfies Same<lib.IncidentDetail, (typeof IncidentDetail)["Encoded"]>,
]

/** The codes that a method can fail with. */
type CodeOf<Method extends (...args: never) => lib.Reply<unknown, lib.TocsinErrorCode>> =
  ReturnType<Method> extends lib.Reply<unknown, infer Code> ? Code : never

const codes: ReadonlyArray<true> = [
  true satisfies Same<CodeOf<lib.Monitor["summary"]>, lib.AnyCallCode>,
  true satisfies Same<CodeOf<lib.Monitor["agents"]["get"]>, lib.AnyCallCode | "validation" | "not_found">,
  true satisfies Same<
    CodeOf<lib.Monitor["heartbeat"]>,
    lib.AnyCallCode | "validation" | "unauthorized" | "agent_blocked" | "conflict" | "rate_limited"
  >,
  true satisfies Same<
    CodeOf<lib.Monitor["events"]>,
    lib.AnyCallCode | "validation" | "unauthorized" | "agent_blocked" | "agent_not_accepted"
  >,
  true satisfies Same<
    CodeOf<lib.Monitor["outbox"]["replay"]>,
    lib.AnyCallCode | "validation" | "not_found" | "conflict"
  >,
]

/** Live views switch over topics. */
const topics: ReadonlyArray<true> = [
  true satisfies Same<lib.TopicsChanged["topics"][number], Topic>,
  true satisfies Same<client.TopicsChanged["topics"][number], Topic>,
]

it("the plain types are those of the contract, and each method's codes are its own", () => {
  assert.isTrue([...documented, ...codes, ...topics].every((holds) => holds))
})
