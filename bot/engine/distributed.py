"""The carrier on PostgreSQL: jobs of procrastinate in the same database, written in the transaction of the change.

A job is a wake-up with the id of a request and nothing else. PostgreSQL notifies a process that waits, one process
gets the job, and one job of a request runs at a time. Whether anything is done is decided by the request's row alone,
with its lease and fence: a job that is lost, doubled or late costs a moment. The sweep, the same as of the embedded
carrier, asks the database every 2 s what is due, and makes a job of what has none; jobs of a process that is gone are
dropped.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued
from procrastinate.jobs import Status

from bot.engine.carried import Due, Execute, Queue, Transaction
from bot.engine.embedded import SWEEP_EVERY_S
from bot.engine.rests import Rests

log = logging.getLogger("countersign.engine")
# It reports each job, and of one that another process took over it says that it cannot end it.
logging.getLogger("procrastinate").setLevel(logging.CRITICAL)

_TASK = "countersign.carry_out"
# Connections for jobs; what is done for a request has its own.
_CONNECTIONS = 4
# A database that does not answer is asked again; nothing waits for it for long.
_ANSWERS_WITHIN_S = 5.0
# A process says so often that it is alive, and is gone when it has not for so long.
_BEATS_EVERY_S = 2.0
GONE_AFTER_S = 5.0
# A notification that got lost costs this, and so does a job that waited for another of its request.
_POLLS_EVERY_S = 2.0
_RESTARTS_AFTER_S = 1.0
# Where a queue has no limit: more than can wait for the API at once.
_WITHOUT_LIMIT = 64
# Among jobs of one worker; queues have workers of their own.
_FIRST, _USUAL = 100, 0
# What has a job, waiting or begun. One that its process took with it is dropped first.
_HAVE_JOBS = (
    "SELECT lock FROM procrastinate_jobs"
    " WHERE status = 'todo' AND queueing_lock = ANY(%(locks)s) OR status = 'doing' AND lock = ANY(%(locks)s)"
)


class Distributed:
    """As `Embedded`, for any number of processes. `queues`: every queue there may be, and how many work on it at once.

    A process that carries nothing out only enqueues: it needs no `run`.
    """

    def __init__(
        self, address: str, queues: Mapping[str, int | None], *, sweep_every_s: float = SWEEP_EVERY_S
    ) -> None:
        """`address`: of the database, as libpq reads it."""
        self._queues = queues
        self._sweep_every_s = sweep_every_s
        connector = PsycopgConnector(
            conninfo=address,
            min_size=1,
            max_size=_CONNECTIONS,
            timeout=_ANSWERS_WITHIN_S,
            reconnect_timeout=_ANSWERS_WITHIN_S,
        )
        self._app = App(connector=connector)
        self._job = self._app.task(name=_TASK)(self._carry_out)
        self._execute: Execute | None = None
        self._rests = Rests()
        self._woken = asyncio.Event()
        self._running: set[str] = set()
        self._working: list[asyncio.Task[None]] = []
        self._closed_at: float | None = None

    async def enqueue(self, tx: Transaction, request_id: str, queue: str) -> None:
        """Carry it out once this transaction is durable: its job is written in it."""
        raw = (await tx.connection.get_raw_connection()).driver_connection
        with suppress(AlreadyEnqueued):  # which may be taken before this is durable: then the sweep finds it
            async with tx.savepoint():
                await self._configured(request_id, queue, connection=raw).defer_async(request_id=request_id)
        tx.after_commit(lambda: self._rests.end(request_id))

    def wake(self, request_id: str = "") -> None:
        """Something became due without a job; called after its commit. "" where it may be many."""
        self._rests.end(request_id)
        self._woken.set()

    async def run(self, due: Due, execute: Execute) -> None:
        """Until cancelled. What fails is logged and tried again; the work that was begun is waited for by `drain`."""
        self._execute = execute
        await self._app.open_async()
        self._working = [
            asyncio.create_task(self._work(name, at_once), name=f"engine {name}")
            for name, at_once in self._queues.items()
        ]
        while True:
            self._woken.clear()
            try:
                await self._sweep(due)
            except Exception:  # whatever broke this sweep (a busy database), the next one must come
                log.exception("engine.sweep_failed")
            with suppress(TimeoutError):
                async with asyncio.timeout(self._sweep_every_s):
                    await self._woken.wait()

    def close(self) -> None:
        """Take up nothing more. What runs goes on."""
        if self._closed_at is None:
            self._closed_at = asyncio.get_running_loop().time()
            for task in self._working:
                task.cancel()  # which the library takes for: end what runs, and then yourself

    async def drain(self, timeout_s: float) -> None:
        """Let what is running end, until `timeout_s` after the closing; what is then left is abandoned."""
        self.close()
        passed_s = asyncio.get_running_loop().time() - (self._closed_at or 0)
        left_s = max(0.0, timeout_s - passed_s)
        if self._working:
            _, late = await asyncio.wait(self._working, timeout=left_s)
            for task in late:
                task.cancel()
        with suppress(Exception):
            async with asyncio.timeout(1):
                await self._app.close_async()

    async def _work(self, queue: str, at_once: int | None) -> None:
        """Take jobs of one queue, until closed. The library's worker ends when it loses the database."""
        while self._closed_at is None:
            try:
                await self._app.run_worker_async(
                    queues=[queue],
                    name=queue,
                    concurrency=at_once or _WITHOUT_LIMIT,
                    delete_jobs="always",
                    install_signal_handlers=False,
                    fetch_job_polling_interval=_POLLS_EVERY_S,
                    update_heartbeat_interval=_BEATS_EVERY_S,
                    stalled_worker_timeout=GONE_AFTER_S,
                    shutdown_graceful_timeout=_ANSWERS_WITHIN_S,
                )
            except Exception as error:  # noqa: BLE001 - a database that was away, or that took us for gone
                log.warning("engine.worker_failed", extra={"queue": queue, "error": type(error).__name__})
            await asyncio.sleep(_RESTARTS_AFTER_S)

    async def _carry_out(self, request_id: str) -> None:
        if self._execute is None or self._closed_at is not None:
            return  # it is still due: another process sweeps
        self._running.add(request_id)
        try:
            await self._execute(request_id)
        except Exception:  # our bug or a lost database: the row stays due and is taken up again
            log.exception("engine.execution_failed", extra={"request": request_id})
        finally:
            self._running.discard(request_id)
            self._rests.tried(request_id)

    async def _sweep(self, due: Due) -> None:
        """Drop the jobs of processes that are gone, and make jobs of what is due and has none."""
        await self._drop_lost()
        resting = self._rests.resting()
        queues = await due({*resting, *self._running})
        named = {id_ for queue in queues for id_ in queue.ids}
        self._rests.keep_only({*named, *resting, *self._running})
        for queue in queues:
            await self._enqueue_all(queue)

    async def _enqueue_all(self, queue: Queue) -> None:
        if not queue.ids or self._closed_at is not None:
            return
        rows = await self._app.connector.execute_query_all_async(
            query=_HAVE_JOBS, locks=[_lock(id_) for id_ in queue.ids]
        )
        have_jobs = {row["lock"] for row in rows}
        for request_id in queue.ids:
            if _lock(request_id) not in have_jobs:
                with suppress(AlreadyEnqueued):  # another process was quicker
                    await self._configured(request_id, queue.name).defer_async(request_id=request_id)

    async def _drop_lost(self) -> None:
        """A job that a process took with it holds its request's lock; the row makes another."""
        lost = await self._app.job_manager.get_stalled_jobs(seconds_since_heartbeat=GONE_AFTER_S)
        for job in lost:
            log.info("engine.job_lost", extra={"request": job.task_kwargs.get("request_id")})
            with suppress(Exception):  # another process drops it, too
                await self._app.job_manager.finish_job(job, status=Status.FAILED, delete_job=True)

    def _configured(self, request_id: str, queue: str, **options: Any) -> Any:
        lock, priority = _lock(request_id), _FIRST if queue.startswith("emergency") else _USUAL
        return partial(self._job.configure, **options)(
            queue=queue, lock=lock, queueing_lock=lock, priority=priority
        )


def _lock(request_id: str) -> str:
    return f"request:{request_id}"
