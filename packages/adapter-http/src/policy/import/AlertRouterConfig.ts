import { Schema } from "effect"

const texts = Schema.optionalKey(Schema.Array(Schema.String))
const text = Schema.optionalKey(Schema.String)
const labels = Schema.optionalKey(Schema.Record(Schema.String, Schema.String))

/** A route of Alertmanager, as far as it is taken over or named. */
export interface AlertmanagerRoute {
  readonly receiver?: string
  readonly match?: Readonly<Record<string, string>>
  readonly match_re?: Readonly<Record<string, string>>
  readonly matchers?: string | ReadonlyArray<string>
  readonly continue?: boolean
  readonly group_by?: ReadonlyArray<string>
  readonly group_wait?: string
  readonly group_interval?: string
  readonly repeat_interval?: string
  readonly mute_time_intervals?: ReadonlyArray<string>
  readonly active_time_intervals?: ReadonlyArray<string>
  readonly routes?: ReadonlyArray<AlertmanagerRoute>
}

const Route: Schema.Codec<AlertmanagerRoute> = Schema.Struct({
  receiver: text,
  match: labels,
  match_re: labels,
  matchers: Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Schema.String)])),
  continue: Schema.optionalKey(Schema.Boolean),
  group_by: texts,
  group_wait: text,
  group_interval: text,
  repeat_interval: text,
  mute_time_intervals: texts,
  active_time_intervals: texts,
  routes: Schema.optionalKey(Schema.Array(Schema.suspend((): Schema.Codec<AlertmanagerRoute> => Route))),
})

const ranges = texts

/** A time of a time interval: all of its parts must hold. */
const Interval = Schema.Struct({
  times: Schema.optionalKey(
    Schema.Array(Schema.Struct({ start_time: Schema.String, end_time: Schema.String })),
  ),
  weekdays: ranges,
  days_of_month: ranges,
  months: ranges,
  years: ranges,
  location: text,
})
export type Interval = typeof Interval.Type

const Intervals = Schema.optionalKey(
  Schema.Array(Schema.Struct({ name: Schema.String, time_intervals: Schema.Array(Interval) })),
)

/** The parts of Alertmanager's configuration that are taken over. */
export const AlertmanagerConfig = Schema.Struct({
  route: Route,
  receivers: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Unknown))),
  inhibit_rules: Schema.optionalKey(Schema.Array(Schema.Unknown)),
  time_intervals: Intervals,
  mute_time_intervals: Intervals,
})
