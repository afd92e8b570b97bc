// Asking the server.

/** What went wrong, as the server told it. */
export class Refusal extends Error {
  constructor(status, told) {
    super(told.message || `HTTP ${status}`);
    this.status = status;
    this.kind = told.error || "unreachable";
    this.hint = told.hint || "";
  }
}

/** The JSON of a GET; lists become repeated parameters, what is empty is left out. */
export async function get(path, asked = {}, options = {}) {
  return (await request(`${path}?${parameters(asked)}`, options)).json();
}

/** The bytes of a GET. */
export async function getBytes(path) {
  return (await request(path, {})).arrayBuffer();
}

/** The JSON of a request that changes something. */
export async function send(path, body = {}, method = "POST") {
  return (await request(path, { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } })).json();
}

function parameters(asked) {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") found.append(name, one);
    }
  }
  return found;
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, {});
  }
  if (response.ok) return response;
  let told = {};
  try {
    told = await response.json();
  } catch {
    // Something else answers there.
  }
  throw new Refusal(response.status, told);
}
