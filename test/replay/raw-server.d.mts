import type { Socket } from 'node:net'

export interface RawRequest {
  readonly path: string
  readonly head: string
  readonly body: string
  /** Which request of its connection, from 0. */
  readonly index: number
  /** Which connection, from 0. */
  readonly connection: number
}

export interface RawServer {
  readonly url: string
  readonly port: number
  connections(): number
  close(): Promise<void>
}

export declare function startRawServer(
  onRequest: (socket: Socket, request: RawRequest) => void,
  host?: string,
): Promise<RawServer>
