// Types of data on the wire and of parameters, from the schemas of the API: plain data whose ids are strings and whose
// times are ISO 8601 in UTC with three fraction digits, or six. The OpenAPI documents describe every field.
import type { TopicsChanged as Changed } from "@tocsin/contract/liveViews/Topics"
import type { Topic } from "@tocsin/contract/liveViews/topicNames"
import type { Answer, Body, Item, Path, Query } from "./calls/endpoints.ts"

export type * from "./ExportResources.ts"
export type * from "./PolicyResources.ts"

/** The status that a check reported. */
export type CheckStatus = CheckState["status"]
/** How bad an incident is: critical is above unknown, unknown above warning. */
export type Severity = Incident["severity"]
/** How far a notification is. */
export type OutboxState = NotificationOutboxItem["state"]
/** The message of a notification about its incident. */
export type NotificationType = NotificationOutboxItem["event_type"]

/** An agent's abilities: push heartbeats and events, or expose a metrics endpoint. */
export interface AgentFeatures extends Readonly<Agent["features"]> {}

/** A sign of life of one agent; `observed_at` is by its own clock. */
export interface HeartbeatRequest extends Body<"heartbeat"> {}

/** Results of one agent in their order, 1 to 200, stored all or none. */
export interface EventBatchRequest extends Body<"events"> {}

type SentResult = Body<"events">["events"][number]
/**
 * One result of one check. `event_id`, a lower-case UUID version 7, identifies a repeated delivery. Checks that share
 * an `incident_key` share an incident. With `notifications_enabled: false`, this result sends no notification.
 */
export interface CheckResultEvent extends SentResult {}

/** The answer to a heartbeat: whether an operator has accepted the key. */
export interface AcceptedResponse extends Answer<"heartbeat"> {}

/** `accepted` counts changes of status, `deduplicated` all others: repeated, unchanged and late results. A late one, older than the newest of its check, is discarded. */
export interface EventBatchAcceptedResponse extends Answer<"events"> {}

type SentExpectation = Body<"declareExpectations">["checks"][number]
/** A check that must report, with `every`, or with `cron` and `tz`. Durations are texts such as `90s`. */
export interface ExpectedCheck extends SentExpectation {}

/** Checks of one agent that must report; with `complete`, the agent's others no longer must. */
export interface ExpectationsRequest extends Body<"declareExpectations"> {}

/** How many checks of the agent must report now, and how many this request withdrew. */
export interface ExpectationsResponse extends Answer<"declareExpectations"> {}

/** How many rows an action concerned. */
export interface ActionCount extends Answer<"blockAll"> {}

/** Paging of a list: `limit` is 1 to 500 (100), `cursor` a `next_cursor`, or with `back` a `prev_cursor`. */
export interface Paging extends Query<"listAgents"> {}

/** The filters and the order of a list that is read whole: no place in it. */
export type Unpaged<Parameters extends Paging> = Omit<Parameters, "cursor" | "back">

/** One page of a list. */
export interface Page<Resource> {
  readonly items: ReadonlyArray<Resource>
  /** Pass as `cursor` for the next page; null on the last one. */
  readonly next_cursor?: string | null
  /** Pass as `cursor` with `back: true` for the page before; null on the first one. */
  readonly prev_cursor?: string | null
}

/** An agent. `status` is by the server's clock; `rotation_pending` says that a new key waits. */
export interface Agent extends Answer<"getAgent"> {}
export interface TitledAgent extends Item<"findAgents"> {}

/** The files that the server hands out to install the agent on hosts. */
export interface AgentDownload extends Answer<"getAgentDownload"> {}

/** Words, filters and paging of agents that are found. */
export interface FoundAgentListParameters extends Query<"findAgents"> {}

/** Which agents are accepted. */
export interface AcceptAllParameters extends Query<"acceptAll"> {}

/** A blocked agent key; its `id` deletes the row. */
export interface AgentBlacklistItem extends Item<"listBlacklist"> {}

/** Paging of the blacklist, which has no way back. */
export interface BlacklistParameters extends Query<"listBlacklist"> {}

/** One check of one agent. */
export interface CheckName extends Path<"removeCheck"> {}

/** The current state of one check; `summary` is the output of its newest result. */
export interface CheckState extends Item<"listChecks"> {}

/** Filters and paging of checks. */
export interface CheckListParameters extends Query<"listChecks"> {}

/** A check with when it must report; `status` is null if it never did. */
export interface ExpectedCheckState extends Item<"listExpectedChecks"> {}

/** Filters and paging of checks that must report; `is_overdue` selects late ones. */
export interface ExpectedCheckListParameters extends Query<"listExpectedChecks"> {}

/** How long a check was in each state during a span, in whole seconds. */
export interface CheckAvailability extends Item<"listAvailability"> {}

/** The checks and the span of which to state the availability, and paging. */
export interface AvailabilityParameters extends Query<"listAvailability"> {}

/** The series of numbers of a check. */
export interface SeriesOfCheck extends Answer<"listSeries"> {}

/** Which numbers of which check to read, of which time, in spans of which length. */
export interface NumbersParameters extends Query<"readNumbers"> {}

/** Spans of the series of a check, in the order of time. */
export interface Numbers extends Answer<"readNumbers"> {}

/** Why a check is in its state, as sentences. `skew_seconds` is negative if the agent's clock is ahead. */
export interface CheckExplanation extends Answer<"explain"> {}

/** A result that changed its check; `received_at` is by the server's clock. */
export interface StoredCheckResultEvent extends Item<"queryEvents"> {}

/** Filters and paging of stored results. */
export interface HistoryParameters extends Query<"queryEvents"> {}

/** Checks that are or were not ok, under one key. No `agent_id` with several; `resolved_at` is null while open. */
export interface Incident extends Item<"listIncidents"> {}

/**
 * Filters, order and paging of incidents. `agent_id` and `check_id` select those in which such a check is or was a
 * member. `sort` is `status` unless given: open, worst, newest first. `direction` is `desc` unless given.
 */
export interface IncidentListParameters extends Query<"listIncidents"> {}

/** An incident with its acknowledgement, and with what withholds its firings now. */
export interface HeldIncident extends Item<"listHeldIncidents"> {}

/** Filters of incidents, with that of acknowledged ones, or of others. */
export interface HeldIncidentListParameters extends Query<"listHeldIncidents"> {}

type Detail = Answer<"showIncident">
/** A check that is or was in an incident; `left_at` is null while it is. */
export interface IncidentMember extends Readonly<Detail["members"][number]> {}

/** One change of an incident, with the member's severity and the incident's after it: null when resolved. */
export interface IncidentTimelineEntry extends Readonly<Detail["timeline"][number]> {}

/** A receiver that got a firing of the incident, and the last one. */
export interface NotifiedReceiver extends Readonly<Detail["notified"][number]> {}

/** The next firing of a receiver if nothing else happens: due now without `due_at`, not sent while it has `holds`. */
export interface NextFiring extends Readonly<Detail["next"][number]> {}

/** One incident: the worst 200 members, the newest 200 notifications, changes without the `timeline_left_out`, silences without the `silences_left_out`. */
export interface IncidentDetail extends Detail {}

type Trace = Answer<"traceIncident">
/** One decision about an incident; `at` is null where only a change decides. */
export interface TraceEntry extends Readonly<Trace["entries"][number]> {}

/** The decisions about one incident, oldest first: of more than 1,000, the first 100 and the last 900. */
export interface IncidentTrace extends Trace {}

/** A note of up to 4,096 characters. */
export interface NoteRequest extends Body<"noteIncident"> {}

/** An entry of an incident's log: an operator's action, or Tocsin's. */
export interface IncidentLogEntry extends Answer<"noteIncident"> {}

/** An acknowledgement, `for` a duration or `until` a time. A `severity` that has changed is refused. */
export interface AcknowledgeRequest extends Body<"acknowledge"> {}
export interface TitleRequest extends Body<"titleCheck"> {}

/** An acknowledgement in force. `severity` is the incident's when it was acknowledged. */
export interface Acknowledgement extends Answer<"acknowledge"> {}

/** An acknowledgement of 1 to 200 incidents. */
export interface AcknowledgeAllRequest extends Body<"acknowledgeAll"> {}

/** The outcome for each incident. */
export interface AcknowledgedAll extends Answer<"acknowledgeAll"> {}

/** One notification to one notifier; its `id` is the same for every attempt. */
export interface NotificationOutboxItem extends Item<"listOutbox"> {}

/** Filters, order and paging of notifications, by `updated_at` and `desc` unless given. */
export interface OutboxListParameters extends Query<"listOutbox"> {}

/** A notification with receiver, cause, and what withholds it: `ack`, `after`, `silence:ID` or `window:NAME`. */
export interface HeldOutboxItem extends Item<"listHeldOutbox"> {}

/** Filters of notifications, with that of those on which a hold was found when last examined. */
export interface HeldOutboxListParameters extends Query<"listHeldOutbox"> {}

/** The receiver's answer to a test message: a notification would be retried if `deferred`, not if `refused`. */
export interface NotifierTest extends Answer<"testNotifier"> {}

/** Counts that hold at `generated_at`. */
export interface SystemSummary extends Answer<"getSummary"> {}

/** The same counts, with those of what waits for people. */
export interface Overview extends Answer<"getOverview"> {}

/** Whose token the client has; `name` is `token-…` for a token of the service's settings. */
export interface Me extends Answer<"me"> {}

/** A named operator; `last_used_at` is updated at most once a minute. */
export interface Operator extends Answer<"changeOperator"> {}

/** A new operator. `role` is `read`, `respond` or `admin`; it never expires without `expires_at`. */
export interface NewOperator extends Body<"createOperator"> {}

/** The fields to change in an operator; absent fields stay. */
export interface OperatorChanges extends Body<"changeOperator"> {}

/** How to replace a token. `grace` is a text from `0s` to `7d`. */
export interface RotationOptions extends Body<"rotateOperator"> {}

/** An operator with its new `token`, which is not shown again. */
export interface OperatorWithToken extends Answer<"createOperator"> {}

/** A person who is signed in by OpenID Connect, or by an invitation. */
export interface Session extends Item<"listSessions"> {}

/** How browsers subscribe: the server's key, or why none can. */
export interface PushState extends Answer<"getPush"> {}

/** The key by which browsers subscribe from now on. */
export interface PushKey extends Answer<"replacePushKey"> {}

/** A browser that gets notifications, without its address and keys. */
export interface Subscription extends Item<"listSubscriptions"> {}

/** Filters and paging of browsers. `operator` is for admins. */
export interface SubscriptionListParameters extends Query<"listSubscriptions"> {}

/** A change that someone made: who, by which way, and what it concerned. */
export interface AuditEntry extends Item<"listAudit"> {}

/** Filters and paging of the audit. `from` is included, `to` is not. */
export interface AuditListParameters extends Query<"listAudit"> {}

/** An enrolment, without its token. */
export interface Enrolment extends Item<"listEnrolments"> {}

/** A new enrolment. */
export interface NewEnrolment extends Body<"createEnrolment"> {}

/** An enrolment with its token, which is shown this once. */
export interface EnrolmentWithToken extends Answer<"createEnrolment"> {}

/** The token by which an agent asks to be accepted. */
export interface EnrolRequest extends Body<"enrol"> {}

/** A watch, without its header fields. */
export interface Watch extends Answer<"getWatch"> {}

/** A new watch: exactly one of `http`, `tcp`, `tls`, `dns`, `ping` and `websocket`. */
export interface NewWatch extends Body<"createWatch"> {}

/** Changes of a watch. A probe replaces the former one; its secrets stay where it states none and its origin stays. */
export interface WatchChanges extends Body<"changeWatch"> {}

/** For how long to pause a watch: a duration up to `24h`, or `0s` to end a pause. */
export interface WatchPause extends Body<"pauseWatch"> {}

/** A watch to probe once: its name, period and confirmation count for nothing. */
export interface WatchToTry extends Body<"tryWatch"> {}

/** The result of a probe that nothing stores. */
export interface WatchTrial extends Answer<"tryWatch"> {}

/** An integration, without its key. */
export interface Integration extends Answer<"getIntegration"> {}

/** A new integration. */
export interface NewIntegration extends Body<"createIntegration"> {}

/** The options of an integration, as they are to be. */
export interface IntegrationChanges extends Body<"changeIntegration"> {}

/** An integration with its new key, which is shown this once. */
export interface IntegrationWithKey extends Answer<"createIntegration"> {}

/** The last mails of an integration of kind mail. */
export interface KeptMails extends Answer<"listMails"> {}

/** A mail to try, whole as base64, or a kept one by its ID. */
export interface MailToTry extends Body<"tryMail"> {}

/** The outcome that a mail would have; nothing is stored. */
export interface TriedMail extends Answer<"tryMail"> {}

export type { Topic }

/** The topics to fetch again, as `changes` names them. One that only a newer service has stands for all. */
export interface TopicsChanged extends Omit<(typeof Changed)["Encoded"], "topics"> {
  readonly topics: ReadonlyArray<Topic>
}
