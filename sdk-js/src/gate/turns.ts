/** Steps that take turns: the next one begins when the last one has ended, however it ended. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<T>(step: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(step);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}

/** Two readers of one gate may see copies of one code at once: the second waits for the first one's verdict. */
export class TurnsByName {
  readonly #busy = new Map<string, { turns: Turns; users: number }>();

  async take<T>(name: string, step: () => Promise<T>): Promise<T> {
    const entry = this.#busy.get(name) ?? { turns: new Turns(), users: 0 };
    this.#busy.set(name, entry);
    entry.users += 1;
    try {
      return await entry.turns.take(step);
    } finally {
      entry.users -= 1;
      if (entry.users === 0) this.#busy.delete(name);
    }
  }
}
