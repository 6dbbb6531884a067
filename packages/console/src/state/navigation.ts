import type { Topic } from "@tocsin/contract/liveViews/topicNames"

interface Page {
  /** After `g`. */
  readonly key: string
  /** The subjects of changes that it shows; the name of one whose ID says nothing to people. */
  readonly subjects?: Readonly<Record<string, string>>
  /** Resources that depend on other topics than the one of their name. */
  readonly topics?: Readonly<Record<string, ReadonlyArray<Topic>>>
}

/** The groups of the navigation: the pages of each in their order. */
export const GROUPS: Readonly<Record<string, Readonly<Record<string, Page>>>> = {
  Now: {
    overview: {
      key: "v",
    },
    incidents: {
      key: "i",
      topics: { incidents: ["incidents", "outbox", "silences", "rotas", "policy"] },
    },
    checks: {
      key: "c",
      topics: {
        availability: ["checks"],
        checks: ["checks", "silences", "policy"],
        events: ["checks"],
        explain: ["checks", "silences", "policy"],
      },
    },
    agents: {
      key: "a",
    },
    "on-call": {
      key: "r",
      subjects: { override: "an override" },
      topics: { rotas: ["rotas", "policy"] },
    },
  },
  Decide: {
    silences: {
      key: "s",
      subjects: { silence: "a silence" },
      topics: { windows: ["policy", "silences"] },
    },
    policy: {
      key: "l",
      subjects: { policy: "" },
    },
    receivers: {
      key: "e",
      subjects: { receiver: "" },
    },
    pages: {
      key: "f",
      subjects: { announcement: "an announcement" },
    },
    watches: {
      key: "w",
      subjects: { watch: "" },
      topics: { watches: ["watches", "checks"], places: ["watches", "agents"] },
    },
    integrations: {
      key: "t",
      subjects: { integration: "" },
      topics: { integrations: ["integrations", "incidents"] },
    },
  },
  "Look after": {
    outbox: {
      key: "o",
      subjects: { notification: "a notification" },
      topics: { outbox: ["outbox", "incidents", "silences", "rotas", "policy"] },
    },
    report: {
      key: "m",
    },
    audit: {
      key: "u",
    },
    admission: {
      key: "d",
      subjects: { enrolment: "an enrolment" },
      topics: { enrolments: ["agents", "audit"] },
    },
    operators: {
      key: "p",
      subjects: {
        operator: "",
        session: "a session",
        invitation: "an invitation",
        subscription: "a browser",
      },
      topics: { sessions: ["operators"] },
    },
    system: {
      key: "y",
    },
    start: {
      key: "b",
    },
  },
}

/** All pages of the navigation by their names. */
export const pages = new Map(Object.values(GROUPS).flatMap((group) => Object.entries(group)))
