/** Waiting for a disk that may never answer. */

/** Nothing was heard for too long. It may come yet. */
export class Late extends Error {}

const TICK = 1_000;

/**
 * The result, or `Late` after so many ticks of a second.
 *
 * Ticks, not a time: a phone that sleeps, or a machine that stalls, has not waited while it stood still, and what it
 * waits for comes as soon as it goes on.
 */
export function within<T>(ticks: number, result: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let left = ticks;
    const timer = setInterval(() => {
      left -= 1;
      if (left === 0) end(() => reject(new Late("The storage does not answer.")));
    }, TICK);
    const end = (how: () => void): void => {
      clearInterval(timer);
      how();
    };
    result.then(
      (value) => end(() => resolve(value)),
      (error) => end(() => reject(error)),
    );
  });
}
