"""A second look at what lesson 12 has found: a cross-encoder, trained on the documentation that it
ranks.

    python -m course_utils.trainings.rerank

mines questions from the documentation, trains on them, scores the candidates of each query of the
lesson (half an hour on two cores), and writes `rerank*.csv` beside this file.
"""

import random

import numpy as np
import pandas as pd
import torch
from torch.nn.functional import cross_entropy

from ..data import TABLES, load_doc_queries, load_docstrings
from ..embedding import has_bfloat16
from ..models import progress_bar
from ..ranking import bm25, chunks
from .common import FOLDER, inputs_of, script, stepper, write_table
from .learning_curve import classifier
from .search import DEPTH, RUNS, best, encoded, flat, pages, summary

SCORES = FOLDER / "rerank.csv"  # one row per query and candidate: the cross-encoder's score
MINED = FOLDER / "rerank_mined.csv"  # one row per question: its page, and the nearest wrong one
# wrong pieces, read by hand: 2 answers the question, 1 helps, 0 does neither
LOOKED = TABLES / "mined_judgements.csv"
# one row per EVERY steps: the loss, and how many held-out questions are right
STEPS = FOLDER / "rerank_steps.csv"
PIECE, PIECES = 80, 6  # words in a piece, pieces of a page
# wrong pieces are drawn from DRAWN of the NEAR nearest, without the first SKIPPED
NEAR, SKIPPED, DRAWN = 60, 2, 20
HARD = 3  # wrong pieces from near pages; one more is from any page
ALIKE = 0.85  # summaries of this cosine or more say the same
HELD, EPOCHS, BATCH, RATE, LONGEST, EVERY, SEED = 120, 3, 8, 1e-4, 128, 40, 0
# ways to find candidates; tokens read of a pair
FOUND, READ = ("windows", "windows with name and summary"), 160


def pieces_of(text):
    """The pieces of a docstring without its first paragraph, which is the question."""
    return chunks(text.split("\n\n", 1)[1], PIECE)[:PIECES] if "\n\n" in text else []


def asks(line):
    """Whether the first paragraph of a docstring can stand for a question: four words or more, and
    no signature.
    """
    return len(line.split()) >= 4 and "(" not in line[:40] and "->" not in line


def mined(docs):
    """(questions, table): what a cross-encoder is trained on, and what was left out.

    A question is (summary, [right], near, far): the text of a page's own piece, those of pages that
    are near the summary and count as wrong, and those of all that are not near. Each page takes
    part with the piece that is nearest to the summary, the right page as well: so nearness alone
    does not tell right from wrong. A text is a name and a piece.

    The table has a row per question. A near page does not count as wrong if its last name is the
    same (`Series.mean`, `DataFrame.mean`), if its summary is nearly the same, or if the right page
    holds its piece, too.
    """
    names = docs["name"].tolist()
    summaries = [summary(text) for text in docs["text"]]
    of_pages = [pieces_of(text) for text in docs["text"]]
    pieces, owners = flat(of_pages)
    texts = [f"{names[owner]} {piece}" for owner, piece in zip(owners, pieces)]
    last = [name.split(".")[-1].lower().strip("_") for name in names]
    asked, questions, table = encoded(summaries), [], []
    between = asked @ asked.T
    for place, cosines in enumerate(asked @ encoded(pieces).T):
        if not of_pages[place] or not asks(summaries[place]):
            continue
        order = np.argsort(-cosines, kind="stable")
        body = " ".join(docs["text"][place].split())
        # a piece of each page
        nearest = order[np.sort(np.unique(owners[order], return_index=True)[1])]
        right = next(piece for piece in nearest if owners[piece] == place)
        others = [piece for piece in nearest if piece != right]
        near = []
        for piece in others[:NEAR]:
            same_last_name = last[owners[piece]] == last[place]
            same_summary = between[place, owners[piece]] >= ALIKE
            if not (same_last_name or same_summary or pieces[piece] in body):
                near.append(piece)
        table.append({"question": names[place], "nearest": names[owners[near[0]]]})
        wrong = [texts[piece] for piece in near[SKIPPED : SKIPPED + DRAWN]]
        far = [texts[piece] for piece in others[NEAR:]]
        questions.append((summaries[place], [texts[right]], wrong, far))
    return questions, table


def groups(questions, drawn):
    """For each question (summary, texts): the right text in front, HARD near ones and a far one."""
    found = []
    for asked, right, near, far in questions:
        hard = drawn.sample(near, min(HARD, len(near)))
        found.append((asked, right + hard + drawn.sample(far, HARD + 1 - len(hard))))
    return found


def scores_of(tokenizer, model, pairs, longest=LONGEST):
    """How much more "right" than "wrong" each (question, text) is, a tensor (n,)."""
    with torch.autocast("cpu", torch.bfloat16, enabled=has_bfloat16()):
        logits = model(**inputs_of(tokenizer, *zip(*pairs), longest=longest)).logits.float()
    return logits[:, 1] - logits[:, 0]


def ranking_loss(tokenizer, model, batch):
    """(loss, right): the ranking loss of lesson 11 over each group's scores.

    right: how often the right text is first.
    """
    pairs = [(asked, text) for asked, texts in batch for text in texts]
    scores = scores_of(tokenizer, model, pairs).reshape(len(batch), HARD + 2)
    loss = cross_entropy(scores, torch.zeros(len(batch), dtype=torch.long))
    return loss, int((scores.argmax(dim=1) == 0).sum())


def right_by_vectors(held):
    """For how many groups the right text is nearest to the question by the encoder's vectors."""
    asked = encoded([question for question, _ in held])
    texts = encoded([text for _, texts in held for text in texts])
    cosines = (asked[:, None] * texts.reshape(len(held), HARD + 2, -1)).sum(axis=2)
    return int((cosines.argmax(axis=1) == 0).sum())


def right_by(tokenizer, model, held):
    """For how many of these groups the cross-encoder puts the right text first."""
    model.eval()
    batches = (held[start : start + BATCH] for start in range(0, len(held), BATCH))
    with torch.inference_mode():
        right = sum(ranking_loss(tokenizer, model, batch)[1] for batch in batches)
    model.train()
    return right


def trained(questions, bar):
    """(tokenizer, model, rows): trained on all questions but HELD. A row for every EVERY steps."""
    torch.manual_seed(SEED)
    drawn = random.Random(SEED)
    questions = drawn.sample(questions, len(questions))
    held, fit = groups(questions[:HELD], drawn), questions[HELD:]
    by_vectors = right_by_vectors(held)
    tokenizer, model = classifier()
    steps = EPOCHS * -(-len(fit) // BATCH)
    step = stepper(model, RATE, steps, weight_decay=0.01)
    rows, losses = [], []
    model.train()
    for _ in range(EPOCHS):
        every = groups(drawn.sample(fit, len(fit)), drawn)
        for start in range(0, len(every), BATCH):
            loss, _ = ranking_loss(tokenizer, model, every[start : start + BATCH])
            step(loss)
            losses.append(loss.item())
            bar.update()
            if len(losses) % EVERY == 0 or len(losses) == steps:
                row = {"step": len(losses), "loss": round(float(np.mean(losses[-EVERY:])), 3)}
                row["right"] = right_by(tokenizer, model, held)
                rows.append(row | {"by_vectors": by_vectors})
                bar.write(str(row))
    return tokenizer, model.eval(), rows


def candidates(docs, queries):
    """For each query the places that a first search has found: by words, and by both of FOUND."""
    runs = pd.read_csv(RUNS).set_index(["way", "query"])["names"]
    place_of = dict(zip(docs["name"], docs.index))
    by_words = best(bm25(queries["query"], pages(docs)), DEPTH).tolist()
    found = []
    for query, places in zip(queries["id"], by_words):
        by_vectors = [place_of[name] for way in FOUND for name in runs[way, query].split()]
        found.append(list(dict.fromkeys(places + by_vectors)))
    return found


def reranked(docs, queries, tokenizer, model):
    """A row for each query and candidate: the score of the page, read from its beginning."""
    rows, texts = [], pages(docs)
    with torch.inference_mode():
        for query, places in zip(queries.itertuples(), candidates(docs, queries)):
            pairs = [(query.query, texts[place]) for place in places]
            scores = scores_of(tokenizer, model, pairs, READ).tolist()
            for name, score in zip(docs["name"].iloc[places], scores):
                rows.append({"query": query.id, "name": name, "score": round(score, 4)})
    return rows


@script
def main(folder):
    """Mine questions, train a cross-encoder on them, and score each query's candidates."""
    docs, queries = load_docstrings(), load_doc_queries()
    questions, table = mined(docs)
    write_table(table, folder / MINED.name)
    with progress_bar(total=EPOCHS * -(-(len(questions) - HELD) // BATCH), unit="step") as bar:
        tokenizer, model, rows = trained(questions, bar)
    write_table(rows, folder / STEPS.name)
    write_table(reranked(docs, queries, tokenizer, model), folder / SCORES.name)
