"""A Dask cluster whose workers have the course: `course embed` and `course grade` compute there."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import Client  # pyrefly: ignore[missing-import]  # of the extra `cluster`

JOINING = 30  # seconds that the first worker has to join its scheduler


class ClusterError(RuntimeError):
    """The cluster cannot be used. The message is one sentence."""


@contextmanager
def cluster_at(scheduler: str) -> Generator[Client]:
    """A client of the scheduler at an address ("tcp://10.0.0.1:8786") that has a worker.

    Raises ClusterError, also when the cluster loses a worker too often inside.
    """
    try:
        from distributed import Client, KilledWorker  # pyrefly: ignore[missing-import]
    except ImportError:
        raise ClusterError(
            "--scheduler needs dask.distributed: pip install -e '.[cluster]', here and on the cluster."
        ) from None
    try:
        client = Client(scheduler, timeout=20)
    except (OSError, ValueError) as error:
        raise ClusterError(f"There is no Dask scheduler at {scheduler} ({error}).") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=JOINING)
        except TimeoutError:
            raise ClusterError(f"The Dask scheduler at {scheduler} has no workers.") from None
        try:
            yield client
        except KilledWorker as error:
            raise ClusterError(f"The cluster lost a worker too often ({error}).") from None
