import type { ComponentChildren } from "preact"
import { asBack } from "../state/location.ts"

/** Leads back to a page, and to the reader's place there. */
export const BackLink = ({
  to,
  children = "← Back",
}: {
  readonly to: string
  readonly children?: ComponentChildren
}) => (
  <p class="crumb">
    <a href={to} onClick={() => asBack(to)}>
      {children}
    </a>
  </p>
)
