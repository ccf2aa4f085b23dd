"""A second look at the results of lesson 12: a cross-encoder, trained on the documentation that it
ranks.

    python -m course_utils.trainings.rerank

mines questions from the documentation, trains on them, scores the candidates of each query of the
lesson (half an hour on two cores), and writes `rerank*.csv` beside this file.
"""

import math
import random

import numpy as np
import pandas as pd
import torch

from .._support.routes import evaluating
from ..data import TABLES, load_doc_queries, load_docstrings
from ..embedding import has_bfloat16
from ..models import progress_bar
from ..ranking import bm25, chunks
from .common import (
    FOLDER,
    Bar,
    Folder,
    Model,
    Row,
    Tokenizer,
    inputs_of,
    script,
    stepper,
    write_table,
)
from .learning_curve import classifier
from .search import DEPTH, RUNS, best, flat, pages, summary, text_vectors

SCORES = FOLDER / "rerank.csv"  # one row per query and candidate: the cross-encoder's score
# one row per question: the name of its page (`question`), and of the nearest wrong one (`nearest`)
MINED = FOLDER / "rerank_mined.csv"
# wrong pieces, judged by hand: 2 answers the question, 1 helps, 0 does neither
LOOKED = TABLES / "mined_judgements.csv"
# one row per EVERY steps: the loss, and how many held-out questions are right
STEPS = FOLDER / "rerank_steps.csv"
PIECE, PIECES = 80, 6  # words in a piece, pieces of a page
# wrong pieces are drawn from DRAWN of the NEAR nearest, without the first SKIPPED of the wrong
# ones, which are the most likely to be right after all
NEAR, SKIPPED, DRAWN = 60, 2, 20
HARD = 3  # wrong pieces from near pages; one more is from any page
GROUP = HARD + 2  # texts of a group: the right one, the near ones, the one from any page
ALIKE = 0.85  # summaries of this cosine or more count as saying the same
HELD, EVERY = 120, 40  # questions that are held out; steps from one row of STEPS to the next
EPOCHS, BATCH, RATE, SEED = 3, 8, 1e-4, 0  # of the training; BATCH: groups in a step
# the most tokens of a pair in training, and when candidates are scored
LONGEST, READ = 128, 160
FOUND = ("windows", "windows with name and summary")  # ways of RUNS that find candidates

Question = tuple[str, str, list[str], list[str]]  # (summary, right, near, far): see `mined`
Group = tuple[str, list[str]]  # a question and texts, the right one first


def pieces_of(text: str) -> list[str]:
    """The first PIECES pieces of a docstring without its first paragraph, which is the question.

    An empty list if there is no other paragraph.
    """
    return chunks(text.split("\n\n", 1)[1], PIECE)[:PIECES] if "\n\n" in text else []


def asks(line: str) -> bool:
    """Whether the first paragraph of a docstring can serve as a question: it has four words or
    more, and no signature.
    """
    # a signature has a bracket near its beginning, or an arrow; prose may have a bracket later on
    return len(line.split()) >= 4 and "(" not in line[:40] and "->" not in line


def _best_pieces(cosines: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """Of each page the piece with the highest cosine, the nearest page first.

    cosines, owners: of each piece, (pieces,); owners are the places of their pages. Returns the
    places of the chosen pieces, (pages that have a piece,).
    """
    nearest_first = np.argsort(-cosines, kind="stable")
    # where each page comes first in this order
    _, first_ranks = np.unique(owners[nearest_first], return_index=True)
    return nearest_first[np.sort(first_ranks)]


def _alike(names: pd.Series, summary_vectors: np.ndarray) -> np.ndarray:
    """Whether two pages say so much the same that neither is wrong for the other's question.

    names: of all pages. summary_vectors: unit vectors (pages, hidden) of their summaries. Returns
    booleans (pages, pages).
    """
    last_names = names.str.split(".").str[-1].str.lower().str.strip("_").to_numpy(object)
    same_last_name = last_names[:, None] == last_names
    return same_last_name | (summary_vectors @ summary_vectors.T >= ALIKE)


def mined(docs: pd.DataFrame) -> tuple[list[Question], list[Row]]:
    """(questions, table): the questions that a cross-encoder is trained on, and a row for each with
    its page and the nearest wrong page.

    A question is (summary, right, near, far): the summary of a page, the text of its own piece, the
    texts of pages that are near the summary and count as wrong, without the nearest SKIPPED, and the
    texts of all pages that are not near. A text is a name and a piece. Each page, the right one
    too, takes part with the piece that is nearest to the summary: so nearness alone does not tell
    right from wrong.

    A near page does not count as wrong if its last name is the same (`Series.mean`,
    `DataFrame.mean`), if its summary is nearly the same, or if the right page holds its piece, too.
    """
    names = docs["name"].tolist()
    summaries = [summary(text) for text in docs["text"]]
    pieces_of_pages = [pieces_of(text) for text in docs["text"]]
    pieces, owners = flat(pieces_of_pages)
    texts = [f"{names[owner]} {piece}" for owner, piece in zip(owners, pieces)]
    summary_vectors = text_vectors(summaries)
    alike = _alike(docs["name"], summary_vectors)
    questions, table = [], []
    for page, cosines in enumerate(summary_vectors @ text_vectors(pieces).T):
        if not pieces_of_pages[page] or not asks(summaries[page]):
            continue
        nearest = _best_pieces(cosines, owners)
        right = nearest[owners[nearest] == page].item()
        others = nearest[nearest != right]
        body = " ".join(docs["text"][page].split())  # spaced as pieces are
        near_wrong = [
            piece
            for piece in others[:NEAR]
            if not alike[page, owners[piece]] and pieces[piece] not in body
        ]
        # each page of this documentation has a near one that is wrong
        table.append({"question": names[page], "nearest": names[owners[near_wrong[0]]]})
        near = [texts[piece] for piece in near_wrong[SKIPPED : SKIPPED + DRAWN]]
        far = [texts[piece] for piece in others[NEAR:]]
        questions.append((summaries[page], texts[right], near, far))
    return questions, table


def groups(questions: list[Question], generator: random.Random) -> list[Group]:
    """For each question its right text, HARD near ones and a far one; more far ones if too few are
    near.
    """
    drawn = []
    for question, right, near, far in questions:
        hard = generator.sample(near, min(HARD, len(near)))
        easy = generator.sample(far, GROUP - 1 - len(hard))
        drawn.append((question, [right, *hard, *easy]))
    return drawn


def scores_of(
    tokenizer: Tokenizer, model: Model, pairs: list[tuple[str, str]], longest: int = LONGEST
) -> torch.Tensor:
    """The logit of "right" minus that of "wrong" for each (question, text): a tensor (n,)."""
    with torch.autocast("cpu", torch.bfloat16, enabled=has_bfloat16()):
        logits = model(**inputs_of(tokenizer, *zip(*pairs), longest=longest)).logits.float()
    return logits[:, 1] - logits[:, 0]


def ranking_loss(
    tokenizer: Tokenizer, model: Model, batch: list[Group]
) -> tuple[torch.Tensor, int]:
    """(loss, right): the ranking loss of lesson 11 over each group's scores.

    right: in how many groups the right text is first.
    """
    pairs = [(question, text) for question, texts in batch for text in texts]
    scores = scores_of(tokenizer, model, pairs).reshape(len(batch), GROUP)
    # the right text of each group is at place 0
    loss = torch.nn.functional.cross_entropy(scores, torch.zeros(len(batch), dtype=torch.long))
    return loss, int((scores.argmax(dim=1) == 0).sum())


def right_by_vectors(held: list[Group]) -> int:
    """In how many of these groups the encoder's vector of the right text is nearest to the
    question's.
    """
    questions = text_vectors([question for question, _ in held])
    texts = text_vectors([text for _, texts in held for text in texts])
    # (groups, GROUP)
    cosines = (questions[:, None] * texts.reshape(len(held), GROUP, -1)).sum(axis=2)
    return int((cosines.argmax(axis=1) == 0).sum())


def right_by_model(tokenizer: Tokenizer, model: Model, held: list[Group]) -> int:
    """In how many of these groups the cross-encoder puts the right text first."""
    batches = (held[start : start + BATCH] for start in range(0, len(held), BATCH))
    with torch.inference_mode(), evaluating(model):
        return sum(ranking_loss(tokenizer, model, batch)[1] for batch in batches)


def trained_on_questions(questions: list[Question], bar: Bar) -> tuple[Tokenizer, Model, list[Row]]:
    """(tokenizer, model, rows): trained on all questions but HELD, drawn ones.

    A row for every EVERY steps, and for the last one: `step`, `loss` (the mean of the last EVERY),
    and in how many of the held-out groups the right text is first by the model (`right`) and by
    vectors (`by_vectors`). bar: it moves by one for each step.
    """
    torch.manual_seed(SEED)
    generator = random.Random(SEED)
    shuffled = generator.sample(questions, len(questions))
    held, fit = groups(shuffled[:HELD], generator), shuffled[HELD:]
    by_vectors = right_by_vectors(held)
    tokenizer, model = classifier()
    steps = EPOCHS * math.ceil(len(fit) / BATCH)
    step = stepper(model, RATE, steps, weight_decay=0.01)
    rows, losses = [], []
    model.train()
    for _ in range(EPOCHS):
        epoch = groups(generator.sample(fit, len(fit)), generator)
        for start in range(0, len(epoch), BATCH):
            loss, _ = ranking_loss(tokenizer, model, epoch[start : start + BATCH])
            step(loss)
            losses.append(loss.item())
            bar.update()
            if len(losses) % EVERY == 0 or len(losses) == steps:
                rows.append(
                    {
                        "step": len(losses),
                        "loss": round(float(np.mean(losses[-EVERY:])), 3),
                        "right": right_by_model(tokenizer, model, held),
                        "by_vectors": by_vectors,
                    }
                )
                bar.write(str(rows[-1]))
    return tokenizer, model.eval(), rows


def candidates(docs: pd.DataFrame, queries: pd.DataFrame) -> list[list[int]]:
    """For each query the places that first searches found: by words, and by both ways of FOUND.

    Each place comes once. `docs` must be the documentation of RUNS.
    """
    runs = pd.read_csv(RUNS).set_index(["way", "query"])["names"]
    place_of = dict(zip(docs["name"], docs.index))
    by_words = best(bm25(queries["query"], pages(docs)), DEPTH).tolist()
    places_of_queries = []
    for query, places in zip(queries["id"], by_words):
        names = " ".join(runs[way, query] for way in FOUND).split()
        all_places = [*places, *(place_of[name] for name in names)]
        places_of_queries.append(list(dict.fromkeys(all_places)))
    return places_of_queries


def reranked(
    docs: pd.DataFrame, queries: pd.DataFrame, tokenizer: Tokenizer, model: Model
) -> list[Row]:
    """A row for each query and candidate: the score of the page, read from its beginning."""
    names, texts = docs["name"].tolist(), pages(docs)
    rows = []
    with torch.inference_mode():
        for query_id, query, places in zip(
            queries["id"], queries["query"], candidates(docs, queries)
        ):
            pairs = [(query, texts[place]) for place in places]
            scores = scores_of(tokenizer, model, pairs, READ).tolist()
            rows += [
                {"query": query_id, "name": names[place], "score": round(score, 4)}
                for place, score in zip(places, scores)
            ]
    return rows


@script
def main(folder: Folder) -> None:
    """Mine questions, train a cross-encoder on them, and score each query's candidates."""
    docs, queries = load_docstrings(), load_doc_queries()
    questions, table = mined(docs)
    write_table(table, folder / MINED.name)
    with progress_bar(
        total=EPOCHS * math.ceil((len(questions) - HELD) / BATCH), unit="step"
    ) as bar:
        tokenizer, model, rows = trained_on_questions(questions, bar)
    write_table(rows, folder / STEPS.name)
    write_table(reranked(docs, queries, tokenizer, model), folder / SCORES.name)
