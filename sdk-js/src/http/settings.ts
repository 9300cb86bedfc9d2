/** The settings of a client: from its options, or in Node from the environment. */

import { ConfigurationError } from "../errors.js";
import { VERSION } from "../version.js";

const LIVE = "svc_live_";
const SANDBOX = "svc_test_";
const PRINTABLE_ASCII = /^[\x21-\x7e]+$/;
// 127.0.0.0/8. A URL that was parsed has an IPv4 address in this spelling only.
const LOOPBACK = /^127\.\d+\.\d+\.\d+$/;

export interface SettingsOptions {
  /** Else GATEPASS_API_KEY. */
  api_key?: string | undefined;
  /** It ends with `/api/public/v1`. Else GATEPASS_BASE_URL. */
  base_url?: string | undefined;
  /** Send the key in plain text to other machines: only where something else encrypts, such as a service mesh. */
  allow_http?: boolean | undefined;
}

/** The key is private, so that it does not get into a log with an object that holds it. */
export class Settings {
  readonly base_url: string;
  readonly #api_key: string;

  private constructor(api_key: string, base_url: string) {
    this.#api_key = api_key;
    this.base_url = base_url;
  }

  static of(options: SettingsOptions = {}): Settings {
    const key = options.api_key || environment("GATEPASS_API_KEY");
    const url = options.base_url || environment("GATEPASS_BASE_URL");
    if (!key) throw new ConfigurationError("No API key: pass api_key or set GATEPASS_API_KEY.");
    if (!(key.startsWith(LIVE) || key.startsWith(SANDBOX)) || !PRINTABLE_ASCII.test(key))
      throw new ConfigurationError(`This is not an API key: one begins with ${LIVE} or ${SANDBOX}.`);
    if (!url)
      throw new ConfigurationError(
        "No base URL: pass base_url or set GATEPASS_BASE_URL. It ends with /api/public/v1.",
      );
    return new Settings(key, checkedBaseUrl(url, options.allow_http ?? false));
  }

  get is_sandbox(): boolean {
    return this.#api_key.startsWith(SANDBOX);
  }

  get headers(): Record<string, string> {
    return { Authorization: `Bearer ${this.#api_key}`, Accept: "application/json", ...USER_AGENT };
  }
}

/**
 * The base URL without a slash at its end: https, or http to this machine, so that no network sees the key.
 *
 * It is read by the parser that also opens the connection.
 */
export function checkedBaseUrl(text: string, allow_http = false): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new ConfigurationError(NOT_A_BASE_URL);
  }
  if (!["https:", "http:"].includes(url.protocol) || !url.hostname) throw new ConfigurationError(NOT_A_BASE_URL);
  if (url.username || url.password || /[?#]/.test(text))
    throw new ConfigurationError(
      "The base URL has no user, password, query or fragment. It ends with /api/public/v1.",
    );
  if (url.protocol === "http:" && !allow_http && !isThisMachine(url.hostname))
    throw new ConfigurationError(
      `http://${url.hostname} would send the API key in plain text. Use https://, or http:// with localhost, ` +
        "127.0.0.1 or [::1].",
    );
  return url.href.replace(/\/+$/, "");
}

const NOT_A_BASE_URL = "The base URL must begin with https:// (or http:// on your own machine).";

function isThisMachine(host: string): boolean {
  return host === "localhost" || host === "[::1]" || LOOPBACK.test(host);
}

interface NodeProcess {
  env: Record<string, string | undefined>;
  versions?: { node?: string };
}

const node = (globalThis as { process?: NodeProcess }).process;
// A browser names itself.
const USER_AGENT: Record<string, string> = node?.versions?.node
  ? { "User-Agent": `gatepass-sdk-js/${VERSION} node/${node.versions.node}` }
  : {};

function environment(name: string): string | undefined {
  return node?.env?.[name];
}
