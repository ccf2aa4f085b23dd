// Answer questions with the page's code, in Node: questions as JSON on stdin, answers on stdout. Used by test_explore.py.
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";

const [folder] = process.argv.slice(2),
  at = name => pathToFileURL(`${folder}/${name}`).href;
const ort = await import(at("ort.wasm.bundle.min.js")),
  {Tokenizer} = await import(at("tokenizers.min.js"));
const {makeEngine} = await import(at("engine.js")),
  {answer, NEEDS} = await import(at("compute.js"));
ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmBinary = readFileSync(`${folder}/ort-wasm-simd-threaded.wasm`);
const engine = makeEngine(ort, Tokenizer, {
  json: async name => JSON.parse(readFileSync(`${folder}/${name}`, "utf8")),
  bytes: async name => new Uint8Array(readFileSync(`${folder}/${name}`)),
});
const found = [];
for (const [name, state] of JSON.parse(readFileSync(0, "utf8"))) {
  await engine.need(NEEDS[name] ?? ["tokenizer", "encoder"]);
  if (name === "run") {
    // a text through the encoder, in full
    const {ids, tokens} = engine.tokenizer.encode(state),
      {states, attentions} = await engine.run(
        ids,
        ids.map(() => 1),
      );
    const [last] = states.slice(-1),
      vector = Array.from(last[0], (_, at) => last.reduce((sum, one) => sum + one[at], 0) / last.length);
    found.push({
      tokens,
      vector,
      attentions: attentions.map(heads =>
        heads.map(rows => rows.map(row => Array.from(row, value => +value.toFixed(5)))),
      ),
    });
  } else found.push(await answer(name, state, engine));
}
process.stdout.write(JSON.stringify(found));
