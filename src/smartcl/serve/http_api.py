"""The service over HTTP: what each request asks of the models, and in which form it is answered."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any, TypeVar

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

import smartcl
from smartcl.serve import documents
from smartcl.serve.about import all_of_it, doubts, everything
from smartcl.serve.answering import Answers
from smartcl.serve.bodies import Item, RequestRows, json_of, rows_to_learn, rows_to_predict
from smartcl.serve.documents import REFUSALS
from smartcl.serve.invocations import rows_invoked
from smartcl.serve.metrics import Figures
from smartcl.serve.refusals import RefusedError
from smartcl.serve.served_model import Accepted, ServedModel
from smartcl.serve.served_models import Models

T = TypeVar("T")

JSON, LINES = "application/json", ("application/x-ndjson", "application/jsonl", "application/jsonlines")
#: Bytes of a body, and rows, up to which a request is answered at once, in a millisecond or two; beyond, by a thread.
SMALL_BYTES, SMALL_ROWS = 1 << 15, 32
#: Rows that are predicted together, of as many requests as have come meanwhile.
TOGETHER = 128
#: Seconds for which what was found out about a model is shown to others; doubts take seconds to find.
FRESH_SECONDS, FRESH_DOUBTS_SECONDS = 1.0, 30.0
#: Pages that are told of news at once, and how often they are.
MOST_WATCHERS, WATCH_SECONDS = 100, 1.0
PAGE = {
    "/": ("index.html", "text/html"),
    "/service.css": ("service.css", "text/css"),
    "/service.js": ("service.js", "text/javascript"),
}


class Together:
    """Predicts the rows of requests that have come at the same time in one call, without making any of them wait."""

    def __init__(self, served: ServedModel) -> None:
        self._served = served
        self._waiting: list[tuple[Sequence[Item], asyncio.Future[tuple[Answers, int]]]] = []

    def ask(self, items: Sequence[Item]) -> asyncio.Future[tuple[Answers, int]]:
        """The answers, and the place of the first of these rows among them."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[tuple[Answers, int]] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._answer)
        self._waiting.append((items, future))
        return future

    def _answer(self) -> None:
        waiting, self._waiting = self._waiting[:TOGETHER], self._waiting[TOGETHER:]
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._answer)
        try:
            answers = self._served.predict([item for items, _ in waiting for item in items])
        except Exception as error:
            self._answer_each(waiting, error)
            return
        first = 0
        for items, future in waiting:
            if not future.done():
                future.set_result((answers, first))
            first += len(items)

    def _answer_each(self, waiting: list[Any], error: Exception) -> None:
        """One of them was wrong: the others are not to suffer for it."""
        for items, future in waiting:
            if future.done():
                continue
            try:
                if len(waiting) == 1:
                    raise error
                future.set_result((self._served.predict(items), 0))
            except Exception as own:
                future.set_exception(own)


@dataclass
class Kept:
    """What was found out lately, and when: many who ask at once share one answer."""

    at: float = -float("inf")
    answer: asyncio.Future[Any] | None = None


@dataclass
class Service:
    """The models behind the requests, and what belongs to all requests."""

    models: Models
    figures: Figures
    watchers: int = 0
    ending: bool = False
    trouble: str | None = "the model is being loaded"
    #: Why there is nothing to serve; the process ends with it.
    failure: Exception | None = None
    _together: dict[int, tuple[ServedModel, Together]] = field(default_factory=dict)
    _kept: dict[tuple[str, str | None], Kept] = field(default_factory=dict)

    async def open(self) -> None:
        """Load the one model, and learn what its journal has; requests that come meanwhile are told so."""
        if self.models.per is None:
            try:
                await run_in_threadpool(lambda: self.models.use(None).__enter__())  # and it stays open
            except Exception as error:
                self.trouble, self.failure = f"the model could not be loaded: {error}", error
                os.kill(os.getpid(), signal.SIGTERM)
                return
        self.trouble = None

    @asynccontextmanager
    async def using(self, key: str | None, new: bool = False) -> AsyncIterator[ServedModel]:
        """The model of a key; loading it keeps no other request waiting."""
        if self.trouble is not None:
            raise RefusedError(503, self.trouble, 1.0)
        used = self.models.use(key, new)
        served = used.__enter__() if self.models.is_open(key) else await run_in_threadpool(used.__enter__)
        try:
            yield served
        finally:
            used.__exit__(None, None, None)

    async def answers(self, served: ServedModel, items: Sequence[Item]) -> tuple[Answers, int]:
        """Answers to rows, and the place of the first of them."""
        if len(items) > SMALL_ROWS:
            return await run_in_threadpool(served.predict, items), 0
        held = self._together.get(id(served))
        if held is None or held[0] is not served:
            open_ones = {id(model) for _, model in self.models.now()}
            self._together = {number: pair for number, pair in self._together.items() if number in open_ones}
            held = self._together[id(served)] = served, Together(served)
        return await held[1].ask(items)

    def keyed(self, asked: str | None, items: Sequence[Item]) -> tuple[str | None, Sequence[Item]]:
        """The key that a request is about, and its rows without it."""
        per = self.models.per
        if per is None:
            return None, items
        found = {asked} if asked is not None else set()
        for item in items:
            if item.row is not None and (value := item.row.get(per)) is not None:
                found.add(str(value))
        if len(found) != 1 or not all(0 < len(each) <= self.models.limits.name for each in found):
            raise RefusedError(422, f"all rows of a request must be of one {per}: {len(found)} were given")
        bare = [
            item if item.row is None or per not in item.row else replace(item, row=_without(item.row, per))
            for item in items
        ]
        return found.pop(), bare

    async def kept(self, what: str, key: str | None, find: Callable[[ServedModel], Any]) -> Any:
        """What ``find`` says of a model, asked on the learner's thread at most once in some seconds."""
        kept = self._kept.setdefault((what, key), Kept())
        if len(self._kept) > MOST_WATCHERS:
            self._kept = {(what, key): kept}
        now = time.monotonic()
        fresh = FRESH_DOUBTS_SECONDS if what == "doubts" else FRESH_SECONDS
        if kept.answer is None or (kept.answer.done() and (now - kept.at > fresh or kept.answer.exception())):
            kept.at, kept.answer = now, asyncio.ensure_future(self._found(key, find))
        return await asyncio.shield(kept.answer)

    async def _found(self, key: str | None, find: Callable[[ServedModel], Any]) -> Any:
        async with self.using(key) as served:
            return await asyncio.wrap_future(self.models.call(lambda: find(served)))


def service_app(models: Models) -> FastAPI:
    """The application; it opens the model when it starts, and saves and closes all when it ends."""
    service = Service(models, Figures(models))
    tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        opening = asyncio.create_task(service.open())
        tasks.add(opening)
        yield
        service.ending = True
        await asyncio.gather(opening, return_exceptions=True)
        await run_in_threadpool(models.end)

    app = FastAPI(
        title="smartcl",
        description="A classifier that answers while it learns, in a memory of a fixed number of bytes.",
        version=smartcl.__version__,
        lifespan=lifespan,
        docs_url=None,  # both load scripts from elsewhere
        redoc_url=None,
        responses={422: REFUSALS[422]},
    )
    app.state.service = service
    _refusals(app)
    _rows(app, service)
    _health(app, service)
    _about(app, service)
    _versions(app, service)
    _page(app, service)
    if models.per is not None:
        _with_key(app, models.per)
    return app


Key = Query(default=None, description="Which of the models by key, where there are many.", max_length=200)


def _refusals(app: FastAPI) -> None:
    @app.exception_handler(RefusedError)
    async def refused(request: Request, error: RefusedError) -> Response:
        headers = {} if error.retry_after is None else {"Retry-After": str(max(1, round(error.retry_after)))}
        return JSONResponse({"error": error.why}, error.status, headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        why = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        return JSONResponse({"error": why}, 422)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        return JSONResponse({"error": "an error of the service's own: its log says which"}, 500)

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> Response:
        return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)


def _rows(app: FastAPI, service: Service) -> None:
    limits = service.models.limits

    @app.post(
        "/predict",
        summary="Predict rows; those with an id wait for their label",
        responses={
            200: {
                "model": documents.Answer | documents.ManyAnswers,
                "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
                "description": "The answer to the row, the answers to the rows, or lines of answers to lines.",
            },
            **_refusing(400, 401, 404, 408, 413, 415, 422, 503),
        },
        openapi_extra={"requestBody": documents.PREDICT_BODY},
    )
    async def predict(request: Request, key: str | None = Key) -> Response:
        with service.figures.seconds.labels("/predict").time():
            lines = _is_lines(request)
            body = await body_of(request, service)
            items = await _small(body, lambda: rows_to_predict(body, lines, limits))
            key, rows = service.keyed(key, items.items)
            async with service.using(key) as served:
                answers, first = await service.answers(served, rows)
            return _answered(items, answers, first, lines)

    @app.post(
        "/learn",
        summary="Learn rows with labels, or the labels of rows that were predicted",
        responses={
            200: {"model": documents.Learned, "description": "The rows are on the disk and will be learned."},
            **_refusing(400, 401, 404, 408, 413, 415, 422, 429, 503),
        },
        openapi_extra={
            "requestBody": documents.LEARN_BODY,
            "parameters": [
                {
                    "name": "Idempotency-Key",
                    "in": "header",
                    "required": False,
                    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
                    "description": "Names the request: one of the same name is not learned again.",
                }
            ],
        },
    )
    async def learn(request: Request, key: str | None = Key) -> Response:
        with service.figures.seconds.labels("/learn").time():
            lines = _is_lines(request)
            body = await body_of(request, service)
            named = request.headers.get("idempotency-key")
            if named is not None and not 0 < len(named) <= limits.name:
                raise RefusedError(422, f"Idempotency-Key must be a text of 1 to {limits.name} characters")
            async with _label_of(service) as label:
                items = await _small(body, lambda: rows_to_learn(body, lines, limits, label))
            key, rows = service.keyed(key, items.items)
            async with service.using(key, new=any(item.row is not None for item in rows)) as served:
                if len(rows) > SMALL_ROWS:
                    accepted = await run_in_threadpool(served.accept, rows, named)
                else:
                    accepted = served.accept(rows, named)
                for future in accepted.durable:
                    await asyncio.wrap_future(future)
                return JSONResponse(_learned(served, accepted))

    @app.post(
        "/invocations",
        summary="Predict as MLflow's scoring server does",
        responses={
            200: {"model": documents.Predictions, "description": "The label of each row."},
            **_refusing(400, 401, 404, 408, 413, 415, 422, 503),
        },
        openapi_extra={"requestBody": documents.INVOCATIONS_BODY},
    )
    async def invocations(request: Request, key: str | None = Key) -> Response:
        with service.figures.seconds.labels("/invocations").time():
            kind = _kind(request)
            if kind not in (JSON, "text/csv"):
                raise RefusedError(415, f"the body must be {JSON} or text/csv")
            body = await body_of(request, service)
            items = await _small(body, lambda: rows_invoked(body, kind == "text/csv", limits))
            key, rows = service.keyed(key, items)
            async with service.using(key) as served:
                answers, first = await service.answers(served, rows)
            return JSONResponse({"predictions": [answers.best(first + place) for place in range(len(rows))]})


def _health(app: FastAPI, service: Service) -> None:
    @app.get("/health/live", summary="Whether the process is there", responses={200: {"model": documents.Health}})
    async def live() -> Response:
        return JSONResponse({"ready": service.trouble is None, "troubles": {}})

    @app.get(
        "/health/ready",
        summary="Whether it answers, learns and writes",
        responses={200: {"model": documents.Health}, 503: {"model": documents.Health}},
    )
    async def ready() -> Response:
        troubles = {} if service.trouble is None else {"service": service.trouble}
        if service.ending:
            troubles["service"] = "the service is ending"
        hinders = dict(troubles)
        for key, served in service.models.now():
            for what, why in served.troubles.items():
                name = what if key is None else f"{service.models.per} {key}: {what}"
                troubles[name] = why
                if what != "damage":  # that is over
                    hinders[name] = why
        return JSONResponse({"ready": not hinders, "troubles": troubles}, 503 if hinders else 200)

    @app.get(
        "/ping", summary="MLflow's question whether the process is there", responses={200: {"model": documents.Health}}
    )
    async def ping() -> Response:
        return JSONResponse({"ready": service.trouble is None, "troubles": {}})

    @app.get(
        "/metrics",
        summary="Figures for Prometheus",
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **_refusing(401)},
        response_class=Response,
    )
    async def metrics() -> Response:
        return Response(service.figures.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _about(app: FastAPI, service: Service) -> None:
    @app.get(
        "/model",
        summary="What the model remembers, its members, changes and bytes, and how the service stands",
        responses={200: {"model": documents.About}, **_refusing(401, 404, 422, 503)},
    )
    async def model(key: str | None = Key) -> Response:
        key, _ = service.keyed(key, ())
        return JSONResponse(_plain(await service.kept("all", key, all_of_it)))

    @app.get(
        "/doubts",
        summary="Remembered rows whose label is probably wrong, and what it would be",
        responses={200: {"model": documents.About}, **_refusing(401, 404, 422, 503)},
    )
    async def doubted(key: str | None = Key) -> Response:
        key, _ = service.keyed(key, ())
        return JSONResponse(_plain(await service.kept("doubts", key, doubts)))

    @app.get(
        "/events",
        summary="News of the model for a page, each second (server-sent events)",
        responses={
            200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
            **_refusing(401, 404, 422, 429, 503),
        },
        response_class=StreamingResponse,
        include_in_schema=False,  # it never ends
    )
    async def events(key: str | None = Key) -> Response:
        key, _ = service.keyed(key, ())
        if service.watchers >= MOST_WATCHERS:
            raise RefusedError(429, f"{MOST_WATCHERS} pages are watching already", 60.0)
        return StreamingResponse(_news(service, key), media_type="text/event-stream")


async def _news(service: Service, key: str | None) -> AsyncIterator[str]:
    service.watchers += 1
    try:
        while not service.ending:
            try:
                news = _plain(await service.kept("news", key, everything))
            except RefusedError as error:
                news = {"error": error.why}
            yield f"data: {json.dumps(news)}\n\n"
            await asyncio.sleep(WATCH_SECONDS)
    finally:
        service.watchers -= 1


def _versions(app: FastAPI, service: Service) -> None:
    @app.get(
        "/versions",
        summary="The saved versions that can be gone back to",
        responses={200: {"model": documents.SavedVersions}, **_refusing(401, 404, 422, 503)},
    )
    async def versions(key: str | None = Key) -> Response:
        key, _ = service.keyed(key, ())
        async with service.using(key) as served:
            return JSONResponse({"version": served.version, "saved": served.versions.there()})

    @app.post(
        "/versions",
        summary="Go back to a saved version: what was learned since is not",
        responses={200: {"model": documents.SavedVersions}, **_refusing(400, 401, 404, 408, 413, 415, 422, 503)},
        openapi_extra={"requestBody": documents.BACK_BODY},
    )
    async def back(request: Request, key: str | None = Key) -> Response:
        key, _ = service.keyed(key, ())
        content = await _json_body(request, service)
        version = content.get("version") if isinstance(content, dict) and set(content) == {"version"} else None
        if isinstance(version, bool) or not isinstance(version, int) or version < 0:
            raise RefusedError(422, "the body must be an object with a version, a number of rows")
        async with service.using(key) as served:
            await asyncio.wrap_future(service.models.call(lambda: served.go_back(version)))
            return JSONResponse({"version": served.version, "saved": served.versions.there()})

    @app.post(
        "/save",
        summary="Save now",
        responses={200: {"model": documents.SavedVersions}, **_refusing(400, 401, 404, 408, 413, 415, 422, 503)},
        openapi_extra={"requestBody": documents.SAVE_BODY},
    )
    async def save(request: Request, key: str | None = Key) -> Response:
        key, _ = service.keyed(key, ())
        if await _json_body(request, service) != {}:
            raise RefusedError(422, "the body must be an empty object")
        async with service.using(key) as served:
            if not await asyncio.wrap_future(service.models.call(served.try_to_save)):
                raise RefusedError(503, served.troubles.get("save", "the model cannot be saved"), 5.0)
            return JSONResponse({"version": served.version, "saved": served.versions.there()})


def _page(app: FastAPI, service: Service) -> None:
    def shown(path: str, name: str, media_type: str) -> None:
        content = files("smartcl.serve").joinpath("page", name).read_bytes()
        if name == "index.html" and service.models.per is not None:
            content = content.replace(b'data-per=""', f'data-per="{_escaped(service.models.per)}"'.encode())

        @app.get(path, include_in_schema=False)
        async def page() -> Response:
            return Response(content, media_type=media_type)

    for path, (name, media_type) in PAGE.items():
        shown(path, name, media_type)


def _with_key(app: FastAPI, per: str) -> None:
    """The query's parameter is called as the column of the keys; ``key`` is understood too."""

    @app.middleware("http")
    async def renamed(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        if per in request.query_params and "key" not in request.query_params:
            from urllib.parse import urlencode

            request.scope["query_string"] = urlencode({"key": request.query_params[per]}).encode()
        return await call_next(request)


async def body_of(request: Request, service: Service) -> bytes:
    """The body, if it is small enough and comes in time."""
    limits = service.models.limits
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > limits.body_bytes:
        raise RefusedError(413, f"a body may have {limits.body_bytes:,} bytes, has {int(declared):,}")
    pieces, size = [], 0
    try:
        async with asyncio.timeout(limits.body_seconds):
            async for piece in request.stream():
                size += len(piece)
                if size > limits.body_bytes:
                    raise RefusedError(413, f"a body may have {limits.body_bytes:,} bytes, has more")
                pieces.append(piece)
    except TimeoutError:
        raise RefusedError(408, f"the body did not come within {limits.body_seconds:g} seconds") from None
    return b"".join(pieces)


async def _json_body(request: Request, service: Service) -> Any:
    if _kind(request) != JSON:
        raise RefusedError(415, f"the body must be {JSON}")
    return json_of(await body_of(request, service))


async def _small(body: bytes, work: Callable[[], T]) -> T:
    """Do it at once, or by a thread where the body is long."""
    return work() if len(body) <= SMALL_BYTES else await run_in_threadpool(work)


@asynccontextmanager
async def _label_of(service: Service) -> AsyncIterator[str]:
    """The column of the label: of the one model, or as it was given for all."""
    if service.models.per is not None:
        yield service.models.plan.label_column
    else:
        async with service.using(None) as served:
            yield served.label


def _answered(items: RequestRows, answers: Answers, first: int, lines: bool) -> Response:
    found = []
    for place, item in enumerate(items.items):
        answer: dict[str, Any] = {
            "label": answers.best(first + place),
            "probabilities": answers.of(first + place),
            "version": answers.version,
        }
        if item.id is not None:
            answer["id"] = item.id
        found.append(answer)
    if lines:
        return Response("".join(json.dumps(each) + "\n" for each in found), media_type=LINES[0])
    return JSONResponse(found[0] if items.single else {"answers": found, "version": answers.version})


def _learned(served: ServedModel, accepted: Accepted) -> dict[str, Any]:
    return {
        "accepted": accepted.rows,
        "repeated": accepted.repeated,
        "unknown": accepted.unknown,
        "queued": served.queued,
        "version": served.version,
    }


def _kind(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _is_lines(request: Request) -> bool:
    kind = _kind(request)
    if kind not in (JSON, *LINES):
        raise RefusedError(415, f"the body must be {JSON} or {LINES[0]}")
    return kind in LINES


def _refusing(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: REFUSALS[status] for status in statuses}


def _without(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {each: value for each, value in row.items() if each != name}


def _escaped(text: str) -> str:
    return "".join(f"&#{ord(char)};" for char in text)


def _plain(found: Any) -> Any:
    """The same with None in the place of what JSON has no word for."""
    if isinstance(found, dict):
        return {str(name): _plain(value) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return [_plain(value) for value in found]
    if isinstance(found, float) and not (-float("inf") < found < float("inf")):
        return None
    if isinstance(found, str | int | float | bool) or found is None:
        return found
    return _plain(found.item()) if hasattr(found, "item") else str(found)
