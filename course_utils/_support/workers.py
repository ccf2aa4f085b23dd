"""Work on several items at a time, each by a thread that computes alone."""

from concurrent.futures import ThreadPoolExecutor, as_completed

import torch


def each(work, items, threads):
    """Yield `work(item)` for every item, in the order in which they are done.

    threads: how many take items from one queue. Each computes with one thread of torch, so none waits for another, as
    all do at every step where several threads share one product and another program keeps one of them waiting. With one
    thread or one item the caller does the work, with as many threads of torch as it has.

    An error in `work`, Ctrl-C in the caller and a caller that stops asking end the others after their present item.
    torch's number of threads is afterwards what it was.
    """
    items = list(items)
    if threads < 2 or len(items) < 2:
        yield from map(work, items)
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # with which new threads begin
    pool = ThreadPoolExecutor(min(threads, len(items)), "embed")
    try:
        for done in as_completed([pool.submit(work, item) for item in items]):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(before)
