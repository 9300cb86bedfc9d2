/** `words.js` is made by the server of gatepass/gate/words.py and its catalogues: every text in every language, by key. */
declare const words: Readonly<Record<string, Readonly<Record<string, string>>>>;
export default words;
