import type { WatchTrial } from "@tocsin/client"
import { saidText } from "../../format/saidText.ts"
import type { Texts } from "../../view/FormField.ts"
import { Mark } from "../../view/states.tsx"
import { HERE } from "./Places.tsx"
import { chosenIn } from "./placeFields.ts"

/** The words of TLS for a certificate that no known authority signed, or that names another host. */
const UNTRUSTED = /self.signed|unable to (?:get|verify)|does not match certificate/i

export interface Tried extends WatchTrial {
  /** The form as it was tried. */
  readonly texts: Texts
}

/** The result of a trial: only the service itself makes one. */
export const WatchTried = ({ output, status, texts }: Tried) => {
  const others = chosenIn(texts).filter((place) => place !== HERE)
  const isUntrusted = texts["verify"] !== "false" && UNTRUSTED.test(output)
  return (
    <div role="status">
      <p>
        <Mark state={status} /> from here: {saidText(output, status)}
      </p>
      {isUntrusted && (
        <p class="lead">
          Private? Under <i>More</i>, <i>The certificate</i>, choose that it is not checked.
        </p>
      )}
      {others.length > 0 && <p class="lead">{others.join(", ")}: tried once it is saved.</p>}
    </div>
  )
}
