// Compares the output of the eraser with that of the TypeScript compiler.
//
//   node differential.mjs --glovebox PROGRAM --typescript FOLDER --allow FILE [--verbose] PATH...
//
// A PATH is a folder, a file, or a table of cases (.txt), where each "in" line is one source.
// A file passes if both reject it, or if both outputs have the same structure: the same syntax tree, except for
// parentheses, empty statements, and how enums and namespaces are written. Enums and namespaces are also run, and
// must produce the same values. Intended differences are in the allow-list, each with its reason.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import vm from "node:vm";

const options = { allow: null, glovebox: null, typescript: null, verbose: false };
const roots = [];
for (let i = 2; i < process.argv.length; i++) {
  const arg = process.argv[i];
  if (arg === "--verbose") options.verbose = true;
  else if (arg.startsWith("--")) options[arg.slice(2)] = process.argv[++i];
  else roots.push(arg);
}
const ts = createRequire(path.resolve(options.typescript) + "/")("typescript");
const K = ts.SyntaxKind;

// --- the corpus ---

const isSource = (name) => /\.[mc]?ts$/.test(name) && !/\.d(\.\w+)?\.[mc]?ts$/.test(name);

function* walk(root) {
  for (const entry of fs.readdirSync(root, { withFileTypes: true })) {
    const full = path.join(root, entry.name);
    if (entry.isDirectory()) yield* walk(full);
    else if (entry.isFile() && isSource(entry.name)) yield full;
  }
}

const unescaped = { n: "\n", r: "\r", t: "\t", "\\": "\\", u2028: "\u2028" };

// Yields [name, text] of each source.
function* sources(root) {
  if (root.endsWith(".txt")) {
    let line = 0;
    for (const text of fs.readFileSync(root, "utf8").split("\n")) {
      line++;
      if (text.startsWith("in "))
        yield [`${root}:${line}`, text.slice(3).replace(/\\(n|r|t|u2028|\\)/g, (_, c) => unescaped[c])];
    }
    return;
  }
  const files = fs.statSync(root).isFile() ? [root] : walk(root);
  for (const file of files) yield [file, fs.readFileSync(file, "utf8")];
}

// --- the oracle ---

const compilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  removeComments: true,
  useDefineForClassFields: true,
  moduleDetection: ts.ModuleDetectionKind.Force,
};

function compile(text, fileName) {
  // Syntax errors, and grammar errors that the compiler reports while it emits.
  const result = ts.transpileModule(text, { fileName, compilerOptions, reportDiagnostics: true });
  const error = result.diagnostics.find((d) => d.code !== 5107 && d.code !== 6046 && d.category === 1);
  return error
    ? { error: ts.flattenDiagnosticMessageText(error.messageText, " "), at: error.start }
    : { text: result.outputText };
}

function erase(text) {
  const run = spawnSync(options.glovebox, ["ts-strip", "-", "--json"], { input: text, maxBuffer: 1 << 30 });
  if (run.status === null || run.status > 1) return { crash: `status ${run.status} ${run.signal} ${run.stderr}` };
  return JSON.parse(run.stdout);
}

const jsOptions = { languageVersion: ts.ScriptTarget.ESNext, setExternalModuleIndicator: (f) => (f.externalModuleIndicator = true) };

// --- structure ---

// "(function (N) {...})(N || (N = {}))", as both write enums and namespaces.
function containerCall(node) {
  if (!ts.isExpressionStatement(node)) return null;
  const call = node.expression;
  if (!ts.isCallExpression(call) || call.arguments.length !== 1) return null;
  const callee = ts.isParenthesizedExpression(call.expression) ? call.expression.expression : call.expression;
  if (!ts.isFunctionExpression(callee) || callee.name || callee.parameters.length !== 1) return null;
  const argument = call.arguments[0];
  if (!ts.isBinaryExpression(argument)) return null;
  const name = ts.isIdentifier(argument.left) ? argument.left.text : null;
  return name ? { name, callee, argument } : null;
}

// Serialises a tree, so that two trees can be compared as text.
function shape(node, enums, renamed) {
  switch (node.kind) {
    case K.ParenthesizedExpression:
      return shape(node.expression, enums, renamed);
    case K.EmptyStatement:
    case K.SemicolonClassElement:
    case K.EndOfFileToken:
      return "";
    case K.ExportDeclaration:
      if (!node.moduleSpecifier && node.exportClause && !node.exportClause.elements.length) return "";
      break;
    case K.ImportClause:
      // import a, {} from
      if (node.namedBindings?.elements?.length === 0 && node.name) return shape(node.name, enums, renamed);
      break;
    case K.Identifier:
      return "i:" + (renamed.get(node.text) ?? node.text);
    case K.StringLiteral:
    case K.NoSubstitutionTemplateLiteral:
    case K.NumericLiteral:
    case K.BigIntLiteral:
    case K.PrivateIdentifier:
    case K.RegularExpressionLiteral:
      return node.kind + ":" + JSON.stringify(node.text);
    case K.TemplateHead:
    case K.TemplateMiddle:
    case K.TemplateTail:
      return node.kind + ":" + JSON.stringify(node.rawText ?? node.text);
  }
  const container = containerCall(node);
  if (container) {
    if (enums.has(container.name)) return "enum " + container.name;
    const inner = container.callee.parameters[0].name.text;
    const names = new Map(renamed);
    if (inner !== container.name) names.set(inner, container.name);
    return `container(${shape(container.argument, enums, renamed)} ${shape(container.callee.body, enums, names)})`;
  }
  const parts = [];
  if (node.kind === K.VariableDeclarationList) parts.push(node.flags & ts.NodeFlags.BlockScoped);
  if (node.operator) parts.push(node.operator);
  ts.forEachChild(node, (child) => {
    const text = shape(child, enums, renamed);
    if (text) parts.push(text);
  });
  return `${K[node.kind]}(${parts.join(" ")})`;
}

function structure(text, enums) {
  const file = ts.createSourceFile("a.mjs", text, jsOptions, false, ts.ScriptKind.JS);
  if (file.parseDiagnostics.length) {
    const d = file.parseDiagnostics[0];
    const { line, character } = file.getLineAndCharacterOfPosition(d.start);
    return {
      error: `${line + 1}:${character + 1} ${ts.flattenDiagnosticMessageText(d.messageText, " ")}`,
    };
  }
  return { shape: shape(file, enums, new Map()) };
}

function enumNames(file) {
  const names = new Set();
  const visit = (node) => {
    if (ts.isEnumDeclaration(node)) names.add(node.name.text);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return names;
}

// --- values ---

function inspect(value, depth = 0, seen = new Set()) {
  if (value === null || (typeof value !== "object" && typeof value !== "function"))
    return typeof value === "bigint" || typeof value === "symbol" ? String(value) : JSON.stringify(value) ?? String(value);
  if (seen.has(value) || depth > 5) return "...";
  seen.add(value);
  const skipped = ["length", "name", "prototype", "arguments", "caller"];
  const keys = Object.getOwnPropertyNames(value).filter((k) => typeof value !== "function" || !skipped.includes(k));
  const items = keys.map((k) => {
    try {
      return k + ":" + inspect(value[k], depth + 1, seen);
    } catch (error) {
      return k + ": threw " + error.name;
    }
  });
  return (typeof value === "function" ? "function " + value.name : "") + `{${items.join(",")}}`;
}

// Runs the text with stubs for its imports, and returns the values of the top-level @names.
function evaluate(text, names) {
  const made = ts.transpileModule(text, {
    fileName: "a.js",
    compilerOptions: { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.CommonJS, allowJs: true },
  }).outputText;
  const stub = () =>
    new Proxy(function () {}, {
      get: (_, key) => (key === Symbol.toPrimitive ? () => "stub" : key === "__esModule" ? true : stub()),
      apply: () => undefined,
      construct: () => ({}),
    });
  const logged = [];
  const context = vm.createContext({
    require: stub,
    exports: {},
    console: { log: (...args) => logged.push(args.map((a) => inspect(a)).join(" ")) },
  });
  let error = "";
  const looks = names.map((n) => `try { $looked.push(() => ${n}) } catch {}`).join("");
  try {
    vm.runInContext(`var $looked = [];${made}\n;${looks}`, context, { timeout: 300 });
  } catch (thrown) {
    error = thrown?.name ?? String(thrown);
  }
  const values = (context.$looked ?? []).map((look) => {
    try {
      return inspect(look());
    } catch (thrown) {
      return "threw " + thrown?.name;
    }
  });
  return JSON.stringify({ error, values, logged });
}

function namesOfContainers(file) {
  const names = new Set();
  for (const s of file.statements)
    if ((ts.isEnumDeclaration(s) || ts.isModuleDeclaration(s) || ts.isClassDeclaration(s)) && s.name?.text) {
      if (ts.isIdentifier(s.name)) names.add(s.name.text);
    }
  return [...names];
}

// --- one file ---

function difference(a, b) {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  return `\n    typescript: ...${a.slice(Math.max(0, i - 60), i + 120)}\n    glovebox:   ...${b.slice(Math.max(0, i - 60), i + 120)}`;
}

function compare(text) {
  const theirs = compile(text, "a.ts");
  const ours = erase(text);
  if (ours.crash) return ["crash", ours.crash];
  if (ours.text !== undefined && ours.text.split(/\r\n|[\n\r\u2028\u2029]/).length !== text.split(/\r\n|[\n\r\u2028\u2029]/).length)
    return ["lines", "the number of lines changed"];
  if (theirs.error) {
    if (ours.error) return ["both reject", ""];
    // Invalid JavaScript is rejected by the engine.
    return [structure(ours.text, new Set()).error ? "engine rejects" : "laxer", theirs.error];
  }
  if (ours.error) {
    const { message, line, column } = ours.error;
    return [/not supported/.test(message) ? "refused" : "rejected", `${line}:${column} ${message}`];
  }
  const source = ts.createSourceFile("a.ts", text, ts.ScriptTarget.ESNext, false);
  const enums = enumNames(source);
  const a = structure(theirs.text, enums), b = structure(ours.text, enums);
  if (a.error) return ["oracle", a.error];
  if (b.error) return ["broken", b.error];
  const containers = namesOfContainers(source);
  if (a.shape !== b.shape) return ["structure", difference(a.shape, b.shape)];
  if (containers.length && (enums.size || /\b(namespace|module)\b/.test(text))) {
    const x = evaluate(theirs.text, containers), y = evaluate(ours.text, containers);
    if (x !== y) return ["value", difference(x, y)];
    return ["same value", ""];
  }
  return ["same", ""];
}

// Lines of "verdict  regular expression for the path  # reason".
function readAllowed(file) {
  if (!file) return [];
  return fs
    .readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() && !line.startsWith("#"))
    .map((line) => {
      const match = /^(.+?)\s\s+(\S+)\s\s+(.+)$/.exec(line);
      if (!match) throw new Error(`${file}: not "verdict  path  reason": ${line}`);
      return { verdict: match[1], path: new RegExp(match[2]), reason: match[3], used: 0 };
    });
}

const allowed = readAllowed(options.allow);
const counts = {};
let failed = 0;
for (const root of roots)
  for (const [file, text] of sources(root)) {
    let [verdict, detail] = compare(text);
    const good = ["same", "same value", "both reject", "engine rejects", "refused", "oracle"].includes(verdict);
    const entry = good ? null : allowed.find((a) => a.verdict === verdict && a.path.test(file));
    if (entry) {
      entry.used++;
      verdict = "allowed";
    } else if (!good) {
      failed++;
      console.log(`${verdict}: ${file}: ${detail}`);
    } else if (options.verbose && detail) {
      console.log(`${verdict}: ${file}: ${detail}`);
    }
    counts[verdict] = (counts[verdict] ?? 0) + 1;
  }
console.log(Object.entries(counts).map(([verdict, n]) => `${n} ${verdict}`).join(", "));
process.exit(failed ? 1 : 0);
