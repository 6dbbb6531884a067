import type * as R from "../Resources.ts"
import type { Answer, EndpointName, InputOf } from "./endpoints.ts"

/** A call: its endpoint, and its arguments and answer under the names that editors show. */
export interface Call<Name extends EndpointName, Input extends ReadonlyArray<unknown>, Output> {
  readonly endpoint: Name
  readonly walks: false
  readonly "~types"?: { readonly input: Input; readonly output: Output }
}

/** A walk over all pages of a list. */
export interface Walk<Name extends EndpointName, Input extends ReadonlyArray<unknown>, Item> {
  readonly endpoint: Name
  readonly walks: true
  readonly "~types"?: { readonly input: Input; readonly item: Item }
}

/** The endpoints that take and answer this. */
type Fitting<Input, Output> = {
  [Name in EndpointName]: IsSame<[Input, Output], [InputOf<Name>, Answer<Name>]> extends true ? Name : never
}[EndpointName]
type IsSame<A, B> = [A, B] extends [B, A] ? true : false

/** Makes a call of an endpoint that takes and answers this. */
export const call =
  <Input extends ReadonlyArray<unknown>, Output>() =>
  <Name extends Fitting<Input, Output>>(endpoint: Name): Call<Name, Input, Output> => ({
    endpoint,
    walks: false,
  })

/** A list that is read a page at a time, or whole. */
type Listing<Name extends EndpointName, Parameters extends R.Paging, Item> = {
  /** One page. */
  readonly list: Call<Name, [parameters?: Parameters], R.Page<Item>>
  /** The items of all pages, fetched as needed. One that keeps its place throughout appears exactly once. */
  readonly all: Walk<Name, [parameters?: R.Unpaged<Parameters>], Item>
}

/** Makes a list of an endpoint. */
export const listing =
  <Parameters extends R.Paging, Item>() =>
  <Name extends Fitting<[parameters?: Parameters], R.Page<Item>>>(
    endpoint: Name,
  ): Listing<Name, Parameters, Item> => ({
    list: { endpoint, walks: false },
    all: { endpoint, walks: true },
  })
