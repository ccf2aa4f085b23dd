// What the page answers when an explorer asks: the functions of ../compute.py, under the same names, with the same results.
//
// `engine` computes (see engine.js): run(ids, mask, off), guess(ids, mask) and vectors(state, pooling); it holds tokenizer, vocabulary, pairs, collection and docs.

const MOST_TOKENS = {tokens: 256, "one head": 24, silence: 18, masks: 40, pooling: 40, padding: 60, search: 60};
const MOST_CHARACTERS = 20000,
  LONGEST_WORD = 100;

/** The text or setting cannot be shown. */
export class ExploreError extends Error {}

const written = number => number.toLocaleString("en");
const rounded = (value, digits = 4) =>
  Array.isArray(value) || ArrayBuffer.isView(value)
    ? Array.from(value, one => rounded(one, digits))
    : +value.toFixed(digits) + 0;
const sum = values => values.reduce((a, b) => a + b, 0);
const dot = (a, b) => {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += a[i] * b[i];
  return total;
};
const norm = a => Math.sqrt(dot(a, a));
const scaled = (a, factor) => Array.from(a, value => value * factor);
const minus = (a, b) => a.map((value, i) => value - b[i]);
const unit = a => scaled(a, 1 / Math.max(norm(a), 1e-12));
const softmax = scores => {
  const most = Math.max(...scores),
    all = scores.map(score => Math.exp(score - most)),
    total = sum(all);
  return all.map(value => value / total);
};
const allLines = text => text.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/);
const lines = text => allLines(text).filter(line => line.trim());

function text(given) {
  if (!given.trim()) throw new ExploreError("Type a text.");
  const long = [...given].length;
  if (long > MOST_CHARACTERS)
    throw new ExploreError(`This text has ${written(long)} characters; ${written(MOST_CHARACTERS)} can be shown.`);
  return given;
}

function fits(tokens, name) {
  if (tokens.length > MOST_TOKENS[name])
    throw new ExploreError(
      `This text has ${written(tokens.length)} tokens; ${MOST_TOKENS[name]} can be shown here. Shorten it.`,
    );
  return tokens;
}

/** [start, end, piece tried, whether it is an entry] for each try; the last is none if the whole word is [UNK]. */
function greedy(word, vocabulary) {
  const letters = [...word],
    steps = [];
  if (letters.length > LONGEST_WORD) return [];
  for (let start = 0; start < letters.length;) {
    let end = letters.length,
      found = false;
    for (; end > start; end--) {
      const piece = (start ? "##" : "") + letters.slice(start, end).join("");
      found = vocabulary.has(piece);
      steps.push([start, end, piece, found]);
      if (found) break;
    }
    if (!found) return steps;
    start = end;
  }
  return steps;
}

function tokens({text: given, word = 0}, {tokenizer, vocabulary}) {
  text(given);
  const words = given
      .split(/(\[(?:UNK|SEP|PAD|CLS|MASK)\])/)
      .flatMap((part, at) =>
        at % 2 ? [part] : part ? tokenizer.pre_tokenizer.pre_tokenize(tokenizer.normalizer.normalize(part)) : [],
      ),
    most = MOST_TOKENS.tokens;
  const pieces = ["[CLS]"],
    owners = [-1];
  words.slice(0, most).forEach((part, number) => {
    const steps = greedy(part, vocabulary),
      cut = steps.at(-1)?.[3] ? steps.filter(step => step[3]).map(step => step[2]) : ["[UNK]"];
    pieces.push(...cut);
    owners.push(...cut.map(() => number));
  });
  pieces.push("[SEP]");
  owners.push(-1);
  word = Math.min(word, Math.max(0, words.length - 1));
  return {
    pieces: pieces.slice(0, most),
    ids: pieces.slice(0, most).map(piece => vocabulary.get(piece)),
    owners: owners.slice(0, most),
    total: tokenizer.encode(given).ids.length,
    words: words.slice(0, most),
    word,
    steps: words.length ? greedy(words[word], vocabulary) : [],
  };
}

function merged(symbols, [left, right]) {
  const found = [];
  for (let at = 0; at < symbols.length; at++) {
    if (symbols[at] === left && symbols[at + 1] === right) found.push(left + symbols[++at]);
    else found.push(symbols[at]);
  }
  return found;
}

// Python orders texts by code points
const before = (a, b) => {
  const [x, y] = [[...a], [...b]].map(one => one.map(sign => sign.codePointAt(0)));
  for (let i = 0; i < Math.min(x.length, y.length); i++) if (x[i] !== y[i]) return x[i] - y[i];
  return x.length - y.length;
};

function merges({corpus, steps}) {
  const counts = new Map();
  for (const line of lines(corpus)) {
    const parts = line.trim().match(/^(.+)\s(\d+)$/s),
      word = (parts ? parts[1] : line).replace(/\s+/g, "");
    counts.set(word, (counts.get(word) || 0) + (parts ? +parts[2] : 1));
  }
  if (!counts.size) throw new ExploreError("Type a word and its count in each line, such as: low 5");
  if (counts.size > 60 || Math.max(...[...counts.keys()].map(word => [...word].length)) > 30)
    throw new ExploreError("At most 60 words of at most 30 letters can be shown.");
  let words = new Map([...counts.keys()].map(word => [word, [...word]])),
    shown = words;
  const found = [];
  while (found.length < 60) {
    const totals = new Map();
    for (const [word, symbols] of words)
      for (let at = 0; at + 1 < symbols.length; at++) {
        const key = JSON.stringify([symbols[at], symbols[at + 1]]);
        totals.set(key, (totals.get(key) || 0) + counts.get(word));
      }
    if (!totals.size) break;
    const [best, total] = [...totals]
      .map(([key, total]) => [JSON.parse(key), total])
      .sort(([a, m], [b, n]) => n - m || before(a[0], b[0]) || before(a[1], b[1]))[0];
    found.push([...best, total]);
    words = new Map([...words].map(([word, symbols]) => [word, merged(symbols, best)]));
    if (found.length <= steps) shown = words;
  }
  steps = Math.min(steps, found.length);
  const entries = new Set([
    ...[...counts.keys()].flatMap(word => [...word]),
    ...found.slice(0, steps).map(([left, right]) => left + right),
  ]);
  return {
    merges: found,
    steps,
    words: [...counts].map(([word, count]) => [word, count, shown.get(word)]),
    entries: entries.size,
    symbols: sum([...counts].map(([word, count]) => count * shown.get(word).length)),
  };
}

/** The mean of vectors, or of those that are `counted`. */
const mean = (vectors, counted = vectors.map(() => 1)) => {
  const kept = vectors.filter((_, at) => counted[at]),
    total = new Array(vectors[0].length).fill(0);
  for (const vector of kept) for (let i = 0; i < total.length; i++) total[i] += vector[i];
  return scaled(total, 1 / kept.length);
};
const maximum = (vectors, counted) =>
  vectors.filter((_, at) => counted[at]).reduce((a, b) => Array.from(a, (value, i) => Math.max(value, b[i])));

/** The tokens of a text, none of them cut off, if they can be shown. */
const whole = (given, name, engine) => fits(engine.tokenizer.encode(text(given)).tokens, name);

/** A text's tokens, cut at 256 and padded to `width`. */
function encoded(given, tokenizer, width = 0) {
  const {ids, tokens} = tokenizer.encode(given);
  const cut =
    ids.length > 256
      ? {ids: [...ids.slice(0, 255), ids.at(-1)], tokens: [...tokens.slice(0, 255), "[SEP]"]}
      : {ids: [...ids], tokens: [...tokens]};
  cut.mask = cut.ids.map(() => 1);
  while (cut.ids.length < width) {
    cut.ids.push(0);
    cut.tokens.push("[PAD]");
    cut.mask.push(0);
  }
  return cut;
}

async function padding({texts, batch, ordered, length}, engine) {
  const all = lines(text(texts));
  if (all.length > 24) throw new ExploreError(`${all.length} lines; 24 can be shown.`);
  const rows = all.map(line => engine.tokenizer.encode(line).tokens),
    most = Math.max(...rows.map(row => row.length)),
    longest = rows.findIndex(row => row.length === most) + 1;
  if (most > MOST_TOKENS.padding)
    throw new ExploreError(`Sentence ${longest} has ${written(most)} tokens; ${MOST_TOKENS.padding} can be shown.`);
  if (length && length < most)
    throw new ExploreError(`Sentence ${longest} has ${most} tokens: choose a fixed length of at least ${most}, or 0.`);
  const order = rows.map((_, at) => at);
  if (ordered) order.sort((a, b) => rows[a].length - rows[b].length);
  const batches = [];
  for (let at = 0; at < order.length; at += batch) batches.push(order.slice(at, at + batch));
  const widths = batches.map(one => length || Math.max(...one.map(row => rows[row].length)));
  const least = Math.min(...rows.map(row => row.length)),
    place = rows.findIndex(row => row.length === least);
  const width = widths[batches.findIndex(one => one.includes(place))],
    input = encoded(all[place], engine.tokenizer, width),
    ones = input.mask.map(() => 1);
  const kept = (await engine.run(input.ids, input.mask)).states.at(-1),
    seen = (await engine.run(input.ids, ones)).states.at(-1);
  const single = encoded(all[place], engine.tokenizer),
    alone = unit(mean((await engine.run(single.ids, single.mask)).states.at(-1)));
  return {
    rows,
    batches,
    widths,
    cells: sum(widths.map((wide, at) => wide * batches[at].length)),
    real: sum(rows.map(row => row.length)),
    place,
    cosines: rounded([mean(kept, input.mask), mean(kept, ones), mean(seen, ones)].map(one => dot(alone, unit(one)))),
  };
}

/** [first, behind the last] token of the first place where the pieces make `word`, or null. */
function wordIn(word, pieces) {
  for (let start = 0; start < pieces.length;) {
    let end = start + 1;
    while (end < pieces.length && pieces[end].startsWith("##")) end++;
    const rest = pieces.slice(start + 1, end).map(piece => piece.slice(2));
    if (pieces[start] + rest.join("") === word) return [start, end];
    start = end;
  }
  return null;
}

/** Eigenvalues and vectors of a small symmetric matrix, the largest first, by Jacobi's rotations. */
function eigen(matrix) {
  const n = matrix.length,
    a = matrix.map(row => [...row]),
    v = a.map((_, i) => a.map((_, j) => +(i === j)));
  for (let round = 0; round < 60; round++)
    for (let p = 0; p < n; p++)
      for (let q = p + 1; q < n; q++) {
        if (Math.abs(a[p][q]) < 1e-14) continue;
        const theta = (a[q][q] - a[p][p]) / (2 * a[p][q]),
          t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1)),
          c = 1 / Math.sqrt(t * t + 1),
          z = t * c;
        const turn = (matrix, across) => {
          for (let k = 0; k < n; k++) {
            const [[one, i], [other, j]] = [p, q].map(at => (across ? [matrix[at], k] : [matrix[k], at])),
              [x, y] = [one[i], other[j]];
            [one[i], other[j]] = [c * x - z * y, z * x + c * y];
          }
        };
        turn(a, false);
        turn(a, true);
        turn(v, false);
      }
  return a.map((row, i) => [row[i], v.map(line => line[i])]).sort((x, y) => y[0] - x[0]);
}

/** The first two principal components of vectors, turned to lie near `before`. */
function plane(vectors, before) {
  const centre = mean(vectors),
    rest = vectors.map(vector => minus(Array.from(vector), centre));
  const found = eigen(rest.map(a => rest.map(b => dot(a, b)))).slice(0, 2);
  let points = vectors.map((_, row) => found.map(([value, axis]) => axis[row] * Math.sqrt(Math.max(0, value))));
  const scale = Math.max(...points.map(norm));
  points = points.map(point => (scale > 1e-4 ? scaled(point, 1 / scale) : [0, 0])); // equal but for rounding
  if (!before?.flat().some(Boolean)) {
    const signs = [0, 1].map(axis =>
      points.reduce((a, b) => (Math.abs(b[axis]) > Math.abs(a[axis]) ? b : a))[axis] < 0 ? -1 : 1,
    );
    return points.map(([x, y]) => [x * signs[0], y * signs[1]]);
  }
  // the nearest rotation or reflection: of the two by two matrix pointsᵀ before, its polar factor
  const m = [0, 1].map(i => [0, 1].map(j => sum(points.map((point, row) => point[i] * before[row][j])))),
    det = m[0][0] * m[1][1] - m[0][1] * m[1][0],
    sign = det < 0 ? -1 : 1;
  const q = [
      [m[0][0] + sign * m[1][1], m[0][1] - sign * m[1][0]],
      [m[1][0] - sign * m[0][1], m[1][1] + sign * m[0][0]],
    ],
    size = Math.hypot(q[0][0], q[1][0]) || 1;
  return points.map(([x, y]) => [0, 1].map(j => (x * q[0][j] + y * q[1][j]) / size));
}

async function layers({word, texts}, engine) {
  word = engine.tokenizer.normalizer.normalize(word).trim();
  const sentences = [],
    kinds = [];
  let gap = false;
  for (const line of allLines(texts).map(line => line.trim())) {
    if (line) {
      sentences.push(line);
      kinds.push(kinds.length ? Math.min(3, kinds.at(-1) + gap) : 0);
    }
    gap = !line;
  }
  if (!word || sentences.length < 3)
    throw new ExploreError("Type a word, and at least three sentences with it, one a line.");
  if (sentences.length > 16) throw new ExploreError(`${sentences.length} sentences; 16 can be shown.`);
  const vectors = [];
  for (const [row, line] of sentences.entries()) {
    const {ids, mask, tokens} = encoded(line, engine.tokenizer),
      place = wordIn(word, tokens);
    if (!place) throw new ExploreError(`Sentence ${row + 1} does not have the word ${word}.`);
    vectors.push((await engine.run(ids, mask)).states.map(state => mean(state.slice(...place))));
  }
  const points = [],
    cosines = [],
    apart = [];
  vectors[0].forEach((_, layer) => {
    const state = vectors.map(states => states[layer]),
      units = state.map(unit);
    points.push(plane(state, points.at(-1)));
    cosines.push(units.map(a => units.map(b => dot(a, b))));
    const far = state.flatMap((a, i) => state.slice(i + 1).map(b => norm(minus(a, b))));
    apart.push(sum(far) / far.length);
  });
  return {sentences, kinds, points: rounded(points, 3), cosines: rounded(cosines, 3), apart: rounded(apart, 3)};
}

async function pooling({one, other, mask = true, pads = 0}, engine) {
  const vectors = [],
    sentences = [];
  for (const [given, extra] of [
    [one, pads],
    [other, 0],
  ]) {
    const long = fits(engine.tokenizer.encode(text(given)).tokens, "pooling").length,
      input = encoded(given, engine.tokenizer, long + extra);
    const states = (await engine.run(input.ids, input.mask)).states.at(-1),
      counted = mask ? input.mask : input.mask.map(() => 1),
      middle = mean(states, counted);
    vectors.push([states[0], middle, maximum(states, counted)]);
    sentences.push({
      tokens: input.tokens,
      shares: rounded(
        states.map((state, at) => (counted[at] * dot(state, middle)) / dot(middle, middle) / sum(counted)),
      ),
    });
  }
  return {sentences, cosines: rounded(vectors[0].map((vector, at) => dot(unit(vector), unit(vectors[1][at]))))};
}

async function oneHead({text: given, layer, head, token}, engine) {
  const pieces = whole(given, "one head", engine),
    input = encoded(given, engine.tokenizer),
    {queries, keys, values} = await engine.run(input.ids, input.mask);
  const layers = queries.length,
    heads = queries[0].length;
  if (!(0 < layer && layer <= layers && 0 <= head && head < heads))
    throw new ExploreError(`This encoder has layers 1 to ${layers}, with heads 0 to ${heads - 1} in each.`);
  token = Math.min(token, pieces.length - 1);
  const [query, key, value] = [queries, keys, values].map(part => part[layer - 1][head]);
  const products = key.map(one => dot(query[token], one)),
    scores = scaled(products, 1 / Math.sqrt(query[token].length)),
    shares = softmax(scores);
  return {
    tokens: pieces,
    token,
    products: rounded(products, 3),
    scores: rounded(scores, 3),
    shares: rounded(shares),
    result: rounded(
      Array.from(value[0], (_, i) => sum(shares.map((share, at) => share * value[at][i]))),
      3,
    ),
    layers,
    heads,
  };
}

async function silence({text: given, others, off}, engine) {
  const rest = lines(others).map(line => line.trim());
  if (rest.length > 3) throw new ExploreError(`${rest.length} texts to compare with; 3 can be shown.`);
  const pieces = whole(given, "silence", engine),
    input = encoded(given, engine.tokenizer);
  const vectors = async silent => {
    const found = [];
    for (const line of [given, ...rest]) {
      const {ids, mask} = encoded(line, engine.tokenizer);
      found.push(unit(mean((await engine.run(ids, mask, silent)).states.at(-1), mask)));
    }
    return found;
  };
  const {attentions} = await engine.run(input.ids, input.mask),
    before = await vectors([]),
    after = off.length ? await vectors(off) : before;
  return {
    tokens: pieces,
    maps: rounded(attentions, 3),
    others: rest,
    cosine: rounded(dot(before[0], after[0])),
    before: rounded(before.slice(1).map(one => dot(one, before[0]))),
    after: rounded(after.slice(1).map(one => dot(one, after[0]))),
  };
}

async function masks({text: given, masked}, engine) {
  const pieces = whole(given, "masks", engine),
    input = encoded(given, engine.tokenizer),
    typed = pieces.map(piece => piece === "[MASK]");
  const places = pieces
    .map((_, at) => at)
    .filter(at => 0 < at && at < pieces.length - 1 && (typed[at] || masked.includes(at)));
  const logits = await engine.guess(
    input.ids.map((id, at) => (places.includes(at) ? engine.vocabulary.get("[MASK]") : id)),
    input.mask,
  );
  return {
    tokens: pieces,
    guesses: places.map(place => {
      const shares = softmax(Array.from(logits[place])),
        own = shares[input.ids[place]],
        order = shares
          .map((share, id) => [share, id])
          .sort((a, b) => b[0] - a[0])
          .slice(0, 10);
      return {
        place,
        typed: typed[place],
        words: order.map(([, id]) => engine.tokenizer.id_to_token(id)),
        shares: rounded(order.map(([share]) => share)),
        ...(typed[place]
          ? {own: null, bits: null, rank: null}
          : {
              own: rounded(own, 6),
              bits: rounded(-Math.log2(Math.max(own, 1e-12)), 2),
              rank: shares.filter(share => share > own).length + 1,
            }),
      };
    }),
  };
}

function threshold({cut, at}, {pairs: [scores, cosines, sentences]}) {
  const labels = scores.map(score => score >= cut),
    similar = labels.filter(Boolean).length;
  if (!similar || similar === labels.length) throw new ExploreError("With this cut all pairs are of one kind.");
  const count = (label, said) => labels.filter((one, row) => one === label && cosines[row] >= at === said).length;
  const [hit, miss, alarm, right] = [count(true, true), count(true, false), count(false, true), count(false, false)];
  const order = cosines.map((_, row) => row).sort((a, b) => cosines[b] - cosines[a]),
    curve = [[0, 0]],
    passed = [0, 0];
  order.forEach((row, place) => {
    passed[+labels[row]]++;
    if (place + 1 === order.length || cosines[order[place + 1]] !== cosines[row])
      curve.push([passed[0] / (alarm + right), passed[1] / (hit + miss)]);
  });
  return {
    cosines,
    labels,
    counts: [hit, miss, alarm, right],
    curve: rounded(curve),
    precision: hit + alarm ? rounded(hit / (hit + alarm)) : null,
    recall: rounded(hit / (hit + miss)),
    accuracy: rounded((hit + right) / labels.length),
    false_alarms: rounded(alarm / (alarm + right)),
    above: cosines
      .map((_, row) => row)
      .filter(row => cosines[row] >= at)
      .sort((a, b) => cosines[a] - cosines[b])
      .slice(0, 3)
      .map(row => [...sentences[row], scores[row], cosines[row]]),
  };
}

function losses({kind, anchor, positive, negatives, margin, scale}) {
  const points = [anchor, positive, ...negatives],
    gradients = points.map(() => [0, 0]),
    many = negatives.length;
  const add = (row, vector, factor) => {
    gradients[row] = gradients[row].map((value, i) => value + factor * vector[i]);
  };
  const far = row => norm(minus(anchor, points[row]));
  let loss = 0,
    costs = [];
  if (kind === "triplet") {
    for (let row = 2; row < points.length; row++) {
      const one = far(1) - far(row) + margin;
      costs.push(Math.max(0, one));
      if (one <= 0) continue;
      loss += one / many;
      for (const [end, sign] of [
        [1, 1],
        [row, -1],
      ]) {
        const way = far(end) ? scaled(minus(anchor, points[end]), 1 / far(end)) : [0, 0]; // the gradient of a length is 0 at 0
        add(0, way, sign / many);
        add(end, way, -sign / many);
      }
    }
  } else {
    const units = points.map(unit),
      cosines = units.slice(1).map(one => dot(one, units[0])),
      shares = softmax(scaled(cosines, scale));
    loss = -Math.log(Math.max(shares[0], 1e-300));
    costs = shares.slice(1);
    cosines.forEach((cosine, at) => {
      const slope = scale * (shares[at] - (at === 0)),
        [a, b] = [units[0], units[at + 1]];
      add(0, minus(b, scaled(a, cosine)), slope / Math.max(norm(anchor), 1e-12));
      add(at + 1, minus(a, scaled(b, cosine)), slope / Math.max(norm(points[at + 1]), 1e-12));
    });
  }
  const cosine = (a, b) => dot(a, b) / Math.max(norm(a) * norm(b), 1e-8);
  return {
    loss: rounded(loss),
    gradients: rounded(gradients),
    cosines: rounded(points.slice(1).map(point => cosine(anchor, point))),
    distances: rounded(points.slice(1).map((_, row) => far(row + 1))),
    costs: rounded(costs),
  };
}

const POOLINGS = {cls: states => states[0], mean, max: maximum},
  RESULTS = 6,
  BINS = 26,
  LOWEST = -0.3;
const wordsOf = given => new Set(given.match(/[\p{L}\p{N}_]+/gu));

async function search({query, layer, pooling}, engine) {
  whole(query, "search", engine);
  const {ids, mask} = encoded(query, engine.tokenizer);
  const {states} = await engine.run(ids, mask),
    {texts} = engine.collection;
  const cosinesBy = async (state, name) => {
    const one = unit(POOLINGS[name](states[state], mask)),
      {codes, scales} = await engine.vectors(state, name),
      wide = one.length;
    return texts.map((_, row) => rounded(dot(codes.subarray(row * wide, (row + 1) * wide), one) * scales[row], 3));
  };
  const cosines = await cosinesBy(layer, pooling),
    usual = await cosinesBy(states.length - 1, "mean");
  const order = texts.map((_, at) => at).sort((a, b) => cosines[b] - cosines[a]),
    words = wordsOf(query.toLowerCase()),
    counts = new Array(BINS).fill(0);
  for (const value of cosines) counts[Math.max(0, Math.min(BINS - 1, Math.floor((value - LOWEST) * 20)))]++;
  return {
    results: order
      .slice(0, RESULTS)
      .map(row => ({
        text: texts[row],
        cosine: cosines[row],
        usual: usual.filter(value => value > usual[row]).length + 1,
        shared: [...wordsOf(texts[row])].filter(word => words.has(word)).sort(),
      })),
    first: order.indexOf(usual.indexOf(Math.max(...usual))) + 1,
    size: texts.length,
    counts,
    lowest: Math.min(...cosines),
    mean: rounded(sum(cosines) / cosines.length, 3),
  };
}

const DOC_QUERIES = ["d50", "d03", "d12", "d54", "d21", "d31", "d05", "d35", "d43", "d25", "d06", "d01"],
  LISTED = 8,
  DEPTH = 30,
  FIRST = 10;
const average = values => sum(values) / values.length;
const range = count => Array.from({length: count}, (_, at) => at);
const wordsIn = given => {
  const spaced = given.normalize("NFKC").replaceAll("\u200b", " "),
    visible = spaced.replace(/\p{Default_Ignorable_Code_Point}/gu, ""),
    lower = visible.toLowerCase().replaceAll("i\u0307", "i");
  return lower.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? [];
};
/** Places by descending score; scores that are equal but for rounding keep the order of the pages. */
const ordered = scores => {
  const keys = scores.map(score => Math.round(1e9 * score));
  return range(scores.length).sort((a, b) => keys[b] - keys[a]);
};
const standard = scores => {
  const middle = average(scores),
    spread = Math.sqrt(average(scores.map(score => (score - middle) ** 2))) + 1e-9;
  return scores.map(score => (score - middle) / spread);
};

function hybrid({query, off, k1, b, fusion, weight, page}, {docs}) {
  const asked = docs.queries[query],
    {names, lengths} = docs,
    size = names.length,
    middle = average(lengths);
  const norm = lengths.map(length => k1 * (1 - b + (b * length) / middle)),
    byWords = new Array(size).fill(0),
    having = new Map(),
    parts = [];
  for (const word of wordsIn(asked.query)) {
    const [steps, counts] = docs.counts[word];
    having.set(word, steps.length);
    if (off.includes(word)) continue;
    const rarity = Math.log(1 + (size - steps.length + 0.5) / (steps.length + 0.5)),
      part = [word, rarity, 0, 0];
    let place = 0;
    counts.forEach((count, at) => {
      place += steps[at];
      const worth = count / (count + norm[place]);
      byWords[place] += rarity * worth;
      if (place === page) part.splice(2, 2, count, worth);
    });
    if (page != null) parts.push(part);
  }
  const byVectors = asked.cosines.map(one => one / 100000),
    ofWords = ordered(byWords).filter(place => byWords[place] > 0),
    ofVectors = ordered(byVectors);
  let byBoth, ofBoth;
  if (fusion === "ranks") {
    const sums = new Map();
    for (const list of [ofWords, ofVectors])
      list.slice(0, DEPTH).forEach((place, at) => sums.set(place, (sums.get(place) ?? 0) + 1 / (docs.fusion + at + 1)));
    ofBoth = [...sums.keys()].sort((one, other) => sums.get(other) - sums.get(one));
    byBoth = range(size).map(place => sums.get(place) ?? 0);
  } else {
    const [one, other] = [standard(byWords), standard(byVectors)];
    byBoth = one.map((value, at) => weight * value + (1 - weight) * other[at]);
    ofBoth = ordered(byBoth);
  }
  const grades = new Map(asked.grades),
    orders = [ofWords, ofBoth, ofVectors],
    scores = [byWords, byBoth, byVectors];
  const gain = values => sum(values.slice(0, FIRST).map((grade, at) => grade / Math.log2(2 + at))),
    good = [...grades.values()].filter(grade => grade).sort((x, y) => y - x);
  const ranks = orders.map(order => new Map(order.map((place, at) => [place, at + 1]))),
    ranksOf = place => ranks.map(of => of.get(place) ?? null);
  const shown = [...new Set(orders.flatMap(order => order.slice(0, LISTED)))].sort((x, y) => x - y);
  return {
    queries: DOC_QUERIES.map(id => [id, docs.queries[id].kind, docs.queries[id].query]),
    words: [...having],
    size,
    lists: orders.map((order, at) => order.slice(0, LISTED).map(place => [place, rounded(scores[at][place])])),
    pages: shown.map(place => ({
      page: place,
      name: names[place],
      length: lengths[place],
      grade: grades.get(place) ?? null,
      ranks: ranksOf(place),
    })),
    good: good.length,
    ndcg: orders.map(order => rounded(gain(order.map(place => grades.get(place) ?? 0)) / gain(good), 6)),
    explained:
      page == null
        ? null
        : {
            name: names[page],
            length: lengths[page],
            times: rounded(lengths[page] / middle),
            parts: parts.map(([word, ...rest]) => [word, ...rounded(rest)]),
            score: rounded(byWords[page]),
            cosine: byVectors[page],
            grade: grades.get(page) ?? null,
            ranks: ranksOf(page),
          },
  };
}

export const ANSWERS = {
  tokens,
  merges,
  padding,
  layers,
  pooling,
  "one head": oneHead,
  silence,
  masks,
  threshold,
  losses,
  search,
  hybrid,
};

/** What each explorer needs before it can answer. */
export const NEEDS = {
  tokens: ["tokenizer"],
  merges: [],
  padding: ["tokenizer", "encoder"],
  layers: ["tokenizer", "encoder"],
  pooling: ["tokenizer", "encoder"],
  "one head": ["tokenizer", "encoder"],
  silence: ["tokenizer", "encoder"],
  masks: ["tokenizer", "masked"],
  threshold: ["pairs"],
  losses: [],
  search: ["tokenizer", "encoder", "collection"],
  hybrid: ["docs"],
};

/** What goes back to a view: the number of its question, and the result or the problem in a sentence. */
export async function answer(name, question, engine) {
  try {
    return {asked: question.asked, result: await ANSWERS[name](question, engine)};
  } catch (error) {
    const about = `${error.name}: ${error.message.slice(0, 120)}`;
    return {
      asked: question.asked,
      problem: error instanceof ExploreError ? error.message : `This cannot be shown (${about}).`,
    };
  }
}
