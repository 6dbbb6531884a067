import { Record } from "effect"
import type * as R from "../Resources.ts"
import { call, listing } from "./call.ts"
import type { EndpointName } from "./endpoints.ts"

const agentAction = call<[agentId: string], R.ActionCount>()
const checkAction = call<[check: R.CheckName], R.ActionCount>()
const rowAction = call<[id: string], R.ActionCount>()
const action = call<[], R.ActionCount>()

/**
 * The calls of the API, by the names that programs use. The client's effects and promises and the
 * methods of a monitor derive their types, documentation and code from this table. Arguments and
 * answers are plain data as on the wire; arguments are checked before anything is sent.
 */
export const callTable = {
  /**
   * Reports that an agent is alive, under its key. Registers the key if it is unknown; `accepted` says whether
   * an operator has accepted it. Durable once it succeeds, and safe to repeat.
   */
  heartbeat: call<[request: R.HeartbeatRequest], R.AcceptedResponse>()("heartbeat"),
  /**
   * Sends 1 to 200 check results of one agent, stored all or none. Durable once it succeeds, and safe to
   * repeat: results with a known `event_id` count as deduplicated. So do unchanged
   * ones, and those older than the newest of their check, which Tocsin discards.
   */
  events: call<[request: R.EventBatchRequest], R.EventBatchAcceptedResponse>()("events"),
  /**
   * Declares checks of an agent that must report, and how often; with `complete`, no others. An equal
   * declaration changes nothing.
   */
  expectations: call<[agentId: string, declaration: R.ExpectationsRequest], R.ExpectationsResponse>()(
    "declareExpectations",
  ),
  /**
   * Has a pending agent accepted by the token of an enrolment, after a heartbeat with the same key. Safe to
   * repeat: an accepted key spends no use.
   */
  enrol: call<[agentId: string, request: R.EnrolRequest], R.AcceptedResponse>()("enrol"),
  /** Agents, by agent_id. */
  agents: {
    ...listing<R.Paging, R.Agent>()("listAgents"),
    /** Those that have some words, a status, or a key that waits. */
    find: listing<R.FoundAgentListParameters, R.Agent>()("findAgents"),
    get: call<[agentId: string], R.Agent>()("getAgent"),
    /** Shows the files that the server hands out to install the agent on hosts. */
    download: call<[], R.AgentDownload>()("getAgentDownload"),
    /** Accepts the agent's pending key; a count of 0 if none is. Compare the fingerprint first. */
    accept: agentAction("acceptAgent"),
    /** Blocks the agent's pending key, or else its accepted one. Not safe to repeat. */
    block: agentAction("blockAgent"),
    /** Deletes the agent with its checks and their history. */
    remove: agentAction("deleteAgent"),
    /** Accepts all pending agents, and with `include_rotation: true` also replacement keys. */
    acceptAll: call<[parameters?: R.AcceptAllParameters], R.ActionCount>()("acceptAll"),
    /** Blocks all pending keys. Not safe to repeat. */
    blockAll: action("blockAll"),
    /** Removes all pending agents. */
    removeAll: action("removeAll"),
  },
  /** Tokens by which new agents are accepted, the newest first. */
  enrolments: {
    ...listing<R.Paging, R.Enrolment>()("listEnrolments"),
    /** Creates an enrolment; the answer has the token, this once. */
    create: call<[enrolment: R.NewEnrolment], R.EnrolmentWithToken>()("createEnrolment"),
    /** Deletes an enrolment: its token admits no more agents. A count of 0 if there is none. */
    remove: rowAction("removeEnrolment"),
  },
  /** Blocked keys, latest first. */
  blacklist: {
    ...listing<R.BlacklistParameters, R.AgentBlacklistItem>()("listBlacklist"),
    /** Deletes one row by its id, so that the key may register again; a count of 0 if there is none. */
    remove: rowAction("deleteBlacklistRow"),
    removeAll: action("deleteBlacklist"),
  },
  /** The current states of checks, by agent_id and check_id. */
  checks: {
    ...listing<R.CheckListParameters, R.CheckState>()("listChecks"),
    /** The same with the time by which each must report, and whether it is overdue. */
    expected: listing<R.ExpectedCheckListParameters, R.ExpectedCheckState>()("listExpectedChecks"),
    /** How long each was ok during a span, and how long not. */
    availability: listing<R.AvailabilityParameters, R.CheckAvailability>()("listAvailability"),
    /** Explains why a check is in its state. */
    explain: call<[check: R.CheckName], R.CheckExplanation>()("explain"),
    /** Makes a check of an integration ok. A count of 0 if it is. */
    resolve: checkAction("resolveCheck"),
    /** Releases a check that a wrong clock in the future froze. */
    resetClock: checkAction("resetClock"),
    /** Deletes a check that its agent no longer runs, with its history; it leaves its incident. */
    remove: checkAction("removeCheck"),
  },
  /** Measurements of checks over time. */
  numbers: {
    /** The series of a check, each with its last value and the bounds that the newest output states. */
    series: call<[check: R.CheckName], R.SeriesOfCheck>()("listSeries"),
    /** Spans of the series of a check; a time without a value has none. */
    read: call<[parameters: R.NumbersParameters], R.Numbers>()("readNumbers"),
  },
  /** Results that changed their check, newest first. */
  history: listing<R.HistoryParameters, R.StoredCheckResultEvent>()("queryEvents"),
  /** Incidents: open first, worst first, newest first, unless `sort` says otherwise. */
  incidents: {
    ...listing<R.IncidentListParameters, R.Incident>()("listIncidents"),
    /** The same with acknowledgements, and with what withholds the firings of each. */
    withHolds: listing<R.HeldIncidentListParameters, R.HeldIncident>()("listHeldIncidents"),
    /** One incident with its members, its timeline, its notifications, and whom it notifies next. */
    get: call<[id: string], R.IncidentDetail>()("showIncident"),
    /**
     * Acknowledges an open incident, or replaces its acknowledgement: until that ends, or the incident worsens,
     * Tocsin sends no firing of it that has not been attempted yet.
     */
    acknowledge: call<[id: string, request: R.AcknowledgeRequest], R.Acknowledgement>()("acknowledge"),
    /** Withdraws the acknowledgement of an incident; a count of 0 if there is none. */
    withdraw: rowAction("withdrawAcknowledgement"),
    /** Acknowledges 1 to 200 incidents, each on its own. */
    acknowledgeAll: call<[request: R.AcknowledgeAllRequest], R.AcknowledgedAll>()("acknowledgeAll"),
    /** Adds a note to the timeline of an incident, open or resolved. */
    note: call<[id: string, request: R.NoteRequest], R.IncidentLogEntry>()("noteIncident"),
  },
  /** Silences, the newest first: while active, it holds the firings of the incidents that it covers. */
  silences: {
    ...listing<R.SilenceListParameters, R.Silence>()("listSilences"),
    get: call<[id: string], R.Silence>()("getSilence"),
    /** Creates a silence; with `dry_run: true` it reports what the silence would cover instead. */
    create: call<
      [silence: R.NewSilence, parameters?: R.SilenceCreationParameters],
      R.Silence | R.SilencePreview
    >()("createSilence"),
    /** Changes the end or the comment of a silence that has not ended. */
    change: call<[id: string, changes: R.SilenceChanges], R.Silence>()("changeSilence"),
    /** Ends a silence now; a count of 0 if it had ended. */
    expire: rowAction("expireSilence"),
  },
  /** Messages to the readers of public pages, the newest first. */
  announcements: {
    ...listing<R.AnnouncementListParameters, R.Announcement>()("listAnnouncements"),
    /** Publishes a message on a page; without `ends_at`, it lasts until it is ended. */
    create: call<[announcement: R.NewAnnouncement], R.Announcement>()("createAnnouncement"),
    /** Adds a text to an announcement that has not ended. */
    update: call<[id: string, update: R.AnnouncementUpdate], R.Announcement>()("updateAnnouncement"),
    /** Ends an announcement now; a count of 0 if it had ended. */
    end: rowAction("endAnnouncement"),
  },
  /** Rotas of the policy: who is on call. */
  rotas: {
    /** All rotas, each with who is on call now, who comes next, and when. */
    list: call<[], R.RotaList>()("listRotas"),
    /** The turns of a rota from now on or in a span, with what is wrong with them. */
    get: call<[name: string, span?: R.RotaParameters], R.RotaPlan>()("getRota"),
    /** Receivers that are on call in a rota for a while, instead of its turn. */
    overrides: {
      /** Those that have not ended, or that end after `from`; the latest created first. */
      list: call<[rota: string, parameters?: R.OverrideListParameters], R.OverrideList>()("listOverrides"),
      create: call<[rota: string, override: R.NewOverride], R.Override>()("createOverride"),
      /** Ends an override now; a count of 0 if it had ended. */
      end: call<[override: R.OverrideName], R.ActionCount>()("endOverride"),
    },
  },
  /** Notifications; latest changed first unless `sort` says otherwise. */
  outbox: {
    ...listing<R.OutboxListParameters, R.NotificationOutboxItem>()("listOutbox"),
    /** The same with receivers, causes, and with what withholds each. */
    withHolds: listing<R.HeldOutboxListParameters, R.HeldOutboxItem>()("listHeldOutbox"),
    /** Sends a held notification now; nothing holds it again. */
    release: rowAction("release"),
    /** Sends a failed notification again, under the same id. */
    replay: rowAction("replay"),
  },
  notifiers: {
    /** Sends a test message through the notifier of this name, and reports the receiver's answer. */
    test: call<[notifier: string], R.NotifierTest>()("testNotifier"),
  },
  /** The name and the role of the operator whose token the client has. */
  me: call<[], R.Me>()("me"),
  /** Named operators, by name. */
  operators: {
    ...listing<R.Paging, R.Operator>()("listOperators"),
    /** Creates an operator; the answer has the token, this once. */
    create: call<[operator: R.NewOperator], R.OperatorWithToken>()("createOperator"),
    /** Changes the role or the expiry; `expires_at: null` for never. */
    change: call<[name: string, changes: R.OperatorChanges], R.Operator>()("changeOperator"),
    /** Replaces the token, shown this once. The former one stays valid for `grace`: `24h` unless given. */
    rotate: call<[name: string, options: R.RotationOptions], R.OperatorWithToken>()("rotateOperator"),
    /** Removes an operator, whose tokens end at the next request. */
    remove: rowAction("removeOperator"),
  },
  /** People who are signed in by OpenID Connect, the latest first. */
  sessions: {
    ...listing<R.Paging, R.Session>()("listSessions"),
    /** Ends a session: its token ends at the next request. A count of 0 if there is none. */
    end: rowAction("endSession"),
    /** Ends the session whose token the client has; a count of 0 if it has another token. */
    signOut: action("signOut"),
  },
  /** Integrations, by name: reports of senders that do not speak this API. */
  integrations: {
    ...listing<R.Paging, R.Integration>()("listIntegrations"),
    /** One integration, without its key. */
    get: call<[name: string], R.Integration>()("getIntegration"),
    /** Creates an integration with its agent; the answer has the key, this once, and addresses to paste. */
    create: call<[integration: R.NewIntegration], R.IntegrationWithKey>()("createIntegration"),
    /** Replaces the options. */
    change: call<[name: string, changes: R.IntegrationChanges], R.Integration>()("changeIntegration"),
    /** Replaces the key, shown this once; the former one stays valid for `grace`: `24h` unless given. Opens a blocked one. */
    rotate: call<[name: string, options: R.RotationOptions], R.IntegrationWithKey>()("rotateIntegration"),
    /** Removes an integration with its agent, checks and history. */
    remove: rowAction("removeIntegration"),
  },
  /** Watches, by name: probes that the server repeats. */
  watches: {
    ...listing<R.Paging, R.Watch>()("listWatches"),
    /** One watch with its latest probe. */
    get: call<[name: string], R.Watch>()("getWatch"),
    /** Creates a watch, which is probed within seconds. */
    create: call<[watch: R.NewWatch], R.Watch>()("createWatch"),
    /** Changes a watch, or pauses it until it is resumed. */
    change: call<[name: string, changes: R.WatchChanges], R.Watch>()("changeWatch"),
    /** Pauses a watch for up to 24 h, or ends its pause. */
    pause: call<[name: string, pause: R.WatchPause], R.Watch>()("pauseWatch"),
    /** Removes a watch with its check and history. */
    remove: rowAction("removeWatch"),
    /** Runs a probe now; nothing stores its result. */
    try: call<[watch: R.WatchToTry], R.WatchTrial>()("tryWatch"),
  },
  /** The policy: receivers, routes and maintenance windows. */
  policy: {
    /** The policy in force, without secrets. */
    get: call<[], R.PolicyInForce>()("getPolicy"),
    /** The JSON Schema of a policy. */
    schema: call<[], R.PolicySchema>()("getPolicySchema"),
    /** The last 100 policies that were applied, the newest first; without their texts, or one alone, if that is asked for. */
    versions: call<[parameters?: R.PolicyVersionParameters], R.PolicyVersionList>()("listPolicyVersions"),
    /**
     * Stores a policy in YAML or JSON, and puts it in force on every server within 5 s. With the hash of a
     * policy as `if-match`, it replaces only that one; with `confirm`, a receiver may get more than 100 firings
     * immediately.
     */
    apply: call<[text: string, parameters?: R.PolicyApplicationParameters], R.AppliedPolicy>()("applyPolicy"),
    /** Defines a receiver of the stored policy, or replaces its entry. `if-match` is the hash of the policy in force. */
    putReceiver: call<
      [name: string, request: R.ReceiverRequest, parameters: R.ReceiverParameters],
      R.AppliedPolicy
    >()("putReceiver"),
    /** Sends a test message to a receiver as it would be, and stores nothing. */
    tryReceiver: call<[name: string, request: R.ReceiverRequest], R.NotifierTest>()("tryReceiver"),
    /** Removes a receiver of the stored policy with its stored secrets; no route may name it. */
    removeReceiver: call<[name: string, parameters: R.ReceiverParameters], R.AppliedPolicy>()(
      "removeReceiver",
    ),
    /**
     * Names every problem of a policy in YAML or JSON, and of a valid one the firings that it would send
     * immediately. Opens nothing that the text names.
     */
    check: call<[text: string], R.PolicyCheck>()("checkPolicy"),
    /**
     * Counts the messages that a policy in YAML or JSON would have sent of the server's history, beside those
     * of the policy in force. Takes up to a minute.
     */
    try: call<[text: string, parameters?: R.PolicyTrialParameters], R.PolicyTrial>()("tryPolicy"),
  },
  /** The stored secrets of receivers, by the name that a policy has as `secrets`. */
  secrets: {
    /** All of them, without their values. */
    list: call<[], R.StoredSecretsList>()("listSecrets"),
    /** Stores all secrets of a receiver in place of the former ones; they count on every server within 5 s. */
    put: call<[name: string, secrets: R.NewSecrets], R.StoredSecrets>()("putSecrets"),
    /** Deletes the secrets of a name that the policy does not have. */
    remove: rowAction("removeSecrets"),
  },
  /** Maintenance windows. */
  windows: {
    /** All windows of the policy in force, each with its next five times. */
    list: call<[], R.WindowList>()("listWindows"),
  },
  /** The audit of all changes, newest first. */
  audit: listing<R.AuditListParameters, R.AuditEntry>()("listAudit"),
  /** Counts of agents, checks and open incidents; cheap to poll. */
  summary: call<[], R.SystemSummary>()("getSummary"),
  /** The same with counts of what waits for people. */
  overview: call<[], R.Overview>()("getOverview"),
}

export interface Leaf {
  readonly endpoint: EndpointName
  readonly walks: boolean
}
type Table = { readonly [name: string]: Leaf | Table }
const isLeaf = (entry: Leaf | Table): entry is Leaf => typeof entry.endpoint === "string"

export const mapCalls = <A>(make: (leaf: Leaf) => A, table: Table = callTable): MappedCalls<A> =>
  Record.map(table, (entry) => (isLeaf(entry) ? make(entry) : mapCalls(make, entry)))
interface MappedCalls<A> {
  readonly [name: string]: A | MappedCalls<A>
}
