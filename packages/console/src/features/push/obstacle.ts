/** The facts about a browser that decide whether it can notify its reader. */
interface BrowserFacts {
  readonly isSecure: boolean
  readonly isPossible: boolean
  readonly isRefused: boolean
  /** A tab of Safari on a telephone, where only pages of the home screen get notifications. */
  readonly isTabOfPhone: boolean
}

/** Why a browser cannot show notifications of this page; nothing if it can (docs/rules.md#browsers). */
export const obstacleIn = ({
  isPossible,
  isRefused,
  isSecure,
  isTabOfPhone,
}: BrowserFacts): string | undefined => {
  if (!isSecure)
    return "This page is not secure, so browsers let it notify nobody. Open it by an address that begins with https."
  if (!isPossible && isTabOfPhone)
    return "On an iPhone or iPad, put this page on the home screen first: press Share, then Add to Home Screen, and open it from there."
  if (!isPossible) return "This browser cannot receive notifications. Private windows cannot either."
  return isRefused
    ? "This browser blocks notifications of this page. Allow them in the browser's settings of this page, then load it again."
    : undefined
}
