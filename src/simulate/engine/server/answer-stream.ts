import type { ServerResponse } from 'node:http'
import type { RequestTruth } from './truth-log.ts'

export interface AnswerStreamOptions {
  readonly hrtimeNs: () => bigint
  /** Where writes are stamped; null: nobody asks. */
  readonly truth: RequestTruth | null
  /** Bytes held back before anything is sent, as a buffering proxy does; 0: each event goes out at once. */
  readonly bufferBytes: number
  /** What a client may leave unread before it is dropped. */
  readonly maxUnreadBytes: number
}

/**
 * The body of a streamed answer. Every event is one write to the socket, made at once: Node's own `response.write` would hold
 * all events of a turn of the loop back until its end. The chunk framing of HTTP/1.1 is written here; head and end are Node's.
 */
export class AnswerStream {
  private readonly response: ServerResponse
  private readonly options: AnswerStreamOptions
  private held = ''
  private heldTokens = 0

  constructor(response: ServerResponse, options: AnswerStreamOptions) {
    this.response = response
    this.options = options
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
    })
    response.flushHeaders()
  }

  /** Sends ASCII text that carries `tokens` output tokens. False: the client has left too much unread. */
  send(text: string, tokens: number): boolean {
    if (this.options.bufferBytes === 0) return this.write(text, tokens)
    this.held += text
    this.heldTokens += tokens
    return this.held.length < this.options.bufferBytes || this.flush()
  }

  /** Ends the answer as it should end. */
  end(): void {
    this.flush()
    this.response.end()
  }

  /** Closes the connection in the middle of the answer, with what was sent before delivered. */
  cut(): void {
    this.flush()
    const { socket } = this.response
    if (socket === null) this.response.destroy()
    else socket.end(() => socket.destroy())
  }

  /** Resets the connection (RST). */
  reset(): void {
    const { socket } = this.response
    if (socket === null) this.response.destroy()
    else socket.resetAndDestroy()
  }

  private flush(): boolean {
    if (this.held === '') return true
    const { held, heldTokens } = this
    this.held = ''
    this.heldTokens = 0
    return this.write(held, heldTokens)
  }

  private write(text: string, tokens: number): boolean {
    const { response, options } = this
    const { socket } = response
    const framed = response.chunkedEncoding ? `${text.length.toString(16)}\r\n${text}\r\n` : text
    if (tokens > 0 && options.truth !== null) {
      options.truth.writesNs.push(options.hrtimeNs())
      options.truth.writeTokens.push(tokens)
    }
    if (socket === null) {
      // An earlier answer of a pipelining client still has the socket: Node keeps this one until it is its turn.
      response.write(text, 'latin1')
      return response.writableLength <= options.maxUnreadBytes
    }
    socket.write(framed, 'latin1')
    return socket.writableLength <= options.maxUnreadBytes
  }
}
