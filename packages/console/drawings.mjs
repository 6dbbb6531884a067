/** Drawings of one line, in a square of 16: of each page, and of the acts that have one. */
const LINES = {
  tick: "M3.5 8.5l3 3 6-7",
  menu: "M2 4h12M2 8h12M2 12h12",
  overview: "M2.5 2.5H7v5H2.5zM9 2.5h4.5V6H9zM9 8.5h4.5v5H9zM2.5 10H7v3.5H2.5z",
  incidents: "M9 1.8 3.5 9H8l-1 5.2L12.5 7H8z",
  checks: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM5.3 8.2l1.9 1.9 3.5-3.9",
  agents: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01",
  "on-call":
    "M4 2.5h2l1.2 3L5.7 6.7a8 8 0 0 0 3.6 3.6l1.2-1.5 3 1.2v2c0 .9-.6 1.5-1.5 1.5C7 13.5 2.5 9 2.5 4c0-.9.6-1.5 1.5-1.5z",
  silences: "M4.5 6.5v4.8l-1 1.2h8M12.2 9.8V7a4.2 4.2 0 0 0-6.6-3.4M6.8 14.5h2.4M2 2l12 12",
  policy:
    "M4 5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM4 14a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM12 6.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM4 5v6M12 6.5c0 3.5-8 1-8 4.5",
  receivers: "M2.5 3h11v8H8l-3 2.7V11H2.5z",
  pages: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM2 8h12M8 2c3.2 3.6 3.2 8.4 0 12M8 2c-3.2 3.6-3.2 8.4 0 12",
  watches: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 6a2 2 0 1 1 0 4 2 2 0 0 1 0-4z",
  integrations: "M5.5 1.8V5M10.5 1.8V5M3.5 5h9v2a4.5 4.5 0 0 1-9 0zM8 11.5v2.7",
  outbox: "M14 2 7.3 8.7M14 2 9.7 14 7.3 8.7 2 6.3z",
  report: "M3 1.8h10v12.4H3zM5.5 11V8.5M8 11V5M10.5 11V7",
  audit: "M3.5 1.8h6l3 3v9.4h-9zM6 8h4M6 11h4",
  admission: "M10 2.2a3.8 3.8 0 1 1-1.3 7.3L7 11.2H5.5v1.5H4v1.5H2V12l4.4-4.5A3.8 3.8 0 0 1 10 2.2zM11 5h.01",
  operators:
    "M6 2.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM1.5 13.5c.3-2.5 2-4 4.5-4s4.2 1.5 4.5 4M10.5 2.6a2.5 2.5 0 0 1 0 4.8M12 9.8c1.4.5 2.3 1.8 2.5 3.7",
  system: "M1.5 8h3l2-5 3 10 2-5h3",
  start: "M3.5 14.2V2.5h9l-2 3 2 3h-9",
}

/** The drawings as masks, so that they come with the style and are no script. */
export const drawings = () =>
  Object.entries(LINES).map(
    ([name, line]) =>
      `.of-${name}{-webkit-mask-image:url("data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16' fill='none' stroke='red' stroke-width='1.4' stroke-linecap='round' stroke-linejoin='round'><path d='${line}'/></svg>")}`,
  )
