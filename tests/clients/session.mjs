// A session of the TypeScript client: prints what it got as one JSON document.
// node session.mjs http URL | stdio COMMAND ARGUMENT…
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [how, ...where] = process.argv.slice(2);
const transport =
  how === "http"
    ? new StreamableHTTPClientTransport(new URL(where[0]))
    : new StdioClientTransport({ command: where[0], args: where.slice(1), env: process.env });
const client = new Client({ name: "test", version: "1" });
let heard;
const updated = new Promise((resolve) => (heard = resolve));
client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => heard(params.uri));
await client.connect(transport);

const call = async (name, args) => (await client.callTool({ name, arguments: args })).structuredContent;
const uri = "note://notes/%E6%97%A5%E6%9C%AC.md";
const { tools } = await client.listTools();
const { resourceTemplates } = await client.listResourceTemplates();
const { prompts } = await client.listPrompts();
const found = await call("search_knowledge", { query: "八十度" });
const { contents } = await client.readResource({ uri });
await client.subscribeResource({ uri });
const wrong = await client.callTool({ name: "search_knowledge", arguments: { query: "x", limit: 0 } });
let told;
for (let turn = 0; told === undefined && turn < 40; turn++) {
  // What happens before the server has seen what there is, is not told of.
  await call("update_knowledge", { path: "notes/日本.md", old: `${80 + turn} 度`, new: `${81 + turn} 度` });
  told = await Promise.race([updated, new Promise((resolve) => setTimeout(resolve, 500))]);
}
console.log(
  JSON.stringify({
    server: client.getServerVersion().name,
    tools: tools.length,
    templates: resourceTemplates.length,
    prompts: prompts.length,
    paths: found.hits.map((hit) => hit.path),
    text: contents[0].text,
    wrong: wrong.content[0].text,
    told,
  }),
);
await client.close();
