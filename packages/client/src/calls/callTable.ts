import { Record } from "effect"
import type * as R from "../Resources.ts"
import { call, listing } from "./call.ts"
import type { Answer, EndpointName } from "./endpoints.ts"

const agentAction = call<[agentId: string], R.ActionCount>()
const checkAction = call<[check: R.CheckName], R.ActionCount>()
const rowAction = call<[id: string], R.ActionCount>()
const action = call<[], R.ActionCount>()

/**
 * The calls of the API, by the names that programs use. The client's effects and promises and the
 * methods of a monitor derive their types and code from this table. Arguments and answers are plain data as on the wire;
 * arguments are checked before anything is sent.
 */
// scripts/build/documentCalls.ts gives each call the text that the OpenAPI documents have of its endpoint.
export const callTable = {
  heartbeat: call<[request: R.HeartbeatRequest], R.AcceptedResponse>()("heartbeat"),
  events: call<[request: R.EventBatchRequest], R.EventBatchAcceptedResponse>()("events"),
  expectations: call<[agentId: string, declaration: R.ExpectationsRequest], R.ExpectationsResponse>()(
    "declareExpectations",
  ),
  enrol: call<[agentId: string, request: R.EnrolRequest], R.AcceptedResponse>()("enrol"),
  /** Agents, by agent_id. */
  agents: {
    ...listing<R.Paging, R.Agent>()("listAgents"),
    find: listing<R.FoundAgentListParameters, R.TitledAgent>()("findAgents"),
    get: call<[agentId: string], R.Agent>()("getAgent"),
    title: call<[agentId: string, request: R.TitleRequest], R.ActionCount>()("titleAgent"),
    download: call<[], R.AgentDownload>()("getAgentDownload"),
    accept: agentAction("acceptAgent"),
    block: agentAction("blockAgent"),
    remove: agentAction("deleteAgent"),
    acceptAll: call<[parameters?: R.AcceptAllParameters], R.ActionCount>()("acceptAll"),
    blockAll: action("blockAll"),
    removeAll: action("removeAll"),
  },
  /** Tokens by which new agents are accepted, the newest first. */
  enrolments: {
    ...listing<R.Paging, R.Enrolment>()("listEnrolments"),
    create: call<[enrolment: R.NewEnrolment], R.EnrolmentWithToken>()("createEnrolment"),
    remove: rowAction("removeEnrolment"),
  },
  /** Blocked keys, latest first. */
  blacklist: {
    ...listing<R.BlacklistParameters, R.AgentBlacklistItem>()("listBlacklist"),
    remove: rowAction("deleteBlacklistRow"),
    removeAll: action("deleteBlacklist"),
  },
  /** The current states of checks, by agent_id and check_id. */
  checks: {
    ...listing<R.CheckListParameters, R.CheckState>()("listChecks"),
    expected: listing<R.ExpectedCheckListParameters, R.ExpectedCheckState>()("listExpectedChecks"),
    availability: listing<R.AvailabilityParameters, R.CheckAvailability>()("listAvailability"),
    report: call<[parameters: R.ReportParameters], R.Report>()("readReport"),
    explain: call<[check: R.CheckName], R.CheckExplanation>()("explain"),
    resolve: checkAction("resolveCheck"),
    title: call<[check: R.CheckName, request: R.TitleRequest], R.ActionCount>()("titleCheck"),
    resetClock: checkAction("resetClock"),
    remove: checkAction("removeCheck"),
  },
  /** Measurements of checks over time. */
  numbers: {
    series: call<[check: R.CheckName], R.SeriesOfCheck>()("listSeries"),
    read: call<[parameters: R.NumbersParameters], R.Numbers>()("readNumbers"),
  },
  history: listing<R.HistoryParameters, R.StoredCheckResultEvent>()("queryEvents"),
  /** Incidents: open first, worst first, newest first, unless `sort` says otherwise. */
  incidents: {
    ...listing<R.IncidentListParameters, R.Incident>()("listIncidents"),
    withHolds: listing<R.HeldIncidentListParameters, R.HeldIncident>()("listHeldIncidents"),
    get: call<[id: string], R.IncidentDetail>()("showIncident"),
    trace: call<[id: string], R.IncidentTrace>()("traceIncident"),
    acknowledge: call<[id: string, request: R.AcknowledgeRequest], R.Acknowledgement>()("acknowledge"),
    withdraw: rowAction("withdrawAcknowledgement"),
    acknowledgeAll: call<[request: R.AcknowledgeAllRequest], R.AcknowledgedAll>()("acknowledgeAll"),
    note: call<[id: string, request: R.NoteRequest], R.IncidentLogEntry>()("noteIncident"),
  },
  /** Silences, the newest first: while active, it holds the firings of the incidents that it covers. */
  silences: {
    ...listing<R.SilenceListParameters, R.Silence>()("listSilences"),
    get: call<[id: string], R.Silence>()("getSilence"),
    create: call<
      [silence: R.NewSilence, parameters?: R.SilenceCreationParameters],
      R.Silence | R.SilencePreview
    >()("createSilence"),
    change: call<[id: string, changes: R.SilenceChanges], R.Silence>()("changeSilence"),
    expire: rowAction("expireSilence"),
  },
  /** Messages to the readers of public pages, the newest first. */
  announcements: {
    ...listing<R.AnnouncementListParameters, R.Announcement>()("listAnnouncements"),
    create: call<[announcement: R.NewAnnouncement], R.Announcement>()("createAnnouncement"),
    update: call<[id: string, update: R.AnnouncementUpdate], R.Announcement>()("updateAnnouncement"),
    end: rowAction("endAnnouncement"),
  },
  /** Rotas of the policy: who is on call. */
  rotas: {
    list: call<[], R.RotaList>()("listRotas"),
    get: call<[name: string, span?: R.RotaParameters], R.RotaPlan>()("getRota"),
    /** Receivers that are on call in a rota for a while, instead of its turn. */
    overrides: {
      list: call<[rota: string, parameters?: R.OverrideListParameters], R.OverrideList>()("listOverrides"),
      create: call<[rota: string, override: R.NewOverride], R.Override>()("createOverride"),
      end: call<[override: R.OverrideName], R.ActionCount>()("endOverride"),
    },
  },
  /** Notifications; latest changed first unless `sort` says otherwise. */
  outbox: {
    ...listing<R.OutboxListParameters, R.NotificationOutboxItem>()("listOutbox"),
    withHolds: listing<R.HeldOutboxListParameters, R.HeldOutboxItem>()("listHeldOutbox"),
    release: rowAction("release"),
    replay: rowAction("replay"),
  },
  notifiers: {
    test: call<[notifier: string], R.NotifierTest>()("testNotifier"),
  },
  me: call<[], R.Me>()("me"),
  /** Named operators, by name. */
  operators: {
    ...listing<R.Paging, R.Operator>()("listOperators"),
    create: call<[operator: R.NewOperator], R.OperatorWithToken>()("createOperator"),
    change: call<[name: string, changes: R.OperatorChanges], R.Operator>()("changeOperator"),
    rotate: call<[name: string, options: R.RotationOptions], R.OperatorWithToken>()("rotateOperator"),
    remove: rowAction("removeOperator"),
    invite: call<[name: string, request: R.InvitationOptions], R.NewInvitation>()("invite"),
    invitations: call<[name: string], R.InvitationList>()("listInvitations"),
    removeInvitation: call<[invitation: R.InvitationName], R.ActionCount>()("removeInvitation"),
  },
  /** People who are signed in by OpenID Connect, the latest first. */
  sessions: {
    ...listing<R.Paging, R.Session>()("listSessions"),
    end: rowAction("endSession"),
    signOut: action("signOut"),
  },
  /** Browsers that get notifications, the latest first: one's own, for an admin all. */
  push: {
    ...listing<R.SubscriptionListParameters, R.Subscription>()("listSubscriptions"),
    get: call<[], R.PushState>()("getPush"),
    replaceKey: call<[], R.PushKey>()("replacePushKey"),
    test: call<[id: string], R.NotifierTest>()("testSubscription"),
    remove: rowAction("removeSubscription"),
  },
  /** Integrations, by name: reports of senders that do not speak this API. */
  integrations: {
    ...listing<R.Paging, R.Integration>()("listIntegrations"),
    get: call<[name: string], R.Integration>()("getIntegration"),
    create: call<[integration: R.NewIntegration], R.IntegrationWithKey>()("createIntegration"),
    change: call<[name: string, changes: R.IntegrationChanges], R.Integration>()("changeIntegration"),
    rotate: call<[name: string, options: R.RotationOptions], R.IntegrationWithKey>()("rotateIntegration"),
    remove: rowAction("removeIntegration"),
    mails: call<[name: string], R.KeptMails>()("listMails"),
    tryMail: call<[name: string, mail: R.MailToTry], R.TriedMail>()("tryMail"),
  },
  /** Watches, by name: probes that the server repeats. */
  watches: {
    ...listing<R.Paging, R.Watch>()("listWatches"),
    get: call<[name: string], R.Watch>()("getWatch"),
    places: call<[], Answer<"listPlaces">>()("listPlaces"),
    create: call<[watch: R.NewWatch], R.Watch>()("createWatch"),
    change: call<[name: string, changes: R.WatchChanges], R.Watch>()("changeWatch"),
    pause: call<[name: string, pause: R.WatchPause], R.Watch>()("pauseWatch"),
    remove: rowAction("removeWatch"),
    try: call<[watch: R.WatchToTry], R.WatchTrial>()("tryWatch"),
  },
  /** The policy: receivers, routes and maintenance windows. */
  policy: {
    get: call<[], R.PolicyInForce>()("getPolicy"),
    schema: call<[], R.PolicySchema>()("getPolicySchema"),
    versions: call<[parameters?: R.PolicyVersionParameters], R.PolicyVersionList>()("listPolicyVersions"),
    apply: call<[text: string, parameters?: R.PolicyApplicationParameters], R.AppliedPolicy>()("applyPolicy"),
    patch: call<
      [operations: R.PolicyPatch, parameters: R.PolicyPatchParameters],
      R.AppliedPolicy | R.PatchedPolicy
    >()("patchPolicy"),
    putReceiver: call<
      [name: string, request: R.ReceiverRequest, parameters: R.ReceiverParameters],
      R.AppliedPolicy
    >()("putReceiver"),
    tryReceiver: call<[name: string, request: R.ReceiverRequest], R.NotifierTest>()("tryReceiver"),
    removeReceiver: call<[name: string, parameters: R.ReceiverParameters], R.AppliedPolicy>()(
      "removeReceiver",
    ),
    check: call<[text: string], R.PolicyCheck>()("checkPolicy"),
    try: call<[text: string, parameters?: R.PolicyTrialParameters], R.PolicyTrial>()("tryPolicy"),
  },
  /** The stored secrets of receivers, by the name that a policy has as `secrets`. */
  secrets: {
    list: call<[], R.StoredSecretsList>()("listSecrets"),
    put: call<[name: string, secrets: R.NewSecrets], R.StoredSecrets>()("putSecrets"),
    remove: rowAction("removeSecrets"),
  },
  /** Settings that change while servers run. */
  settings: {
    list: call<[], R.SettingList>()("listSettings"),
    set: call<[name: string, request: R.NewSetting], R.Setting>()("putSetting"),
    remove: rowAction("removeSetting"),
  },
  /** Maintenance windows. */
  windows: {
    list: call<[], R.WindowList>()("listWindows"),
  },
  audit: listing<R.AuditListParameters, R.AuditEntry>()("listAudit"),
  summary: call<[], R.SystemSummary>()("getSummary"),
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
