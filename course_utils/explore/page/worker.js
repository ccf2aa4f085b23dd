// Computes for the explorers of a page, beside it, so that the page never freezes. Its files are kept by the browser.
import * as ort from "./ort.wasm.bundle.min.js";
import {Tokenizer} from "./tokenizers.min.js";
import {makeEngine} from "./engine.js";
import {answer, NEEDS} from "./compute.js";

postMessage({started: true}); // what is imported above has come, and may run
ort.env.wasm.numThreads = 1;
const SIZES = {}; // bytes of each file, from files.json

/** The server's answer to a request for a file. */
async function asked(url, name) {
  let response;
  try {
    response = await fetch(url);
  } catch {
    throw new Error(
      `${name} could not be fetched, since there is no connection or a Content-Security-Policy (connect-src) forbids it`,
    );
  }
  if (!response.ok) throw new Error(`the server answers ${response.status} for ${name}`);
  return response;
}

/** A file of the folder beside this one, from the browser's store or the server, with progress; its size is checked. */
async function fetched(name) {
  const {bytes, version} = SIZES[name] ?? {},
    url = new URL(version ? `${name}?${version}` : name, import.meta.url);
  let store = null;
  try {
    store = await caches.open("course-encoder");
  } catch {
    /* no store without https, or in a private window */
  }
  const kept = await store?.match(url);
  if (kept) {
    postMessage({progress: 1, name});
    return kept.arrayBuffer();
  }
  const response = await asked(url, name);
  const parts = [];
  let done = 0;
  for (const reader = response.body.getReader(); ;) {
    const {done: end, value} = await reader.read();
    if (end) break;
    parts.push(value);
    done += value.length;
    if (bytes) postMessage({progress: done / bytes, name});
  }
  if (bytes && done !== bytes) throw new Error(`the download of ${name} broke off`);
  const whole = await new Blob(parts).arrayBuffer();
  try {
    for (const old of await store.keys()) if (new URL(old.url).pathname === url.pathname) await store.delete(old);
    await store.put(url, new Response(whole));
  } catch {
    /* no room: next time it is fetched again */
  }
  return whole;
}

// The smallest module of WebAssembly, and one with an instruction of SIMD.
const EMPTY = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);
const SIMD = Uint8Array.of(...EMPTY, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11);

/** What this browser lacks to run the encoder, as host.js names it, or null. */
function missing() {
  if (typeof WebAssembly === "undefined") return "wasm";
  try {
    new WebAssembly.Instance(new WebAssembly.Module(EMPTY)); // WebKit refuses only the second
  } catch {
    return "permission";
  }
  if (!WebAssembly.validate(SIMD)) return "simd";
  try {
    const memory = new WebAssembly.Memory({initial: 0, maximum: 1, shared: true});
    if (memory.buffer instanceof ArrayBuffer) return "shared memory"; // old browsers ignore `shared`
  } catch (error) {
    if (!(error instanceof RangeError)) return "shared memory"; // a RangeError: there is too little of it
  }
  return null;
}

const engine = makeEngine(ort, Tokenizer, {
  json: async name => JSON.parse(new TextDecoder().decode(await fetched(name))),
  bytes: async name => {
    ort.env.wasm.wasmBinary ??= await fetched("ort-wasm-simd-threaded.wasm");
    return new Uint8Array(await fetched(name));
  },
});

addEventListener("message", async ({data: {id, name, state}}) => {
  try {
    if (!Object.keys(SIZES).length)
      Object.assign(SIZES, await (await asked(new URL("files.json", import.meta.url), "files.json")).json());
    const runsEncoder = NEEDS[name].some(part => part === "encoder" || part === "masked"),
      lacks = runsEncoder && missing();
    if (lacks) {
      postMessage({id, failed: `no ${lacks}`, lacks});
      return;
    }
    await engine.need(NEEDS[name]);
    postMessage(state ? {id, answer: await answer(name, state, engine)} : {id, ready: true});
  } catch (error) {
    postMessage({id, failed: error.message});
  }
});
