// What the server tells by itself: the version, what it is doing, what is held or pending.

const listeners = new Set();
let source = null;

/** The last beat; null before the first. `isLost` is set while the server does not answer. */
export const state = { beat: null, isLost: false };

/** Tell of every beat until the function that is returned is called. */
export function onBeat(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Listen while the page is seen: browsers allow few connections, and tabs are many. */
export function listen() {
  document.addEventListener("visibilitychange", () => (document.hidden ? hangUp() : connect()));
  connect();
}

function connect() {
  if (source || document.hidden) return;
  source = new EventSource("/api/beats");
  source.onmessage = (event) => {
    const before = state.beat;
    state.beat = JSON.parse(event.data);
    state.isLost = false;
    for (const listener of listeners) listener(state.beat, before);
  };
  source.onerror = () => {
    state.isLost = true;
    for (const listener of listeners) listener(state.beat, state.beat);
    if (source.readyState === EventSource.CLOSED) {
      hangUp();
      setTimeout(connect, 3000);
    }
  };
}

function hangUp() {
  source?.close();
  source = null;
}
