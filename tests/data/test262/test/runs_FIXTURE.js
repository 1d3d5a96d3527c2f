globalThis.hasRun = true;
