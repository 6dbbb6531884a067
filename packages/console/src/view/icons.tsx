import { pages } from "../state/navigation.ts"

/** Drawings of one line, in a square of 16, by the act that they stand for. */
const LINES: Readonly<Record<string, string>> = {
  tick: "M3.5 8.5l3 3 6-7",
  menu: "M2 4h12M2 8h12M2 12h12",
}

export const Icon = ({ name }: { readonly name: string }) => (
  <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    <path d={LINES[name] ?? pages.get(name)?.line ?? ""} />
  </svg>
)
