"""Process several items at a time, each in its own single-threaded worker."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import torch


def each(work: Callable[[Any], Any], items: Iterable[Any], threads: int) -> Iterator[Any]:
    """Yield `work(item)` for every item, in order of completion. Nothing starts before the first
    result is asked for.

    threads: how many workers take items from one queue.

    Each worker uses one torch thread, so none waits for another. Threads that share one product all
    wait at every step when another program delays one of them. The caller's own torch work has one
    thread, too, until all is done. With one thread or one item, the caller does the work with its
    own number of torch threads.

    An error in `work` is raised here. On such an error, Ctrl-C in the caller, or a caller that
    stops iterating, the other workers end after their current item. torch's number of threads is
    restored afterwards.
    """
    items = list(items)
    if threads < 2 or len(items) < 2:
        yield from map(work, items)
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # inherited by new threads
    pool = ThreadPoolExecutor(min(threads, len(items)), thread_name_prefix="each")
    try:
        for future in as_completed([pool.submit(work, item) for item in items]):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(before)
