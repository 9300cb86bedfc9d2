// The entry points of the package: the name in `exports`, and its source.
export const entries = {
  index: "src/index.ts",
  webhooks: "src/webhooks.ts",
  "queue/index": "src/queue/index.ts",
  "queue/node": "src/queue/node.ts",
  "gate/index": "src/gate/index.ts",
};
