// Starts the reference. It asks nobody but this service: no hosted fonts, no telemetry, no proxy, no assistants.
"use strict";

// Zod, inside Scalar, would otherwise try whether it may use eval; our policy forbids that, and reports the attempt.
globalThis.__zod_globalConfig = { jitless: true };

async function start() {
  const { openapi, securityScheme, key } = await (await fetch("/docs/config.json")).json();
  Scalar.createApiReference("#reference", {
    url: openapi,
    favicon: "/docs/icon.svg",
    proxyUrl: "",
    telemetry: false,
    withDefaultFonts: false,
    showDeveloperTools: "never",
    hideClientButton: true,
    agent: { disabled: true },
    mcp: { disabled: true },
    persistAuth: false,
    defaultOpenAllTags: true,
    orderSchemaPropertiesBy: "preserve",
    documentDownloadType: "json",
    authentication: {
      preferredSecurityScheme: securityScheme,
      securitySchemes: key ? { [securityScheme]: { token: key } } : {},
    },
  });
}

// Deferred scripts have run by then, Scalar among them.
document.addEventListener("DOMContentLoaded", start);
