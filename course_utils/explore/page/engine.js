// The encoder in the page: the tokenizer and onnxruntime, and what a graph of publish/page_encoder.py returns, in nested arrays.

const LAYERS = 6,
  HEADS = 12;

/** Nested views of a flat tensor, its last axis as typed arrays: no number is copied. */
export function nested(data, dims) {
  if (dims.length === 1) return data;
  const step = data.length / dims[0];
  return Array.from({length: dims[0]}, (_, at) => nested(data.subarray(at * step, (at + 1) * step), dims.slice(1)));
}

/** What compute.js calls `engine`.
 *
 * ort: onnxruntime-web. Tokenizer: of @huggingface/tokenizers. files: functions that fetch "tokenizer.json",
 * "tokenizer_config.json", "pairs.json", "collection.json" and "docs.json" (parsed), and "encoder.onnx", "masked_lm.onnx" and the
 * collection's "vectors-6-mean.bin" and so on (bytes).
 */
export function makeEngine(ort, Tokenizer, {json, bytes}) {
  const engine = {},
    sessions = {};
  const load = {
    async tokenizer() {
      engine.tokenizer = new Tokenizer(await json("tokenizer.json"), await json("tokenizer_config.json"));
      engine.vocabulary = engine.tokenizer.get_vocab();
    },
    async pairs() {
      engine.pairs = await json("pairs.json");
    },
    async collection() {
      engine.collection = await json("collection.json");
    },
    async docs() {
      engine.docs = await json("docs.json");
    },
    async encoder() {
      sessions.encoder = await ort.InferenceSession.create(await bytes("encoder.onnx"));
    },
    async masked() {
      sessions.masked = await ort.InferenceSession.create(await bytes("masked_lm.onnx"));
    },
  };
  const loaded = {};
  /** Load parts, each once; a part that failed is tried again. */
  engine.need = async parts => {
    for (const part of parts) {
      loaded[part] ??= load[part]();
      try {
        await loaded[part];
      } catch (error) {
        delete loaded[part];
        throw error;
      }
    }
  };
  /** The collection's vectors by one state and pooling: a scale for each text, then 8-bit codes. */
  engine.vectors = async (state, pooling) => {
    const file = `vectors-${state}-${pooling}.bin`,
      many = engine.collection.texts.length;
    try {
      const {buffer} = await (loaded[file] ??= bytes(file));
      return {scales: new Float32Array(buffer, 0, many), codes: new Int8Array(buffer, 4 * many)};
    } catch (error) {
      delete loaded[file];
      throw error;
    }
  };
  const feeds = (ids, mask, off) => {
    const heads = new Float32Array(LAYERS * HEADS).fill(1),
      row = values => new ort.Tensor("int64", BigInt64Array.from(values, BigInt), [1, values.length]);
    for (const [layer, head] of off) heads[(layer - 1) * HEADS + head] = 0;
    return {
      input_ids: row(ids),
      attention_mask: row(mask),
      head_mask: new ort.Tensor("float32", heads, [LAYERS, HEADS]),
    };
  };
  /** One text through the encoder, with the heads `off`, pairs (layer from 1, head from 0), silent. */
  engine.run = async (ids, mask, off = []) => {
    const found = await sessions.encoder.run(feeds(ids, mask, off));
    const part = name => nested(found[name].data, found[name].dims).map(layer => layer[0]); // of a batch of one
    return {
      states: part("hidden_states"),
      attentions: part("attentions"),
      queries: part("queries"),
      keys: part("keys"),
      values: part("values"),
    };
  };
  /** The logits (tokens, vocabulary) of the masked language model. */
  engine.guess = async (ids, mask) => {
    const {logits} = await sessions.masked.run(feeds(ids, mask, []));
    return nested(logits.data, logits.dims)[0];
  };
  return engine;
}
