/** A server for one test: it answers each request with the next of these answers, and keeps what it was asked. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export type Answering = (request: IncomingMessage, response: ServerResponse, body: string) => void;

export interface Asked {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export interface TestServer {
  base_url: string;
  asked: Asked[];
}

export async function serve(test: TestContext, ...answers: Answering[]): Promise<TestServer> {
  const asked: Asked[] = [];
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts).toString();
      asked.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body });
      const answering = answers[Math.min(asked.length, answers.length) - 1];
      answering?.(request, response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/public/v1`, asked };
}

/** Answers with this JSON. */
export function json(status: number, value: unknown, headers: Record<string, string> = {}): Answering {
  return (_, response) => {
    response.writeHead(status, { "content-type": "application/json", "x-request-id": "req_test", ...headers });
    response.end(JSON.stringify(value));
  };
}

/** Takes the request, and closes the connection without an answer. */
export const loses: Answering = (request) => request.socket.destroy();

/** Takes the request, and never answers. */
export const hangs: Answering = () => undefined;

/** A port on which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
