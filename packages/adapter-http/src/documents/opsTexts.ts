import type { OperationTexts } from "./OperationTexts.ts"

/** The texts of the operations of /ops/v1. */
export const opsTexts: OperationTexts = {
  Admission: {
    listEnrolments: ["List enrolments", "Lists enrolments, the newest first, without their tokens."],
    removeEnrolment: [
      "Delete an enrolment",
      "Deletes an enrolment: its token admits no more agents. Agents that it admitted stay accepted. Safe to repeat.",
    ],
    createEnrolment: [
      "Create an enrolment",
      "Creates a token by which new agents are accepted without an operator. The answer shows it, this once.",
    ],
    enrol: [
      "Accept a pending agent by the token of an enrolment",
      "Accepts a pending agent without an operator. Send a heartbeat with the same key first. An accepted key is answered without a use of the token, so a repeat is safe. Answers 404 for a token that is unknown, used, expired or of another agent, and the agent stays pending; 409 for a replacement key, which only an operator accepts. Limited like heartbeats.",
    ],
  },
  Incidents: {
    acknowledge: [
      "Acknowledge an incident",
      "Acknowledges an open incident, or replaces its acknowledgement. Until it ends, Tocsin sends no firing of the incident that has not been attempted yet. An incident that becomes worse than acknowledged notifies everyone again. Answers 409 if the incident has resolved, or has another severity than the request names.",
    ],
    withdrawAcknowledgement: [
      "Withdraw the acknowledgement of an incident",
      "Withdraws the acknowledgement of an incident. What it held is sent. Without one the count is 0.",
    ],
    acknowledgeAll: [
      "Acknowledge several incidents",
      "Acknowledges up to 200 incidents, each on its own, and says what became of each.",
    ],
    noteIncident: [
      "Add a note to an incident",
      "Adds a note to the timeline of an incident, open or resolved.",
    ],
    listHeldIncidents: [
      "List incidents with what withholds their firings",
      "Lists incidents as v1 does, each with its acknowledgement, and with what withholds its firings now.",
    ],
    showIncident: [
      "Show an incident with its members and timeline",
      "Shows an incident with its members, what happened to it and what was sent, the worst and the latest, at most 200 of each. States whom it notifies next, when, and what holds that.",
    ],
  },
  Integrations: {
    listIntegrations: ["List integrations", "Lists integrations by name, without their keys."],
    getIntegration: ["Show an integration", "Shows an integration without its key."],
    removeIntegration: [
      "Remove an integration",
      "Removes an integration with its agent, checks and history. Safe to repeat.",
    ],
    createIntegration: [
      "Create an integration",
      "Creates an integration and its agent. The answer shows the key, this once. Answers 409 if an agent or an integration has the name.",
    ],
    changeIntegration: ["Change an integration", "Replaces the options, from the next request on."],
    rotateIntegration: [
      "Replace an integration's key",
      "Replaces the key. The answer shows the new one, this once. The former one stays valid for `grace`. Opens an integration whose key was blocked, with a new agent.",
    ],
  },
  Operators: {
    me: ["Show whose token this is", "Shows the name and the role of the operator who asks."],
    listOperators: ["List operators", "Lists named operators by name, without their tokens."],
    removeOperator: [
      "Remove an operator",
      "Removes an operator. The tokens end at the next request, on every replica. Safe to repeat.",
    ],
    createOperator: [
      "Create an operator",
      "Creates an operator. The answer shows the token, this once. Answers 409 if the name is in use.",
    ],
    changeOperator: [
      "Change an operator",
      "Changes the role or the expiry of an operator, from the next request on.",
    ],
    rotateOperator: [
      "Replace an operator's token",
      "Replaces the token. The answer shows the new one, this once. The former one stays valid for `grace`.",
    ],
    listAudit: [
      "List who changed what",
      "Lists the changes that operators, commands, programs and ended times made, newest first.",
    ],
  },
  "Live views": {
    stream: [
      "Stream what to fetch again",
      "Sends server-sent events that name what has changed, by this process or another: at most one a second, and a comment every 15 s. Fetch what you show once the stream has opened, and again whenever it opens anew. The token is checked every 15 s. A process serves 100 streams at most.",
    ],
  },
  Notifications: {
    replay: [
      "Send a failed notification again, with the same id",
      "Replays a failed notification: attempts and age start over, and its id stays, so that receivers can deduplicate. Answers 409 if the notification has not failed, or if it is a firing whose incident has resolved.",
    ],
    release: [
      "Send a held notification now",
      "Sends a held firing now, with the incident's present severity and summary. Nothing holds it again. Answers 409 if the notification is not held.",
    ],
    listHeldOutbox: [
      "List notifications with what withholds them",
      "Lists notifications as v1 does, each with its receiver, its cause, and what withholds it now.",
    ],
    testNotifier: [
      "Send a test message now and report the receiver's answer",
      "Sends a test message immediately and reports the receiver's answer. Tocsin stores neither.",
    ],
  },
  Checks: {
    resetClock: [
      "Release a check that a clock in the future froze",
      "Releases a check whose agent had a clock in the future, so that its results count as late: last_observed_at becomes the moment at which its newest result arrived.",
    ],
    removeCheck: [
      "Delete a check that its agent no longer runs, with its history",
      "Deletes a check that its agent no longer runs, with its history. It leaves its incident.",
    ],
    explain: [
      "Explain why a check is in its state",
      "Explains the state of a check: its newest result and time of arrival, the agent's clock skew, the last change and the incident.",
    ],
    listExpectedChecks: [
      "List checks with when they must report",
      "Lists checks as v1 does, with the time by which each must report next, and whether it is overdue. With is_overdue=true it lists overdue checks only, those included that never reported; a page may then have fewer items than its limit.",
    ],
    listAvailability: [
      "List how long checks were ok, and how long not",
      "Lists checks with their seconds in each state during a span of at most 400 days. A page has fewer items than its limit where matchers leave out some of its checks.",
    ],
    declareExpectations: [
      "Declare which checks of an agent must report, and how often",
      "Declares checks that must report. One that stops is overdue, and joins the incident of its agent's overdue checks. Needs the agent's accepted key. Limited like heartbeats. An equal declaration changes nothing.",
    ],
  },
  Agents: {
    getOverview: [
      "Count what there is, and what waits for people",
      "Counts agents, checks and open incidents as v1 does, and incidents by severity, waiting keys and dead letters.",
    ],
    findAgents: [
      "Find agents by words, status or a waiting key",
      "Lists agents as v1 does: those that have the words, the status, or a key that waits.",
    ],
  },
  Policy: {
    listWindows: [
      "List maintenance windows",
      "Lists the maintenance windows of the policy in force, each with the one in force and the next times, five in all. The list has no pages.",
    ],
    getPolicy: [
      "Show the policy in force",
      "Shows the policy in force in the process that answers, with its receivers, and the live servers with the hashes of their policies. It contains no secret.",
    ],
    getPolicySchema: [
      "Get the JSON Schema of policies",
      "Describes a policy file, for editors. Some rules are beyond a JSON Schema: POST policy/check checks them all.",
    ],
    listPolicyVersions: [
      "List the stored versions of the policy",
      "Lists the last 100 policies that were applied, each with its text, the newest first. The list has no pages.",
    ],
    applyPolicy: [
      "Apply a policy",
      "Checks a policy, stores it, and puts it in force: immediately in the server that answers, within 5 s in the others. It may name only files of the folder SERVICE_SECRETS_DIR, and variables that begin with TOCSIN_SECRET_. Answers 412 if If-Match names another policy than the one in force, and 409 if a receiver gets more than 100 firings immediately, or where SERVICE_POLICY_FILE, or the program that contains Tocsin, decides.",
    ],
    tryPolicy: [
      "Try a policy on the history",
      "Counts the messages that a policy would have sent of the newest 100,000 results, beside those of the policy in force. Runs on a thread for a minute at most, reads one snapshot and changes nothing. Opens no file and no variable that the text names. A server tries one policy at a time, others are 429. Answers 409 where no database has the history, and after the minute.",
    ],
    checkPolicy: [
      "Check a policy",
      "Names every problem of a policy by path and line. Opens no file and no variable that the text names, and changes nothing.",
    ],
  },
  Silences: {
    listSilences: ["List silences", "Lists silences, the newest first."],
    getSilence: ["Show a silence", "Shows a silence."],
    createSilence: [
      "Create a silence, or preview one",
      "Creates a silence: while it is active, Tocsin sends no firing of the incidents that it covers and that has not been attempted yet. With dry_run=true it creates nothing, and reports what the silence would cover now. Answers 409 if the silence covers more than half of the accepted agents, and more than 10, and is not confirmed; and if 1,000 silences are scheduled or active.",
    ],
    changeSilence: [
      "Change the end or the comment of a silence",
      "Changes the end or the comment of a silence. Answers 409 if it has ended.",
    ],
    expireSilence: [
      "End a silence now",
      "Ends a silence. What it held is sent, if nothing else holds it. The count is 0 if it had ended or does not exist.",
    ],
  },
  Watches: {
    listWatches: ["List watches", "Lists watches by name, without header fields."],
    getWatch: ["Show a watch", "Shows a watch with its latest probe."],
    removeWatch: [
      "Remove a watch",
      "Removes a watch with its check and history. Safe to repeat. Answers 409 for a watch of the policy.",
    ],
    createWatch: [
      "Create a watch",
      "Creates a watch, which is probed within seconds. Its check has its name, under the agent of SERVICE_WATCH_AGENT. Answers 409 if a watch has the name.",
    ],
    changeWatch: [
      "Change a watch",
      "Changes a watch, or pauses it until it is resumed. Answers 409 for a watch of the policy.",
    ],
    pauseWatch: ["Pause a watch", "Pauses a watch for up to 24 h, or ends its pause."],
    tryWatch: [
      "Probe an address now",
      "Runs a probe from the server, and answers with the result. Tocsin stores nothing of it. Refuses link-local and cloud metadata addresses, loopback unless SERVICE_WATCH_LOOPBACK is set, and private ones if SERVICE_DENY_PRIVATE_TARGETS is. Answers 409 in a program that contains Tocsin.",
    ],
  },
}
