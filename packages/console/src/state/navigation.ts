import type { Topic } from "@tocsin/contract/liveViews/topicNames"

interface Page {
  /** After `g`. */
  readonly key: string
  /** Its drawing, of one line in a square of 16. */
  readonly line: string
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
      line: "M2.5 2.5H7v5H2.5zM9 2.5h4.5V6H9zM9 8.5h4.5v5H9zM2.5 10H7v3.5H2.5z",
    },
    incidents: {
      key: "i",
      line: "M9 1.8 3.5 9H8l-1 5.2L12.5 7H8z",
      topics: { incidents: ["incidents", "outbox", "silences", "rotas", "policy"] },
    },
    checks: {
      key: "c",
      line: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM5.3 8.2l1.9 1.9 3.5-3.9",
      topics: {
        availability: ["checks"],
        checks: ["checks", "silences", "policy"],
        events: ["checks"],
        explain: ["checks", "silences", "policy"],
      },
    },
    agents: {
      key: "a",
      line: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01",
    },
    "on-call": {
      key: "r",
      line: "M4 2.5h2l1.2 3L5.7 6.7a8 8 0 0 0 3.6 3.6l1.2-1.5 3 1.2v2c0 .9-.6 1.5-1.5 1.5C7 13.5 2.5 9 2.5 4c0-.9.6-1.5 1.5-1.5z",
      subjects: { override: "an override" },
      topics: { rotas: ["rotas", "policy"] },
    },
  },
  Decide: {
    silences: {
      key: "s",
      line: "M4.5 6.5v4.8l-1 1.2h8M12.2 9.8V7a4.2 4.2 0 0 0-6.6-3.4M6.8 14.5h2.4M2 2l12 12",
      subjects: { silence: "a silence" },
      topics: { windows: ["policy", "silences"] },
    },
    policy: {
      key: "l",
      line: "M4 5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM4 14a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM12 6.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM4 5v6M12 6.5c0 3.5-8 1-8 4.5",
      subjects: { policy: "" },
    },
    receivers: {
      key: "e",
      line: "M2.5 3h11v8H8l-3 2.7V11H2.5z",
      subjects: { receiver: "" },
    },
    pages: {
      key: "f",
      line: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM2 8h12M8 2c3.2 3.6 3.2 8.4 0 12M8 2c-3.2 3.6-3.2 8.4 0 12",
      subjects: { announcement: "an announcement" },
    },
    watches: {
      key: "w",
      line: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 6a2 2 0 1 1 0 4 2 2 0 0 1 0-4z",
      subjects: { watch: "" },
      topics: { watches: ["watches", "checks"], places: ["watches", "agents"] },
    },
    integrations: {
      key: "t",
      line: "M5.5 1.8V5M10.5 1.8V5M3.5 5h9v2a4.5 4.5 0 0 1-9 0zM8 11.5v2.7",
      subjects: { integration: "" },
      topics: { integrations: ["integrations", "incidents"] },
    },
  },
  "Look after": {
    outbox: {
      key: "o",
      line: "M14 2 7.3 8.7M14 2 9.7 14 7.3 8.7 2 6.3z",
      subjects: { notification: "a notification" },
      topics: { outbox: ["outbox", "incidents", "silences", "rotas", "policy"] },
    },
    report: {
      key: "m",
      line: "M3 1.8h10v12.4H3zM5.5 11V8.5M8 11V5M10.5 11V7",
    },
    audit: {
      key: "u",
      line: "M3.5 1.8h6l3 3v9.4h-9zM6 8h4M6 11h4",
    },
    admission: {
      key: "d",
      line: "M10 2.2a3.8 3.8 0 1 1-1.3 7.3L7 11.2H5.5v1.5H4v1.5H2V12l4.4-4.5A3.8 3.8 0 0 1 10 2.2zM11 5h.01",
      subjects: { enrolment: "an enrolment" },
      topics: { enrolments: ["agents", "audit"] },
    },
    operators: {
      key: "p",
      line: "M6 2.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM1.5 13.5c.3-2.5 2-4 4.5-4s4.2 1.5 4.5 4M10.5 2.6a2.5 2.5 0 0 1 0 4.8M12 9.8c1.4.5 2.3 1.8 2.5 3.7",
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
      line: "M1.5 8h3l2-5 3 10 2-5h3",
    },
    start: {
      key: "b",
      line: "M3.5 14.2V2.5h9l-2 3 2 3h-9",
    },
  },
}

/** All pages of the navigation by their names. */
export const pages = new Map(Object.values(GROUPS).flatMap((group) => Object.entries(group)))
