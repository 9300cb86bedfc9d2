// What this browser keeps of a card: the last state, and the phone's key. Both go when the card ends.
//
// The key pair is made so that no script can read its private half: IndexedDB keeps the key itself, not its bytes.
// Where a browser has no IndexedDB (some private windows), both live as long as the page.

const NAME = "gatepass-card";
const STORES = ["states", "phones"];
const memory = { states: new Map(), phones: new Map() };

let opening = null;

function opened() {
  opening ??= new Promise((resolve) => {
    try {
      const request = indexedDB.open(NAME, 1);
      request.onupgradeneeded = () => STORES.forEach((name) => request.result.createObjectStore(name));
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => resolve(null);
      request.onblocked = () => resolve(null);
    } catch {
      resolve(null);
    }
  });
  return opening;
}

// Strict: a key that the server knows of must survive a phone that dies right now.
async function run(stores, mode, action) {
  const database = await opened();
  if (database === null) return undefined;
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(stores, mode, { durability: "strict" });
    const request = action(transaction);
    transaction.oncomplete = () => resolve(request?.result);
    transaction.onerror = transaction.onabort = () => reject(transaction.error);
  });
}

export async function read(store, token) {
  const kept = await run([store], "readonly", (transaction) => transaction.objectStore(store).get(token)).catch(() => undefined);
  return kept ?? memory[store].get(token) ?? null;
}

// Whether it is kept for good; in memory it is in any case.
export async function write(store, token, value) {
  memory[store].set(token, value);
  try {
    await run([store], "readwrite", (transaction) => transaction.objectStore(store).put(value, token));
    return true;
  } catch {
    return false;
  }
}

export async function forget(token, stores = STORES) {
  stores.forEach((store) => memory[store].delete(token));
  await run(stores, "readwrite", (transaction) => {
    stores.forEach((store) => transaction.objectStore(store).delete(token));
  }).catch(() => undefined);
}
