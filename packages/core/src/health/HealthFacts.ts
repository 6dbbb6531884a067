import type { Instant } from "../contract/Instant.ts"
import type { NotifierName } from "../contract/Status.ts"
import type { StorageFailure } from "../ports/Storage.ts"

/** What happened to a notification, and when. */
export interface NotificationMoment {
  readonly notifier: NotifierName
  readonly at: Instant
}

/** What is known of the service when it is asked whether it is well. */
export interface HealthFacts {
  readonly now: Instant
  /** It has been told to stop. */
  readonly isStopping: boolean
  /** Why the storage answered no read; absent where it did. */
  readonly readFailure: StorageFailure | undefined
  /** Why it kept no write; absent where it did. */
  readonly writeFailure: StorageFailure | undefined
  /** Notifications of configured notifiers that are neither delivered nor given up, with the moment from which they count. */
  readonly undelivered: ReadonlyArray<NotificationMoment>
  /** Notifications of configured notifiers that were given up, with the moment of that. */
  readonly givenUp: ReadonlyArray<NotificationMoment>
}
