// Computes for the explorers of a page, beside it, so that the page never freezes. Its files are kept by the browser.
import * as ort from "./ort.wasm.bundle.min.mjs";
import {Tokenizer} from "./tokenizers.min.mjs";
import {makeEngine} from "./engine.js";
import {answer, NEEDS} from "./compute.js";

ort.env.wasm.numThreads = 1;
const SIZES = {}; // bytes of each file, from files.json

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
  if (kept) return kept.arrayBuffer();
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the server answers ${response.status} for ${name}`);
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
      Object.assign(SIZES, await (await fetch(new URL("files.json", import.meta.url))).json());
    await engine.need(NEEDS[name]);
    postMessage(state ? {id, answer: await answer(name, state, engine)} : {id, ready: true});
  } catch (error) {
    postMessage({id, failed: error.message});
  }
});
