export interface RelayConfig {
  /** The gateway, up to its version: `https://gateway.example/v1`. */
  readonly baseUrl: string;
  /** The server's own key. It never reaches a browser, and no browser's key reaches the gateway. */
  readonly apiKey?: string;
  /** The model that `GET /chat` asks. */
  readonly model?: string;
  /** A comment whenever nothing was sent for so long, in milliseconds. Default: 15,000, which proxies can live with. */
  readonly keepAliveMs?: number;
}

export const RELAY_CONFIG = Symbol('RELAY_CONFIG');
