/* A collection of tools that code can call. */

/** A JSON Schema. */
export type JsonSchema = boolean | { [keyword: string]: unknown };

/** A tool, as models and MCP describe it. */
export interface ToolDefinition {
  name: string;
  description?: string;
  /** The schema of its parameters. The executor checks them before it calls the tool. */
  inputSchema?: JsonSchema;
  outputSchema?: JsonSchema;
  /** Each call waits until a person has approved exactly these parameters. The time of the code stands meanwhile. */
  requiresApproval?: boolean;
}

/** A tool with the function that runs it. */
export interface Tool extends ToolDefinition {
  run: (params: Record<string, unknown>) => unknown;
}

/** The client of an MCP server, such as the `Client` of its SDK. */
export interface McpClient {
  listTools(params?: { cursor?: string }): Promise<{ tools: ToolDefinition[]; nextCursor?: string }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
}

/** The tools of a program. An executor makes functions of them for its code, and checks parameters by their schemas. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();

  /** Throws a TypeError if the tool is incomplete, or there is one with this name. */
  define(tool: Tool): this {
    const { name, run } = tool;
    if (typeof name !== 'string' || name === '') throw new TypeError('tool.name: must be a text that is not empty');
    if (typeof run !== 'function') throw new TypeError(`tool '${name}': run must be a function`);
    if (this.#tools.has(name)) throw new TypeError(`tool '${name}': there is another one with this name`);
    this.#tools.set(name, { ...tool });
    return this;
  }

  /** The definitions, in the order in which they were added. */
  list(): ToolDefinition[] {
    return [...this.#tools.values()].map(({ run: _, ...definition }) => definition);
  }

  /**
   * Calls a tool. `params` are not checked here: the executor has checked them before, by the schema of the tool.
   */
  async dispatch(name: string, params: Record<string, unknown>): Promise<unknown> {
    const tool = this.#tools.get(name);
    if (!tool) throw new Error(`there is no tool '${name}'`);
    return tool.run(params);
  }

  /** Adds the tools of an MCP server; `prefix` comes before their names. Resolves with their number. */
  async importMcp(client: McpClient, prefix = ''): Promise<number> {
    let count = 0;
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor });
      for (const { annotations: _, ...tool } of page.tools as (ToolDefinition & { annotations?: unknown })[]) {
        const run = async (params: Record<string, unknown>) =>
          unwrap(await client.callTool({ name: tool.name, arguments: params }));
        this.define({ ...tool, name: prefix + tool.name, run });
        count++;
      }
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return count;
  }
}

/** The value in a result of MCP: structured content, else the text, parsed if it is JSON; else the result itself. */
function unwrap(result: unknown): unknown {
  if (typeof result !== 'object' || result === null) return result;
  const { isError, structuredContent, content } = result as Record<string, unknown>;
  const parts = Array.isArray(content) ? (content as { type?: unknown; text?: unknown }[]) : [];
  const isText = parts.length > 0 && parts.every((part) => part?.type === 'text' && typeof part.text === 'string');
  const text = isText ? parts.map((part) => part.text as string).join('\n') : undefined;
  if (isError === true) throw new Error(text ?? 'the tool has failed');
  if (structuredContent !== undefined) return structuredContent;
  if (text === undefined) return result;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
