/** The part of a browser's window that says what it can. */
interface BrowserWindow {
  readonly isSecureContext: boolean
  readonly PushManager?: unknown
  readonly navigator: {
    readonly serviceWorker?: unknown
    readonly maxTouchPoints: number
    /** Whether the page was opened from the home screen; only Safari says so. */
    readonly standalone?: boolean
  }
}

/** Why a browser cannot show notifications of its page; nothing if it can (docs/rules.md#browsers). */
export const obstacleIn = (window: BrowserWindow, permission: string | undefined): string | undefined => {
  const { isSecureContext, navigator } = window
  if (!isSecureContext)
    return "This page is not secure, so browsers let it notify nobody. Open it by an address that begins with https."
  const isPossible = "serviceWorker" in navigator && "PushManager" in window && permission !== undefined
  // Safari of a Mac says it too, and has no touch.
  if (!isPossible && navigator.standalone === false && navigator.maxTouchPoints > 0)
    return "On an iPhone or iPad, put this page on the home screen first: press Share, then Add to Home Screen, and open it from there."
  if (!isPossible) return "This browser cannot receive notifications. In a private window, open a normal one."
  return permission === "denied"
    ? "This browser blocks notifications of this page. Allow them in the browser's settings of this page, then load it again."
    : undefined
}
